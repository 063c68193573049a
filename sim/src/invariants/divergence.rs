//! Replicas that decide together decide the same, however their completions are timed.

use super::{Code, Violation};
use crate::program::Program;

pub(crate) fn brought(program: &Program, group: u8, agent: u8, value: i16, others: i16) -> Violation {
    let name = &program.barriers[usize::from(group)].0;
    let agent = &program.agents[usize::from(agent)].name;
    let message = format!("{agent} brings {value} to `{name}`, where {others} was brought before");
    Violation::new(Code::Divergence, message)
}
