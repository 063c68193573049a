//! Giving back: frees, references, and pins.

use super::{Effects, Kept, PageRef, World};
use crate::invariants::{self, Violation};
use crate::marks::Mark;
use crate::program::{Operand, Program};
use leasecheck_core::{BandId, EventKey, LogicalPage, PhysicalPage, Rule};
use smallvec::SmallVec;

impl World {
    pub(crate) fn free(
        &mut self,
        program: &Program,
        operands: &[Operand],
        on: &[u8],
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        for operand in operands {
            let Some(mut ids) = self.ids_of(program, operand) else { continue };
            let (arena, band) = (operand.arena, operand.band);
            self.give_references_back(program, (arena, band), &mut ids, effects);
            let state = &self.arenas[usize::from(arena)];
            let stale = ids.iter().find(|id| !state.alive(band, id.id, id.generation));
            let logical: SmallVec<[LogicalPage; 8]> = ids.iter().map(|id| LogicalPage(id.id.into())).collect();
            if !effects.marks.has(Mark::FreedInFlight)
                && ids.iter().any(|id| self.in_flight(program, arena, band, id.id, id.generation))
            {
                effects.mark(Mark::FreedInFlight);
            }
            let after = self.outstanding_events(program, on);
            let places = self.places_of(arena, band, &ids, after.len() > 1);
            let state = &mut self.arenas[usize::from(arena)];
            let result = match stale {
                Some(stale) => Err(stale.id),
                None => {
                    state.arena.free(BandId(band), &logical, after.first().copied()).map_err(|_| logical[0].0 as u8)
                }
            };
            if let Err(id) = result {
                if !program.rules.on(Rule::FreesAreChecked) {
                    return Err(invariants::double_free::freed(program, operand, id));
                }
                effects.mark(Mark::FreeRefused);
                effects.say(|| format!("refused: page {id} is not live"));
                continue;
            }
            if !ids.is_empty() {
                effects.mark(Mark::Freed);
            }
            if !after.is_empty() {
                effects.mark(Mark::Pending);
            }
            for event in after.iter().skip(1) {
                effects.mark(Mark::PendingOnSeveral);
                places.iter().for_each(|(band, page)| state.arena.await_also(*band, &[*page], *event));
            }
            state.memo.fill(u8::MAX);
            for id in &ids {
                state.forget(band, id.id);
            }
            invariants::structure(self, program, arena)?;
        }
        Ok(())
    }

    /// The events of these that have not completed.
    pub(crate) fn outstanding_events(&self, program: &Program, on: &[u8]) -> SmallVec<[EventKey; 4]> {
        let outstanding = on.iter().filter(|event| !self.complete(program, **event));
        outstanding.map(|event| EventKey((*event).into())).collect()
    }

    /// Where these ids have pages, in their band and in those that bind its ids; nothing if that does not matter.
    fn places_of(&self, arena: u8, band: u8, ids: &[PageRef], matters: bool) -> Vec<(BandId, PhysicalPage)> {
        let state = &self.arenas[usize::from(arena)];
        let bands =
            state.arena.bands().map(|(other, _)| other).filter(|other| state.owner(other.0) == state.owner(band));
        let places = |other: BandId| {
            let pages = ids.iter().filter_map(move |id| state.arena.translate(other, LogicalPage(id.id.into())));
            pages.map(move |page| (other, page))
        };
        if matters { bands.flat_map(places).collect() } else { Vec::new() }
    }

    /// Gives one reference to each page back, and leaves those that are given back for good.
    fn give_references_back(
        &mut self,
        program: &Program,
        (arena, band): (u8, u8),
        ids: &mut SmallVec<[PageRef; 8]>,
        effects: &mut Effects,
    ) {
        if !program.keeps || !program.rules.on(Rule::FreesCountReferences) {
            return;
        }
        let state = &mut self.arenas[usize::from(arena)];
        let owner = state.owner(band);
        ids.retain(|id| {
            let kept = state.kept(owner, id.id);
            if kept.references == 0 || !state.alive(band, id.id, id.generation) {
                return true;
            }
            state.keep(owner, id.id, Kept { references: kept.references - 1, ..kept });
            effects.mark(Mark::ReferenceGivenBack);
            false
        });
    }

    pub(crate) fn pin(&mut self, program: &Program, operands: &[Operand], up: bool) -> Result<(), Violation> {
        for operand in operands {
            for id in self.ids_of(program, operand).unwrap_or_default() {
                let state = &mut self.arenas[usize::from(operand.arena)];
                let at = state.id_at(state.owner(operand.band), id.id);
                if !up && state.ids[at].pins == 0 && state.alive(operand.band, id.id, id.generation) {
                    return Err(invariants::double_free::unpinned(program, operand, id.id));
                }
                let pins = &mut state.ids[at].pins;
                *pins = if up { pins.saturating_add(1) } else { pins.saturating_sub(1) };
            }
        }
        Ok(())
    }
}
