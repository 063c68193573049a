//! Live pages never share bytes, and lie in their arena.

use super::{Code, Violation};
use crate::program::Program;
use crate::world::World;
use smallvec::SmallVec;

pub(crate) fn check(world: &World, program: &Program, arena: u8) -> Result<(), Violation> {
    let state = &world.arenas[usize::from(arena)];
    let mut taken: SmallVec<[u64; 8]> = SmallVec::from_elem(0, state.cells.len().div_ceil(64));
    for (band, _) in state.arena.bands() {
        let parts = program.arenas[usize::from(arena)].parts(band.0);
        for (id, page) in state.arena.placements(band) {
            for cell in page.0 * parts..(page.0 + 1) * parts {
                let (word, bit) = (cell as usize / 64, 1_u64 << (cell % 64));
                if cell as usize >= state.cells.len() || taken[word] & bit != 0 {
                    let name = program.band_name(arena, band.0);
                    let message =
                        format!("page {id} of {name}, at physical page {page}, shares bytes with another live page");
                    return Err(Violation::new(Code::Overlap, message));
                }
                taken[word] |= bit;
            }
        }
    }
    Ok(())
}
