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
        for (op, band) in &ops {
            let op = match op.clone() {
                Op::Allocate(parts) => Op::Allocate(parts.into_iter().map(|(at, pages)| (at.wrapping_add(*band), pages)).collect()),
                Op::Free(_, picks, after) => Op::Free(*band, picks, after),
                Op::Clear(_) => Op::Clear(band.wrapping_mul(3)),
                Op::Compact(_, pins, pend) => Op::Compact(band % (bands + 1), pins, pend),
                Op::Bind(_) => continue,
                Op::Fire(event) => Op::Fire(event),
            };
            lab.run(&op);
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
