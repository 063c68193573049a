//! No move while a lease, a handed-off event, a pin or a closed gate covers the page.

use super::{Code, Violation};
use crate::program::Program;
use crate::world::World;
use leasecheck_core::Move;

/// Checked when the moves are about to be made. A `clear` makes none, but must respect leases all the same.
pub(crate) fn check(world: &World, program: &Program, arena: u8, moves: &[Move]) -> Result<(), Violation> {
    let state = &world.arenas[usize::from(arena)];
    let def = &program.arenas[usize::from(arena)];
    let what = || match moves.first() {
        Some(step) => format!(
            "page {} of {} moves from physical page {} to {}",
            step.id,
            program.band_name(arena, step.band.0),
            step.from,
            step.to
        ),
        None => format!("a band of {} is cleared", def.name),
    };
    let wrong = |why: String| Err(Violation::new(Code::MovedUnderLease, format!("{} {why}", what())));
    if let Some(holder) = state.leases.holders().next() {
        let name = &program.agents[holder.0 as usize].name;
        return wrong(format!("while {name} holds a lease of the layout"));
    }
    if let Some(event) = state.leases.events().first() {
        let name = &program.events[event.0 as usize];
        return wrong(format!("while a lease handed off to `{name}` covers the layout"));
    }
    if !moves.is_empty()
        && let Some(gate) = world.closed_gate(program, arena)
    {
        return wrong(format!("while gate `{}` is closed", def.gate_names[gate]));
    }
    let pinned = |step: &&Move| state.ids[state.id_at(state.owner(step.band.0), step.id.0 as u8)].pins > 0;
    if let Some(step) = moves.iter().find(pinned) {
        let message = format!(
            "page {} of {} moves from physical page {} to {} while it is pinned",
            step.id,
            program.band_name(arena, step.band.0),
            step.from,
            step.to
        );
        return Err(Violation::new(Code::MovedUnderLease, message));
    }
    Ok(())
}
