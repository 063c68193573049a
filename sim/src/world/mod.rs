//! The world: core's arenas, host threads at their program counters, GPU timelines, RDMA agents, storage, and the
//! shadow of what the bytes hold.
//!
//! Two functions are the only way to change it: [`World::enabled`] lists the steps that agents can take, and
//! [`World::step`] takes one. Everything else (explorers, replay, fuzzers) is built on these.
//!
//! GPU timelines have CUDA's semantics. A stream is a queue of operations that run in order at any later moment;
//! copies read their source when they *run*; a wait refers to the last record at the time of the wait call, and
//! re-recording does not move earlier waits; a blocking host read orders only behind the stream it was issued on;
//! freed device memory may be reused at once by the same stream.
//!
//! An access takes one step. That two accesses conflict is seen in the state in which both could be next: every
//! unordered pair has such a state, so that no access needs a beginning and an end of its own.

mod access;
mod alloc;
mod capture;
mod device;
mod give;
mod host;
mod keep;
mod lifecycle;
mod look;
mod meet;
mod parts;
mod queue;
mod room;
mod storage;
mod tracked;
mod transfer;

pub use access::{Accessed, Region};
pub(crate) use access::{NOBODY, UNMAPPED, who, whom};
pub use lifecycle::StartError;
pub(crate) use parts::{Layout, Mask, counters};
pub(crate) use queue::entries;

use crate::assumptions::Assumption;
use crate::invariants::Violation;
use crate::marks::{Mark, Marks};
use crate::program::{AgentKind, END, Pc, Program};
use leasecheck_core::{Arena, LeaseTable};
use std::sync::Arc;
use tracked::{Slot, Tracked};

/// Marks a variable that has no value yet: steps that use it wait.
pub(crate) const UNSET: i16 = i16::MIN;

/// A page that a variable or buffer names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageRef {
    /// Stable id.
    pub id: u8,
    /// How often the id had been handed out when it was captured.
    pub generation: u8,
    /// The page number captured with it, for addresses.
    pub page: u16,
}

/// A page as a queued operation carries it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Capture {
    pub(crate) id: u8,
    pub(crate) generation: u8,
    /// Where to access it; [`capture::FROM_BUFFER`] until an index buffer says.
    pub(crate) page: u16,
    /// The content that it must hold by then, as of the call.
    pub(crate) expect: u16,
    /// How many tokens of it, as of the call; all, if 0. The id may be another page's when the operation runs.
    pub(crate) valid: u8,
}

/// What the world knows of one stable id in one band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IdState {
    /// How often it has been handed out.
    pub(crate) generation: u8,
    pub(crate) pins: u8,
    /// Tokens unbound at the start of the page, where bindings are not per page.
    pub(crate) unbound: u8,
    /// The content of the last write that was issued, 0 if none since it was handed out.
    pub(crate) issued: u16,
    /// Where it was when it was handed out, for designs that resolve ids then.
    pub(crate) born: u16,
}

/// What the world keeps of one id in one band besides, in programs that share, cache or write in part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kept {
    /// References beyond the first.
    pub(crate) references: u8,
    pub(crate) cached: bool,
    /// Tokens that the last write was about; 0 for all of a page's.
    pub(crate) valid: u8,
}

/// What a cell of an arena's bytes holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The page whose bytes these are, as executed so far: [`access::who`], or [`access::NOBODY`].
    pub(crate) who: u16,
    /// Which content, 0 for none.
    pub(crate) value: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArenaState {
    pub(crate) arena: Slot<Arena>,
    pub(crate) leases: Slot<LeaseTable>,
    /// Per band and id, at [`ArenaState::id_at`].
    pub(crate) ids: Slot<Vec<IdState>>,
    pub(crate) cells: Slot<Vec<Cell>>,
    /// Per band: the capacity that was computed last, for designs that cache it.
    pub(crate) memo: Slot<Vec<u8>>,
    /// As `ids`; empty in programs that need none of it.
    pub(crate) kept: Slot<Vec<Kept>>,
    /// First entry of each band in `ids`.
    pub(crate) offsets: Vec<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) pc: Pc,
    /// Where it is within a step that takes several: 0 before, then as the step says.
    pub(crate) phase: u8,
    /// Addresses looked up in an earlier phase.
    pub(crate) scratch: Vec<Capture>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BufferState {
    /// Producers issued.
    pub(crate) issued: u8,
    /// Which of them ran last.
    pub(crate) version: u8,
    pub(crate) len: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventState {
    /// The number of the last record that was queued: 1 to 255, then 1 again.
    pub(crate) records: u8,
    /// Which of the last 32 records are still queued, the last one in the lowest bit. Follows from the queues; kept so that
    /// who asks need not look at them.
    pub(crate) queued: u32,
    pub(crate) query_fails: bool,
    pub(crate) wait_fails: bool,
}

impl EventState {
    /// How many records came after record number `record`.
    fn since(self, record: u8) -> u32 {
        let (last, record) = (u32::from(self.records), u32::from(record));
        if record <= last { last - record } else { last + 255 - record }
    }

    /// A record is queued; its number.
    pub(crate) fn queue(&mut self) -> u8 {
        self.records = self.records.checked_add(1).unwrap_or(1);
        self.queued = self.queued << 1 | 1;
        self.records
    }

    /// Record number `record` has run.
    pub(crate) fn ran(&mut self, record: u8) {
        if let Some(bit) = 1_u32.checked_shl(self.since(record)) {
            self.queued &= !bit;
        }
    }

    /// Whether record number `record` is still queued, if it is among the last ones.
    pub(crate) fn is_queued(self, record: u8) -> Option<bool> {
        self.queued.checked_shr(self.since(record)).map(|bits| bits & 1 != 0)
    }
}

/// One step of one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Step {
    /// The agent, by its place in [`Program::agents`].
    pub agent: u8,
    /// Which of its possible steps: 0, unless operations of a queue may overtake each other; [`LAND`] for bytes that
    /// land after their transfer was reported.
    pub choice: u8,
}

