//! Device pools: bindings, tombstones, lazy compaction, selection of sliding-window pages, and leases of layouts.

use super::host::lease_order;
use super::{Effects, Kept, Note, Object, PageRef, World};
use crate::assumptions::Assumption;
use crate::invariants::{self, Violation};
use crate::marks::Mark;
use crate::program::{Operand, Program};
use leasecheck_core::{
    BandId, EventKey, HolderId, LogicalPage, PageError, PhysicalPage, Request, Rule, SINK, TokenIndex, select, transfer,
};
use smallvec::SmallVec;

/// A state has a byte for the depth of a holder's leases.
const MOST_LEASES: u32 = 200;

impl World {
    /// Moves a band's pages into its holes, unless something holds them still.
    pub(crate) fn flush(
        &mut self,
        program: &Program,
        (arena, band): (u8, u8),
        urgent: bool,
        on: &[u8],
        stream: Option<(u8, u16)>,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let gate = self.held_by_gate(program, arena, band);
        let leased = !self.arenas[usize::from(arena)].leases.may_compact();
        if gate || leased {
            effects.mark(if gate { Mark::GateHeld } else { Mark::WaitedForLease });
            return Ok(());
        }
        let state = &self.arenas[usize::from(arena)];
        let plan = state.arena.plan_one(BandId(band), &|at, id| self.movable(program, arena, at, id));
        self.mark_pins(program, arena, effects);
        // An urgent flush waits for the forward on the stream, so that the places it leaves can be used at once.
        let pend = if urgent { SmallVec::new() } else { self.outstanding_events(program, on) };
        self.carry_out(program, arena, &plan, &pend, stream, effects)
    }

    pub(crate) fn bind(
        &mut self,
        program: &Program,
        (arena, band): (u8, u8),
        operands: &[Operand],
        into: Option<u8>,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        if let Some(into) = into {
            self.vars[usize::from(into)] = 1;
        }
        for operand in operands {
            let ids = self.ids_of(program, operand).unwrap_or_default();
            let request = Request { band: BandId(band), pages: ids.len() as u32 };
            if self.arenas[usize::from(arena)].arena.available_now(request.band) < request.pages {
                self.evict_for_binding(program, arena, request, effects);
            }
            let state = &mut self.arenas[usize::from(arena)];
            if let Some(dead) = ids.iter().find(|id| !state.alive(operand.band, id.id, id.generation)) {
                return Err(invariants::use_after_free::id_is_dead(program, operand, dead.id));
            }
            let logical: SmallVec<[LogicalPage; 8]> = ids.iter().map(|id| LogicalPage(id.id.into())).collect();
            if let Err(error) = state.arena.bind(BandId(band), &logical) {
                if let (Some(into), PageError::Full(_)) = (into, &error) {
                    effects.mark(Mark::BindRefused);
                    invariants::admission::bind_refused(self, program, arena, band, request)?;
                    self.vars[usize::from(into)] = 0;
                    return Ok(());
                }
                let name = program.band_name(arena, band);
                return Err(invariants::check::refused(program, &format!("a binding in {name} is refused: {error}")));
            }
            for id in &logical {
                let at = state.id_at(band, id.0 as u8);
                let page = state.arena.translate(BandId(band), *id).map_or(0, |page| page.0 as u16);
                let entry = &mut state.ids[at];
                (entry.issued, entry.unbound, entry.born) = (0, 0, page);
                state.handed_out(program, arena, band, id.0 as u8);
            }
            state.memo.fill(u8::MAX);
            effects.mark(Mark::Bound);
            invariants::structure(self, program, arena)?;
        }
        Ok(())
    }

