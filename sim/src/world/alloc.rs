//! Allocating and compacting: the steps that ask core's arena and lease table, and wait where they say.

use super::access::ZEROES;
use super::queue::entries;
use super::{ArenaState, Cell, Effects, Kept, Note, Object, PageRef, World, who};
use crate::invariants::{self, Violation};
use crate::marks::Mark;
use crate::program::{Op, Program};
use leasecheck_core::{
    Admission, BandId, EventKey, Grow, HolderId, Ids, LeaseError, LogicalPage, Move, Outcome, Plan, Request, Rule,
    Rules,
};
use smallvec::SmallVec;

/// Phase of a step that waits to move pages.
const WAITING: u8 = 1;
/// The same, after something has woken it; used where completions do not wake waiters.
pub(super) const WOKEN: u8 = 2;
/// Added to the phase when another thread changed the arena while this one waited.
const CHANGED: u8 = 4;

pub(super) fn requests_of(requests: &[(u8, u32)]) -> SmallVec<[Request; 4]> {
    requests.iter().map(|(band, pages)| Request { band: BandId(*band), pages: *pages }).collect()
}

impl ArenaState {
    /// A page has been handed out: nothing of what was kept of the id is left, and its bytes are zeroed where the arena
    /// does that.
    pub(crate) fn handed_out(&mut self, program: &Program, arena: u8, band: u8, id: u8) {
        self.keep(band, id, Kept::default());
        if !program.arenas[usize::from(arena)].zeroed || !program.rules.on(Rule::ZeroedOnHandOut) {
            return;
        }
        let page = self.arena.translate(BandId(band), LogicalPage(id.into()));
        let Some(cells) = page.and_then(|page| self.cells_of(program, arena, band, page.0 as u16)) else { return };
        let who = who(band, id, self.generation(band, id));
        self.cells[cells].fill(Cell { who, value: ZEROES });
    }

    /// The id has no page in the band any more, nor in those that bind it.
    pub(crate) fn forget(&mut self, band: u8, id: u8) {
        for other in 0..self.offsets.len() as u8 {
            if other == band || self.owner(other) == band {
                let at = self.id_at(other, id);
                self.ids[at].issued = 0;
                self.keep(other, id, Kept::default());
            }
        }
        if self.owner(band) == band {
            let at = self.id_at(band, id);
            self.ids[at].pins = 0;
        }
    }
}

/// The slots of the threads that could be inside an allocation, compaction or clear of the arena.
pub(super) fn allocators(program: &Program, arena: u8) -> impl Iterator<Item = usize> {
    program.uses.arenas[usize::from(arena)].allocators.iter().map(|slot| usize::from(*slot))
}

