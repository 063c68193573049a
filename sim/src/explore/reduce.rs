//! Leaving out orders that cannot matter: static persistent singletons.
//!
//! Every instruction has a *footprint*: what taking it on the host, and running it on a queue, reads and writes
//! (tables, leases, bytes, queue ends, events, flags, variables, …). From these follows, for each program counter,
//! what a thread can still do, and for each queue, what its entries will do. If an enabled step conflicts with nothing
//! that any *other* agent can still do, then taking it alone is enough: it is a persistent set of one step
//! (P. Godefroid, *Partial-Order Methods for the Verification of Concurrent Systems*, 1996, ch. 4). Every maximal run
//! has an equivalent one among those that are left, with the same outcomes of all its steps, so deadlocks, violations
//! and marks stay; and two conflicting steps that can be next together in some state still are in some explored state,
//! because neither can be left out by this rule.
//!
//! The heads of `while` loops are never taken alone, so that every cycle has a state in which all agents were tried.
//! Shortest counterexamples are not kept: they come from the full search.

use super::local::Choice;
use super::parts::Places;
use crate::assumptions::Assumption;
use crate::program::{At, Ids, Instr, Op, Operand, Pc, Program};
use crate::world::World;
use leasecheck_core::Rule;

/// What is read and what is written, a bit for each resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Footprint {
    reads: u128,
    writes: u128,
}

impl Footprint {
    fn add(&mut self, other: Footprint) {
        self.reads |= other.reads;
        self.writes |= other.writes;
    }

    fn conflicts(self, other: Footprint) -> bool {
        self.writes & (other.reads | other.writes) != 0 || other.writes & self.reads != 0
    }
}

/// Things that steps share. What does not fit into the bits shares the last one, which only adds conflicts.
#[derive(Clone, Copy)]
enum Resource {
    Table(u8),
    Leases(u8),
    Bytes(u8),
    Issued(u8),
    Tail(u8),
    Head(u8),
    Storage,
    Recorded(u8),
    Completed(u8),
    Flag(u8),
    Var(u8),
    BufferIssued(u8),
    BufferHeld(u8),
    Lock(u8),
    Barrier(u8),
}

/// The footprints of one program; none of a program of which no order is left out.
#[derive(Default)]
pub(crate) struct Reduction {
    enabled: bool,
    host: Vec<Footprint>,
    run: Vec<Footprint>,
    /// Per program counter: what its thread can still do, itself and through queues.
    future: Vec<Footprint>,
    /// Per program counter, then queue: the same without what would run on that queue.
    future_but: Vec<Vec<Footprint>>,
    loop_head: Vec<bool>,
}

struct Builder<'a> {
    program: &'a Program,
    queues: usize,
}

