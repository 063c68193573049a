//! Packing and unpacking are inverse, for arenas and lease tables: every layout, every reuse policy, both planners,
//! sink, bound ids, permuted starts, and any few rules switched off (which leaves states that no correct design
//! reaches). Into a fresh arena and into one that was in use; equal states give equal bytes; what follows the packed
//! bytes is returned.
//!
//! The same walks show that switching rules off never makes an operation panic, and leaves alone what has nothing to do
//! with a rule: counts stay within the band, what is admitted is allocated, what is bound has a page.
//!
//! Not checked: bands of 255 pages and more, which cannot be packed.

use crate::common::*;
use leasecheck_core::*;
use proptest::prelude::*;

fn rules() -> impl Strategy<Value = Rules> {
    // The rules that leave odd states behind come up often.
    let odd = [Rule::TombstoneClearsBinding, Rule::BatchesAccumulate, Rule::AllocAllOrNothing, Rule::JointBytes];
    let off = prop_oneof![prop::sample::select(Rule::ALL), prop::sample::select(odd.to_vec())];
    prop::collection::vec(off, 0..4).prop_map(|off| off.into_iter().fold(Rules::all(), Rules::without))
}

/// Like `Lab::run`, but without looking at what comes of it.
fn step(arena: &mut Arena, op: &Op) {
    let bands = arena.config().bands.len() as u8;
    let pick = |arena: &Arena, band: BandId, picks: &[u16]| {
        let mut live: Vec<LogicalPage> = arena.placements(band).map(|(id, _)| id).collect();
        let take = |pick: &u16| (!live.is_empty()).then(|| live.swap_remove(*pick as usize % live.len()));
        picks.iter().map_while(take).collect::<Vec<_>>()
    };
    match op {
        Op::Allocate(parts) => {
            let part = |(band, pages): &(u8, u32)| Request { band: BandId(band % bands), pages: *pages };
            let requests: Vec<Request> = parts.iter().map(part).collect();
            let mut admission = arena.admission(&requests, everything);
            let rules = arena.config().rules;
            if !rules.on(Rule::JointBytes) && !rules.on(Rule::AllocAllOrNothing) {
                // Priced each for itself and allocated one after the other: the second may find the bytes gone.
                admission = Admission::Refused(Refusal::Bytes { wanted: 0, free: 0 });
            }
            if admission == Admission::FitsPacked {
                let mut packed = arena.clone();
                packed.commit(&arena.plan(&everything), None);
                assert!(packed.allocate(&requests).is_ok(), "admitted, and refused after the compaction");
            }
            assert!(arena.allocate(&requests).is_ok() || admission != Admission::FitsNow, "admitted, and refused");
        }
        Op::Free(band, picks, after) => {
            let band = BandId(band % bands);
            let ids = pick(arena, band, picks);
            if arena.tombstone(band, &ids, after.map(EventKey)).is_err() {
                arena.free(band, &ids, after.map(EventKey)).unwrap();
            }
        }
        Op::Bind(picks) => {
            let ids = pick(arena, A, picks);
            if arena.bind(B, &ids).is_ok() {
                assert!(ids.iter().all(|id| arena.translate(B, *id).is_some()), "bound to nothing");
            }
        }
        Op::Clear(band) if *band < bands => arena.clear(BandId(*band)),
        Op::Clear(_) => {}
        Op::Fire(event) => arena.event_completed(EventKey(*event)),
        Op::Compact(_, pins, pend) => {
            let plan = arena.plan(&|_, id| !pinned(*pins, id));
            arena.commit(&plan, pend.map(EventKey));
        }
    }
    for band in 0..bands {
        let (band, pages) = (BandId(band), arena.capacity(BandId(band)));
        assert!(arena.span(band) <= pages && arena.holes(band) <= pages && arena.live(band) <= pages);
        assert!(arena.available_now(band) <= pages && arena.available(band, everything) <= pages);
    }
}

fn packed(arena: &Arena) -> Vec<u8> {
    let mut bytes = Vec::new();
    arena.pack(&mut bytes);
    bytes
}