impl World {
    pub(crate) fn allocate(
        &mut self,
        program: &Program,
        slot: usize,
        holder: HolderId,
        op: &Op,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let (Op::Alloc { arena, .. } | Op::Compact { arena } | Op::Clear { arena, .. }) = op else { return Ok(()) };
        let arena = *arena;
        let phase = self.threads[slot].phase;
        if phase != 0
            && let Some(event) = self.failing_wait(program, arena)
        {
            effects.mark(Mark::WaitFailed);
            effects.say(|| {
                format!("waiting for `{}` fails; the compaction is given up", program.events[usize::from(event)])
            });
            self.events[usize::from(event)].wait_fails = false;
            self.arenas[usize::from(arena)].leases.wait_failed(holder);
            return self.give_up(program, slot, op, effects);
        }
        let requests = match op {
            Op::Alloc { requests, .. } => requests_of(requests),
            _ => SmallVec::new(),
        };
        let admission = if matches!(op, Op::Alloc { .. }) {
            let blind = phase != 0 && !program.rules.on(Rule::CompactionRechecksPlan);
            if blind { Admission::FitsPacked } else { self.admission(program, arena, &requests) }
        } else {
            Admission::FitsPacked
        };
        let admission = match admission {
            Admission::Refused(_) => self.evict_for(program, arena, &requests, effects).unwrap_or(admission),
            admission => admission,
        };
        if phase & CHANGED != 0 {
            effects.mark(Mark::WokeToChange);
        }
        match admission {
            Admission::FitsNow => {
                if phase != 0 {
                    self.end_compaction(program, arena, holder, effects);
                }
                self.hand_out(program, slot, op, effects)
            }
            // A design that allocates band after band finds out on the way.
            Admission::Refused(_) if !program.rules.on(Rule::AllocAllOrNothing) => {
                self.hand_out(program, slot, op, effects)
            }
            Admission::Refused(refusal) => {
                if phase != 0 {
                    effects.mark(Mark::WokeToNoRoom);
                    self.end_compaction(program, arena, holder, effects);
                }
                if matches!(op, Op::Alloc { waits: false, .. }) {
                    effects.mark(Mark::AllocRefused);
                }
                invariants::admission::refused(self, program, arena, &requests)?;
                let others = requests.iter().any(|request| request.pages > 0 && request.band != requests[0].band);
                if others && self.admission(program, arena, &requests[..1]).admitted() {
                    effects.mark(Mark::SecondBandRefused);
                }
                effects.say(|| format!("refused: {refusal}"));
                self.give_up(program, slot, op, effects)
            }
            Admission::FitsPacked => {
                effects.mark(Mark::NeededCompaction);
                let leases = &mut self.arenas[usize::from(arena)].leases;
                let waits_for_lease = leases.holders().next().is_some();
                let outcome = leases.request_compaction(holder);
                if leases.waiting().len() > 1 {
                    effects.mark(Mark::TwoCompactionsWaited);
                }
                match outcome {
                    Outcome::Refused(LeaseError::OwnLease(_) | LeaseError::NotHeld(_)) => {
                        effects.mark(Mark::RefusedOwnLease);
                        effects.say(|| "refused: it would have to move pages under a lease of its own".to_owned());
                        if matches!(op, Op::Alloc { waits: true, .. }) {
                            return Err(invariants::check::alloc_refused(program, self.threads[slot].pc));
                        }
                        self.give_up(program, slot, op, effects)
                    }
                    Outcome::MustWait => {
                        effects.mark(if waits_for_lease { Mark::WaitedForLease } else { Mark::WaitedForEvent });
                        self.threads[slot].phase = WAITING;
                        Ok(())
                    }
                    Outcome::Granted => {
                        effects.note(Note::Acquire(Object::Layout(arena)));
                        self.compact(program, slot, arena, op, effects)?;
                        self.end_compaction(program, arena, holder, effects);
                        self.hand_out(program, slot, op, effects)
                    }
                }
            }
        }
    }

    /// The allocation, compaction or clear does not happen.
    fn give_up(&mut self, program: &Program, slot: usize, op: &Op, effects: &mut Effects) -> Result<(), Violation> {
        if let Op::Alloc { waits: true, .. } = op {
            self.threads[slot].phase = 0;
            return Ok(());
        }
        if let Op::Alloc { into, tried, .. } = op {
            effects.mark(Mark::AllocRefused);
            if !tried {
                return Err(invariants::check::alloc_refused(program, self.threads[slot].pc));
            }
            for var in into {
                self.set_pages(program, *var, &[], 0);
                effects.note(Note::Release(Object::Var(*var)));
            }
        }
        self.advance(program, slot);
        Ok(())
    }

    fn end_compaction(&mut self, program: &Program, arena: u8, holder: HolderId, effects: &mut Effects) {
        self.mark_held_back(program, arena, effects);
        self.arenas[usize::from(arena)].leases.end_compaction(holder);
        effects.note(Note::Release(Object::Layout(arena)));
        self.wake(program, arena);
    }

    /// Notes whether a thread stands before a lease of the arena that the ending compaction has kept from it.
    fn mark_held_back(&self, program: &Program, arena: u8, effects: &mut Effects) {
        let leases = &self.arenas[usize::from(arena)].leases;
        let held_back = program.uses.arenas[usize::from(arena)].leasers.iter().any(|slot| {
            let thread = &self.threads[usize::from(*slot)];
            program.code.get(usize::from(thread.pc)).is_some_and(|instr| {
                matches!(&instr.op, Op::LeaseAcquire { arenas, .. } if arenas.contains(&arena))
                    && !leases.may_acquire(HolderId(instr.thread.into()))
            })
        });
        if held_back {
            effects.mark(Mark::LeaseHeldBack);
        }
    }

    /// Wakes those who wait for the arena's leases (which matters only where completions do not).
    pub(crate) fn wake(&mut self, program: &Program, arena: u8) {
        if program.rules.on(Rule::CompletionWakesWaiters) {
            return;
        }
        for slot in allocators(program, arena) {
            let thread = &self.threads[slot];
            let op = program.code.get(usize::from(thread.pc)).map(|instr| &instr.op);
            if thread.phase & WAITING != 0
                && matches!(op, Some(Op::Alloc { arena: at, .. } | Op::Compact { arena: at } | Op::Clear { arena: at, .. }) if *at == arena)
            {
                self.threads[slot].phase |= WOKEN;
            }
        }
    }

