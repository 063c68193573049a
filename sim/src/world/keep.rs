//! What is kept of pages beside their place: references, the cache and its evictions, valid lengths, mappings.

use super::access::{NOTHING, UNMAPPED};
use super::{ArenaState, Effects, Kept, World};
use crate::invariants::{self, Violation};
use crate::marks::Mark;
use crate::program::{Class, Operand, Program};
use leasecheck_core::{Admission, Arena, BandId, Ids, LogicalPage, Request, Rule};
use std::ops::Range;

impl ArenaState {
    pub(crate) fn kept(&self, band: u8, id: u8) -> Kept {
        // Whether anything is kept is the program's business, not the state's.
        if self.kept.peek().is_empty() { Kept::default() } else { self.kept[self.id_at(band, id)] }
    }

    /// How many tokens of a page hold what was written; all, if 0.
    pub(crate) fn valid(&self, band: u8, id: u8, generation: u8) -> u8 {
        let kept = self.kept(band, id).valid;
        if kept > 0 && self.generation(band, id) == generation { kept } else { 0 }
    }

    pub(crate) fn keep(&mut self, band: u8, id: u8, kept: Kept) {
        if !self.kept.peek().is_empty() {
            let at = self.id_at(band, id);
            self.kept[at] = kept;
        }
    }
}

/// Gives a page of the cache back: the id with it, where the band owns its ids.
fn give_back(arena: &mut Arena, band: BandId, id: LogicalPage) -> bool {
    match arena.config().bands[usize::from(band.0)].ids {
        Ids::Own => arena.free(band, &[id], None).is_ok(),
        Ids::Of(_) => arena.tombstone(band, &[id], None).is_ok(),
    }
}

impl World {
    pub(crate) fn share(
        &mut self,
        program: &Program,
        operands: &[Operand],
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let share = |kept: &mut Kept| kept.references = kept.references.saturating_add(1);
        self.keep_all(program, operands, (ArenaState::owner, Mark::Shared), share, effects)
    }

    pub(crate) fn cache(
        &mut self,
        program: &Program,
        operands: &[Operand],
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let cache = |kept: &mut Kept| kept.cached = true;
        self.keep_all(program, operands, (|_, band| band, Mark::Cached), cache, effects)
    }

    /// Changes what is kept of pages, which must be live, in the band that `of` names.
    fn keep_all(
        &mut self,
        program: &Program,
        operands: &[Operand],
        (of, mark): (fn(&ArenaState, u8) -> u8, Mark),
        change: impl Fn(&mut Kept),
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        for operand in operands {
            for id in self.ids_of(program, operand).unwrap_or_default() {
                let state = &mut self.arenas[usize::from(operand.arena)];
                if !state.alive(operand.band, id.id, id.generation) {
                    return Err(invariants::use_after_free::id_is_dead(program, operand, id.id));
                }
                let band = of(state, operand.band);
                let mut kept = state.kept(band, id.id);
                change(&mut kept);
                state.keep(band, id.id, kept);
                effects.mark(mark);
            }
        }
        Ok(())
    }

