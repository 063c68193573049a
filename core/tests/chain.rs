//! Arenas with float bands: what is admitted is allocatable, what is refused is infeasible, making room keeps every
//! page's bytes and moves nothing that is pinned, and bands never overlap.
//!
//! Against a model that tries every extent that each band could have.

use crate::common::*;
use leasecheck_core::*;
use proptest::prelude::*;

/// Two ends (or one, or none) and one or two floats between.
fn chains() -> impl Strategy<Value = ArenaConfig> {
    let envelopes = (1_u64..9, 1_u64..9, 1_u64..9, 1_u64..9);
    let choices = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), reuses(), planners());
    (24_u64..90, envelopes, choices).prop_filter_map("no room", |(bytes, (a, b, c, d), choices)| {
        let (low, high, two, sink, reuse, planner) = choices;
        let mut bands = Vec::new();
        if low {
            bands.push(band("a", a, Grow::Up, Ids::Own));
        }
        bands.push(band("b", b, Grow::Float, Ids::Own));
        if two {
            bands.push(band("c", c, Grow::Float, Ids::Own));
        }
        if high {
            bands.push(band("d", d, Grow::Down, Ids::Own));
        }
        let layout = ArenaConfig { sink, reuse, planner, ..config(bytes, bands) };
        Arena::new(layout.clone()).ok().map(|_| layout)
    })
}

/// One band as the model sees it: envelope, grid, which pages must be inside, how many places it needs beside them.
struct Model {
    envelope: u64,
    first: u32,
    pages: u32,
    grow: Grow,
    fixed: Vec<u32>,
    need: u32,
}

fn models(arena: &Arena, wanted: &[u32], movable: &dyn Fn(BandId, LogicalPage) -> bool) -> Vec<Model> {
    let mut models: Vec<Model> = Vec::new();
    for grow in [Grow::Up, Grow::Float, Grow::Down] {
        for (band, config) in arena.bands().filter(|(_, config)| config.grow == grow) {
            let mut need = wanted[band.0 as usize];
            let mut fixed: Vec<u32> = arena.pending(band).map(|(page, _)| page.0).collect();
            if config.ids == Ids::Own && arena.config().reuse == Reuse::Never {
                let live: Vec<u32> = arena.placements(band).map(|(_, page)| page.0).collect();
                fixed.extend(arena.extent(band).filter(|page| !live.contains(page)));
            }
            for (id, page) in arena.placements(band) {
                if movable(band, id) {
                    need += 1;
                } else {
                    fixed.push(page.0);
                }
            }
            fixed.sort_unstable();
            fixed.dedup();
            let (first, pages) = (arena.first_page(band).0, arena.pages(band));
            models.push(Model { envelope: config.envelope, first, pages, grow, fixed, need });
        }
    }
    models
}

/// Whether the bands can be laid out above this byte, whatever extent each gets.
fn fits(models: &[Model], floor: u64) -> bool {
    let Some((model, rest)) = models.split_first() else { return true };
    if model.need == 0 && model.fixed.is_empty() {
        return fits(rest, floor);
    }
    for start in model.first..=model.pages {
        for end in start..=model.pages {
            let at_end = match model.grow {
                Grow::Up => start == model.first,
                Grow::Down => end == model.pages,
                Grow::Float => true,
            };
            let inside = model.fixed.iter().all(|page| (start..end).contains(page));
            let room = (end - start) as usize >= model.fixed.len() + model.need as usize;
            if at_end && inside && room && u64::from(start) * model.envelope >= floor {
                if fits(rest, u64::from(end) * model.envelope) {
                    return true;
                }
                break;
            }
        }
    }
    false
}

