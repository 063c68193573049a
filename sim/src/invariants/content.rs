//! A page's content survives every move: after moves, no page's place holds the bytes of another live page.

use super::{Code, Violation};
use crate::program::Program;
use crate::world::{NOBODY, UNMAPPED, World, who, whom};

/// `moved`: band, id and new page number of the pages that have moved.
pub(crate) fn after_moves(
    world: &World,
    program: &Program,
    arena: u8,
    moved: impl Iterator<Item = (u8, u8, u16)>,
) -> Result<(), Violation> {
    let state = &world.arenas[usize::from(arena)];
    for (band, id, page) in moved {
        let Some(cells) = state.cells_of(program, arena, band, page) else { continue };
        let me = who(band, id, state.generation(band, id));
        for cell in &state.cells[cells] {
            if cell.who == NOBODY || cell.who == UNMAPPED.who || cell.who == me {
                continue;
            }
            let (other_band, other) = whom(cell.who);
            let generation = state.generation(other_band, other);
            // Bytes of a page that its band has let go of, while its id lives on in another, are nobody's loss.
            if who(other_band, other, generation) == cell.who && state.locate(other_band, other, generation).is_some() {
                let message = format!(
                    "page {id} of {} was moved to physical page {page}, where the bytes are those of page {other} of {}",
                    program.band_name(arena, band),
                    program.band_name(arena, other_band)
                );
                return Err(Violation::new(Code::Content, message));
            }
        }
    }
    Ok(())
}
