//! GPU timelines: queues of operations, events, and the step that runs the next operation.
//!
//! An entry is `instruction (2 bytes), length of payload (2 bytes), payload`. Whether an event has completed follows from the
//! queues alone: a record that is still queued has not run.

use super::capture::{self, Captured, FROM_BUFFER};
use super::{Effects, LAND, Note, Object, PageRef, Step, World};
use crate::assumptions::Assumption;
use crate::invariants::{Violation, stale_index};
use crate::marks::Mark;
use crate::program::{AgentKind, At, Instr, Op, Pc, Program};
use crate::world::access::{Access, By};
use smallvec::SmallVec;

/// One queued operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) pc: Pc,
    pub(crate) payload: &'a [u8],
}

/// Bytes in front of an entry's payload.
const HEAD: usize = 4;

/// Length of the entry that begins at `start`, its head included.
fn entry_length(queue: &[u8], start: usize) -> usize {
    HEAD + usize::from(u16::from_le_bytes([queue[start + 2], queue[start + 3]]))
}

/// The entries of a queue, first to run first.
pub(crate) fn entries(mut queue: &[u8]) -> impl Iterator<Item = Entry<'_>> {
    std::iter::from_fn(move || {
        let [low, high, length_low, length_high, rest @ ..] = queue else { return None };
        let (payload, rest) = rest.split_at(usize::from(u16::from_le_bytes([*length_low, *length_high])));
        queue = rest;
        Some(Entry { pc: Pc::from_le_bytes([*low, *high]), payload })
    })
}

impl World {
    /// Queues an operation.
    pub(crate) fn enqueue(&mut self, queue: u8, pc: Pc, payload: &[u8]) {
        let queue = &mut self.queues[usize::from(queue)];
        queue.extend(pc.to_le_bytes());
        // The most are the moves of a whole arena, which are fewer than 10,000 bytes.
        queue.extend((payload.len() as u16).to_le_bytes());
        queue.extend_from_slice(payload);
    }

    /// Whether record number `records` of the event is still queued.
    pub(crate) fn outstanding(&self, program: &Program, event: u8, records: u8) -> bool {
        if records == 0 {
            return false;
        }
        if let Some(queued) = self.events[usize::from(event)].is_queued(records) {
            return queued;
        }
        program.uses.events[usize::from(event)].queues.iter().any(|queue| {
            entries(&self.queues[usize::from(*queue)]).any(|entry| {
                entry.payload == [records]
                    && matches!(program.code[usize::from(entry.pc)].op, Op::Record { event: other } if other == event)
            })
        })
    }

    /// Whether the event's last record has run. An event that was never recorded counts as complete.
    pub(crate) fn complete(&self, program: &Program, event: u8) -> bool {
        !self.outstanding(program, event, self.events[usize::from(event)].records)
    }

    /// Whether a queued move will still take the page away from `from`.
    pub(crate) fn move_is_queued(&self, program: &Program, arena: u8, band: u8, id: u8, from: u16) -> bool {
        self.queues.iter().any(|queue| {
            entries(queue).any(|entry| {
                moves(program, &entry).is_some_and(|(at, mut moves)| {
                    at == arena && moves.any(|step| (step.band, step.id, step.from) == (band, id, from))
                })
            })
        })
    }

    /// Whether queued work names the page.
    pub(crate) fn in_flight(&self, program: &Program, arena: u8, band: u8, id: u8, generation: u8) -> bool {
        let accessors = program.uses.arenas[usize::from(arena)].accessors.get(usize::from(band));
        let queues = accessors.into_iter().flatten().map(|queue| usize::from(*queue));
        // What was reported and has not landed is in a second list of each queue.
        let lands_late = !program.assume.on(Assumption::CompletionAfterLanding);
        let half = self.queues.len() / 2;
        let mut lists = queues.flat_map(|queue| std::iter::once(queue).chain(lands_late.then_some(queue + half)));
        lists.any(|list| {
            entries(&self.queues[list]).any(|entry| {
                let captured = captured(program, &entry);
                captured.iter().filter(|one| (one.operand.arena, one.operand.band) == (arena, band)).any(|one| {
                    let pages = one.pages.as_deref().unwrap_or_default();
                    pages.iter().any(|page| (page.id, page.generation) == (id, generation))
                })
            })
        })
    }