/// The choice of a queue's step that lets the bytes of a reported transfer land.
pub const LAND: u8 = u8::MAX;

/// What a step did besides changing the world.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// Behaviours that the step showed.
    pub marks: Marks,
    /// What happened, for replay; not collected by explorers.
    pub log: Option<Vec<Note>>,
}

/// One thing that happened in a step, for people and for happens-before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// The host thread queued its step on this agent.
    Queued(u8),
    /// A page moved.
    Moved {
        /// Arena.
        arena: u8,
        /// Band.
        band: u8,
        /// Page that moved.
        id: u8,
        /// From.
        from: u16,
        /// To.
        to: u16,
    },
    /// A lease of the arena was taken.
    Leased(u8),
    /// A lease of the arena was given back.
    Released(u8),
    /// A lease of the arena was handed off to the event.
    HandedOff(u8, u8),
    /// The event completed.
    Completed(u8),
    /// Bytes were accessed.
    Touched(Accessed),
    /// Something worth telling.
    Said(String),
    /// What comes later and acquires this object is ordered after this step.
    Release(Object),
    /// This step is ordered after what released this object.
    Acquire(Object),
}

/// What carries order between agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Object {
    Event(u8, u8),
    Flag(u8),
    Lock(u8),
    Barrier(u8),
    Var(u8),
    Buffer(u8),
    Layout(u8),
    Storage(u8),
    QueueEnd(u8),
}

impl Effects {
    /// Effects that keep a log.
    #[must_use]
    pub fn logging() -> Effects {
        Effects { marks: Marks::default(), log: Some(Vec::new()) }
    }

    pub(crate) fn mark(&mut self, mark: Mark) {
        self.marks.set(mark);
    }

    pub(crate) fn note(&mut self, note: Note) {
        if let Some(log) = &mut self.log {
            log.push(note);
        }
    }

    pub(crate) fn say(&mut self, text: impl FnOnce() -> String) {
        if let Some(log) = &mut self.log {
            log.push(Note::Said(text()));
        }
    }
}

/// Everything that changes, in parts that know whether they were looked at.
#[derive(Debug, PartialEq, Eq)]
pub struct World {
    layout: Arc<Layout>,
    pub(crate) arenas: Vec<ArenaState>,
    pub(crate) threads: Tracked<Thread>,
    /// Per queue, then per queue again: transfers that were reported and have not landed.
    pub(crate) queues: Tracked<Vec<u8>>,
    /// Numbers, or how many pages the variable holds (plus 256 × tokens beyond whole pages).
    pub(crate) vars: Tracked<i16>,
    pub(crate) refs: Tracked<PageRef>,
    pub(crate) buffers: Tracked<BufferState>,
    pub(crate) events: Tracked<EventState>,
    pub(crate) flags: Slot<u64>,
    /// Owner + 1, or 0.
    pub(crate) locks: Slot<Vec<u8>>,
    /// Threads that wait at each barrier.
    pub(crate) barriers: Slot<Vec<u32>>,
    /// What they have brought so far, in programs whose threads bring values.
    pub(crate) brought: Slot<Vec<i16>>,
    /// Content of every key's slots, then of the `tail` slots, then what the slots stand for, likewise.
    pub(crate) keys: Slot<Vec<u16>>,
}

impl Clone for World {
    fn clone(&self) -> World {
        World {
            layout: Arc::clone(&self.layout),
            arenas: self.arenas.clone(),
            threads: self.threads.clone(),
            queues: self.queues.clone(),
            vars: self.vars.clone(),
            refs: self.refs.clone(),
            buffers: self.buffers.clone(),
            events: self.events.clone(),
            flags: self.flags.clone(),
            locks: self.locks.clone(),
            barriers: self.barriers.clone(),
            brought: self.brought.clone(),
            keys: self.keys.clone(),
        }
    }

