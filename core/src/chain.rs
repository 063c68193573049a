//! Arenas with float bands: a chain of bands between the two ends, each float with free bytes on both sides.
//!
//! Whether a request fits is one question with two answers: with every page where it is, or with those moved that can
//! be. Both are settled by filling from below: each band in turn gets the lowest pages that it can have beyond the band
//! before it, and the request fits if the last one ends before the band at the top begins. That is exact: what is
//! lowest for one band leaves the most for all above it.

use crate::arena::{Arena, Request};
use crate::band::NONE;
use crate::compaction::{Move, Plan};
use crate::config::{Grow, MAX_BANDS};
use crate::ids::{BandId, LogicalPage, PhysicalPage};

/// What a band must hold, in physical pages.
struct Load {
    /// Pages that stay where they are, lowest first.
    fixed: Vec<u32>,
    /// Pages that can be anywhere.
    loose: u32,
}

/// One past the last page, if the loose pages fill the lowest places from `from` on.
fn lowest_end(from: u32, load: &Load) -> Option<u32> {
    if load.fixed.first().is_some_and(|first| *first < from) {
        return None;
    }
    let (mut at, mut left) = (from, load.loose);
    let mut fixed = load.fixed.iter().peekable();
    while left > 0 {
        if fixed.peek() == Some(&&at) {
            fixed.next();
        } else {
            left -= 1;
        }
        at += 1;
    }
    let filled = if load.loose > 0 { at } else { 0 };
    Some(filled.max(load.fixed.last().map_or(0, |last| last + 1)))
}

/// The first page, if the loose pages fill the highest places below `to`; `None` if they do not fit above `floor`.
fn highest_start(to: u32, floor: u32, load: &Load) -> Option<u32> {
    if load.fixed.last().is_some_and(|last| *last >= to) {
        return None;
    }
    let (mut at, mut left) = (to, load.loose);
    let mut fixed = load.fixed.iter().rev().peekable();
    while left > 0 {
        if at <= floor {
            return None;
        }
        at -= 1;
        if fixed.peek() == Some(&&at) {
            fixed.next();
        } else {
            left -= 1;
        }
    }
    let filled = if load.loose > 0 { at } else { u32::MAX };
    let start = filled.min(load.fixed.first().copied().unwrap_or(u32::MAX));
    (start >= floor).then_some(start)
}

impl Load {
    fn is_empty(&self) -> bool {
        self.loose == 0 && self.fixed.is_empty()
    }
}

impl Arena {
    /// Whether the arena has a float band.
    #[must_use]
    pub fn is_chain(&self) -> bool {
        !self.geometry.chain.is_empty()
    }

    /// The pages from the first to one past the last that the band takes, holes and pending pages included.
    #[must_use]
    pub fn extent(&self, band: BandId) -> std::ops::Range<u32> {
        let state = &self.bands[band.0 as usize];
        if state.span == state.base {
            return 0..0;
        }
        let (one, other) = (self.page_at(band, state.base).0, self.page_at(band, state.span - 1).0);
        one.min(other)..one.max(other) + 1
    }

    fn load(&self, band: BandId, wanted: u32, movable: &impl Fn(BandId, LogicalPage) -> bool) -> Load {
        let state = &self.bands[band.0 as usize];
        let (mut fixed, mut loose) = (Vec::new(), wanted);
        for (id, at) in state.map.iter().enumerate().filter(|(_, at)| **at != NONE) {
            if movable(band, LogicalPage(id as u32)) {
                loose += 1;
            } else {
                fixed.push(self.page_at(band, *at).0);
            }
        }
        let still = state.pending.iter().map(|(at, _)| *at).chain(state.retired.iter());
        fixed.extend(still.map(|at| self.page_at(band, at).0));
        fixed.sort_unstable();
        fixed.dedup();
        Load { fixed, loose }
    }

    fn loads(&self, wanted: &[u32; MAX_BANDS], movable: &impl Fn(BandId, LogicalPage) -> bool) -> Vec<Load> {
        (0..self.bands.len()).map(|at| self.load(BandId(at as u8), wanted[at], movable)).collect()
    }

    /// The first page of a band at or above a byte.
    fn page_from(&self, at: usize, byte: u64) -> u32 {
        (byte.div_ceil(self.config.bands[at].envelope) as u32).max(self.geometry.first[at])
    }

    /// One past the last page of a band that ends at or below a byte.
    fn page_to(&self, at: usize, byte: u64) -> u32 {
        ((byte / self.config.bands[at].envelope) as u32).min(self.geometry.pages[at])
    }

