//! An operation that fails or aborts leaves no trace.

use super::{Code, Violation};
use crate::program::Program;
use crate::world::World;
use leasecheck_core::Arena;

pub(crate) fn check(world: &World, program: &Program, arena: u8, before: &Arena) -> Result<(), Violation> {
    let after: &Arena = &world.arenas[usize::from(arena)].arena;
    if after == before {
        return Ok(());
    }
    let kept: u32 = after.bands().map(|(band, _)| after.live(band).saturating_sub(before.live(band))).sum();
    let name = &program.arenas[usize::from(arena)].name;
    let message = format!("an allocation in {name} failed, and {kept} pages of it stay allocated");
    Err(Violation::new(Code::NotAtomic, message))
}
