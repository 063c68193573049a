//! S9: a transfer that touches several pools leases each shared layout once. Two ways of collecting the layouts agree
//! on all 1,555 sequences of length 0 to 4 over 6 kinds of pool (1 + 6 + 36 + 216 + 1296), with repeated shared
//! layouts and pools without one.
//!
//! The second way sorts by first occurrence and shares no code with core's. Not checked: the leases themselves.

use leasecheck_core::transfer::layouts;

/// Six kinds of pool: two on one shared layout, two on another, one on a third, one without a shared layout.
const KINDS: [Option<u8>; 6] = [Some(3), Some(3), Some(1), Some(1), Some(2), None];

fn by_first_occurrence(pools: &[Option<u8>]) -> Vec<u8> {
    let mut seen: Vec<(u8, usize)> = Vec::new();
    for (at, layout) in pools.iter().enumerate() {
        seen.extend(layout.map(|layout| (layout, at)));
    }
    seen.sort_unstable();
    seen.dedup_by_key(|(layout, _)| *layout);
    seen.sort_unstable_by_key(|(_, at)| *at);
    seen.into_iter().map(|(layout, _)| layout).collect()
}

#[test]
fn both_ways_collect_the_same_layouts_in_the_same_order() {
    let (mut sequences, mut shared, mut without) = (0, 0, 0);
    for length in 0..=4 {
        for code in 0..6_usize.pow(length) {
            let pools: Vec<Option<u8>> = (0..length).map(|at| KINDS[code / 6_usize.pow(at) % 6]).collect();
            let collected = layouts(pools.iter().copied());
            assert_eq!(collected, by_first_occurrence(&pools), "{pools:?}");
            sequences += 1;
            shared += usize::from(pools.iter().flatten().count() > collected.len());
            without += usize::from(pools.contains(&None));
        }
    }
    println!(
        "{sequences} sequences, {shared} with a layout shared by several pools, {without} with a pool without one"
    );
    assert_eq!(sequences, 1_555);
    assert!(shared > 0 && without > 0);
}
