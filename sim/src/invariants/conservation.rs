//! Every page within a band's watermark is live, a hole, pending or retired: none is lost, none counted twice.

use super::{Code, Violation};
use crate::program::Program;
use crate::world::World;

pub(crate) fn check(world: &World, program: &Program, arena: u8) -> Result<(), Violation> {
    let state = &*world.arenas[usize::from(arena)].arena;
    for (band, _) in state.bands() {
        let (live, holes) = (state.live(band), state.holes(band));
        let (pending, retired) = (state.pending_pages(band), state.retired(band));
        let span = state.span(band);
        if live + holes + pending + retired != span {
            let name = program.band_name(arena, band.0);
            let message = format!(
                "{name} has {span} pages within its watermark, but {live} live + {holes} holes + {pending} pending"
            );
            return Err(Violation::new(Code::Conservation, message));
        }
    }
    Ok(())
}
