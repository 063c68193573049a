//! The three policies of reuse. `AsDesigned`: the vacant page nearest the band's own end first, the lowest free id.
//! `Never`: no page and no id is handed out twice, not even after `clear`. `AtOnce`: the page freed last is handed out
//! first, whether it was freed at once or became free when its event completed.
//!
//! Checked in states reached by random operations (`common::Lab`). Not checked: contents (`stress.rs`).

use crate::common::*;
use leasecheck_core::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Ids and pages that are live now, with the tag that was written when they were handed out.
fn live(lab: &Lab) -> BTreeMap<(BandId, LogicalPage, PhysicalPage), u64> {
    let at = |(band, id): (BandId, LogicalPage)| lab.arena.translate(band, id).unwrap();
    lab.tags.iter().map(|((band, id), tag)| ((*band, *id, at((*band, *id))), *tag)).collect()
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn never_means_never(layout in layouts(), ops in prop::collection::vec(ops(), 1..60)) {
        let mut lab = Lab::new(ArenaConfig { reuse: Reuse::Never, ..layout });
        let mut tag_of_page = BTreeMap::new();
        let mut tag_of_id = BTreeMap::new();
        for op in &ops {
            lab.run(op);
            for ((band, id, page), tag) in live(&lab) {
                prop_assert_eq!(*tag_of_page.entry((band, page)).or_insert(tag), tag, "page {} was handed out twice", page);
                // An id that is bound again after its page was released is the same allocation.
                if band == A || !lab.binds_ids() {
                    prop_assert_eq!(*tag_of_id.entry((band, id)).or_insert(tag), tag, "id {} was handed out twice", id);
                }
            }
        }
    }

    #[test]
    fn at_once_means_the_page_freed_last(
        layout in layouts(),
        ops in prop::collection::vec(ops(), 1..40),
        picks in prop::collection::vec(any::<u16>(), 1..4),
        after in any::<bool>(),
        band in 0_u8..2,
    ) {
        let mut lab = Lab::new(ArenaConfig { reuse: Reuse::AtOnce, ..layout });
        ops.iter().for_each(|op| lab.run(op));
        let band = if lab.arena.config().bands.len() == 2 && !lab.binds_ids() { BandId(band) } else { A };
        let ids = lab.pick(band, &picks);
        let pages: Vec<PhysicalPage> = ids.iter().map(|id| lab.arena.translate(band, *id).unwrap()).collect();
        lab.arena.free(band, &ids, after.then_some(EventKey(7))).unwrap();
        lab.arena.event_completed(EventKey(7));
        // Pages given back at the frontier are no holes any more; those come first that are.
        let frontier = lab.arena.span(band);
        let inside = |page: &&PhysicalPage| lab.distance(band, **page) < frontier;
        let mut expected: Vec<PhysicalPage> = pages.iter().filter(inside).copied().collect();
        if after {
            // Freed by one event: all of them last.
            expected.sort_unstable_by_key(|page| lab.distance(band, *page));
        }
        while let Some(expected) = expected.pop() {
            let granted = lab.arena.allocate(&[Request { band, pages: 1 }]).unwrap().remove(0);
            prop_assert_eq!(lab.arena.translate(band, granted[0]), Some(expected));
        }
    }

    #[test]
    fn as_designed_means_nearest_the_end(
        layout in layouts(),
        ops in prop::collection::vec(ops(), 1..40),
        wanted in 1_u32..6,
        band in 0_u8..2,
    ) {
        let mut lab = Lab::new(ArenaConfig { reuse: Reuse::AsDesigned, permuted: false, ..layout });
        ops.iter().for_each(|op| lab.run(op));
        let band = if lab.arena.config().bands.len() == 2 && !lab.binds_ids() { BandId(band) } else { A };
        let mut taken: BTreeSet<u32> = lab.arena.placements(band).map(|(_, page)| lab.distance(band, page)).collect();
        taken.extend(lab.arena.pending(band).map(|(page, _)| lab.distance(band, page)));
        let free: Vec<LogicalPage> = lab.arena.free_ids(band).collect();
        if let Ok(granted) = lab.arena.allocate(&[Request { band, pages: wanted }]) {
            prop_assert_eq!(&granted[0][..], &free[..wanted as usize]);
            for id in &granted[0] {
                let lowest = (0..).find(|at| !taken.contains(at)).unwrap();
                prop_assert_eq!(lab.distance(band, lab.arena.translate(band, *id).unwrap()), lowest);
                taken.insert(lowest);
            }
        }
    }
}
