//! Admission is exact: admitted ⇔ allocatable (now, or after committing the plan), for one band and jointly, with
//! pinned, pending and retired pages and a sink; `available` is the largest request that is admitted.
//!
//! Against a brute-force model that knows bytes only: which bytes every band claims from its end, which of them are
//! taken, and that pages are handed out from the own end. It finds the lowest possible watermark by filling from the
//! own end around what cannot move; core plans moves. The two share no code.
//!
//! Not checked: refusals by band and by number (their texts), designs with rules switched off (`rules.rs`).

use crate::common::*;
use leasecheck_core::*;
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// One band as the model sees it: distances from its end that are taken and cannot move, and how many can.
struct Model {
    envelope: u64,
    first: u32,
    pages: u32,
    up: bool,
    stays: BTreeSet<u32>,
    moves: BTreeSet<u32>,
    /// Ids left, if the band owns its ids.
    ids: Option<u32>,
    /// Vacant distances that no plan may touch: a frontier over retired pages.
    frontier: u32,
}

impl Model {
    fn of(lab: &Lab, band: BandId, movable: &impl Fn(BandId, LogicalPage) -> bool) -> Model {
        let arena = &lab.arena;
        let config = &arena.config().bands[band.0 as usize];
        let (mut stays, mut moves) = (BTreeSet::new(), BTreeSet::new());
        for (id, page) in arena.placements(band) {
            let set = if movable(band, id) { &mut moves } else { &mut stays };
            set.insert(lab.distance(band, page));
        }
        stays.extend(arena.pending(band).map(|(page, _)| lab.distance(band, page)));
        if arena.config().reuse == Reuse::Never {
            // What was once used and is nobody's is retired: nothing in the span is vacant.
            stays.extend((0..arena.span(band)).filter(|at| !moves.contains(at)));
        }
        Model {
            envelope: config.envelope,
            first: arena.first_page(band).0,
            pages: arena.pages(band),
            up: config.grow == Grow::Up,
            stays,
            moves,
            ids: (config.ids == Ids::Own).then(|| arena.free_ids(band).count() as u32),
            frontier: arena.span(band),
        }
    }

    /// How many pages, from the own end, the band claims once `wanted` more are in it.
    fn claims(&self, wanted: u32, packed: bool) -> Option<u32> {
        let taken: BTreeSet<u32> =
            if packed { self.stays.clone() } else { self.stays.union(&self.moves).copied().collect() };
        let place = wanted + if packed { self.moves.len() as u32 } else { 0 };
        let free = (0..self.pages - self.first).filter(|at| !taken.contains(at));
        let filled: Vec<u32> = free.take(place as usize).collect();
        if filled.len() < place as usize {
            return None;
        }
        let last = filled.last().into_iter().chain(taken.last()).max();
        Some(last.map_or(0, |at| at + 1))
    }
}

/// Whether so many pages of each band fit: their claims, in bytes, must not meet, nor leave what the bands share.
fn fits(models: &[Model], wanted: &[u32], packed: bool) -> bool {
    let ids = models.iter().zip(wanted).all(|(model, wanted)| model.ids.is_none_or(|ids| *wanted <= ids));
    let start_of_up = models.iter().find(|model| model.up).unwrap_or(&models[0]);
    let end_of_down = models.iter().find(|model| !model.up).unwrap_or(&models[0]);
    let mut low = u64::from(start_of_up.first) * start_of_up.envelope;
    let mut high = u64::from(end_of_down.pages) * end_of_down.envelope;
    for (model, wanted) in models.iter().zip(wanted) {
        let Some(claims) = model.claims(*wanted, packed) else { return false };
        if model.up {
            low = u64::from(model.first + claims) * model.envelope;
        } else {
            high = u64::from(model.pages - claims) * model.envelope;
        }
    }
    // An empty band claims nothing, even where the arena is too small for both sinks.
    ids && (low <= high || models.iter().zip(wanted).all(|(model, wanted)| wanted + model.frontier == 0))
}

/// A request is well formed if every id that a band binds is asked for before it.
fn unowned(lab: &Lab, requests: &[Request]) -> bool {
    let mut asked = [0_u32; 2];
    requests.iter().any(|request| {
        asked[request.band.0 as usize] += request.pages;
        lab.binds_ids() && asked[1] > asked[0]
    })
}

fn reach(layout: ArenaConfig, ops: &[Op]) -> Lab {
    let mut lab = Lab::new(layout);
    ops.iter().for_each(|op| lab.run(op));
    lab
}

