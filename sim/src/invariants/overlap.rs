//! Live pages never share bytes, and lie in their arena.

use super::{Code, Violation};
use crate::program::Program;
use crate::world::World;
use smallvec::SmallVec;

pub(crate) fn check(world: &World, program: &Program, arena: u8) -> Result<(), Violation> {
    let state = &world.arenas[usize::from(arena)];
    let mut taken: SmallVec<[bool; 256]> = SmallVec::from_elem(false, state.cells.len());
    for (band, _) in state.arena.bands() {
        let parts = program.arenas[usize::from(arena)].parts(band.0) as usize;
        for (id, page) in state.arena.placements(band) {
            let cells = taken.get_mut(page.0 as usize * parts..(page.0 as usize + 1) * parts);
            match cells {
                Some(cells) if !cells.contains(&true) => cells.fill(true),
                _ => {
                    let name = program.band_name(arena, band.0);
                    let message =
                        format!("page {id} of {name}, at physical page {page}, shares bytes with another live page");
                    return Err(Violation::new(Code::Overlap, message));
                }
            }
        }
    }
    Ok(())
}
