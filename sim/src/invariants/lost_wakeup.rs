//! Nobody sleeps although what it waits for has come.

use super::{Code, Violation};
use crate::program::Program;
use crate::world::World;

pub(crate) fn check(world: &World, program: &Program) -> Option<Violation> {
    let slot = (0..world.threads.len()).find(|slot| world.sleeps_through(program, *slot))?;
    let instr = &program.code[usize::from(world.threads[slot].pc)];
    let name = &program.agents[usize::from(instr.thread)].name;
    let message = format!("{name} sleeps in `{}`: what it waited for has come, and nobody woke it", instr.text);
    Some(Violation::new(Code::LostWakeup, message))
}