    /// Reuses every allocation: explorers do this once for each step they try.
    fn clone_from(&mut self, source: &World) {
        if self.layout != source.layout {
            *self = source.clone();
            return;
        }
        for (arena, other) in self.arenas.iter_mut().zip(&source.arenas) {
            arena.arena.clone_from(&other.arena);
            arena.leases.clone_from(&other.leases);
            arena.ids.clone_from(&other.ids);
            arena.cells.clone_from(&other.cells);
            arena.memo.clone_from(&other.memo);
            arena.offsets.clone_from(&other.offsets);
            arena.kept.clone_from(&other.kept);
        }
        self.threads.clone_from(&source.threads);
        self.queues.clone_from(&source.queues);
        self.vars.clone_from(&source.vars);
        self.refs.clone_from(&source.refs);
        self.buffers.clone_from(&source.buffers);
        self.events.clone_from(&source.events);
        self.flags.clone_from(&source.flags);
        self.locks.clone_from(&source.locks);
        self.barriers.clone_from(&source.barriers);
        self.brought.clone_from(&source.brought);
        self.keys.clone_from(&source.keys);
    }
}

impl World {
    /// Whether every thread has ended and every queue is empty (the `finally` thread included).
    #[must_use]
    pub fn finished(&self) -> bool {
        self.threads.iter().all(|thread| thread.pc == END) && self.quiet()
    }

    /// Whether every queue is empty.
    pub(crate) fn quiet(&self) -> bool {
        self.queues.iter().all(Vec::is_empty)
    }

    /// The thread slot of an agent that is a thread.
    pub(crate) fn thread_slot(program: &Program, agent: u8) -> usize {
        let at = usize::from(agent);
        if at < program.threads { at } else { program.threads }
    }

    /// The queue slot of an agent that is a queue.
    pub(crate) fn queue_slot(program: &Program, agent: u8) -> usize {
        usize::from(agent) - program.threads
    }

    /// Appends the steps that agents can take now, in the order of agents.
    pub fn enabled(&self, program: &Program, steps: &mut Vec<Step>) {
        self.each_enabled(program, |slot| self.thread_ready(program, slot), |step, _| steps.push(step));
    }

    /// Shows the steps that agents can take now, in the order of agents, and the instruction of each. `ready` says
    /// whether the thread in a slot can take its next step: [`World::thread_ready`], or what is known of it.
    pub(crate) fn each_enabled(
        &self,
        program: &Program,
        mut ready: impl FnMut(usize) -> bool,
        mut found: impl FnMut(Step, Pc),
    ) {
        let mut none = true;
        for slot in 0..program.threads {
            if ready(slot) {
                none = false;
                found(Step { agent: slot as u8, choice: 0 }, self.threads[slot].pc);
            }
        }
        let queues = self.queues.len() / 2;
        let late = !program.assume.on(Assumption::CompletionAfterLanding);
        for slot in 0..queues {
            if late || !self.queues[slot].is_empty() {
                self.queue_steps(program, slot, |step, pc| {
                    none = false;
                    found(step, pc);
                });
            }
        }
        // The thread that comes last comes when no one else can do anything.
        if none {
            for agent in program.threads + queues..program.agents.len() {
                self.enabled_of(program, agent as u8, &mut found);
            }
        }
    }

    /// Shows the steps that one agent can take now, and the instruction of each.
    pub(crate) fn enabled_of(&self, program: &Program, agent: u8, mut found: impl FnMut(Step, Pc)) {
        let step = Step { agent, choice: 0 };
        let slot = World::thread_slot(program, agent);
        match program.agents[usize::from(agent)].kind {
            AgentKind::Thread => {
                if self.thread_ready(program, slot) {
                    found(step, self.threads[slot].pc);
                }
            }
            AgentKind::Stream | AgentKind::Rdma => {
                self.queue_steps(program, World::queue_slot(program, agent), found);
            }
            AgentKind::Finally => {
                let last = self.threads.iter().take(program.threads).all(|thread| thread.pc == END) && self.quiet();
                if last && self.thread_ready(program, slot) {
                    found(step, self.threads[slot].pc);
                }
            }
        }
    }

    /// Takes one enabled step.
    ///
    /// # Errors
    /// When the step violates an invariant. The world is not meaningful afterwards.
    pub fn step(&mut self, program: &Program, step: Step, effects: &mut Effects) -> Result<(), Violation> {
        self.step_only(program, step, effects)?;
        if self.finished() {
            effects.mark(Mark::Finished);
        }
        Ok(())
    }

    /// The same without looking whether this was the last one.
    pub(crate) fn step_only(&mut self, program: &Program, step: Step, effects: &mut Effects) -> Result<(), Violation> {
        match program.agents[usize::from(step.agent)].kind {
            AgentKind::Thread | AgentKind::Finally => {
                let slot = World::thread_slot(program, step.agent);
                self.host_step(program, slot, step.agent, effects)
            }
            AgentKind::Stream | AgentKind::Rdma => self.queue_step(program, step, effects),
        }
    }
}
