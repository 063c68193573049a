//! Admitted means allocatable; refused means infeasible; a cached capacity equals a fresh one.
//!
//! The truth is priced here once more, from placements alone, so that a design that prices wrongly is held against
//! something that does not share its code.

use super::{Code, Violation};
use crate::program::{Pc, Program};
use crate::world::World;
use leasecheck_core::{Grow, Ids, Refusal, Request};

/// Whether the requests fit now, or after what may move has moved.
fn feasible(world: &World, program: &Program, arena: u8, requests: &[Request]) -> bool {
    let state = &world.arenas[usize::from(arena)].arena;
    let held = world.closed_gate(program, arena).is_some();
    let plan = state.plan(&|band, id| !held && world.movable(program, arena, band, id));
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
            }
        }
        low <= high
    };
    let now =
        fits(&|at| state.span(leasecheck_core::BandId(at as u8)), &|at| state.holes(leasecheck_core::BandId(at as u8)));
    now || fits(&|at| plan.spans()[at], &|at| plan.holes()[at])
}

/// An allocation was refused.
pub(crate) fn refused(world: &World, program: &Program, arena: u8, requests: &[Request]) -> Result<(), Violation> {
    if !feasible(world, program, arena, requests) {
        return Ok(());
    }
    let name = &program.arenas[usize::from(arena)].name;
    Err(Violation::new(Code::Admission, format!("an allocation in {name} is refused although it fits")))
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