impl Builder<'_> {
    fn bit(&self, resource: Resource) -> u128 {
        let (events, flags) = (self.program.events.len(), self.program.flags.len());
        let (vars, buffers) = (self.program.vars.len(), self.program.buffers.len());
        let queues_end = 17 + 2 * self.queues;
        let vars_at = queues_end + 2 * events + flags;
        let buffers_at = vars_at + vars;
        let locks_at = buffers_at + 2 * buffers;
        let at = match resource {
            Resource::Table(arena) => usize::from(arena),
            Resource::Leases(arena) => 4 + usize::from(arena),
            Resource::Bytes(arena) => 8 + usize::from(arena),
            Resource::Issued(arena) => 12 + usize::from(arena),
            Resource::Storage => 16,
            Resource::Tail(queue) => 17 + usize::from(queue),
            Resource::Head(queue) => 17 + self.queues + usize::from(queue),
            Resource::Recorded(event) => queues_end + usize::from(event),
            Resource::Completed(event) => queues_end + events + usize::from(event),
            Resource::Flag(flag) => queues_end + 2 * events + usize::from(flag),
            Resource::Var(var) => vars_at + usize::from(var),
            Resource::BufferIssued(buffer) => buffers_at + usize::from(buffer),
            Resource::BufferHeld(buffer) => buffers_at + buffers + usize::from(buffer),
            Resource::Lock(lock) => locks_at + usize::from(lock),
            Resource::Barrier(barrier) => locks_at + self.program.locks.len() + usize::from(barrier),
        };
        1 << at.min(127)
    }

    fn reads(&self, print: &mut Footprint, resource: Resource) {
        print.reads |= self.bit(resource);
    }

    fn writes(&self, print: &mut Footprint, resource: Resource) {
        print.writes |= self.bit(resource);
    }

    fn event(&self, print: &mut Footprint, event: Option<u8>) {
        if let Some(event) = event {
            self.reads(print, Resource::Recorded(event));
            self.reads(print, Resource::Completed(event));
        }
    }

    /// Looking up operands on the host.
    fn look_up(&self, print: &mut Footprint, operands: &[Operand]) {
        for operand in operands {
            self.reads(print, Resource::Table(operand.arena));
            self.reads(print, Resource::Issued(operand.arena));
            if let At::Buffer(buffer) = operand.at {
                self.reads(print, Resource::BufferIssued(buffer));
            }
        }
    }

    /// Touching the bytes of operands, when it happens.
    fn touch(&self, print: &mut Footprint, operands: &[Operand], write: bool) {
        for operand in operands {
            self.reads(print, Resource::Table(operand.arena));
            if write {
                self.writes(print, Resource::Bytes(operand.arena));
            } else {
                self.reads(print, Resource::Bytes(operand.arena));
            }
            if let At::Buffer(buffer) = operand.at {
                self.reads(print, Resource::BufferHeld(buffer));
            }
            if matches!(operand.ids, Ids::Buffer(_)) || self.program.keeps {
                self.reads(print, Resource::Issued(operand.arena));
            }
        }
    }

    /// Changing which pages are where, with all that this may involve.
    fn rearrange(&self, print: &mut Footprint, arena: u8) {
        for resource in
            [Resource::Table(arena), Resource::Leases(arena), Resource::Bytes(arena), Resource::Issued(arena)]
        {
            self.writes(print, resource);
        }
        for flag in 0..self.program.flags.len() {
            self.reads(print, Resource::Flag(flag as u8));
        }
        for event in 0..self.program.events.len() {
            // A wait that fails is used up.
            self.reads(print, Resource::Completed(event as u8));
            self.writes(print, Resource::Recorded(event as u8));
        }
        if let Some(queue) = self.program.arenas[usize::from(arena)].moves_on {
            self.writes(print, Resource::Tail(queue));
        }
    }

    /// What taking the instruction on the host reads and writes.
    fn host(&self, instr: &Instr) -> Footprint {
        let mut print = Footprint::default();
        let all_arenas = 0..self.program.arenas.len() as u8;
        for var in &instr.needs {
            self.reads(&mut print, Resource::Var(*var));
        }
        for var in instr.op.gives() {
            self.writes(&mut print, Resource::Var(var));
        }
        if let Some(queue) = instr.stream {
            self.writes(&mut print, Resource::Tail(queue));
        }
        let queued = instr.stream.is_some();
        match &instr.op {
            Op::Alloc { arena, .. } | Op::Compact { arena } | Op::Clear { arena, .. } => {
                self.rearrange(&mut print, *arena)
            }
            Op::Flush { arena, on, .. } => {
                self.rearrange(&mut print, *arena);
                on.iter().for_each(|event| self.event(&mut print, Some(*event)));
            }
            Op::Free { pages, on } | Op::Tombstone { pages, on, .. } => {
                for operand in pages {
                    self.writes(&mut print, Resource::Table(operand.arena));
                    self.writes(&mut print, Resource::Issued(operand.arena));
                }
                on.iter().for_each(|event| self.event(&mut print, Some(*event)));
            }
            Op::Bind { pages, .. } if self.program.keeps || self.program.arenas.iter().any(|arena| arena.zeroed) => {
                pages.iter().for_each(|operand| self.rearrange(&mut print, operand.arena));
            }
            Op::Evict { arena, .. } => {
                self.writes(&mut print, Resource::Table(*arena));
                self.writes(&mut print, Resource::Issued(*arena));
            }
            Op::Count { arena, .. } => {
                self.reads(&mut print, Resource::Table(*arena));
                self.reads(&mut print, Resource::Issued(*arena));
            }
            Op::Unmap { pages } | Op::Map { pages, .. } => {
                self.look_up(&mut print, pages);
                self.touch(&mut print, pages, true);
            }
            Op::Bind { pages, .. } | Op::Pin { pages, .. } | Op::Share { pages } | Op::Cache { pages } => {
                for operand in pages {
                    self.writes(&mut print, Resource::Table(operand.arena));
                    self.writes(&mut print, Resource::Issued(operand.arena));
                }
            }
            Op::Admit { arena, .. } | Op::Available { arena, .. } => {
                if self.program.rules.on(Rule::CacheKeyedByEverything) {
                    self.reads(&mut print, Resource::Table(*arena));
                } else {
                    self.writes(&mut print, Resource::Table(*arena));
                }
                if self.program.keeps {
                    self.reads(&mut print, Resource::Issued(*arena));
                }
                for flag in 0..self.program.flags.len() {
                    self.reads(&mut print, Resource::Flag(flag as u8));
                }
            }
            Op::Translate { pages, .. } | Op::Select { pages, .. } => self.look_up(&mut print, &[*pages]),
            Op::Valid { var, .. } => {
                let (arena, _) = self.program.vars[usize::from(*var)].home;
                self.reads(&mut print, Resource::Table(arena));
            }
            Op::LeaseAcquire { arenas, .. } => {
                arenas.iter().for_each(|arena| self.writes(&mut print, Resource::Leases(*arena)))
            }
            Op::LeaseRenew { arena, .. } => self.writes(&mut print, Resource::Leases(*arena)),
            Op::LeaseHeld { arena, .. } => self.reads(&mut print, Resource::Leases(*arena)),
            Op::LeaseRelease { arena } => {
                self.writes(&mut print, Resource::Leases(*arena));
                for event in 0..self.program.events.len() {
                    self.reads(&mut print, Resource::Recorded(event as u8));
                }
            }
            Op::LeaseHandOff { arena, event } => {
                self.writes(&mut print, Resource::Leases(*arena));
                self.event(&mut print, Some(*event));
                for event in 0..self.program.events.len() {
                    self.reads(&mut print, Resource::Recorded(event as u8));
                }
            }
            Op::Tick => all_arenas.for_each(|arena| self.writes(&mut print, Resource::Leases(arena))),
            Op::Write { pages, .. } => {
                self.look_up(&mut print, pages);
                pages.iter().for_each(|operand| self.writes(&mut print, Resource::Issued(operand.arena)));
                if !queued {
                    self.touch(&mut print, pages, true);
                }
            }
            Op::Read { pages, .. } | Op::TryRead { pages, .. } => {
                self.look_up(&mut print, pages);
                if !queued {
                    self.touch(&mut print, pages, false);
                }
            }
            Op::Produce { buffer, pages } => {
                self.look_up(&mut print, pages);
                self.writes(&mut print, Resource::BufferIssued(*buffer));
                if !queued {
                    self.writes(&mut print, Resource::BufferHeld(*buffer));
                }
            }
            Op::CopyBuffer { from, to } => {
                self.reads(&mut print, Resource::BufferIssued(*from));
                self.writes(&mut print, Resource::BufferIssued(*to));
            }
            Op::ReadBuffer { buffer, .. } => self.reads(&mut print, Resource::BufferIssued(*buffer)),
            Op::Wait { event } => self.reads(&mut print, Resource::Recorded(*event)),
            Op::Record { event } => {
                self.writes(&mut print, Resource::Recorded(*event));
                self.writes(&mut print, Resource::Completed(*event));
            }
            Op::SyncEvent { event } | Op::Query { event, .. } => self.event(&mut print, Some(*event)),
            Op::TrySync { event, .. } => {
                self.event(&mut print, Some(*event));
                self.writes(&mut print, Resource::Recorded(*event));
            }
            Op::SyncStream { stream } => {
                self.writes(&mut print, Resource::Tail(*stream));
                self.reads(&mut print, Resource::Head(*stream));
            }
            Op::FailQuery { event } | Op::FailWait { event } => self.writes(&mut print, Resource::Recorded(*event)),
            Op::Transfer { from, to, after, .. } => {
                self.look_up(&mut print, from);
                self.look_up(&mut print, to);
                to.iter().for_each(|operand| self.writes(&mut print, Resource::Issued(operand.arena)));
                if let Some(event) = after {
                    self.reads(&mut print, Resource::Recorded(*event));
                }
                if !self.program.rules.on(Rule::ResolveAfterProducer) {
                    for operand in from.iter().chain(to) {
                        if let At::Buffer(buffer) = operand.at {
                            self.reads(&mut print, Resource::BufferHeld(buffer));
                        }
                    }
                    if let Some(queue) = instr.stream {
                        self.reads(&mut print, Resource::Head(queue));
                    }
                }
            }
            Op::Key { pages, .. } => {
                self.look_up(&mut print, pages);
                self.writes(&mut print, Resource::Storage);
            }
            Op::Store { pages, .. } | Op::Fetch { pages, .. } => {
                self.look_up(&mut print, pages);
                let fetch = matches!(instr.op, Op::Fetch { .. });
                self.touch(&mut print, pages, fetch);
                self.writes(&mut print, Resource::Storage);
                for operand in pages {
                    self.writes(&mut print, Resource::Leases(operand.arena));
                    self.writes(&mut print, Resource::Issued(operand.arena));
                }
                for event in 0..self.program.events.len() {
                    self.reads(&mut print, Resource::Recorded(event as u8));
                }
            }
            Op::Lookup { .. } => self.reads(&mut print, Resource::Storage),
            Op::Drop { .. } => self.writes(&mut print, Resource::Storage),
            Op::Set { flag, .. } if !queued => self.writes(&mut print, Resource::Flag(*flag)),
            Op::Await { flag } if !queued => self.reads(&mut print, Resource::Flag(*flag)),
            Op::Set { .. } | Op::Await { .. } => {}
            Op::Lock { lock } | Op::Unlock { lock } => self.writes(&mut print, Resource::Lock(*lock)),
            Op::Barrier { barrier } => self.writes(&mut print, Resource::Barrier(*barrier)),
            Op::Meet { group, .. } => {
                // The last to come gives everyone the result.
                self.writes(&mut print, Resource::Barrier(*group));
                for other in &self.program.code {
                    if let Op::Meet { group: same, into: Some(into), .. } = &other.op
                        && same == group
                    {
                        self.writes(&mut print, Resource::Var(*into));
                    }
                }
            }
            // What they read and give is in `needs` and `gives`; on a stream it happens when they run.
            Op::AwaitCond { .. } | Op::Take { .. } | Op::Give { .. } => {}
            Op::CheckEmpty { arena, .. } => self.reads(&mut print, Resource::Table(*arena)),
            Op::Let { .. } | Op::Check { .. } | Op::Branch { .. } | Op::Jump { .. } => {}
        }
        print
    }

    /// What running the instruction's queue entry reads and writes.
    fn run(&self, instr: &Instr) -> Footprint {
        let mut print = Footprint::default();
        let queue = match &instr.op {
            Op::SyncStream { stream } => Some(*stream),
            Op::Alloc { arena, .. } | Op::Compact { arena } => self.program.arenas[usize::from(*arena)].moves_on,
            _ => instr.stream,
        };
        let Some(queue) = queue else { return print };
        self.writes(&mut print, Resource::Head(queue));
        match &instr.op {
            Op::Alloc { arena, .. } | Op::Compact { arena } | Op::Flush { arena, .. } => {
                self.reads(&mut print, Resource::Table(*arena));
                self.writes(&mut print, Resource::Bytes(*arena));
            }
            Op::Write { pages, .. } => self.touch(&mut print, pages, true),
            Op::Read { pages, .. } => self.touch(&mut print, pages, false),
            Op::TryRead { pages, into } => {
                self.touch(&mut print, pages, false);
                self.writes(&mut print, Resource::Var(*into));
            }
            Op::AwaitCond { .. } | Op::Take { .. } | Op::Give { .. } => {
                instr.needs.iter().for_each(|var| self.reads(&mut print, Resource::Var(*var)));
                instr.op.gives().iter().for_each(|var| self.writes(&mut print, Resource::Var(*var)));
            }
            Op::Transfer { from, to, after, .. } => {
                self.touch(&mut print, from, false);
                self.touch(&mut print, to, true);
                if let Some(event) = after {
                    self.reads(&mut print, Resource::Completed(*event));
                }
            }
            Op::Produce { buffer, pages } => {
                pages.iter().for_each(|operand| self.reads(&mut print, Resource::Table(operand.arena)));
                self.writes(&mut print, Resource::BufferHeld(*buffer));
            }
            Op::CopyBuffer { from, to } => {
                self.reads(&mut print, Resource::BufferHeld(*from));
                self.writes(&mut print, Resource::BufferHeld(*to));
            }
            Op::ReadBuffer { buffer, into } => {
                self.reads(&mut print, Resource::BufferHeld(*buffer));
                self.writes(&mut print, Resource::Var(*into));
            }
            Op::Wait { event } => self.reads(&mut print, Resource::Completed(*event)),
            Op::Record { event } => {
                self.writes(&mut print, Resource::Completed(*event));
                // What waits for the event: leases that were handed off to it, and pending pages.
                for other in &self.program.code {
                    match &other.op {
                        Op::LeaseHandOff { arena, event: waited } if waited == event => {
                            self.writes(&mut print, Resource::Leases(*arena));
                        }
                        Op::Free { pages, on } | Op::Tombstone { pages, on, .. } if on.contains(event) => {
                            pages.iter().for_each(|operand| self.writes(&mut print, Resource::Table(operand.arena)));
                        }
                        Op::Flush { arena, on, .. } if on.contains(event) => {
                            self.writes(&mut print, Resource::Table(*arena));
                        }
                        _ => {}
                    }
                }
            }
            Op::Set { flag, .. } => self.writes(&mut print, Resource::Flag(*flag)),
            Op::Await { flag } => self.reads(&mut print, Resource::Flag(*flag)),
            _ => {}
        }
        print
    }

    /// The queue on which an instruction's entry runs, for futures.
    fn queue(&self, instr: &Instr) -> Option<u8> {
        match &instr.op {
            Op::SyncStream { stream } => Some(*stream),
            Op::Alloc { arena, .. } | Op::Compact { arena } => self.program.arenas[usize::from(*arena)].moves_on,
            _ => instr.stream,
        }
    }
}

