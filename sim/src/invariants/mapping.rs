//! Logical to physical is a bijection onto live pages: no two ids of a band have the same page.

use super::{Code, Violation};
use crate::program::Program;
use crate::world::World;
use leasecheck_core::LogicalPage;
use smallvec::SmallVec;

pub(crate) fn check(world: &World, program: &Program, arena: u8) -> Result<(), Violation> {
    let state = &world.arenas[usize::from(arena)];
    for (band, _) in state.arena.bands() {
        let mut owners: SmallVec<[Option<LogicalPage>; 32]> =
            SmallVec::from_elem(None, state.arena.pages(band) as usize);
        for (id, page) in state.arena.placements(band) {
            if let Some(other) = owners[page.0 as usize].replace(id) {
                let name = program.band_name(arena, band.0);
                let message = format!("pages {other} and {id} of {name} both lead to physical page {page}");
                return Err(Violation::new(Code::Mapping, message));
            }
        }
    }
    Ok(())
}