    /// For each band of the chain, the byte at which it must end at the latest so that those above it have room; `None`
    /// if there is no room for all of them.
    fn ceilings(&self, loads: &[Load]) -> Option<[u64; MAX_BANDS]> {
        let mut ceilings = [0; MAX_BANDS];
        let mut limit = self.config.bytes;
        for at in self.geometry.chain.iter().rev().copied() {
            ceilings[at] = limit;
            if loads[at].is_empty() {
                continue;
            }
            let to = match self.config.bands[at].grow {
                Grow::Down => self.geometry.pages[at],
                Grow::Up | Grow::Float => self.page_to(at, limit),
            };
            let start = highest_start(to, self.geometry.first[at], &loads[at])?;
            if self.config.bands[at].grow != Grow::Up {
                limit = u64::from(start) * self.config.bands[at].envelope;
            }
        }
        Some(ceilings)
    }

    /// Whether bands with these loads have room for one another.
    fn have_room(&self, loads: &[Load]) -> bool {
        let mut floor = 0;
        for at in self.geometry.chain.iter().copied().filter(|at| !loads[*at].is_empty()) {
            let envelope = self.config.bands[at].envelope;
            if self.config.bands[at].grow == Grow::Down {
                let start = highest_start(self.geometry.pages[at], self.geometry.first[at], &loads[at]);
                return start.is_some_and(|start| u64::from(start) * envelope >= floor);
            }
            match lowest_end(self.page_from(at, floor), &loads[at]) {
                Some(end) if end <= self.geometry.pages[at] => floor = u64::from(end) * envelope,
                _ => return false,
            }
        }
        true
    }

    pub(crate) fn chain_fits(&self, wanted: &[u32; MAX_BANDS], movable: &impl Fn(BandId, LogicalPage) -> bool) -> bool {
        self.have_room(&self.loads(wanted, movable))
    }

    /// How far each band goes, in distances, once it has grown for `wanted`, with every page where it is: floats grow
    /// towards the side with more room. `None` if that is not possible.
    pub(crate) fn growth(&self, wanted: &[u32; MAX_BANDS]) -> Option<[(u32, u32); MAX_BANDS]> {
        let loads = self.loads(wanted, &|_, _| false);
        if !self.have_room(&loads) {
            return None;
        }
        let ceilings = self.ceilings(&loads)?;
        let mut growth = [(0, 0); MAX_BANDS];
        let mut floor = 0;
        for at in self.geometry.chain.iter().copied() {
            let (state, first) = (&self.bands[at], self.geometry.first[at]);
            let need = wanted[at].saturating_sub(self.usable(state.holes.len()));
            growth[at] = (state.base, state.span);
            if loads[at].is_empty() {
                continue;
            }
            if self.config.bands[at].grow == Grow::Float {
                let (low, high) = (self.page_from(at, floor) - first, self.page_to(at, ceilings[at]) - first);
                growth[at] = if state.span == state.base {
                    let start = low + high.checked_sub(low + need)? / 2;
                    (start, start + need)
                } else {
                    let (mut below, mut above) = (state.base.checked_sub(low)?, high.checked_sub(state.span)?);
                    let (mut base, mut span) = (state.base, state.span);
                    for _ in 0..need {
                        if below > above {
                            (base, below) = (base - 1, below - 1);
                        } else {
                            (span, above) = (span + 1, above.checked_sub(1)?);
                        }
                    }
                    (base, span)
                };
            } else {
                growth[at].1 += need;
                if growth[at].1 > self.capacity(BandId(at as u8)) {
                    return None;
                }
            }
            if self.config.bands[at].grow != Grow::Down {
                floor = u64::from(first + growth[at].1) * self.config.bands[at].envelope;
            }
        }
        Some(growth)
    }

    /// Plans what the request needs: the ends close their holes, and floats make room, by moving the pages that are in
    /// the way and no others. In an arena without floats, [`Arena::plan`].
    #[must_use]
    pub fn plan_for(&self, requests: &[Request], movable: &impl Fn(BandId, LogicalPage) -> bool) -> Plan {
        let wanted = self.totals(requests);
        match wanted {
            Ok(wanted) if self.is_chain() => self.make_room(&wanted, movable).unwrap_or_else(|| self.plan(movable)),
            _ => self.plan(movable),
        }
    }