impl Reduction {
    pub(crate) fn new(program: &Program, enabled: bool) -> Reduction {
        // Where operations of a queue can overtake each other, a queue is not one agent.
        let queues_are_agents = program.assume.on(Assumption::OneFifoStreamPerDirection)
            && program.assume.on(Assumption::CompletionAfterLanding);
        if !enabled || !queues_are_agents {
            return Reduction::default();
        }
        let queues = program.agents.iter().filter(|agent| agent.is_queue()).count();
        let builder = Builder { program, queues };
        let host: Vec<Footprint> = program.code.iter().map(|instr| builder.host(instr)).collect();
        let run: Vec<Footprint> = program.code.iter().map(|instr| builder.run(instr)).collect();
        let count = program.code.len();
        let mut future = vec![Footprint::default(); count];
        let mut future_but = vec![vec![Footprint::default(); queues]; count];
        // Backwards until nothing changes: loops go round a few times.
        loop {
            let mut changed = false;
            for pc in (0..count).rev() {
                let mut all = host[pc];
                all.add(run[pc]);
                let mut but = vec![host[pc]; queues];
                for (queue, but) in but.iter_mut().enumerate() {
                    if builder.queue(&program.code[pc]) != Some(queue as u8) {
                        but.add(run[pc]);
                    }
                }
                for next in successors(program, pc as Pc).into_iter().flatten() {
                    all.add(future[usize::from(next)]);
                    for (queue, but) in but.iter_mut().enumerate() {
                        but.add(future_but[usize::from(next)][queue]);
                    }
                }
                changed |= all != future[pc] || but != future_but[pc];
                future[pc] = all;
                future_but[pc] = but;
            }
            if !changed {
                break;
            }
        }
        let loop_head = program.code.iter().map(|instr| matches!(instr.op, Op::Branch { loops: true, .. })).collect();
        Reduction { enabled: true, host, run, future, future_but, loop_head }
    }

