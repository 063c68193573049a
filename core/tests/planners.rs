//! Both planners: what they must do, and what each of them does beyond that.
//!
//! Both leave no page that can move beyond a hole and reach the lowest possible watermark; they keep ids, write only
//! to pages that are vacant at that moment (so that moves can be made one after the other), and never move or
//! overwrite what is pinned, pending or retired. `minimal` makes exactly as many moves as any such plan must: one for
//! each page outside the places that will be taken (without obstacles, as many as there are holes below the new
//! watermark), and never moves to where it moved from. `slide` keeps the order of pages.
//!
//! Contents are checked on real bytes (`common::Lab`). Not checked: moves made at the same time.

use crate::common::*;
use leasecheck_core::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

type Places = BTreeMap<LogicalPage, u32>;

fn places(lab: &Lab, band: BandId) -> Places {
    lab.arena.placements(band).map(|(id, page)| (id, lab.distance(band, page))).collect()
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn plans_are_safe_and_as_small_as_they_say(
        layout in layouts(),
        ops in prop::collection::vec(ops(), 1..40),
        pins in prop_oneof![1 => Just(0), 2 => any::<(u32, u32)>().prop_map(|(a, b)| a & b)],
        pend in events(),
    ) {
        let mut lab = Lab::new(layout);
        ops.iter().for_each(|op| lab.run(op));
        let movable = |_: BandId, id: LogicalPage| !pinned(pins, id);
        let plan = lab.arena.plan(&movable);
        let planner = lab.arena.config().planner;
        let bands: Vec<BandId> = lab.arena.bands().map(|(band, _)| band).collect();
        let mut expected = BTreeMap::new();
        for band in &bands {
            let before = places(&lab, *band);
            let pending: BTreeSet<u32> = lab.arena.pending(*band).map(|(page, _)| lab.distance(*band, page)).collect();
            let span = lab.arena.span(*band);
            let retires = lab.arena.config().reuse == Reuse::Never;
            let mut taken: BTreeSet<u32> = before.values().copied().chain(pending.iter().copied()).collect();
            if retires {
                taken.extend(0..span);
            }
            let holes: Vec<u32> = (0..span).filter(|at| !taken.contains(at)).collect();
            prop_assert_eq!(holes.len() as u32, lab.arena.holes(*band));
            let obstacles = || taken.iter().filter(|at| !before.iter().any(|(id, to)| to == *at && movable(*band, *id)));
            let lowest = obstacles().next_back().map_or(0, |at| at + 1).max(taken.len() as u32);

            // Every move, in order: from where the page is, to a page that is vacant then.
            let mut now = before.clone();
            let mut vacant: BTreeSet<u32> = holes.iter().copied().collect();
            let mut sources = BTreeSet::new();
            let moves: Vec<&Move> = plan.moves().iter().filter(|step| step.band == *band).collect();
            for step in &moves {
                let (from, to) = (lab.distance(*band, step.from), lab.distance(*band, step.to));
                prop_assert!(movable(*band, step.id), "a pinned page moves");
                prop_assert_eq!(now.insert(step.id, to), Some(from));
                prop_assert!(to < from, "a page moves outward");
                prop_assert!(vacant.remove(&to), "a move overwrites page {}", to);
                vacant.insert(from);
                prop_assert!(planner == Planner::Slide || !sources.contains(&to), "minimal reuses a source");
                sources.insert(from);
            }
            prop_assert_eq!(plan.spans()[band.0 as usize], lowest);
            prop_assert_eq!(plan.holes()[band.0 as usize], lowest - taken.len() as u32);
            let moved: BTreeSet<LogicalPage> = moves.iter().map(|step| step.id).collect();
            prop_assert_eq!(moved.len(), moves.len(), "a page moves twice");
            for (id, at) in &now {
                prop_assert!(!movable(*band, *id) || vacant.range(..at).next().is_none(), "a page beyond a hole");
            }
            match planner {
                Planner::Minimal => {
                    // The places that the pages that can move will take, whichever goes where.
                    let can_move = before.iter().filter(|(id, _)| movable(*band, **id)).map(|(_, at)| *at);
                    let can_move: BTreeSet<u32> = can_move.collect();
                    let mut places: BTreeSet<u32> = can_move.iter().chain(&holes).copied().collect();
                    while places.len() > can_move.len() {
                        places.pop_last();
                    }
                    prop_assert_eq!(moves.len(), can_move.difference(&places).count());
                    let below = holes.iter().filter(|at| **at < lowest).count();
                    prop_assert!(moves.len() <= below);
                    if obstacles().next().is_none() {
                        prop_assert_eq!(moves.len(), below);
                    }
                }
                Planner::Slide => {
                    let order = |places: &Places| {
                        let mut ids: Vec<(u32, LogicalPage)> = places.iter().map(|(id, at)| (*at, *id)).collect();
                        ids.retain(|(_, id)| movable(*band, *id));
                        ids.sort_unstable();
                        ids.into_iter().map(|(_, id)| id).collect::<Vec<_>>()
                    };
                    prop_assert_eq!(order(&before), order(&now), "slide keeps the order");
                    if obstacles().next().is_none() {
                        let beyond = before.values().filter(|at| holes.first().is_some_and(|hole| hole < at));
                        prop_assert_eq!(moves.len(), beyond.count());
                    }
                }
            }
            expected.insert(*band, (now, pending, lowest));
        }
        // One band's plan is the part of the whole plan that concerns it.
        for band in &bands {
            let one = lab.arena.plan_one(*band, &movable);
            let part: Vec<Move> = plan.moves().iter().copied().filter(|step| step.band == *band).collect();
            prop_assert_eq!(one.moves(), &part[..]);
            prop_assert_eq!(one.spans()[band.0 as usize], plan.spans()[band.0 as usize]);
            for other in bands.iter().filter(|other| *other != band) {
                prop_assert_eq!(one.spans()[other.0 as usize], lab.arena.span(*other));
                prop_assert_eq!(one.holes()[other.0 as usize], lab.arena.holes(*other));
            }
        }
        let from: Vec<(BandId, u32)> =
            plan.moves().iter().map(|step| (step.band, lab.distance(step.band, step.from))).collect();
        lab.execute(&plan, pend.map(EventKey));
        lab.check();
        for (band, (now, pending, lowest)) in expected {
            let after: BTreeSet<u32> = lab.arena.pending(band).map(|(page, _)| lab.distance(band, page)).collect();
            let mut expected = pending;
            if pend.is_some() {
                // Places that were moved from, and not moved to afterwards, wait for the event.
                let left = from.iter().filter(|(at, from)| *at == band && !now.values().any(|to| to == from));
                expected.extend(left.map(|(_, from)| *from));
            } else {
                prop_assert_eq!(lab.arena.span(band), lowest);
                prop_assert_eq!(lab.arena.holes(band), plan.holes()[band.0 as usize]);
            }
            prop_assert_eq!(places(&lab, band), now);
            prop_assert_eq!(after, expected);
        }
        if pend.is_none() {
            prop_assert!(planner == Planner::Slide || lab.arena.plan(&movable).moves().is_empty(), "not done at once");
            prop_assert!(lab.arena.plan(&movable).moves().is_empty(), "a second compaction finds something to do");
        }
    }
}