    fn make_room(&self, wanted: &[u32; MAX_BANDS], movable: &impl Fn(BandId, LogicalPage) -> bool) -> Option<Plan> {
        let loads = self.loads(wanted, movable);
        if !self.have_room(&loads) {
            return None;
        }
        let ceilings = self.ceilings(&loads)?;
        let mut plan = Plan::default();
        let mut displaced: Vec<(Move, u32)> = Vec::new();
        let mut floor = 0;
        for at in self.geometry.chain.iter().copied().filter(|at| !loads[*at].is_empty()) {
            let (band, envelope) = (BandId(at as u8), self.config.bands[at].envelope);
            if self.config.bands[at].grow == Grow::Down {
                self.plan_band(band, movable, &mut plan);
                continue;
            }
            if self.config.bands[at].grow == Grow::Up {
                self.plan_band(band, movable, &mut plan);
                floor = u64::from(lowest_end(self.geometry.first[at], &loads[at])?) * envelope;
                continue;
            }
            let window = self.page_from(at, floor)..self.page_to(at, ceilings[at]);
            let end = self.move_into(band, window, wanted[at], movable, &mut displaced)?;
            floor = u64::from(end) * envelope;
        }
        self.order(displaced, &mut plan)?;
        let mut after = self.clone();
        after.commit(&plan, None);
        plan.spans = after.bands.iter().map(|band| band.span).collect();
        plan.holes = after.bands.iter().map(|band| band.holes.len()).collect();
        Some(plan)
    }

    /// Moves the pages of a float that lie outside a window into it, and leaves room for `wanted` more. Returns where the
    /// float ends then.
    fn move_into(
        &self,
        band: BandId,
        window: std::ops::Range<u32>,
        wanted: u32,
        movable: &impl Fn(BandId, LogicalPage) -> bool,
        displaced: &mut Vec<(Move, u32)>,
    ) -> Option<u32> {
        let at = band.0 as usize;
        let (state, first) = (&self.bands[at], self.geometry.first[at]);
        let extent = self.extent(band);
        let free_now = |page: &u32| {
            let (low, high) = (u64::from(*page), u64::from(*page) + 1);
            let envelope = self.config.bands[at].envelope;
            self.bands.iter().enumerate().all(|(other, _)| {
                let theirs = self.extent(BandId(other as u8));
                let size = self.config.bands[other].envelope;
                other == at
                    || high * envelope <= u64::from(theirs.start) * size
                    || low * envelope >= u64::from(theirs.end) * size
            })
        };
        let inside = extent.start.max(window.start)..extent.end.min(window.end);
        let holes = inside.filter(|page| state.holes.contains(page - first));
        let above: Vec<u32> = (extent.end.max(window.start)..window.end).collect();
        let below: Vec<u32> = (window.start..extent.start.min(window.end)).rev().collect();
        let (near_above, far_above): (Vec<u32>, Vec<u32>) = above.into_iter().partition(free_now);
        let (near_below, far_below): (Vec<u32>, Vec<u32>) = below.into_iter().partition(free_now);
        let mut places = holes.chain(near_above).chain(near_below).chain(far_above).chain(far_below);
        let mut end = 0;
        for (id, from) in self.placements(band) {
            if window.contains(&from.0) {
                end = end.max(from.0 + 1);
                continue;
            }
            if !movable(band, id) {
                return None;
            }
            let to = places.next()?;
            end = end.max(to + 1);
            displaced.push((Move { band, id, from, to: PhysicalPage(to) }, to - first));
        }
        for _ in 0..wanted {
            end = end.max(places.next()? + 1);
        }
        let still = state.pending.iter().map(|(at, _)| *at).chain(state.retired.iter());
        Some(still.fold(end, |end, at| end.max(self.page_at(band, at).0 + 1)))
    }

    /// Appends moves in an order in which no page is overwritten before it has moved.
    fn order(&self, mut moves: Vec<(Move, u32)>, plan: &mut Plan) -> Option<()> {
        let bytes = |band: BandId, page: PhysicalPage| {
            let envelope = self.config.bands[band.0 as usize].envelope;
            u64::from(page.0) * envelope..(u64::from(page.0) + 1) * envelope
        };
        while !moves.is_empty() {
            let clear = |(step, _): &(Move, u32)| {
                let to = bytes(step.band, step.to);
                moves.iter().all(|(other, _)| {
                    let from = bytes(other.band, other.from);
                    (other.band, other.id) == (step.band, step.id) || to.end <= from.start || from.end <= to.start
                })
            };
            let next = moves.iter().position(clear)?;
            let (step, target) = moves.remove(next);
            plan.moves.push(step);
            plan.targets.push(target);
        }
        Some(())
    }
}
