//! Compaction as a plan that a caller executes and the arena then commits.
//!
//! Two planners with the same guarantees (order of moves safe, ids and contents kept, nothing overlaps):
//! `slide` keeps the order of pages and moves all that lie beyond a hole; `minimal` moves only the pages that do not
//! lie in the places that will be taken: as many as there are holes below the new watermark, if nothing is in the way.
//! Pages that must not move, pending and retired pages are obstacles. Both plans leave no page that can move beyond a
//! hole, also where an obstacle keeps the watermark up: it falls at once when the obstacle goes.

use crate::arena::Arena;
use crate::band::{Band, NONE};
use crate::config::{Grow, Planner};
use crate::ids::{BandId, EventKey, LogicalPage, PhysicalPage};
use crate::rules::Rule;
use std::collections::BTreeSet;

/// One page changes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The band.
    pub band: BandId,
    /// The page that moves.
    pub id: LogicalPage,
    /// Where its bytes are before.
    pub from: PhysicalPage,
    /// Where they are afterwards.
    pub to: PhysicalPage,
}

/// Moves in an order that is safe to execute one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub(crate) moves: Vec<Move>,
    pub(crate) targets: Vec<u32>,
    pub(crate) spans: Vec<u32>,
    pub(crate) holes: Vec<u32>,
}

impl Plan {
    /// The moves, in order.
    #[must_use]
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Per band: the span after the plan.
    #[must_use]
    pub fn spans(&self) -> &[u32] {
        &self.spans
    }

    /// Per band: the holes that remain, because something that cannot move lies beyond them.
    #[must_use]
    pub fn holes(&self) -> &[u32] {
        &self.holes
    }
}

impl Arena {
    /// Plans to close the holes of every band as far as `movable` pages allow.
    #[must_use]
    pub fn plan(&self, movable: &impl Fn(BandId, LogicalPage) -> bool) -> Plan {
        let mut plan = Plan::default();
        for at in 0..self.bands.len() {
            self.plan_band(BandId(at as u8), movable, &mut plan);
        }
        plan
    }

    /// Plans to close the holes of one band; the others keep theirs.
    #[must_use]
    pub fn plan_one(&self, band: BandId, movable: &impl Fn(BandId, LogicalPage) -> bool) -> Plan {
        let mut plan = Plan::default();
        for at in 0..self.bands.len() {
            let at = BandId(at as u8);
            if at == band {
                self.plan_band(at, movable, &mut plan);
            } else {
                plan.spans.push(self.bands[at.0 as usize].span);
                plan.holes.push(self.holes(at));
            }
        }
        plan
    }

    pub(crate) fn plan_band(&self, band: BandId, movable: &impl Fn(BandId, LogicalPage) -> bool, plan: &mut Plan) {
        let state = &self.bands[band.0 as usize];
        if state.holes.len() == 0 {
            plan.spans.push(state.span);
            plan.holes.push(0);
            return;
        }
        let mut occupants = state.occupants();
        // A position is open if it was a hole or has been vacated by an earlier move.
        let mut open: Vec<bool> = (0..state.span).map(|at| state.holes.contains(at)).collect();
        let first_move = plan.moves.len();
        let mut shift = |from: u32, to: u32| {
            let id = occupants[from as usize];
            if !movable(band, LogicalPage(id)) {
                return false;
            }
            let (from_page, to_page) = (self.page_at(band, from), self.page_at(band, to));
            plan.moves.push(Move { band, id: LogicalPage(id), from: from_page, to: to_page });
            plan.targets.push(to);
            occupants.swap(from as usize, to as usize);
            open.swap(from as usize, to as usize);
            true
        };
        match self.config.planner {
            Planner::Slide => slide(state, &mut shift),
            Planner::Minimal => minimal(state, &mut shift),
        }
        if !self.config.rules.on(Rule::MovesInSafeOrder) {
            plan.moves[first_move..].reverse();
            plan.targets[first_move..].reverse();
        }
        let span = open.iter().rposition(|open| !open).map_or(0, |last| last + 1);
        let holes = open[..span].iter().filter(|open| **open).count();
        plan.spans.push(span as u32);
        plan.holes.push(holes as u32);
    }

    /// Makes the plan's placement the arena's, which has not changed since the plan was made. The caller has copied
    /// the bytes. With `pend`, pages that were moved from and that nothing was moved to are not reused before that
    /// event completes. (`slide` moves pages to where earlier moves of the same plan came from; `minimal` never
    /// does, so that work in flight can go on reading the old places.) Only for plans that keep bands apart: with floats,
    /// another band's page may move to where one came from, and the old place cannot wait then.
    pub fn commit(&mut self, plan: &Plan, pend: Option<EventKey>) {
        let pend = pend.filter(|_| self.config.rules.on(Rule::ReuseAfterEvents));
        let mut left: Vec<(usize, u32)> = Vec::with_capacity(plan.moves.len());
        for (step, to) in plan.moves.iter().zip(&plan.targets) {
            let at = step.band.0 as usize;
            let band = &mut self.bands[at];
            left.extend(band.distance(step.id).map(|from| (at, from)));
            if self.config.bands[at].grow == Grow::Float {
                // A float that makes room moves pages beyond its frontiers.
                band.take_in(*to);
            }
            band.holes.remove(*to);
            band.map[step.id.0 as usize] = *to;
        }
        if let Some(event) = pend
            && !self.config.rules.on(Rule::BatchesAccumulate)
        {
            // One entry per event: this batch replaces an earlier one, whose pages are nobody's from here on.
            for (at, _) in &left {
                self.bands[*at].pending.retain(|(_, key)| *key != event);
            }
        }
        let target = |(step, to): (&Move, &u32)| (step.band.0 as usize, *to);
        let taken: BTreeSet<(usize, u32)> = plan.moves.iter().zip(&plan.targets).map(target).collect();
        for (at, from) in left {
            if taken.contains(&(at, from)) {
                continue;
            }
            let band = &mut self.bands[at];
            match pend {
                Some(event) => band.pend(from, event),
                None => {
                    band.holes.insert(from);
                }
            }
        }
        self.settle();
    }
}

/// Every page, own end first, to the lowest open position below it. `shift` says whether the page could move.
fn slide(band: &Band, shift: &mut impl FnMut(u32, u32) -> bool) {
    let live = band.occupants();
    let mut open: Vec<bool> = (0..band.span).map(|at| band.holes.contains(at)).collect();
    let mut to = 0;
    for from in 0..band.span {
        if live[from as usize] == NONE {
            continue;
        }
        while to < from && !open[to as usize] {
            to += 1;
        }
        if to < from && shift(from, to) {
            open.swap(from as usize, to as usize);
        }
    }
}

/// Pages from the frontier inward into holes from the own end outward, while the page lies beyond the hole.
fn minimal(band: &Band, shift: &mut impl FnMut(u32, u32) -> bool) {
    let live = band.occupants();
    let mut beyond = band.span;
    for hole in band.holes.iter() {
        loop {
            if beyond <= hole {
                return;
            }
            beyond -= 1;
            if live[beyond as usize] != NONE && shift(beyond, hole) {
                break;
            }
        }
    }
}
