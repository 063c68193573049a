//! Admitted means allocatable; refused means infeasible; a cached capacity equals a fresh one.
//!
//! The truth is priced here once more, from placements alone, so that a design that prices wrongly is held against
//! something that does not share its code.

use super::{Code, Violation};
use crate::program::{Pc, Program};
use crate::world::World;
use leasecheck_core::{Arena, BandConfig, BandId, Grow, Ids, LogicalPage, Refusal, Request, Reuse};

/// Whether the requests fit now, or after what may move has moved.
fn feasible(world: &World, program: &Program, arena: u8, requests: &[Request]) -> bool {
    // Pages for ids that nobody is given are not a matter of room.
    let pages = |band| requests.iter().filter(|request| request.band == band).map(|request| request.pages).sum::<u32>();
    let owned = |(band, config): (BandId, &BandConfig)| match config.ids {
        Ids::Own => true,
        Ids::Of(owner) => pages(band) <= pages(owner),
    };
    if !world.arenas[usize::from(arena)].arena.bands().all(owned) {
        return false;
    }
    let evicted = world.with_all_evicted(program, arena);
    let now = &world.arenas[usize::from(arena)].arena;
    fits(world, program, arena, now, requests)
        || evicted.is_some_and(|evicted| fits(world, program, arena, &evicted, requests))
}

fn fits(world: &World, program: &Program, arena: u8, state: &Arena, requests: &[Request]) -> bool {
    let held = world.closed_gate(program, arena).is_some();
    has_room(state, requests, &|band, id| !held && world.movable(program, arena, band, id))
}

fn has_room(state: &Arena, requests: &[Request], movable: &dyn Fn(BandId, LogicalPage) -> bool) -> bool {
    if state.is_chain() {
        return fits_chain(state, requests, &|_, _| false) || fits_chain(state, requests, movable);
    }
    let plan = state.plan(&movable);
    let fits = |spans: &dyn Fn(usize) -> u32, holes: &dyn Fn(usize) -> u32| {
        // Where the band that grows up would end, and the one that grows down would begin.
        let (mut low, mut high) = (0_u64, u64::MAX);
        for (band, config) in state.bands() {
            let at = usize::from(band.0);
            let pages: u32 = requests.iter().filter(|request| request.band == band).map(|request| request.pages).sum();
            let span = spans(at) + pages.saturating_sub(holes(at));
            // The sink and the dead bytes at the far end are no room of any band.
            if span > state.capacity(band) || (config.ids == Ids::Own && state.free_ids(band).count() < pages as usize)
            {
                return false;
            }
            match config.grow {
                Grow::Up => low = u64::from(state.first_page(band).0 + span) * config.envelope,
                Grow::Down => high = u64::from(state.pages(band) - span) * config.envelope,
                Grow::Float => {}
            }
        }
        low <= high
    };
    let now = fits(&|at| state.span(BandId(at as u8)), &|at| state.holes(BandId(at as u8)));
    now || fits(&|at| plan.spans()[at], &|at| plan.holes()[at])
}

