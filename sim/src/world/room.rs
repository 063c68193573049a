//! Who may allocate, what may move, and whether there is room: the questions before any page changes hands.

use super::alloc::{WOKEN, allocators, requests_of};
use super::{Effects, World};
use crate::assumptions::Assumption;
use crate::invariants::{self, Violation};
use crate::marks::Mark;
use crate::program::{Op, Program};
use leasecheck_core::{Admission, Arena, BandId, Grow, LogicalPage, Request, Rule};
use smallvec::SmallVec;

impl World {
    /// Whether a thread inside an allocation, compaction or clear of the arena can go on (or begin).
    pub(crate) fn can_allocate(&self, program: &Program, slot: usize, arena: u8) -> bool {
        let phase = self.threads[slot].phase;
        if phase == 0 {
            if !program.assume.on(Assumption::OneAllocatingThread) {
                return true;
            }
            let inside = |other: usize| {
                let thread = &self.threads[other];
                thread.phase != 0
                    && matches!(
                        program.code.get(usize::from(thread.pc)).map(|instr| &instr.op),
                        Some(Op::Alloc { arena: at, .. } | Op::Compact { arena: at } | Op::Clear { arena: at, .. }) if *at == arena
                    )
            };
            return !allocators(program, arena).any(|other| other != slot && inside(other));
        }
        let awake = program.rules.on(Rule::CompletionWakesWaiters) || phase & WOKEN != 0;
        awake && (self.drained(arena) || self.failing_wait(program, arena).is_some())
    }

    /// Whether a compaction that waits for the arena's leases would be granted now.
    pub(crate) fn drained(&self, arena: u8) -> bool {
        self.arenas[usize::from(arena)].leases.may_compact()
    }

    /// The event whose wait is going to fail, once no lease is left to wait for first.
    pub(super) fn failing_wait(&self, program: &Program, arena: u8) -> Option<u8> {
        let leases = &self.arenas[usize::from(arena)].leases;
        if leases.holders().next().is_some() || !program.rules.on(Rule::CompactionWaitsForEvents) {
            return None;
        }
        let first = leases.events().first()?.0 as u8;
        self.events[usize::from(first)].wait_fails.then_some(first)
    }

    /// Which gate keeps the arena's pages from moving, if any, whatever the rules.
    pub(crate) fn closed_gate(&self, program: &Program, arena: u8) -> Option<usize> {
        program.arenas[usize::from(arena)].gates.closed(*self.flags)
    }

    /// Whether the gate of an arena, if it is closed, holds this band, as the design is wired.
    pub(crate) fn gated(program: &Program, arena: u8, band: u8) -> bool {
        program.rules.on(Rule::GatesReachEveryBand) || program.arenas[usize::from(arena)].gated[usize::from(band)]
    }

    /// Whether a closed gate holds the band now, as far as the design respects gates.
    pub(crate) fn held_by_gate(&self, program: &Program, arena: u8, band: u8) -> bool {
        *self.flags != 0
            && self.closed_gate(program, arena).is_some()
            && program.rules.on(Rule::CompactionRespectsGates)
            && World::gated(program, arena, band)
    }

    /// The same for a page that an allocation would move: that of a float makes room for its neighbours.
    pub(super) fn held_from_making_room(&self, program: &Program, arena: u8, band: u8) -> bool {
        let float = program.arenas[usize::from(arena)].config.bands[usize::from(band)].grow == Grow::Float;
        (!float || program.rules.on(Rule::MakeRoomRespectsGates)) && self.held_by_gate(program, arena, band)
    }

    /// Whether the design lets the page move now.
    pub(crate) fn movable(&self, program: &Program, arena: u8, band: BandId, id: LogicalPage) -> bool {
        let state = &self.arenas[usize::from(arena)];
        let pinned = state.ids[state.id_at(state.owner(band.0), id.0 as u8)].pins > 0;
        !(pinned && program.rules.on(Rule::CompactionRespectsPins))
    }

    /// What a compaction may move, as the allocator sees it.
    pub(crate) fn admission(&self, program: &Program, arena: u8, requests: &[Request]) -> Admission {
        self.admission_in(program, arena, &self.arenas[usize::from(arena)].arena, requests)
    }

    /// The same, if the arena were in that state.
    pub(crate) fn admission_in(&self, program: &Program, arena: u8, state: &Arena, requests: &[Request]) -> Admission {
        state.admission(requests, |band, id| {
            !self.held_from_making_room(program, arena, band.0) && self.movable(program, arena, band, id)
        })
    }

    /// Whether an allocation that waits for room would find it now.
    pub(crate) fn has_room(&self, program: &Program, arena: u8, requests: &[(u8, u32)]) -> bool {
        let requests = requests_of(requests);
        let evicted = || {
            let all = program.rules.on(Rule::EveryPathEvicts).then(|| self.with_all_evicted(program, arena)).flatten();
            all.is_some_and(|all| self.admission_in(program, arena, &all, &requests).admitted())
        };
        self.admission(program, arena, &requests).admitted() || evicted()
    }

    /// Asks the design whether a request would fit, and holds the answer against the truth.
    pub(crate) fn admit(
        &mut self,
        program: &Program,
        arena: u8,
        requests: &[(u8, u32)],
        effects: &mut Effects,
    ) -> Result<bool, Violation> {
        let requests = requests_of(requests);
        if self.closed_gate(program, arena).is_some() {
            effects.mark(Mark::CapacityUnderGate);
        }
        let answer = if program.rules.on(Rule::CreditOnlyRealisable) {
            let raw: SmallVec<[(u8, u32); 4]> = requests.iter().map(|one| (one.band.0, one.pages)).collect();
            self.has_room(program, arena, &raw)
        } else {
            // Holes count as capacity, whatever keeps pages from moving into them.
            self.arenas[usize::from(arena)].arena.admission(&requests, |_, _| true).admitted()
        };
        effects.mark(if answer { Mark::Admitted } else { Mark::NotAdmitted });
        invariants::admission::answered(self, program, arena, &requests, answer)?;
        if !answer && requests.len() > 1 {
            let alone = |request| self.admission(program, arena, std::slice::from_ref(request)).admitted();
            if requests.iter().all(alone) {
                effects.mark(Mark::JointlyRefused);
            }
        }
        Ok(answer)
    }

    /// Asks the design how many pages of a band could be had, from its cache if it has one.
    pub(crate) fn available(
        &mut self,
        program: &Program,
        arena: u8,
        band: u8,
        effects: &mut Effects,
    ) -> Result<i16, Violation> {
        if self.closed_gate(program, arena).is_some() {
            effects.mark(Mark::CapacityUnderGate);
        }
        let held = self.closed_gate(program, arena).is_some();
        let state = &self.arenas[usize::from(arena)];
        let truth = state.arena.available(BandId(band), |at, id| !held && self.movable(program, arena, at, id)) as i16;
        let credited = if program.rules.on(Rule::CreditOnlyRealisable) {
            truth
        } else {
            state.arena.available(BandId(band), |_, _| true) as i16
        };
        let mut answer = credited;
        if !program.rules.on(Rule::CacheKeyedByEverything) {
            let memo = &mut self.arenas[usize::from(arena)].memo[usize::from(band)];
            if *memo == u8::MAX {
                *memo = credited as u8;
            }
            answer = i16::from(*memo);
        }
        invariants::admission::capacity(program, arena, band, answer, truth)?;
        Ok(answer)
    }
}
