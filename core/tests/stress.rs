//! S5: allocation, free, binding, clearing, events and compaction in random order, on real bytes that the plans move.
//! Over both grow directions, one band or two, own and bound ids, envelopes that divide neither each other nor the
//! arena, both planners, every reuse policy, with and without a sink.
//!
//! Checked after every operation, from first principles (`common::Lab`): the content of every live page by a tag that
//! only it has, ids stable, no byte owned twice (pending pages included), conservation of pages and ids, the frontier
//! never over a hole, frontiers that do not cross, and nothing changed by a refusal. Everything freed at the end gives
//! everything back.
//!
//! Not checked: which page is chosen (`traces.rs`, `device.rs`), whether a refusal was right (`admission.rs`).

use crate::common::*;
use leasecheck_core::*;
use proptest::prelude::*;
use std::cell::Cell;

#[test]
fn contents_survive_everything() {
    let (moves, compactions, refusals) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let mut runner = proptest::test_runner::TestRunner::new(cases(1500));
    let strategy = (layouts(), prop::collection::vec(ops(), 1..60));
    let result = runner.run(&strategy, |(layout, ops)| {
        let mut lab = Lab::new(layout);
        for op in &ops {
            let before = lab.arena.clone();
            if matches!(op, Op::Compact(..)) {
                compactions.set(compactions.get() + 1);
                let planned = before.plan(&everything).moves().len();
                moves.set(moves.get() + planned);
            }
            lab.run(op);
            if matches!(op, Op::Allocate(parts) if parts.iter().any(|(_, pages)| *pages > 0)) && before == lab.arena {
                refusals.set(refusals.get() + 1);
            }
        }
        finish(&mut lab);
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    let (moves, compactions, refusals) = (moves.get(), compactions.get(), refusals.get());
    println!("{compactions} compactions, {moves} movable pages beyond holes, {refusals} refusals");
    assert!(compactions > 1000 && moves > 1000 && refusals > 1000, "the workload does not stress anything");
}

/// Frees all there is, lets every event complete: the arena is as new, or used up if nothing may be reused.
fn finish(lab: &mut Lab) {
    let bands: Vec<BandId> = lab.arena.bands().map(|(band, _)| band).collect();
    for (at, band) in bands.iter().enumerate() {
        if at == 1 && lab.binds_ids() {
            continue;
        }
        let ids: Vec<LogicalPage> = lab.arena.placements(*band).map(|(id, _)| id).collect();
        lab.arena.free(*band, &ids, None).unwrap();
    }
    lab.tags.clear();
    (0..3).for_each(|event| lab.arena.event_completed(EventKey(event)));
    lab.check();
    for band in bands {
        assert_eq!((lab.arena.live(band), lab.arena.holes(band)), (0, 0));
        assert_eq!(lab.arena.pending(band).count(), 0);
        assert_eq!(lab.arena.span(band), lab.arena.retired(band));
    }
    if lab.arena.config().reuse != Reuse::Never {
        assert!(lab.arena == lab.arena.emptied());
    }
}
