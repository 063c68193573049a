//! Logical to physical is a bijection onto live pages: no two ids of a band have the same page.

use super::{Code, Violation};
use crate::program::Program;
use crate::world::World;
use smallvec::SmallVec;

pub(crate) fn check(world: &World, program: &Program, arena: u8) -> Result<(), Violation> {
    let state = &*world.arenas[usize::from(arena)].arena;
    for (band, _) in state.bands() {
        let mut owned: SmallVec<[bool; 64]> = SmallVec::from_elem(false, state.pages(band) as usize);
        for (id, page) in state.placements(band) {
            if std::mem::replace(&mut owned[page.0 as usize], true) {
                let first = state.placements(band).find(|(_, other)| *other == page);
                let other = first.map_or(id, |(other, _)| other);
                let name = program.band_name(arena, band.0);
                let message = format!("pages {other} and {id} of {name} both lead to physical page {page}");
                return Err(Violation::new(Code::Mapping, message));
            }
        }
    }
    Ok(())
}