/// The same for an arena with floats: every band in turn, from the lowest on, takes the lowest pages that it can have.
fn fits_chain(state: &Arena, requests: &[Request], movable: &dyn Fn(BandId, LogicalPage) -> bool) -> bool {
    let in_order = |grow: Grow| state.bands().filter(move |(_, config)| config.grow == grow);
    // Bytes from the bottom that are taken, then from the top.
    let (mut low, mut top) = (0_u64, u64::MAX);
    for (band, config) in in_order(Grow::Down).chain(in_order(Grow::Up)).chain(in_order(Grow::Float)) {
        let wanted: u32 = requests.iter().filter(|request| request.band == band).map(|request| request.pages).sum();
        if config.ids == Ids::Own && state.free_ids(band).count() < wanted as usize {
            return false;
        }
        let never = state.config().reuse == Reuse::Never;
        let mut stays = vec![false; state.pages(band) as usize];
        if never {
            state.extent(band).for_each(|page| stays[page as usize] = true);
        }
        let mut loose = wanted;
        for (id, page) in state.placements(band) {
            let moves = movable(band, id);
            loose += u32::from(moves);
            stays[page.0 as usize] = !moves;
        }
        state.pending(band).for_each(|(page, _)| stays[page.0 as usize] = true);
        if loose == 0 && !stays.contains(&true) {
            continue;
        }
        if config.grow == Grow::Down {
            // From the other end: the lowest byte that it needs.
            let mut at = state.pages(band);
            while (loose > 0 || stays[..at as usize].contains(&true)) && at > state.first_page(band).0 {
                at -= 1;
                loose -= u32::from(!stays[at as usize] && loose > 0);
            }
            if loose > 0 {
                return false;
            }
            top = u64::from(at) * config.envelope;
            continue;
        }
        let mut at = (low.div_ceil(config.envelope) as u32).max(state.first_page(band).0);
        if stays.iter().take(at as usize).any(|stays| *stays) {
            return false;
        }
        while loose > 0 || stays[(at as usize).min(stays.len())..].contains(&true) {
            if at >= state.pages(band) {
                return false;
            }
            loose -= u32::from(!stays[at as usize] && loose > 0);
            at += 1;
        }
        low = u64::from(at) * config.envelope;
    }
    low <= top
}

/// An allocation was refused.
pub(crate) fn refused(world: &World, program: &Program, arena: u8, requests: &[Request]) -> Result<(), Violation> {
    if !feasible(world, program, arena, requests) {
        return Ok(());
    }
    let name = &program.arenas[usize::from(arena)].name;
    Err(Violation::new(Code::Admission, format!("an allocation in {name} is refused although it fits")))
}

/// A binding was refused.
pub(crate) fn bind_refused(
    world: &World,
    program: &Program,
    arena: u8,
    band: u8,
    request: Request,
) -> Result<(), Violation> {
    // Bindings move nothing.
    let room = |state: &Arena| state.available_now(request.band) >= request.pages;
    let now = &world.arenas[usize::from(arena)].arena;
    if !room(now) && !world.with_all_evicted(program, arena).is_some_and(|evicted| room(&evicted)) {
        return Ok(());
    }
    let name = program.band_name(arena, band);
    Err(Violation::new(Code::Admission, format!("a binding in {name} is refused although it fits")))
}

/// An eviction gave up early.
pub(crate) fn gave_up(program: &Program, arena: u8, band: u8, evicted: usize, could: usize) -> Violation {
    let name = program.band_name(arena, band);
    let message = format!("an eviction in {name} ends after {evicted} pages, and {could} could go");
    Violation::new(Code::Admission, message)
}

/// Capacity that had been promised was not there.
pub(crate) fn promised(program: &Program, pc: Pc, refusal: Refusal) -> Violation {
    let text = &program.code[usize::from(pc)].text;
    Violation::new(Code::Admission, format!("`{text}` was admitted and cannot be served: {refusal}"))
}

/// `admit` was answered.
pub(crate) fn answered(
    world: &World,
    program: &Program,
    arena: u8,
    requests: &[Request],
    answer: bool,
) -> Result<(), Violation> {
    let truth = feasible(world, program, arena, requests);
    if answer == truth {
        return Ok(());
    }
    let name = &program.arenas[usize::from(arena)].name;
    let message = if answer {
        format!("a request is admitted to {name} that cannot be allocated there now")
    } else {
        format!("a request is refused by {name} that could be allocated there")
    };
    Err(Violation::new(Code::Admission, message))
}

/// `available` was answered.
pub(crate) fn capacity(program: &Program, arena: u8, band: u8, answer: i16, truth: i16) -> Result<(), Violation> {
    if answer == truth {
        return Ok(());
    }
    let name = program.band_name(arena, band);
    let message = format!("{name} is said to have {answer} pages available; {truth} could be allocated now");
    Err(Violation::new(Code::Admission, message))
}