    /// Shows the steps that a queue can take now, and the instruction of each.
    pub(crate) fn queue_steps(&self, program: &Program, slot: usize, mut found: impl FnMut(Step, Pc)) {
        let agent = (program.threads + slot) as u8;
        let landing = slot + self.queues.len() / 2;
        if !program.assume.on(Assumption::CompletionAfterLanding)
            && let Some(entry) = entries(&self.queues[landing]).next()
        {
            found(Step { agent, choice: LAND }, entry.pc);
        }
        let fifo = program.assume.on(Assumption::OneFifoStreamPerDirection);
        for (choice, entry) in entries(&self.queues[slot]).enumerate() {
            let transfer =
                matches!(program.code[usize::from(entry.pc)].op, Op::Transfer { .. }) && entry.payload.len() > 1;
            if choice > 0 && !transfer {
                break;
            }
            if self.entry_ready(program, agent, &entry) {
                found(Step { agent, choice: choice as u8 }, entry.pc);
            }
            if fifo || !transfer {
                break;
            }
        }
    }

    fn entry_ready(&self, program: &Program, agent: u8, entry: &Entry<'_>) -> bool {
        match &program.code[usize::from(entry.pc)].op {
            // No stream wait orders an RDMA agent.
            Op::Wait { .. } | Op::Transfer { .. } if program.agents[usize::from(agent)].kind == AgentKind::Rdma => true,
            Op::Wait { event } | Op::Transfer { after: Some(event), .. } if entry.payload.len() == 1 => {
                !self.outstanding(program, *event, entry.payload[0])
            }
            Op::Await { flag } => *self.flags & 1 << flag != 0,
            Op::AwaitCond { cond } => self.holds(program, cond),
            Op::Take { var, count } => self.vars[usize::from(*var)] >= *count,
            _ => true,
        }
    }

    pub(crate) fn queue_step(&mut self, program: &Program, step: Step, effects: &mut Effects) -> Result<(), Violation> {
        let slot = World::queue_slot(program, step.agent);
        let landing = slot + self.queues.len() / 2;
        if step.choice == LAND {
            let entry = self.take(landing, 0);
            return self.run_access(program, step.agent, entry.0, &entry.1, effects);
        }
        let (pc, payload) = self.take(slot, step.choice);
        if step.choice > 0 {
            effects.mark(Mark::Overtook);
        }
        let Instr { op, thread, .. } = &program.code[usize::from(pc)];
        match op {
            Op::Transfer { after: Some(event), .. } if payload.len() == 1 => {
                if program.agents[usize::from(step.agent)].kind != AgentKind::Rdma {
                    effects.mark(Mark::StreamWaited);
                    effects.note(Note::Acquire(Object::Event(*event, payload[0])));
                }
            }
            Op::Transfer { .. } if !program.assume.on(Assumption::CompletionAfterLanding) => {
                // Reported now; the bytes come later.
                self.enqueue(landing as u8, pc, &payload);
            }
            Op::TryRead { pages, into } => {
                let mut all = SmallVec::new();
                capture::unpack(pages, &payload, &mut all);
                let rdma = program.agents[usize::from(step.agent)].kind == AgentKind::Rdma;
                if rdma {
                    effects.mark(Mark::RdmaAccess);
                }
                let by = if rdma { By::Rdma } else { By::Stream };
                let good = self.read_all(program, &all, 0, by, effects).is_ok();
                self.attempted(*into, good, effects);
            }
            Op::Write { .. } | Op::Read { .. } | Op::Transfer { .. } => {
                return self.run_access(program, step.agent, pc, &payload, effects);
            }
            Op::Produce { buffer, .. } => self.run_produce(program, pc, &payload, *buffer, effects),
            Op::CopyBuffer { from, to } => {
                let source = self.buffers[usize::from(*from)];
                self.check_version(program, *from, payload[0])?;
                let (from_at, to_at) = (
                    program.buffers[usize::from(*from)].offset as usize,
                    program.buffers[usize::from(*to)].offset as usize,
                );
                for nth in 0..usize::from(source.len.min(program.buffers[usize::from(*to)].cap)) {
                    self.refs[to_at + nth] = self.refs[from_at + nth];
                }
                self.buffers[usize::from(*to)].version = payload[1];
                self.buffers[usize::from(*to)].len = source.len.min(program.buffers[usize::from(*to)].cap);
                effects.note(Note::Acquire(Object::Buffer(*from)));
            }
            Op::ReadBuffer { buffer, into } => {
                self.check_version(program, *buffer, payload[0])?;
                effects.mark(Mark::IndexRead);
                let def = &program.buffers[usize::from(*buffer)];
                let (at, len) = (usize::from(def.offset), usize::from(self.buffers[usize::from(*buffer)].len));
                let pages: SmallVec<[PageRef; 8]> = self.refs[at..at + len].into();
                self.set_pages(program, *into, &pages, 0);
                self.advance(program, World::thread_slot(program, *thread));
                effects.note(Note::Release(Object::Var(*into)));
            }
            Op::SyncStream { .. } => {
                effects.mark(Mark::HostWaited);
                self.advance(program, World::thread_slot(program, *thread));
                effects.note(Note::Release(Object::QueueEnd(step.agent)));
            }
            Op::Wait { event } => {
                if program.agents[usize::from(step.agent)].kind != AgentKind::Rdma && payload[0] != 0 {
                    effects.mark(Mark::StreamWaited);
                    effects.note(Note::Acquire(Object::Event(*event, payload[0])));
                }
            }
            Op::Record { event } => {
                self.events[usize::from(*event)].ran(payload[0]);
                effects.note(Note::Release(Object::Event(*event, payload[0])));
                effects.note(Note::Completed(*event));
                self.record_ran(program, *event, effects);
            }
            Op::Set { flag, up } => {
                self.raise(*flag, *up);
                effects.note(Note::Release(Object::Flag(*flag)));
            }
            Op::Await { flag } => effects.note(Note::Acquire(Object::Flag(*flag))),
            Op::AwaitCond { .. } => effects.mark(Mark::ConditionHeld),
            Op::Take { var, count } => self.take_from(*var, *count, effects),
            Op::Give { var, count } => self.take_from(*var, -*count, effects),
            _ => {
                let entry = Entry { pc, payload: &payload };
                if let Some((arena, steps)) = moves(program, &entry) {
                    for step in steps {
                        self.move_page(program, arena, step.band, step.from, step.to);
                        effects.note(Note::Moved { arena, band: step.band, id: step.id, from: step.from, to: step.to });
                    }
                    let moved = moves(program, &entry).into_iter().flat_map(|(_, steps)| steps);
                    let moved = moved.map(|step| (step.band, step.id, step.to));
                    return crate::invariants::content::after_moves(self, program, arena, moved);
                }
            }
        }
        Ok(())
    }

