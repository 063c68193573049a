//! Conflicting accesses are ordered.
//!
//! Two accesses conflict if they touch the same bytes and one writes. In exhaustive runs they are unordered exactly
//! if some reachable state has both as possible next steps of different agents, so that no clocks are needed. An
//! access that finds other content than its caller must have meant has been overtaken, which is the same fact seen
//! later.

use super::{Code, Violation, page_name};
use crate::program::{Operand, Program};
use crate::world::{Region, Step, World};
use smallvec::SmallVec;

pub(crate) fn unexpected_content(program: &Program, operand: &Operand, id: u8, page: u16) -> Violation {
    let name = page_name(program, operand, id);
    let message = format!(
        "{name} is read at physical page {page} and holds other content than was last issued: a write is not ordered with this read"
    );
    Violation::new(Code::Race, message).about(operand, id)
}

/// Two possible next steps whose accesses conflict. Whether the bytes changed hands in between decides the code.
pub(crate) fn check(world: &World, program: &Program, steps: &[Step]) -> Option<Violation> {
    let (one, other) = pair(world, program, steps)?;
    Some(violation(world, program, (one.0, &one.1), (other.0, &other.1)))
}

/// Two possible next steps and their accesses that conflict.
pub(crate) fn pair(world: &World, program: &Program, steps: &[Step]) -> Option<((Step, Region), (Step, Region))> {
    let mut regions: SmallVec<[(Step, SmallVec<[Region; 4]>); 8]> = SmallVec::new();
    for step in steps {
        let touched = world.next_regions(program, *step);
        if touched.is_empty() {
            continue;
        }
        for (other, theirs) in regions.iter().filter(|(other, _)| other.agent != step.agent) {
            for mine in &touched {
                if let Some(their) = theirs.iter().find(|their| conflict(mine, their)) {
                    return Some(((*step, *mine), (*other, *their)));
                }
            }
        }
        regions.push((*step, touched));
    }
    None
}

pub(crate) fn conflict(one: &Region, other: &Region) -> bool {
    one.arena == other.arena && one.low < other.high && other.low < one.high && (one.write || other.write)
}

fn violation(world: &World, program: &Program, one: (Step, &Region), other: (Step, &Region)) -> Violation {
    let text = |(step, region): (Step, &Region)| {
        let agent = &program.agents[usize::from(step.agent)].name;
        let verb = if region.write { "would write" } else { "would read" };
        let band = program.band_name(region.arena, region.band);
        format!("{agent}: `{}` {verb} page {} of {band}", world.step_text(program, step), region.id)
    };
    let code = if dead(world, one.1) || dead(world, other.1) { Code::EarlyReuse } else { Code::Race };
    let message = format!("{}, {}, and nothing orders the two", text(other), text(one));
    let page = Some((one.1.arena, one.1.band, one.1.id));
    Violation { code, message, page, other: Some(other.0.agent) }
}

/// Whether the page that is meant is not live any more.
pub(crate) fn dead(world: &World, region: &Region) -> bool {
    !world.arenas[usize::from(region.arena)].alive(region.band, region.id, region.generation())
}