proptest! {
    #![proptest_config(cases(2500))]

    #[test]
    fn arenas_survive_packing(
        layout in layouts(),
        rules in rules(),
        ops in prop::collection::vec(ops(), 1..40),
        dirt in prop::collection::vec(ops(), 0..10),
    ) {
        let layout = ArenaConfig { rules, ..layout };
        let mut arena = Arena::new(layout).unwrap();
        prop_assume!(arena.packable());
        let mut other = arena.clone();
        dirt.iter().for_each(|op| step(&mut other, op));
        for op in &ops {
            step(&mut arena, op);
            let mut bytes = packed(&arena);
            let length = bytes.len();
            bytes.extend([7, 8, 9]);
            let mut fresh = arena.emptied();
            prop_assert_eq!(fresh.unpack(&bytes), &[7, 8, 9]);
            prop_assert_eq!(&fresh, &arena);
            prop_assert_eq!(other.unpack(&bytes), &[7, 8, 9]);
            prop_assert_eq!(&other, &arena, "traces of the state before are left");
            bytes.truncate(length);
            prop_assert_eq!(packed(&other), bytes);
            let mut copy = arena.emptied();
            copy.clone_from(&arena);
            prop_assert_eq!(&copy, &arena);
        }
    }

    #[test]
    fn lease_tables_survive_packing(
        rules in rules(),
        calls in prop::collection::vec((0_u8..11, 0_u32..4, 0_u32..3, prop::option::of(0_u32..200)), 1..50),
    ) {
        let mut table = LeaseTable::new(rules);
        let mut other = LeaseTable::new(rules);
        for (call, holder, event, ttl) in calls {
            let (id, key) = (HolderId(holder), EventKey(event));
            match call {
                0 | 1 => drop(table.acquire(id, ttl)),
                2 if !table.is_held_back(id) => drop(table.acquire_in_turn(id)),
                2 => table.withdraw(id),
                3 => drop(table.release(id)),
                4 => drop(table.hand_off(id, key)),
                5 => table.event_completed(key),
                6 => table.query_failed(key),
                7 => table.wait_failed(id),
                8 => table.tick(),
                9 => drop(table.request_compaction(id)),
                _ => table.end_compaction(id),
            }
            let mut bytes = Vec::new();
            table.pack(&mut bytes);
            let length = bytes.len();
            bytes.extend([1, 2]);
            prop_assert_eq!(other.unpack(&bytes), &[1, 2]);
            prop_assert_eq!(&other, &table);
            bytes.truncate(length);
            let mut again = Vec::new();
            other.pack(&mut again);
            prop_assert_eq!(again, bytes);
        }
    }
}

/// Explorers keep millions of states: what follows from the rest takes no bytes.
#[test]
fn holes_are_not_packed() {
    for reuse in [Reuse::AsDesigned, Reuse::Never] {
        let mut arena = Arena::new(ArenaConfig { reuse, ..two_ended(40, 4, 4) }).unwrap();
        let ids = arena.allocate(&[Request { band: A, pages: 4 }]).unwrap().remove(0);
        let length = packed(&arena).len();
        arena.free(A, &ids[1..2], None).unwrap();
        assert_eq!(packed(&arena).len(), length);
    }
}

/// It follows from nothing where released bindings stay in the table.
#[test]
fn arenas_that_differ_in_their_holes_alone_differ() {
    let rules = Rules::all().without(Rule::TombstoneClearsBinding);
    let mut arena = Arena::new(ArenaConfig { rules, ..device(64, 8, 4) }).unwrap();
    let ids = arena.allocate(&[Request { band: A, pages: 3 }]).unwrap().remove(0);
    arena.bind(B, &ids).unwrap();
    let without = |released: usize| {
        let mut arena = arena.clone();
        arena.tombstone(B, &ids[released..=released], None).unwrap();
        arena
    };
    let (one, other) = (without(0), without(1));
    assert!(one.placements(B).eq(other.placements(B)));
    assert_eq!((one.span(B), one.live(B), one.holes(B)), (other.span(B), other.live(B), other.holes(B)));
    assert_ne!(one, other);
    assert_ne!(packed(&one), packed(&other));
}