    pub(crate) fn is_on(&self) -> bool {
        self.enabled
    }

    /// An enabled step that alone is enough, if there is one.
    pub(crate) fn alone(&self, program: &Program, places: &Places<'_>, choices: &[Choice]) -> Option<usize> {
        if !self.enabled || choices.len() < 2 {
            return None;
        }
        choices.iter().position(|choice| self.is_alone(program, places, choice))
    }

    fn is_alone(&self, program: &Program, places: &Places<'_>, choice: &Choice) -> bool {
        let (step, pc) = (choice.step, choice.pc);
        let queue = program.agents[usize::from(step.agent)].is_queue();
        let slot = if queue { World::queue_slot(program, step.agent) } else { usize::MAX };
        if !queue && self.loop_head[usize::from(pc)] {
            return false;
        }
        let mine = if queue { self.run[usize::from(pc)] } else { self.host[usize::from(pc)] };
        for (at, thread) in places.threads().enumerate() {
            let Some(future) = self.future.get(usize::from(thread)) else { continue };
            let conflict = if queue {
                mine.conflicts(self.future_but[usize::from(thread)][slot])
            } else {
                at != World::thread_slot(program, step.agent) && mine.conflicts(*future)
            };
            if conflict {
                return false;
            }
        }
        for (at, entries) in places.queues().enumerate() {
            if at != slot && entries.iter().any(|entry| mine.conflicts(self.run[usize::from(*entry)])) {
                return false;
            }
        }
        true
    }
}

fn successors(program: &Program, pc: Pc) -> [Option<Pc>; 2] {
    let known = |pc: Pc| (usize::from(pc) < program.code.len()).then_some(pc);
    match program.code[usize::from(pc)].op {
        Op::Jump { to } => [known(to), None],
        Op::Branch { otherwise, .. } => [known(pc + 1), known(otherwise)],
        _ => [known(pc + 1), None],
    }
}