    /// Takes an entry out of a queue.
    fn take(&mut self, slot: usize, choice: u8) -> (Pc, SmallVec<[u8; 64]>) {
        let queue = &mut self.queues[slot];
        let mut start = 0;
        for _ in 0..choice {
            start += entry_length(queue, start);
        }
        let end = start + entry_length(queue, start);
        let pc = Pc::from_le_bytes([queue[start], queue[start + 1]]);
        let payload = queue[start + HEAD..end].into();
        queue.drain(start..end);
        (pc, payload)
    }

    /// An event's record has run: what waited for its last record can go on.
    fn record_ran(&mut self, program: &Program, event: u8, effects: &mut Effects) {
        if !self.complete(program, event) {
            return;
        }
        let key = leasecheck_core::EventKey(event.into());
        let uses = &program.uses.events[usize::from(event)];
        for arena in &uses.leased {
            self.arenas[usize::from(*arena)].leases.event_completed(key);
        }
        for arena in &uses.pending {
            let state = &mut self.arenas[usize::from(*arena)];
            let returned =
                state.arena.bands().any(|(band, _)| state.arena.pending(band).any(|(_, other)| other == key));
            if returned {
                state.arena.event_completed(key);
                state.memo.fill(u8::MAX);
                effects.mark(Mark::PendingReturned);
            }
        }
    }

    pub(crate) fn check_version(&self, program: &Program, buffer: u8, meant: u8) -> Result<(), Violation> {
        let state = self.buffers[usize::from(buffer)];
        if state.version == meant && meant != 0 {
            return Ok(());
        }
        Err(stale_index::read(program, buffer, state.version, meant))
    }

    fn run_produce(&mut self, program: &Program, pc: Pc, payload: &[u8], buffer: u8, effects: &mut Effects) {
        let Op::Produce { pages, .. } = &program.code[usize::from(pc)].op else { return };
        let mut all = SmallVec::new();
        capture::unpack(pages, &payload[1..], &mut all);
        self.fill_buffer(program, buffer, payload[0], &all);
        effects.note(Note::Release(Object::Buffer(buffer)));
    }

    /// Writes what the table says now into an index buffer.
    pub(crate) fn fill_buffer(&mut self, program: &Program, buffer: u8, version: u8, pages: &[Captured]) {
        let def = &program.buffers[usize::from(buffer)];
        let mut at = 0;
        for one in pages {
            let state = &self.arenas[usize::from(one.operand.arena)];
            for page in one.pages.as_deref().unwrap_or_default() {
                let now = state.locate(one.operand.band, page.id, page.generation).unwrap_or(0);
                if at < def.cap {
                    self.refs[usize::from(def.offset + u16::from(at))] =
                        PageRef { id: page.id, generation: page.generation, page: now };
                    at += 1;
                }
            }
        }
        self.buffers[usize::from(buffer)].version = version;
        self.buffers[usize::from(buffer)].len = at;
    }

