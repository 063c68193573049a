//! What the case says is given back has been given back: no page is live or pending.

use super::{Code, Violation};
use crate::program::Program;
use crate::world::World;

pub(crate) fn check(world: &World, program: &Program, arena: u8, band: Option<u8>) -> Result<(), Violation> {
    let state = &world.arenas[usize::from(arena)].arena;
    for (at, _) in state.bands().filter(|(at, _)| band.is_none_or(|band| band == at.0)) {
        let (live, pending) = (state.live(at), state.pending_pages(at));
        if live > 0 || pending > 0 {
            let name = program.band_name(arena, at.0);
            let message = format!("{name} should be empty: {live} pages are live and {pending} pending");
            return Err(Violation::new(Code::Leak, message));
        }
    }
    Ok(())
}