/// Often a full arena with pages freed here and there: that is where packing matters.
fn situations() -> impl Strategy<Value = (ArenaConfig, Vec<Op>, u32)> {
    let pins = prop_oneof![Just(0), any::<u32>(), any::<(u32, u32)>().prop_map(|(a, b)| a & b), Just(u32::MAX)];
    let fill = prop::collection::vec((0_u8..2, 1_u32..4).prop_map(|part| Op::Allocate(vec![part, part])), 0..30);
    let frees = (0_u8..2, prop::collection::vec(any::<u16>(), 1..5), events());
    let holes = prop::collection::vec(frees.prop_map(|(band, picks, after)| Op::Free(band, picks, after)), 0..6);
    let anything = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(ops(), 0..30)];
    (layouts(), fill, holes, anything, pins)
        .prop_map(|(layout, fill, holes, anything, pins)| (layout, [fill, holes, anything].concat(), pins))
}

#[test]
fn admitted_means_allocatable() {
    let seen: RefCell<BTreeMap<&str, u32>> = RefCell::default();
    let mut runner = proptest::test_runner::TestRunner::new(cases(1500));
    // Pages in hundredths of what the band could take: around the limit, far from it, nothing.
    let pages = prop_oneof![Just(0), 0_u32..60, 60_u32..140];
    let requests = prop::collection::vec(prop::collection::vec((0_u8..2, pages), 1..4), 6);
    let result = runner.run(&(situations(), requests), |((layout, ops, pins), asked)| {
        let mut lab = reach(layout, &ops);
        let movable = |_: BandId, id: LogicalPage| !pinned(pins, id);
        let bands: Vec<BandId> = lab.arena.bands().map(|(band, _)| band).collect();
        let models: Vec<Model> = bands.iter().map(|band| Model::of(&lab, *band, &movable)).collect();
        let mut packed = lab.arena.clone();
        packed.commit(&lab.arena.plan(&movable), None);
        // Also exactly at the limit and one page beyond it, of one band alone and beside half of the other.
        let mut limits = Vec::new();
        for (band, other) in [(A, B), (B, A)] {
            if bands.len() == 2 {
                let beside = lab.arena.available(other, movable) / 2;
                let fit = |pages: u32| {
                    let wanted = if band == A { [pages, beside] } else { [beside, pages] };
                    fits(&models, &wanted, true)
                };
                let most = (0..=lab.arena.capacity(band)).rev().find(|pages| fit(*pages)).unwrap_or(0);
                let alone = lab.arena.available(band, movable);
                limits.extend([vec![(band, alone)], vec![(band, alone + 1)]]);
                limits.extend([0, 1].map(|more| vec![(other, beside), (band, most + more)]));
            }
        }
        let share = |(band, share): (u8, u32)| {
            let band = bands[band as usize % bands.len()];
            (band, (lab.arena.available(band, movable) * share).div_ceil(100))
        };
        let shares: Vec<Vec<(BandId, u32)>> =
            asked.into_iter().map(|parts| parts.into_iter().map(share).collect()).collect();
        for parts in limits.into_iter().chain(shares) {
            let requests: Vec<Request> = parts.into_iter().map(|(band, pages)| Request { band, pages }).collect();
            let mut wanted = vec![0; bands.len()];
            requests.iter().for_each(|request| wanted[request.band.0 as usize] += request.pages);

            let admission = lab.arena.admission(&requests, movable);
            let now = lab.arena.clone().allocate(&requests);
            let later = packed.clone().allocate(&requests);
            let kind = match admission {
                Admission::FitsNow => {
                    prop_assert!(now.is_ok(), "{:?}", now);
                    "fits now"
                }
                Admission::FitsPacked => {
                    prop_assert!(now.is_err() && later.is_ok(), "{:?} {:?}", now, later);
                    "fits packed"
                }
                Admission::Refused(refusal) => {
                    prop_assert_eq!(now.unwrap_err().to_string().is_empty(), false);
                    prop_assert!(later.is_err());
                    if unowned(&lab, &requests) {
                        prop_assert_eq!(refusal, Refusal::Unowned(B));
                        continue;
                    }
                    "refused"
                }
            };
            *seen.borrow_mut().entry(kind).or_default() += 1;
            prop_assert_eq!(admission == Admission::FitsNow, fits(&models, &wanted, false), "{:?}", admission);
            prop_assert_eq!(
                admission.admitted(),
                fits(&models, &wanted, false) || fits(&models, &wanted, true),
                "{:?}",
                admission
            );
        }
        for band in bands {
            // In a band that binds ids, ask for as many ids as pages: then the ids are the owner's and may run out.
            let most = |packed: bool| {
                let mut wanted = vec![0; models.len()];
                let mut most = 0;
                for pages in 0..=lab.arena.capacity(band) {
                    wanted[band.0 as usize] = pages;
                    if fits(&models, &wanted, packed) {
                        most = pages;
                    }
                }
                most
            };
            prop_assert_eq!(lab.arena.available_now(band), most(false));
            let available = lab.arena.available(band, movable);
            prop_assert_eq!(available, most(false).max(most(true)));
            if lab.arena.config().bands[band.0 as usize].ids == Ids::Own {
                for pages in 0..=available + 2 {
                    let admission = lab.arena.admission(&[Request { band, pages }], movable);
                    prop_assert_eq!(admission.admitted(), pages <= available);
                }
            }
        }
        lab.run(&Op::Fire(0));
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    let seen = seen.into_inner();
    println!("{seen:?}");
    assert!(seen.values().all(|count| *count > 100) && seen.len() == 3);
}

proptest! {
    #![proptest_config(cases(1500))]

    /// `fits_then` promises that both requests can be served, one after the other, compacting before either.
    #[test]
    fn what_fits_then_can_be_served_in_that_order(
        (layout, ops, pins) in situations(),
        first in prop::collection::vec((0_u8..2, 0_u32..9), 0..3),
        then in prop::collection::vec((0_u8..2, 0_u32..9), 0..3),
    ) {
        let mut layout = layout;
        layout.bands.iter_mut().for_each(|band| band.ids = Ids::Own);
        let mut lab = reach(layout, &ops);
        let pinned: BTreeSet<(BandId, LogicalPage)> =
            lab.tags.keys().copied().filter(|(_, id)| pinned(pins, *id)).collect();
        let movable = |band: BandId, id: LogicalPage| !pinned.contains(&(band, id));
        let bands = lab.arena.config().bands.len() as u8;
        let part = |(band, pages): &(u8, u32)| Request { band: BandId(band % bands), pages: *pages };
        let first: Vec<Request> = first.iter().map(part).collect();
        let then: Vec<Request> = then.iter().map(part).collect();
        let promised = lab.arena.fits_then(&first, &then, movable);
        let empty = lab.arena.emptied();
        prop_assert!(!promised || lab.arena.config().reuse == Reuse::Never || empty.fits_then(&first, &then, movable));

        let mut served = true;
        for requests in [&first, &then] {
            if served && lab.allocate(requests).is_none() {
                let plan = lab.arena.plan(&movable);
                lab.execute(&plan, None);
                served = lab.allocate(requests).is_some();
            }
        }
        lab.check();
        prop_assert_eq!(promised, served);
        prop_assert!(empty == Arena::new(lab.arena.config().clone()).unwrap());
    }

    /// Without `refusal-means-infeasible` every band has its share of the bytes, and no more: what is within the shares
    /// is admitted as by design, what is beyond one is refused, with the share as what is free.
    #[test]
    fn fixed_shares_are_exact(
        (layout, ops, _) in situations(),
        asked in prop::collection::vec((0_u8..2, 0_u32..40), 1..4),
    ) {
        let rules = Rules::all().without(Rule::RefusalMeansInfeasible);
        let lab = reach(layout.clone(), &ops);
        let shared = reach(ArenaConfig { rules, ..layout }, &ops);
        let bands = lab.arena.config().bands.len() as u8;
        let part = |(band, pages): &(u8, u32)| Request { band: BandId(band % bands), pages: *pages };
        let requests: Vec<Request> = asked.iter().map(part).collect();
        let share = lab.arena.config().bytes / u64::from(bands);
        let bytes = |(band, config): (BandId, &BandConfig)| {
            let wanted: u32 = requests.iter().filter(|request| request.band == band).map(|request| request.pages).sum();
            u64::from(wanted + lab.arena.live(band)) * config.envelope
        };
        let beyond = lab.arena.bands().map(bytes).find(|bytes| *bytes > share);
        let design = lab.arena.admission(&requests, everything);
        let expected = match (design, beyond) {
            (Admission::Refused(Refusal::Ids { .. } | Refusal::Unowned(_)), _) | (_, None) => design,
            (_, Some(wanted)) => Admission::Refused(Refusal::Bytes { wanted, free: share }),
        };
        prop_assert_eq!(shared.arena.admission(&requests, everything), expected);
    }
}