/// Bytes between the watermarks of the ends that no float takes. (One that lies beyond them takes some all the same.)
fn gap(arena: &Arena) -> u64 {
    let end = |grow: Grow| arena.bands().find(|(_, config)| config.grow == grow);
    let low = end(Grow::Up).map(|(band, config)| arena.watermark(band) as u64 * config.envelope);
    let high = end(Grow::Down).map(|(band, config)| (arena.watermark(band) + 1) as u64 * config.envelope);
    let other = end(Grow::Up).or(end(Grow::Down));
    let first = other.map_or(0, |(band, config)| u64::from(arena.first_page(band).0) * config.envelope);
    let last = other.map_or(arena.config().bytes, |(band, config)| u64::from(arena.pages(band)) * config.envelope);
    let floats = arena.bands().filter(|(_, config)| config.grow == Grow::Float);
    let taken: u64 = floats.map(|(band, config)| arena.extent(band).len() as u64 * config.envelope).sum();
    high.unwrap_or(last).saturating_sub(low.unwrap_or(first)).saturating_sub(taken)
}

/// Runs the operation, on this one of any number of bands.
fn run(lab: &mut Lab, op: Op, band: u8) {
    let bands = lab.arena.config().bands.len() as u8;
    let op = match op {
        Op::Allocate(parts) => {
            Op::Allocate(parts.into_iter().map(|(at, pages)| (at.wrapping_add(band), pages)).collect())
        }
        Op::Free(_, picks, after) => Op::Free(band, picks, after),
        Op::Clear(_) => Op::Clear(band.wrapping_mul(3)),
        Op::Compact(_, pins, pend) => Op::Compact(band % (bands + 1), pins, pend),
        Op::Bind(_) => return,
        Op::Fire(event) => Op::Fire(event),
    };
    lab.run(&op);
}

