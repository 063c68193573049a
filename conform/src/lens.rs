//! Implementations that choose ids or places by an order of their own: their answers are checked against themselves and
//! told in core's ids and places.

use crate::compare::Place;
use crate::protocol::{Answer, Call, Hello, Layout, Outcome, State, Step};
use leasecheck_core::{Arena, BandId};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const LISTS: &str = "no lists of tokens";
const EVERY_REQUEST: &str = "not one list for each request";
const WHOLE_PAGES: &str = "not as many whole pages as were asked for";
const OWN_STATE: &str = "by its own state";
const IN_BAND: &str = "every page lies in its band, beyond the sink";
const OWN_BYTES: &str = "no two pages share bytes";
const GATE: &str = "no page moves while the gate is closed";
const WRITTEN: &str = "no page moves that the forward in flight writes";
const LEFT: &str = "the place that a page leaves waits for the forward in flight";
const WAITS: &str = "a place that waits goes on waiting until its event completes";
const STANDS: &str = "no page stands where a place waits for an event";

/// What is asked of answers that are checked against themselves. Each is a part of the text of the differences that it
/// makes.
pub const RULES: [&str; 11] =
    [LISTS, EVERY_REQUEST, WHOLE_PAGES, OWN_STATE, IN_BAND, OWN_BYTES, GATE, WRITTEN, LEFT, WAITS, STANDS];

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
    /// Places that wait, by band, and the event that each waits for.
    pending: BTreeMap<(String, i64), u32>,
}

impl Lens {
    pub(crate) fn new(hello: &Hello, layout: &Layout) -> Lens {
        let (own_ids, own_places) = (hello.own_ids, hello.own_places);
        let (to_driver, to_core) = (BTreeMap::new(), BTreeMap::new());
        let (places, pending) = (BTreeMap::new(), BTreeMap::new());
        let (layout, gate_closed, forward) = (layout.clone(), false, None);
        Lens { own_ids, own_places, layout, to_driver, to_core, places, gate_closed, forward, pending }
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

    /// Moves are right if the gate is open and, beside a forward, that does not write the page and the place that it
    /// leaves waits for it. Nothing stands where a place waits, and it waits until its event completes. An allocation
    /// lets its stream wait for the forward instead.
    fn settle_moves(&mut self, step: &Step, state: &State) -> Result<(), Place> {
        match &step.call {
            Call::Gate { closed } => self.gate_closed = *closed,
            Call::Forward { event, tokens } => {
                let size = i64::from(self.layout.bands[0].page_tokens);
                self.forward = Some((*event, tokens.iter().map(|token| token.div_euclid(size)).collect()));
            }
            Call::Complete { event } => {
                self.forward = self.forward.take().filter(|(open, _)| open != event);
                self.pending.retain(|_, open| open != event);
            }
            Call::Free { tokens, .. } => {
                let size = i64::from(self.layout.bands[0].page_tokens);
                if let Some((_, written)) = &mut self.forward {
                    written.retain(|page| tokens.iter().all(|token| token.div_euclid(size) != *page));
                }
            }
            Call::Clear { .. } => {
                self.forward = None;
                self.pending.clear();
            }
            _ => {}
        }
        let awaited = matches!(step.call, Call::Alloc { .. });
        let waits = |band: &str, place: &i64| {
            state.bands.get(band).and_then(|band| band.pending.as_ref()).is_some_and(|pending| pending.contains(place))
        };
        if awaited {
            self.pending.retain(|(band, place), _| waits(band, place));
        }
        if let Some(((band, place), event)) = self.pending.iter().find(|((band, place), _)| !waits(band, place)) {
            let what = format!("{place} of {band} does not wait, and event {event} has not completed");
            return Err(Place("state.places".into(), WAITS.into(), what));
        }
        let mut places = BTreeMap::new();
        for (name, band) in &state.bands {
            for (page, place, _) in &band.pages {
                let wrong = |rule: &str, what: String| Err(Place("state.places".into(), rule.into(), what));
                if waits(name, place) {
                    return wrong(STANDS, format!("page {page} of {name} at {place}, which waits"));
                }
                let before = self.places.get(&(name.clone(), *page)).filter(|before| *before != place);
                if let Some(before) = before {
                    let what = format!("page {page} of {name} moved from {before} to {place}");
                    match &self.forward {
                        _ if self.gate_closed => return wrong(GATE, what),
                        Some((_, written)) if !awaited && written.contains(page) => return wrong(WRITTEN, what),
                        Some(_) if !awaited && !waits(name, before) => return wrong(LEFT, what),
                        Some((event, _)) if !awaited => {
                            self.pending.insert((name.clone(), *before), *event);
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
            return Err(wrong(LISTS));
        };
        if granted_tokens.len() != wanted_tokens.len() {
            return Err(wrong(EVERY_REQUEST));
        }
        for (((name, _), got), want) in requests.iter().zip(&granted_tokens).zip(&wanted_tokens) {
            let Some((at, size)) = self.band(name) else { continue };
            let whole = got.chunks(size as usize).all(|page| {
                page[0].rem_euclid(size) == 0
                    && page.iter().enumerate().all(|(at, token)| *token == page[0] + at as i64)
            });
            if got.len() != want.len() || !whole {
                return Err(wrong(WHOLE_PAGES));
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
            return Err(Place("result".into(), format!("{own} {OWN_STATE}"), places.to_string()));
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
                    let core = format!("{IN_BAND}: {first} to {}", end - 1);
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
                Err(Place("state.places".into(), OWN_BYTES.into(), driver))
            }
            None => Ok(()),
        }
    }
}