    /// The pages of an operand at the time the operation runs: with the addresses that its index buffer holds.
    pub(crate) fn at_run(&self, program: &Program, one: &Captured) -> Result<capture::Captures, Violation> {
        let At::Buffer(buffer) = one.operand.at else { return Ok(one.pages.clone().unwrap_or_default()) };
        self.check_version(program, buffer, one.version)?;
        let offset = usize::from(program.buffers[usize::from(buffer)].offset);
        let held = &self.refs[offset..offset + usize::from(self.buffers[usize::from(buffer)].len)];
        let state = &self.arenas[usize::from(one.operand.arena)];
        Ok(match &one.pages {
            Some(pages) => {
                let addressed = pages.iter().zip(held);
                addressed.map(|(page, address)| capture_at(*page, address.page)).collect()
            }
            None => {
                let to = usize::from(one.operand.to).min(held.len());
                let from = usize::from(one.operand.from).min(to);
                let all = held[from..to].iter();
                all.map(|address| super::Capture {
                    id: address.id,
                    generation: address.generation,
                    page: address.page,
                    expect: state.ids[state.id_at(one.operand.band, address.id)].issued,
                    valid: state.valid(one.operand.band, address.id, address.generation),
                })
                .collect()
            }
        })
    }

    /// Runs a kernel, an RDMA access or a transfer.
    fn run_access(
        &mut self,
        program: &Program,
        agent: u8,
        pc: Pc,
        payload: &[u8],
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let by = match program.agents[usize::from(agent)].kind {
            AgentKind::Rdma => {
                effects.mark(Mark::RdmaAccess);
                By::Rdma
            }
            _ => By::Stream,
        };
        let mut all = SmallVec::new();
        let op = &program.code[usize::from(pc)].op;
        let result = match op {
            Op::Read { pages, tokens } => {
                capture::unpack(pages, payload, &mut all);
                self.read_all(program, &all, *tokens, by, effects)
            }
            Op::Write { pages, value, tokens } => {
                capture::unpack(pages, payload, &mut all);
                self.write_all(program, &all, (*value, *tokens), by, effects)
            }
            Op::Transfer { from, to, .. } => {
                let rest = capture::unpack(from, &payload[1..], &mut all);
                let mut target = SmallVec::new();
                capture::unpack(to, rest, &mut target);
                self.run_transfer(program, pc, (&all, &target), payload[0], by, effects)
            }
            _ => Ok(()),
        };
        if result.is_ok() && op.operands().any(|operand| matches!(operand.at, At::Buffer(_))) {
            effects.mark(Mark::IndexRead);
        }
        result
    }

    pub(crate) fn read_all(
        &mut self,
        program: &Program,
        all: &[Captured],
        tokens: u8,
        by: By,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        for one in all {
            for page in self.at_run(program, one)? {
                let access = Access { by, tokens, ..Access::of(&one.operand, &page) };
                self.read_page(program, access, effects)?;
            }
        }
        Ok(())
    }

    pub(crate) fn write_all(
        &mut self,
        program: &Program,
        all: &[Captured],
        (mut value, tokens): (u16, u8),
        by: By,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        for one in all {
            let parts = program.arenas[usize::from(one.operand.arena)].parts(one.operand.band) as u16;
            for page in self.at_run(program, one)? {
                let access = Access { value, valid: 0, by, tokens, ..Access::of(&one.operand, &page) };
                self.write_page(program, access, effects)?;
                value += parts;
            }
        }
        Ok(())
    }
}

fn capture_at(page: super::Capture, address: u16) -> super::Capture {
    super::Capture { page: if page.page == FROM_BUFFER { address } else { page.page }, ..page }
}

/// The pages that an entry carries.
pub(crate) fn captured(program: &Program, entry: &Entry<'_>) -> SmallVec<[Captured; 2]> {
    let mut all = SmallVec::new();
    match &program.code[usize::from(entry.pc)].op {
        Op::Read { pages, .. } | Op::Write { pages, .. } => {
            capture::unpack(pages, entry.payload, &mut all);
        }
        Op::Transfer { from, to, .. } if entry.payload.len() > 1 => {
            let rest = capture::unpack(from, &entry.payload[1..], &mut all);
            capture::unpack(to, rest, &mut all);
        }
        _ => {}
    }
    all
}

/// A queued move of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueuedMove {
    pub(crate) band: u8,
    pub(crate) id: u8,
    pub(crate) from: u16,
    pub(crate) to: u16,
}

/// The moves that an entry carries, and their arena.
pub(crate) fn moves<'a>(
    program: &Program,
    entry: &Entry<'a>,
) -> Option<(u8, impl Iterator<Item = QueuedMove> + use<'a>)> {
    let (Op::Alloc { arena, .. } | Op::Compact { arena } | Op::Flush { arena, .. }) =
        program.code[usize::from(entry.pc)].op
    else {
        return None;
    };
    let payload = entry.payload;
    Some((
        arena,
        payload.chunks_exact(6).map(|step| QueuedMove {
            band: step[0],
            id: step[1],
            from: u16::from_le_bytes([step[2], step[3]]),
            to: u16::from_le_bytes([step[4], step[5]]),
        }),
    ))
}