proptest! {
    #![proptest_config(cases(2500))]

    #[test]
    fn admission_is_exact_and_room_is_made(
        layout in chains(),
        ops in prop::collection::vec((ops(), any::<u8>()), 1..40),
        pins in prop_oneof![1 => Just(0), 2 => any::<(u32, u32)>().prop_map(|(a, b)| a & b)],
        requests in prop::collection::vec((0_u8..4, 0_u32..8), 1..3),
    ) {
        let mut lab = Lab::new(layout);
        let bands = lab.arena.config().bands.len() as u8;
        let owns = |requests: &[(u8, u32)]| -> Vec<Request> {
            requests.iter().map(|(band, pages)| Request { band: BandId(band % bands), pages: *pages }).collect()
        };
        for (op, band) in ops {
            run(&mut lab, op, band);
            prop_assert_eq!(lab.arena.gap(), gap(&lab.arena));
        }
        let movable = |_: BandId, id: LogicalPage| !pinned(pins, id);
        let requests = owns(&requests);
        let mut wanted = vec![0; usize::from(bands)];
        requests.iter().for_each(|request| wanted[request.band.0 as usize] += request.pages);
        let ids = lab.arena.bands().all(|(band, _)| lab.arena.free_ids(band).count() >= wanted[band.0 as usize] as usize);
        let now = ids && fits(&models(&lab.arena, &wanted, &|_, _| false), 0);
        let packed = ids && fits(&models(&lab.arena, &wanted, &movable), 0);
        let admission = lab.arena.admission(&requests, movable);
        prop_assert_eq!(admission == Admission::FitsNow, now);
        prop_assert_eq!(admission.admitted(), now || packed);
        for (band, _) in lab.arena.bands() {
            let mut one = vec![0; usize::from(bands)];
            one[band.0 as usize] = lab.arena.available(band, movable);
            prop_assert!(fits(&models(&lab.arena, &one, &movable), 0));
            one[band.0 as usize] += 1;
            let more = lab.arena.free_ids(band).count() >= one[band.0 as usize] as usize;
            prop_assert!(!more || !fits(&models(&lab.arena, &one, &movable), 0));
        }
        if admission == Admission::FitsPacked {
            let plan = lab.arena.plan_for(&requests, &movable);
            prop_assert!(plan.moves().iter().all(|step| movable(step.band, step.id)), "a pinned page moves");
            lab.execute(&plan, None);
            lab.check();
        }
        if admission.admitted() {
            prop_assert!(lab.allocate(&requests).is_some(), "admitted, and refused");
            lab.check();
        }
        let mut bytes = Vec::new();
        lab.arena.pack(&mut bytes);
        let mut again = lab.arena.emptied();
        prop_assert!(again.unpack(&bytes).is_empty());
        prop_assert_eq!(&again, &lab.arena);
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    /// Two or three floats, which push one another: too many for the model, so that only what comes of it is looked at.
    #[test]
    fn what_is_admitted_is_allocated(
        (bytes, envelopes) in (30_u64..80, prop::collection::vec(1_u64..6, 4..6)),
        (sink, reuse, planner) in (any::<bool>(), reuses(), planners()),
        ops in prop::collection::vec((ops(), any::<u8>()), 1..40),
        pins in prop_oneof![1 => Just(0), 2 => any::<(u32, u32)>().prop_map(|(a, b)| a & b)],
        requests in prop::collection::vec((0_u8..5, 0_u32..8), 1..4),
    ) {
        let top = envelopes.len() - 1;
        let grow = |at: usize| if at == 0 { Grow::Up } else if at == top { Grow::Down } else { Grow::Float };
        let bands = envelopes.iter().enumerate().map(|(at, envelope)| band(&at.to_string(), *envelope, grow(at), Ids::Own));
        let mut lab = Lab::new(ArenaConfig { sink, reuse, planner, ..config(bytes, bands.collect()) });
        for (op, band) in ops {
            run(&mut lab, op, band);
        }
        let movable = |_: BandId, id: LogicalPage| !pinned(pins, id);
        let request = |(band, pages): &(u8, u32)| Request { band: BandId(band % envelopes.len() as u8), pages: *pages };
        let requests: Vec<Request> = requests.iter().map(request).collect();
        let admission = lab.arena.admission(&requests, movable);
        if admission == Admission::FitsPacked {
            let plan = lab.arena.plan_for(&requests, &movable);
            prop_assert!(plan.moves().iter().all(|step| movable(step.band, step.id)), "a pinned page moves");
            lab.execute(&plan, None);
            lab.check();
        }
        if admission.admitted() {
            prop_assert!(lab.allocate(&requests).is_some(), "admitted, and refused");
            lab.check();
        }
    }
}

/// Ten bytes, a band at the bottom and a float, with pages of one byte.
fn ten_bytes() -> Arena {
    let bands = vec![band("a", 1, Grow::Up, Ids::Own), band("b", 1, Grow::Float, Ids::Own)];
    Arena::new(config(10, bands)).unwrap()
}

#[test]
fn a_float_grows_towards_the_side_with_more_room() {
    let mut arena = ten_bytes();
    // In the middle; then above where both sides have as much room, and below where there is more.
    for (pages, extent) in [(2, 4..6), (1, 4..7), (1, 3..7), (3, 2..9)] {
        arena.allocate(&[Request { band: B, pages }]).unwrap();
        assert_eq!(arena.extent(B), extent);
    }
}

/// The float has its pages and its holes in five bytes, and needs every one of them.
#[test]
fn a_floats_own_holes_are_room_for_it() {
    let mut arena = ten_bytes();
    let pages = arena.allocate(&[Request { band: B, pages: 4 }]).unwrap().remove(0);
    arena.free(B, &pages[1..3], None).unwrap();
    assert_eq!((arena.extent(B), arena.holes(B)), (3..7, 2));
    let wanted = [Request { band: A, pages: 5 }, Request { band: B, pages: 3 }];
    assert_eq!(arena.admission(&wanted, everything), Admission::FitsPacked);
    let plan = arena.plan_for(&wanted, &everything);
    arena.commit(&plan, None);
    arena.allocate(&wanted).unwrap();
    assert_eq!((arena.live(A), arena.live(B)), (5, 5));
}

/// Takes all the room that there is, and gives back all pages but these.
fn hold(arena: &mut Arena, band: BandId, pages: &[u32]) {
    let all = Request { band, pages: arena.available_now(band) };
    let mut ids = arena.allocate(&[all]).unwrap().remove(0);
    ids.retain(|id| !pages.contains(&arena.translate(band, *id).unwrap().0));
    arena.free(band, &ids, None).unwrap();
    let held: Vec<u32> = arena.placements(band).map(|(_, page)| page.0).collect();
    assert_eq!(held, pages);
}

/// Each float has a neighbour right above it, which could move out of the way, and free bytes below.
#[test]
fn a_float_takes_what_is_free_before_it_pushes_another() {
    let below = |end: u32| (0..end).collect::<Vec<u32>>();
    let cases = [
        (8, vec![(1, Grow::Float, vec![3, 4]), (1, Grow::Float, vec![5, 6])]),
        (10, vec![(2, Grow::Float, vec![2]), (1, Grow::Float, vec![6, 7])]),
        (8, vec![(1, Grow::Float, vec![3]), (2, Grow::Float, vec![2])]),
        (14, vec![(2, Grow::Float, vec![4]), (1, Grow::Float, vec![10, 11]), (1, Grow::Up, below(6))]),
    ];
    for (bytes, bands) in cases {
        let layout =
            bands.iter().zip(["b", "c", "a"]).map(|((envelope, grow, _), name)| band(name, *envelope, *grow, Ids::Own));
        let mut arena = Arena::new(config(bytes, layout.collect())).unwrap();
        for at in [2, 0, 1] {
            if let Some((_, _, pages)) = bands.get(at) {
                hold(&mut arena, BandId(at as u8), pages);
            }
        }
        let one = [Request { band: A, pages: 1 }];
        assert_eq!(arena.admission(&one, everything), Admission::FitsNow);
        assert_eq!(arena.plan_for(&one, &everything).moves(), []);
    }
}

/// The page below is live, or waits for an event; the float in the middle has none yet, and pushes the one above.
#[test]
fn a_float_begins_beyond_the_last_page_of_the_one_before() {
    let (low, middle, high) = (BandId(0), BandId(1), BandId(2));
    for waits in [false, true] {
        let bands = ["b", "c", "d"].map(|name| band(name, 1, Grow::Float, Ids::Own));
        let mut arena = Arena::new(config(10, bands.to_vec())).unwrap();
        hold(&mut arena, low, &[4]);
        hold(&mut arena, high, &[6, 7]);
        if waits {
            let ids: Vec<LogicalPage> = arena.placements(low).map(|(id, _)| id).collect();
            arena.free(low, &ids, Some(EventKey(0))).unwrap();
        }
        let two = [Request { band: middle, pages: 2 }];
        assert_eq!(arena.admission(&two, everything), Admission::FitsPacked);
        let plan = arena.plan_for(&two, &everything);
        arena.commit(&plan, None);
        arena.allocate(&two).unwrap();
        assert_eq!([low, middle, high].map(|band| arena.extent(band)), [4..5, 5..7, 7..9]);
    }
}

/// Making room moves a page away from its float's others, and what lies between is a hole, until it is given back.
#[test]
fn what_is_given_back_for_good_is_no_hole() {
    let bands = vec![band("a", 1, Grow::Up, Ids::Own), band("b", 1, Grow::Float, Ids::Own)];
    let bands = [bands, vec![band("c", 2, Grow::Float, Ids::Own), band("d", 1, Grow::Down, Ids::Own)]].concat();
    let layout = ArenaConfig { permuted: true, reuse: Reuse::Never, ..config(41, bands) };
    let mut arena = Arena::new(layout).expect("possible");
    let request = |band: u8, pages: u32| Request { band: BandId(band), pages };
    arena.allocate(&[request(2, 2)]).expect("room");
    arena.allocate(&[request(1, 7), request(1, 3), request(3, 0)]).expect("room");
    let plan = arena.plan_for(&[request(3, 7), request(0, 0), request(0, 15)], &|_, _| true);
    arena.commit(&plan, None);
    let float = BandId(1);
    assert!(arena.holes(float) > 0, "room was made for others");
    arena.clear(float);
    let extent = arena.extent(float);
    assert_eq!((arena.holes(float), arena.retired(float)), (0, extent.end - extent.start));
}