    /// Whether the thread sleeps although what it waits for has come.
    pub(crate) fn sleeps_through(&self, program: &Program, slot: usize) -> bool {
        let thread = &self.threads[slot];
        let op = program.code.get(usize::from(thread.pc)).map(|instr| &instr.op);
        thread.phase & (WAITING | WOKEN) == WAITING
            && matches!(op, Some(Op::Alloc { arena, .. } | Op::Compact { arena } | Op::Clear { arena, .. }) if self.drained(*arena))
    }

    /// Moves pages so that holes close; a `clear` moves none and gives its band back.
    fn compact(
        &mut self,
        program: &Program,
        slot: usize,
        arena: u8,
        op: &Op,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        if let Op::Clear { band, .. } = op {
            invariants::moved_under_lease::check(self, program, arena, &[])?;
            let state = &mut self.arenas[usize::from(arena)];
            state.arena.clear(BandId(*band));
            state.memo.fill(u8::MAX);
            effects.mark(Mark::Freed);
            return Ok(());
        }
        if *self.flags != 0 {
            let bands = program.arenas[usize::from(arena)].config.bands.len() as u8;
            let held = (0..bands).filter(|band| self.held_from_making_room(program, arena, *band)).count();
            if held > 0 {
                effects.mark(Mark::GateHeld);
            }
            if held == usize::from(bands) {
                return Ok(());
            }
        }
        self.mark_pins(program, arena, effects);
        let state = &self.arenas[usize::from(arena)].arena;
        let plan = if let Op::Alloc { requests, .. } = op {
            state.plan_for(&requests_of(requests), &|band, id| {
                !self.held_from_making_room(program, arena, band.0) && self.movable(program, arena, band, id)
            })
        } else {
            state.plan(&|band, id| !self.held_by_gate(program, arena, band.0) && self.movable(program, arena, band, id))
        };
        let float = |step: &Move| state.config().bands[usize::from(step.band.0)].grow == Grow::Float;
        if state.is_chain() && matches!(op, Op::Alloc { .. }) && plan.moves().iter().any(float) {
            effects.mark(Mark::MadeRoom);
        }
        let stream = program.arenas[usize::from(arena)].moves_on;
        self.carry_out(program, arena, &plan, &[], stream.map(|stream| (stream, self.threads[slot].pc)), effects)
    }

    /// Notes whether a pin keeps a page where it is.
    pub(crate) fn mark_pins(&self, program: &Program, arena: u8, effects: &mut Effects) {
        let state = &self.arenas[usize::from(arena)].arena;
        let held = |band: BandId| state.placements(band).any(|(id, _)| !self.movable(program, arena, band, id));
        if state.bands().any(|(band, _)| state.holes(band) > 0 && held(band)) {
            effects.mark(Mark::PinHeld);
        }
    }

    /// Executes a plan: on the host now, or as an operation of a stream.
    pub(crate) fn carry_out(
        &mut self,
        program: &Program,
        arena: u8,
        plan: &Plan,
        pend: &[EventKey],
        stream: Option<(u8, u16)>,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        if plan.moves().is_empty() {
            return Ok(());
        }
        effects.mark(Mark::Compacted);
        if *self.flags != 0 && self.closed_gate(program, arena).is_none() {
            effects.mark(Mark::MovedPastOpenGate);
        }
        invariants::moved_under_lease::check(self, program, arena, plan.moves())?;
        if let Some(event) = pend.first() {
            effects.mark(Mark::Pending);
            let shared = |band| self.arenas[usize::from(arena)].arena.pending(band).any(|(_, key)| key == *event);
            if self.arenas[usize::from(arena)].arena.bands().any(|(band, _)| shared(band)) {
                effects.mark(Mark::SharedEvent);
            }
        }
        let mut payload: SmallVec<[u8; 64]> = SmallVec::new();
        for step in plan.moves() {
            let (band, id, from, to) = (step.band.0, step.id.0 as u8, step.from.0 as u16, step.to.0 as u16);
            if stream.is_some() {
                payload.extend([band, id]);
                payload.extend(from.to_le_bytes());
                payload.extend(to.to_le_bytes());
            } else {
                self.move_page(program, arena, band, from, to);
                effects.note(Note::Moved { arena, band, id, from, to });
            }
        }
        if let Some((queue, pc)) = stream {
            effects.note(Note::Queued(queue + program.threads as u8));
            self.enqueue(queue, pc, &payload);
        }
        let state = &mut self.arenas[usize::from(arena)];
        state.arena.commit(plan, pend.first().copied());
        for event in pend.iter().skip(1) {
            for step in plan.moves() {
                state.arena.await_also(step.band, &[step.from], *event);
            }
            effects.mark(Mark::PendingOnSeveral);
        }
        state.memo.fill(u8::MAX);
        invariants::structure(self, program, arena)?;
        if stream.is_none() {
            let moved = plan.moves().iter().map(|step| (step.band.0, step.id.0 as u8, step.to.0 as u16));
            invariants::content::after_moves(self, program, arena, moved)?;
        }
        Ok(())
    }