    /// Cached pages of a band, lowest id first, and whether something holds each.
    fn candidates(&self, arena: u8, band: BandId) -> impl Iterator<Item = (LogicalPage, bool)> + '_ {
        let state = &self.arenas[usize::from(arena)];
        state.arena.placements(band).filter_map(move |(id, _)| {
            let (owner, at) = (state.owner(band.0), id.0 as u8);
            let held = state.ids[state.id_at(owner, at)].pins > 0 || state.kept(owner, at).references > 0;
            state.kept(band.0, at).cached.then_some((id, held))
        })
    }

    /// Pages that the design would evict, band after band in this order.
    fn victims(
        &self,
        program: &Program,
        arena: u8,
        bands: &[BandId],
        effects: &mut Effects,
    ) -> Vec<(BandId, LogicalPage)> {
        let passes = program.rules.on(Rule::EvictionPassesOverHeld);
        let mut victims = Vec::new();
        for band in bands {
            for (id, held) in self.candidates(arena, *band) {
                if !held {
                    victims.push((*band, id));
                } else if passes {
                    effects.mark(Mark::PassedOver);
                } else {
                    break;
                }
            }
        }
        victims
    }

    /// Bands in the order in which an allocation of these pages evicts: those that it is about, then the donors.
    fn eviction_order(&self, program: &Program, arena: u8, requests: &[Request]) -> Vec<BandId> {
        let mut order: Vec<BandId> = Vec::new();
        let wanted = requests.iter().filter(|request| request.pages > 0).map(|request| request.band);
        let all = self.arenas[usize::from(arena)].arena.bands().map(|(band, _)| band);
        let donors = all.filter(|_| program.rules.on(Rule::EvictionFindsDonors));
        for band in wanted.chain(donors) {
            if !order.contains(&band) {
                order.push(band);
            }
        }
        order
    }

    /// Evicts the fewest pages after which the design admits the request; none, if all of them would not help.
    pub(crate) fn evict_for(
        &mut self,
        program: &Program,
        arena: u8,
        requests: &[Request],
        effects: &mut Effects,
    ) -> Option<Admission> {
        let admits = |world: &World, trial: &Arena| {
            Some(world.admission_in(program, arena, trial, requests)).filter(|admission| admission.admitted())
        };
        self.evict_until(program, arena, requests, admits, effects)
    }

    /// Evicts the fewest pages after which a binding, which moves nothing, finds room; none, if all would not help.
    pub(crate) fn evict_for_binding(&mut self, program: &Program, arena: u8, request: Request, effects: &mut Effects) {
        let room = |_: &World, trial: &Arena| (trial.available_now(request.band) >= request.pages).then_some(());
        self.evict_until(program, arena, &[request], room, effects);
    }

    /// Evicts the fewest pages after which `fits` has an answer; none, if all of them would not help.
    fn evict_until<T>(
        &mut self,
        program: &Program,
        arena: u8,
        requests: &[Request],
        fits: impl Fn(&World, &Arena) -> Option<T>,
        effects: &mut Effects,
    ) -> Option<T> {
        if !program.keeps || !program.rules.on(Rule::EveryPathEvicts) {
            return None;
        }
        let order = self.eviction_order(program, arena, requests);
        let victims = self.victims(program, arena, &order, effects);
        let mut trial = Arena::clone(&self.arenas[usize::from(arena)].arena);
        for (nth, (band, id)) in victims.iter().enumerate() {
            give_back(&mut trial, *band, *id);
            let Some(answer) = fits(self, &trial) else { continue };
            for (band, id) in &victims[..=nth] {
                let own = requests.iter().any(|request| request.band == *band);
                self.evict_page(arena, *band, *id);
                effects.mark(if own { Mark::Evicted } else { Mark::DonorEvicted });
            }
            return Some(answer);
        }
        None
    }

    fn evict_page(&mut self, arena: u8, band: BandId, id: LogicalPage) {
        let state = &mut self.arenas[usize::from(arena)];
        give_back(&mut state.arena, band, id);
        state.memo.fill(u8::MAX);
        state.forget(band.0, id.0 as u8);
    }

    /// The arena with everything evicted that nothing holds: what an allocation could count on.
    pub(crate) fn with_all_evicted(&self, program: &Program, arena: u8) -> Option<Arena> {
        if !program.keeps {
            return None;
        }
        let mut evicted = Arena::clone(&self.arenas[usize::from(arena)].arena);
        let bands: Vec<BandId> = evicted.bands().map(|(band, _)| band).collect();
        for band in bands {
            for (id, _) in self.candidates(arena, band).filter(|(_, held)| !held) {
                give_back(&mut evicted, band, id);
            }
        }
        Some(evicted)
    }

    /// Evicts up to so many pages of a band.
    pub(crate) fn evict(
        &mut self,
        program: &Program,
        (arena, band): (u8, u8),
        pages: u8,
        effects: &mut Effects,
    ) -> Result<i16, Violation> {
        let could = self.candidates(arena, BandId(band)).filter(|(_, held)| !held).count().min(pages.into());
        let mut victims = self.victims(program, arena, &[BandId(band)], effects);
        victims.truncate(pages.into());
        for (band, id) in &victims {
            self.evict_page(arena, *band, *id);
            effects.mark(Mark::Evicted);
        }
        invariants::structure(self, program, arena)?;
        if victims.len() < could {
            return Err(invariants::admission::gave_up(program, arena, band, victims.len(), could));
        }
        Ok(victims.len() as i16)
    }

    pub(crate) fn count_class(&self, class: Class, arena: u8, band: u8) -> i16 {
        let state = &self.arenas[usize::from(arena)];
        let at = BandId(band);
        let live = |test: &dyn Fn(u8) -> bool| state.arena.placements(at).filter(|(id, _)| test(id.0 as u8)).count();
        let count = match class {
            Class::Live => live(&|id| !state.kept(band, id).cached),
            Class::Cached => live(&|id| state.kept(band, id).cached),
            Class::Pinned => live(&|id| state.ids[state.id_at(state.owner(band), id)].pins > 0),
            Class::Pending => state.arena.pending_pages(at) as usize,
            Class::Holes => state.arena.holes(at) as usize,
        };
        count as i16
    }

    /// Takes the mapping of pages' bytes away, where they are now.
    pub(crate) fn unmap(
        &mut self,
        program: &Program,
        operands: &[Operand],
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        for (operand, id, cells) in self.bytes_of(program, operands)? {
            let state = &mut self.arenas[usize::from(operand.arena)];
            if state.cells[cells.clone()].iter().any(|cell| cell.who == UNMAPPED.who) {
                return Err(invariants::unmapped::twice(program, &operand, id));
            }
            state.cells[cells].fill(UNMAPPED);
            effects.mark(Mark::Unmapped);
        }
        Ok(())
    }

    pub(crate) fn map(
        &mut self,
        program: &Program,
        operands: &[Operand],
        only: Option<u8>,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let pages = self.bytes_of(program, operands)?;
        for (operand, _, cells) in pages.into_iter().take(only.map_or(usize::MAX, usize::from)) {
            for cell in &mut self.arenas[usize::from(operand.arena)].cells[cells] {
                if cell.who == UNMAPPED.who {
                    *cell = NOTHING;
                    effects.mark(Mark::Remapped);
                }
            }
        }
        Ok(())
    }

    /// The cells of pages, where they are now.
    fn bytes_of(&self, program: &Program, operands: &[Operand]) -> Result<Vec<(Operand, u8, Range<usize>)>, Violation> {
        let mut bytes = Vec::new();
        for one in self.capture_all(program, operands)? {
            let state = &self.arenas[usize::from(one.operand.arena)];
            let pages = one.pages.iter().flatten();
            bytes.extend(pages.filter_map(|page| {
                let cells = state.cells_of(program, one.operand.arena, one.operand.band, page.page)?;
                Some((one.operand, page.id, cells))
            }));
        }
        Ok(bytes)
    }
}
