//! Implementations that choose ids or places by an order of their own: their answers are checked against themselves and
//! told in core's ids and places.

use crate::compare::Place;
use crate::protocol::{Answer, Call, Hello, Layout, Outcome, State, Step};
use leasecheck_core::{Arena, BandId};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Ids of core beside those of the driver, page by page.
pub(crate) struct Lens {
    own_ids: bool,
    own_places: bool,
    layout: Layout,
    /// Core's page → the driver's, by band (the first band's for all of a device pool).
    to_driver: BTreeMap<(usize, i64), i64>,
    to_core: BTreeMap<(usize, i64), i64>,
    /// The driver's places after the step before, by band and core's page.
    places: BTreeMap<(String, i64), i64>,
    gate_closed: bool,
    /// The forward that is in flight: its event, and core's pages that it writes.
    forward: Option<(u32, BTreeSet<i64>)>,
}

impl Lens {
    pub(crate) fn new(hello: &Hello, layout: &Layout) -> Lens {
        let (own_ids, own_places) = (hello.own_ids, hello.own_places);
        let (to_driver, to_core) = (BTreeMap::new(), BTreeMap::new());
        let (places, gate_closed, forward) = (BTreeMap::new(), false, None);
        Lens { own_ids, own_places, layout: layout.clone(), to_driver, to_core, places, gate_closed, forward }
    }

    fn band(&self, name: &str) -> Option<(usize, i64)> {
        let at = self.layout.bands.iter().position(|band| band.name == name)?;
        Some((if self.layout.device { 0 } else { at }, i64::from(self.layout.bands[at].page_tokens)))
    }

    /// The step as the driver must hear it.
    pub(crate) fn outgoing(&self, step: &Step) -> Step {
        let mut step = step.clone();
        if self.own_ids
            && let Some((band, tokens)) = match &mut step.call {
                Call::Free { band, tokens } | Call::Unbind { band, tokens } | Call::Translate { band, tokens } => {
                    Some((band.as_str(), tokens))
                }
                Call::Forward { tokens, .. } => Some((self.layout.bands[0].name.as_str(), tokens)),
                _ => None,
            }
            && let Some((at, size)) = self.band(band)
        {
            for token in tokens {
                let page = token.div_euclid(size);
                let known = self.to_driver.get(&(at, page)).copied();
                *token = known.unwrap_or(page) * size + token.rem_euclid(size);
            }
        }
        step
    }

    /// The answer as core would have given it, if it is right by itself; otherwise where it is not.
    pub(crate) fn incoming(
        &mut self,
        step: &Step,
        core: &Answer,
        arena: &Arena,
        answer: &mut Answer,
    ) -> Result<(), Place> {
        if self.own_ids {
            self.learn(step, core, answer)?;
        }
        if self.own_places {
            self.settle_translation(step, core, answer)?;
        }
        if self.own_ids {
            self.rename(&mut answer.state);
        }
        if self.own_places {
            self.settle_moves(step, &answer.state)?;
            self.settle_places(&core.state, arena, &mut answer.state)?;
        }
        Ok(())
    }

    /// Moves are right if the gate is open and, in a flush, the forward in flight does not write the page and the place
    /// that it leaves waits for that forward. Nothing stands where a page waits.
    fn settle_moves(&mut self, step: &Step, state: &State) -> Result<(), Place> {
        match &step.call {
            Call::Gate { closed } => self.gate_closed = *closed,
            Call::Forward { event, tokens } => {
                let size = i64::from(self.layout.bands[0].page_tokens);
                self.forward = Some((*event, tokens.iter().map(|token| token.div_euclid(size)).collect()));
            }
            Call::Complete { event } => self.forward = self.forward.take().filter(|(open, _)| open != event),
            Call::Free { tokens, .. } => {
                let size = i64::from(self.layout.bands[0].page_tokens);
                if let Some((_, written)) = &mut self.forward {
                    written.retain(|page| tokens.iter().all(|token| token.div_euclid(size) != *page));
                }
            }
            Call::Clear { .. } => self.forward = None,
            _ => {}
        }
        let mut places = BTreeMap::new();
        for (name, band) in &state.bands {
            let pending = band.pending.as_deref().unwrap_or_default();
            for (page, place, _) in &band.pages {
                let wrong = |rule: &str, what: String| Err(Place("state.places".into(), rule.into(), what));
                if pending.contains(place) {
                    let what = format!("page {page} of {name} at {place}, which waits");
                    return wrong("no page where a place waits for an event", what);
                }
                let before = self.places.get(&(name.clone(), *page)).filter(|before| *before != place);
                // An allocation waits for the forward where it has to.
                let flushed = step.call == Call::Flush;
                if let Some(before) = before {
                    let what = format!("page {page} of {name} moved from {before} to {place}");
                    match &self.forward {
                        _ if self.gate_closed => return wrong("no page moves while the gate is closed", what),
                        Some((_, written)) if flushed && written.contains(page) => {
                            return wrong("no page moves that the forward in flight writes", what);
                        }
                        Some((event, _)) if flushed && !pending.contains(before) => {
                            return wrong(&format!("the place that a page leaves waits for event {event}"), what);
                        }
                        _ => {}
                    }
                }
                places.insert((name.clone(), *page), *place);
            }
        }
        self.places = places;
        Ok(())
    }