    /// The allocation happens.
    fn hand_out(&mut self, program: &Program, slot: usize, op: &Op, effects: &mut Effects) -> Result<(), Violation> {
        let Op::Alloc { arena, requests, into, .. } = op else {
            self.advance(program, slot);
            return Ok(());
        };
        let arena = *arena;
        let requests = requests_of(requests);
        let state = &self.arenas[usize::from(arena)].arena;
        let holes: u32 = state.bands().map(|(band, _)| state.holes(band)).sum();
        // With every rule on, nothing that was admitted fails half-way; that it fails at all is a violation below.
        let before = (program.rules != Rules::all()).then(|| state.clone());
        let granted = match self.arenas[usize::from(arena)].arena.allocate(&requests) {
            Ok(granted) => granted,
            Err(refusal) => {
                if let Some(before) = before {
                    invariants::not_atomic::check(self, program, arena, &before)?;
                }
                if !program.rules.on(Rule::AllocAllOrNothing) {
                    return self.give_up(program, slot, op, effects);
                }
                return Err(invariants::admission::promised(program, self.threads[slot].pc, refusal));
            }
        };
        effects.mark(Mark::Allocated);
        if requests.iter().filter(|request| request.pages > 0).count() > 1 {
            effects.mark(Mark::BothEnds);
        }
        let state = &mut self.arenas[usize::from(arena)];
        state.memo.fill(u8::MAX);
        if state.arena.bands().map(|(band, _)| state.arena.holes(band)).sum::<u32>() < holes {
            effects.mark(Mark::HoleReused);
        }
        let mut names = into.iter();
        for (request, ids) in requests.iter().zip(&granted) {
            let owns = state.arena.config().bands[usize::from(request.band.0)].ids == Ids::Own;
            let mut pages: SmallVec<[PageRef; 8]> = SmallVec::new();
            for id in ids {
                let at = state.id_at(request.band.0, id.0 as u8);
                let page = state.arena.translate(request.band, *id).map_or(0, |page| page.0 as u16);
                let entry = &mut state.ids[at];
                if owns {
                    if entry.generation > 0 {
                        effects.marks.set(Mark::Reused);
                    }
                    entry.generation = (entry.generation + 1) & 0x3f;
                }
                entry.issued = 0;
                entry.unbound = 0;
                entry.born = page;
                pages.push(PageRef { id: id.0 as u8, generation: entry.generation, page: 0 });
            }
            for id in ids {
                state.handed_out(program, arena, request.band.0, id.0 as u8);
            }
            if owns && let Some(var) = names.next() {
                self.vars[usize::from(*var)] = pages.len() as i16;
                let offset = usize::from(program.vars[usize::from(*var)].offset);
                self.refs[offset..offset + pages.len()].copy_from_slice(&pages);
                effects.note(Note::Release(Object::Var(*var)));
            }
        }
        self.changed_while_waiting(program, slot, arena);
        invariants::structure(self, program, arena)?;
        self.advance(program, slot);
        Ok(())
    }

    /// Tells those who wait to move pages of the arena that it has changed.
    fn changed_while_waiting(&mut self, program: &Program, slot: usize, arena: u8) {
        for other in allocators(program, arena).filter(|other| *other != slot) {
            let thread = &self.threads[other];
            let op = program.code.get(usize::from(thread.pc)).map(|instr| &instr.op);
            if thread.phase != 0 && matches!(op, Some(Op::Alloc { arena: at, .. }) if *at == arena) {
                self.threads[other].phase |= CHANGED;
            }
        }
    }

    /// How many operations wait in a queue.
    #[must_use]
    pub fn queued(&self, program: &Program, agent: u8) -> usize {
        entries(&self.queues[World::queue_slot(program, agent)]).count()
    }
}