#[cfg(test)]
mod tests {
    use super::has_room;
    use leasecheck_core::*;
    use proptest::prelude::*;

    /// Bands at both ends, floats between, and one that may bind the ids of another.
    fn layouts() -> impl Strategy<Value = ArenaConfig> {
        let bands = prop::collection::vec((0_u8..4, 1_u64..8), 1..5);
        let reuse = prop_oneof![3 => Just(Reuse::AsDesigned), 1 => Just(Reuse::Never)];
        let choices = (any::<bool>(), any::<bool>(), reuse);
        (16_u64..72, bands, choices).prop_filter_map("impossible", |(bytes, bands, (sink, bound, reuse))| {
            let count = bands.len();
            let band = |(at, (grow, envelope)): (usize, (u8, u64))| BandConfig {
                name: format!("band{at}"),
                envelope,
                page_tokens: 1,
                layers: 1,
                grow: [Grow::Up, Grow::Down, Grow::Float, Grow::Float][usize::from(grow)],
                ids: if bound && at > 0 && at + 1 == count { Ids::Of(BandId(0)) } else { Ids::Own },
            };
            let bands = bands.into_iter().enumerate().map(band).collect();
            let (planner, rules) = (Planner::Minimal, Rules::all());
            let layout = ArenaConfig { bytes, bands, sink, reuse, permuted: false, planner, rules };
            Arena::new(layout.clone()).ok().map(|_| layout)
        })
    }

    fn step(arena: &mut Arena, (what, band, number): (u8, u8, u32)) {
        let band = BandId(band % arena.config().bands.len() as u8);
        let event = (number % 3 == 0).then_some(EventKey(number % 2));
        let own = arena.config().bands[usize::from(band.0)].ids == Ids::Own;
        let live: Vec<LogicalPage> = arena.placements(band).map(|(id, _)| id).collect();
        let some: Vec<LogicalPage> = live.into_iter().filter(|id| number >> (id.0 % 8) & 1 == 1).collect();
        match what {
            // What does not fit changes nothing.
            0 if own => drop(arena.allocate(&[Request { band, pages: number % 8 }])),
            0 => {
                let ids: Vec<LogicalPage> = arena.placements(BandId(0)).map(|(id, _)| id).collect();
                arena.bind(band, &ids[..ids.len().min(number as usize % 3)]).unwrap_or_default();
            }
            1 if own => arena.free(band, &some, event).expect("live"),
            1 => arena.tombstone(band, &some, event).expect("live"),
            _ => arena.event_completed(EventKey(number % 2)),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 3000,
            rng_seed: proptest::test_runner::RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Both prices of a request, the design's and the one here, are the same in every arena.
        #[test]
        fn the_design_prices_alike(
            layout in layouts(),
            steps in prop::collection::vec((0_u8..3, any::<u8>(), 0_u32..256), 0..24),
            asked in prop::collection::vec(prop::collection::vec((any::<u8>(), 0_u32..9), 1..4), 8),
            pins in prop_oneof![Just(0_u32), any::<u32>()],
        ) {
            let mut arena = Arena::new(layout).expect("possible");
            steps.into_iter().for_each(|what| step(&mut arena, what));
            let movable = |_: BandId, id: LogicalPage| pins >> (id.0 % 32) & 1 == 0;
            let bands = arena.config().bands.len() as u8;
            let all = (0..bands).map(|band| {
                let band = BandId(band);
                vec![Request { band, pages: arena.available(band, movable) }]
            });
            let drawn = asked.iter().map(|parts| {
                parts.iter().map(|(band, pages)| Request { band: BandId(band % bands), pages: *pages }).collect()
            });
            for requests in all.chain(drawn).collect::<Vec<Vec<Request>>>() {
                let design = arena.admission(&requests, movable);
                if !matches!(design, Admission::Refused(Refusal::Unowned(_))) {
                    prop_assert_eq!(has_room(&arena, &requests, &movable), design.admitted(), "{:?}", requests);
                }
            }
        }
    }
}