    /// Learns the ids that an allocation has handed out.
    fn learn(&mut self, step: &Step, core: &Answer, answer: &mut Answer) -> Result<(), Place> {
        let (Call::Alloc { requests, .. }, Outcome::Ok(granted), Outcome::Ok(wanted)) =
            (&step.call, &answer.result, &core.result)
        else {
            return Ok(());
        };
        let tokens = |value| serde_json::from_value::<Vec<Vec<i64>>>(value).ok();
        let wrong = |what: &str| Place("result".into(), wanted.to_string(), format!("{granted} ({what})"));
        let (Some(granted_tokens), Some(wanted_tokens)) = (tokens(granted.clone()), tokens(wanted.clone())) else {
            return Err(wrong("no lists of tokens"));
        };
        if granted_tokens.len() != wanted_tokens.len() {
            return Err(wrong("not one list for each request"));
        }
        for (((name, _), got), want) in requests.iter().zip(&granted_tokens).zip(&wanted_tokens) {
            let Some((at, size)) = self.band(name) else { continue };
            let whole = got.chunks(size as usize).all(|page| {
                page[0].rem_euclid(size) == 0
                    && page.iter().enumerate().all(|(at, token)| *token == page[0] + at as i64)
            });
            if got.len() != want.len() || !whole {
                return Err(wrong("not as many whole pages as were asked for"));
            }
            for (got, want) in got.iter().zip(want).step_by(size as usize) {
                let (got, want) = (got.div_euclid(size), want.div_euclid(size));
                if let Some(before) = self.to_driver.insert((at, want), got)
                    && self.to_core.get(&(at, before)) == Some(&want)
                {
                    self.to_core.remove(&(at, before));
                }
                self.to_core.insert((at, got), want);
            }
        }
        answer.result = core.result.clone();
        Ok(())
    }

    fn rename(&self, state: &mut State) {
        for (name, band) in &mut state.bands {
            let Some((at, _)) = self.band(name) else { continue };
            for page in &mut band.pages {
                // A page that was never handed out keeps its number, beyond all that core has.
                let core = self.to_core.get(&(at, page.0));
                page.0 = core.copied().unwrap_or(i64::from(u32::MAX) + page.0);
            }
            band.free = None;
        }
    }

    /// A translation must be what the driver's own state says.
    fn settle_translation(&self, step: &Step, core: &Answer, answer: &mut Answer) -> Result<(), Place> {
        let (Call::Translate { band, .. }, Outcome::Ok(places), Outcome::Ok(_)) =
            (&step.call, &answer.result, &core.result)
        else {
            return Ok(());
        };
        let Call::Translate { tokens, .. } = self.outgoing(step).call else { return Ok(()) };
        let (Some((_, size)), Some(state)) = (self.band(band), answer.state.bands.get(band)) else { return Ok(()) };
        let place = |token: &i64| {
            let page = state.pages.iter().find(|(id, _, _)| *id == token.div_euclid(size));
            page.map(|(_, place, _)| place * size + token.rem_euclid(size))
        };
        let own = json!(tokens.iter().map(place).collect::<Vec<_>>());
        if own != *places {
            return Err(Place("result".into(), format!("{own} by its own state"), places.to_string()));
        }
        answer.result = core.result.clone();
        Ok(())
    }

    /// Places are right if they lie in their bands and overlap nothing.
    fn settle_places(&self, core: &State, arena: &Arena, state: &mut State) -> Result<(), Place> {
        let mut taken: Vec<(i64, i64, String)> = Vec::new();
        for (at, band) in self.layout.bands.iter().enumerate() {
            let id = BandId(at as u8);
            let (first, end) = (i64::from(arena.first_page(id).0), i64::from(arena.pages(id)));
            let Some(here) = state.bands.get_mut(&band.name) else { continue };
            let expected = core.bands.get(&band.name).map(|band| band.pages.as_slice()).unwrap_or_default();
            for (id, place, _) in &mut here.pages {
                let what = format!("page {id} of {} at {place}", band.name);
                if !(first..end).contains(place) {
                    let core = format!("every page of {} in {first}..{end}", band.name);
                    return Err(Place("state.places".into(), core, what));
                }
                let envelope = band.envelope as i64;
                taken.push((*place * envelope, (*place + 1) * envelope, what));
                if let Some((_, own, _)) = expected.iter().find(|(page, _, _)| page == id) {
                    *place = *own;
                }
            }
            here.holes = None;
            here.watermark = None;
        }
        taken.sort();
        match taken.windows(2).find(|pair| pair[0].1 > pair[1].0) {
            Some(pair) => {
                let driver = format!("{} overlaps {}", pair[0].2, pair[1].2);
                Err(Place("state.places".into(), "no two pages share bytes".into(), driver))
            }
            None => Ok(()),
        }
    }
}