    /// Releases bindings. A number of tokens, counted from the first page's start, releases the pages that it covers;
    /// where bindings are not per page, the rest is unbound token by token.
    pub(crate) fn tombstone(
        &mut self,
        program: &Program,
        (arena, band): (u8, u8),
        operands: &[Operand],
        tokens: Option<u16>,
        on: &[u8],
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let mut ids: SmallVec<[PageRef; 8]> = SmallVec::new();
        for operand in operands {
            ids.extend(self.ids_of(program, operand).unwrap_or_default());
        }
        let per_page = self.arenas[usize::from(arena)].arena.config().bands[usize::from(band)].page_tokens;
        let whole = tokens.map_or(ids.len(), |tokens| (u32::from(tokens) / per_page) as usize).min(ids.len());
        let loose = tokens.map_or(0, |tokens| (u32::from(tokens) % per_page) as u8);
        let after = self.outstanding_events(program, on);
        if !effects.marks.has(Mark::SlidInFlight)
            && ids[..whole].iter().any(|id| self.in_flight(program, arena, band, id.id, id.generation))
        {
            effects.mark(Mark::SlidInFlight);
        }
        let state = &mut self.arenas[usize::from(arena)];
        let places: SmallVec<[PhysicalPage; 8]> = ids[..whole]
            .iter()
            .filter_map(|id| state.arena.translate(BandId(band), LogicalPage(id.id.into())))
            .collect();
        let logical: SmallVec<[LogicalPage; 8]> = ids[..whole].iter().map(|id| LogicalPage(id.id.into())).collect();
        if !logical.is_empty() && state.arena.tombstone(BandId(band), &logical, after.first().copied()).is_err() {
            if !program.rules.on(Rule::FreesAreChecked) {
                return Err(invariants::double_free::freed(program, &operands[0], logical[0].0 as u8));
            }
            effects.mark(Mark::FreeRefused);
            return Ok(());
        }
        for id in &logical {
            let at = state.id_at(band, id.0 as u8);
            state.ids[at].issued = 0;
            state.keep(band, id.0 as u8, Kept::default());
        }
        for event in after.iter().skip(1) {
            effects.mark(Mark::PendingOnSeveral);
            state.arena.await_also(BandId(band), &places, *event);
        }
        if loose > 0
            && !program.assume.on(Assumption::BindingsArePerPage)
            && let Some(next) = ids.get(whole)
        {
            let at = state.id_at(band, next.id);
            state.ids[at].unbound = loose;
        }
        state.memo.fill(u8::MAX);
        effects.mark(Mark::Tombstoned);
        if !after.is_empty() {
            effects.mark(Mark::Pending);
        }
        if whole == ids.len() {
            effects.mark(Mark::AllTombstoned);
        }
        invariants::structure(self, program, arena)
    }

    /// Captures the bound sliding-window pages of a token range.
    pub(crate) fn select(
        &mut self,
        program: &Program,
        operand: &Operand,
        tokens: Option<(u16, u16)>,
        into: u8,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let ids = self.ids_of(program, operand).unwrap_or_default();
        let state = &self.arenas[usize::from(operand.arena)];
        let per_page = state.arena.config().bands[usize::from(operand.band)].page_tokens;
        let mut all: Vec<(PageRef, TokenIndex)> = Vec::new();
        for id in &ids {
            let page = state.arena.translate_or_sink(BandId(operand.band), LogicalPage(id.id.into()));
            let unbound = state.ids[state.id_at(operand.band, id.id)].unbound;
            for offset in 0..per_page {
                let bound = if offset < u32::from(unbound) { SINK } else { page };
                let address = PageRef { id: id.id, generation: id.generation, page: bound.0 as u16 };
                // The tables of device pools say 0 for every token that is not bound.
                let unbound = bound == SINK;
                all.push((
                    address,
                    if unbound { TokenIndex(0) } else { transfer::token_index(bound, per_page, offset) },
                ));
            }
        }
        let (mut from, mut to) = tokens.map_or((0, all.len()), |(from, to)| (usize::from(from), usize::from(to)));
        if program.assume.on(Assumption::CallersPassWholePages) {
            let size = per_page as usize;
            from -= from % size;
            to = to.next_multiple_of(size);
        }
        to = to.min(all.len());
        let window = &all[from.min(to)..to];
        let indices: Vec<TokenIndex> = window.iter().map(|(_, token)| *token).collect();
        let floor = if program.rules.on(Rule::NeverTheSink) { 0 } else { -1 };
        let (mut pages, mut loose): (Vec<PageRef>, u8) = (Vec::new(), 0);
        if program.rules.on(Rule::WholePages) && program.rules.on(Rule::NeverTheSink) {
            match select::whole_pages(&indices, per_page) {
                Ok(selected) => {
                    let mut rest = selected.as_slice();
                    for (address, _) in window.iter().step_by(per_page as usize) {
                        if let [first, tail @ ..] = rest
                            && u32::from(address.page) == first.0
                        {
                            pages.push(*address);
                            rest = tail;
                        }
                    }
                }
                Err(error) => {
                    effects.mark(Mark::SelectRefused);
                    effects.say(|| format!("refused: {error}"));
                    self.set_pages(program, into, &[], 0);
                    return Ok(());
                }
            }
        } else {
            // The token-wise filter: what is left need not be whole pages.
            let kept: Vec<&(PageRef, TokenIndex)> = window.iter().filter(|(_, token)| token.0 > floor).collect();
            for (address, _) in kept.chunks(per_page as usize).map(|row| row[0]) {
                pages.push(*address);
            }
            loose = (kept.len() % per_page as usize) as u8;
        }
        if window.iter().any(|(address, _)| address.page == 0) && pages.iter().all(|page| page.page != 0) {
            effects.mark(Mark::SinkLeftOut);
        }
        effects.mark(if pages.is_empty() { Mark::SelectedNone } else { Mark::Selected });
        effects.mark(Mark::Captured);
        self.set_pages(program, into, &pages, loose);
        Ok(())
    }

    /// Takes leases one after the other; the phase counts those already taken.
    pub(crate) fn lease(
        &mut self,
        program: &Program,
        slot: usize,
        holder: HolderId,
        arenas: &[u8],
        ttl: Option<u8>,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let order = lease_order(program, arenas);
        let phase = self.threads[slot].phase;
        if let Some(arena) = order.get(usize::from(phase)) {
            self.take_lease(program, *arena, holder, ttl, effects)?;
        }
        if order.len() > 1 {
            effects.mark(Mark::LeasedSeveral);
        }
        if usize::from(phase) + 1 < order.len() {
            self.threads[slot].phase += 1;
        } else {
            self.advance(program, slot);
        }
        Ok(())
    }

    pub(crate) fn take_lease(
        &mut self,
        program: &Program,
        arena: u8,
        holder: HolderId,
        ttl: Option<u8>,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let leases = &mut self.arenas[usize::from(arena)].leases;
        let again = leases.depth(holder) > 0;
        if leases.depth(holder) >= MOST_LEASES {
            return Err(invariants::check::refused(program, &format!("more than {MOST_LEASES} leases of one holder")));
        }
        let waiting = leases.waiting().len();
        if leases.acquire(holder, ttl.map(u32::from)) != leasecheck_core::Outcome::Granted {
            return Ok(());
        }
        effects.mark(if again { Mark::LeasedAgain } else { Mark::Leased });
        effects.note(Note::Leased(arena));
        effects.note(Note::Acquire(Object::Layout(arena)));
        if waiting > 0 && !again {
            return Err(invariants::starvation::granted(program, holder));
        }
        Ok(())
    }

    pub(crate) fn release(
        &mut self,
        program: &Program,
        arena: u8,
        holder: HolderId,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        if let Err(error) = self.arenas[usize::from(arena)].leases.release(holder) {
            return Err(invariants::check::refused(program, &format!("the release is refused: {error}")));
        }
        self.prune(program, arena, effects);
        effects.note(Note::Released(arena));
        effects.note(Note::Release(Object::Layout(arena)));
        self.wake(program, arena);
        Ok(())
    }

    pub(crate) fn hand_off(
        &mut self,
        program: &Program,
        arena: u8,
        holder: HolderId,
        event: u8,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let complete = self.complete(program, event);
        let leases = &mut self.arenas[usize::from(arena)].leases;
        let result = if complete { leases.release(holder) } else { leases.hand_off(holder, EventKey(event.into())) };
        if let Err(error) = result {
            return Err(invariants::check::refused(program, &format!("the hand-off is refused: {error}")));
        }
        if !complete {
            effects.mark(Mark::HandedOff);
        }
        self.prune(program, arena, effects);
        effects.note(Note::HandedOff(arena, event));
        effects.note(Note::Release(Object::Layout(arena)));
        self.wake(program, arena);
        Ok(())
    }

    /// Releases ask which handed-off events have completed; here the answer may be an error.
    fn prune(&mut self, program: &Program, arena: u8, effects: &mut Effects) {
        let leases = &mut self.arenas[usize::from(arena)].leases;
        let handed_off: SmallVec<[EventKey; 4]> = leases.events().into();
        for key in handed_off {
            let event = key.0 as usize;
            if self.events[event].query_fails {
                effects.mark(Mark::QueryFailed);
                effects.say(|| format!("the query of `{}` fails", program.events[event]));
                leases.query_failed(key);
            }
        }
    }
}
