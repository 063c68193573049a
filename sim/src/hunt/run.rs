//! One run: steps until nothing is left to do, every invariant checked in every state.
//!
//! *Safety, then liveness*: the scheduler decides for a bounded number of steps, as unfairly as it likes. Then the
//! agent that has waited longest is next, so that every delay stops, every copy completes and every event fires. What
//! still waits then waits for ever: `deadlock` or `lost-wakeup`. A run that does not end even so is `starvation`. That
//! everything was given back is what the program's own `finally` states.

use super::schedulers::Scheduler;
use crate::invariants::{Code, Violation, deadlock, lost_wakeup, race};
use crate::marks::Marks;
use crate::program::{Instr, Op, Operand, Program, limits};
use crate::world::{Effects, StartError, Step, World};

/// Steps of the scheduler's choice, for each instruction of the program.
const UNFAIR: usize = 2;
/// Fair steps for each instruction of the program, after which a run counts as endless.
const FAIR: usize = 20;

/// The arenas whose bytes an instruction can touch, for telling quickly that no conflict is possible: a bit for each.
#[derive(Clone, Copy, Default)]
struct Touch {
    any: u8,
    writes: u8,
}

impl Touch {
    /// When its thread takes it.
    fn on_host(instr: &Instr) -> Touch {
        match instr.op {
            // Copies and what else was queued run later, and so do moves; on the host, a move is made in the step that
            // decides on it.
            _ if instr.stream.is_some() => Touch::default(),
            Op::Alloc { .. } | Op::Compact { .. } | Op::Flush { .. } => Touch::default(),
            _ => Touch::queued(instr),
        }
    }

    /// When it is next in a queue.
    fn queued(instr: &Instr) -> Touch {
        let arenas = |operands: &[Operand]| operands.iter().fold(0, |arenas, operand| arenas | 1 << operand.arena);
        let (reads, writes) = match &instr.op {
            Op::Write { pages, .. } | Op::Fetch { pages, .. } => (0, arenas(pages)),
            Op::Read { pages, .. } | Op::Store { pages, .. } => (arenas(pages), 0),
            Op::Transfer { from, to, .. } => (arenas(from), arenas(to)),
            Op::Alloc { arena, .. } | Op::Compact { arena } | Op::Flush { arena, .. } => (0, 1 << arena),
            _ => (0, 0),
        };
        Touch { any: reads | writes, writes }
    }
}

/// What the possible next steps can touch together.
#[derive(Default)]
struct Touches {
    once: u8,
    twice: u8,
    writes: u8,
}

impl Touches {
    fn add(&mut self, touch: Touch) {
        self.twice |= self.once & touch.any;
        self.once |= touch.any;
        self.writes |= touch.writes;
    }

    /// Whether two of them might conflict at all.
    fn may_conflict(&self) -> bool {
        self.twice & self.writes != 0
    }
}

/// A program that is ready to run.
pub struct Ready {
    /// The program.
    pub program: Program,
    start: World,
    on_host: Vec<Touch>,
    queued: Vec<Touch>,
    /// Of each instruction, whether its thread stays ready to take it.
    stays: Vec<bool>,
}

impl Ready {
    /// Runs the set-up.
    ///
    /// # Errors
    /// When the set-up does not end well.
    pub fn new(program: Program) -> Result<Ready, StartError> {
        let start = World::start(&program)?;
        let touch = |of: fn(&Instr) -> Touch| program.code.iter().map(of).collect();
        let (on_host, queued) = (touch(Touch::on_host), touch(Touch::queued));
        let stays = program.code.iter().map(|instr| World::stays_ready(&program, instr)).collect();
        Ok(Ready { program, start, on_host, queued, stays })
    }

    /// Steps that a scheduler decides on.
    pub(crate) fn unfair(&self) -> usize {
        self.program.code.len() * UNFAIR
    }

    /// Collects the next steps. `sure` has a bit for each thread that is known to be ready; whether two of the steps
    /// might conflict at all.
    fn look(&self, world: &World, sure: &mut u32, enabled: &mut Vec<Step>) -> bool {
        let program = &self.program;
        let mut touches = Touches::default();
        enabled.clear();
        let ready = |slot: usize| {
            if *sure >> slot & 1 == 1 {
                return true;
            }
            let ready = world.thread_ready(program, slot);
            if ready && self.stays[usize::from(world.threads[slot].pc)] {
                *sure |= 1 << slot;
            }
            ready
        };
        world.each_enabled(program, ready, |step, pc| {
            enabled.push(step);
            let queue = usize::from(step.agent) >= program.threads;
            touches.add(if queue { self.queued[usize::from(pc)] } else { self.on_host[usize::from(pc)] });
        });
        touches.may_conflict()
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// What is violated; nothing if the run went well.
    pub violation: Option<Violation>,
    /// Behaviours that it showed.
    pub marks: Marks,
    /// Steps that were taken.
    pub steps: usize,
}

/// A world to run programs in, whose memory is used again for every run.
#[derive(Default)]
pub struct Runner {
    world: Option<World>,
    enabled: Vec<Step>,
    /// The steps of the last run.
    pub schedule: Vec<Step>,
}

impl Runner {
    /// Runs a program from its start. `fresh` says that the last run was of another program.
    pub fn run(&mut self, ready: &Ready, fresh: bool, scheduler: &mut impl Scheduler) -> End {
        let program = &ready.program;
        let world = match &mut self.world {
            Some(world) if !fresh => {
                world.clone_from(&ready.start);
                world
            }
            slot => slot.insert(ready.start.clone()),
        };
        self.schedule.clear();
        let mut effects = Effects::default();
        let mut sure = 0;
        let mut last_ran = [0_u32; limits::AGENTS];
        let unfair = ready.unfair();
        let endless = unfair + program.code.len() * FAIR + 100;
        let violation = loop {
            let may_conflict = ready.look(world, &mut sure, &mut self.enabled);
            let enabled = self.enabled.as_slice();
            if enabled.is_empty() {
                if world.finished() {
                    break None;
                }
                break Some(lost_wakeup::check(world, program).unwrap_or_else(|| deadlock::check(world, program)));
            }
            if may_conflict && let Some(violation) = race::check(world, program, enabled) {
                break Some(violation);
            }
            let taken = self.schedule.len();
            if taken > endless {
                let message = format!("after {taken} steps, {unfair} of them unfair, the run has not ended");
                break Some(Violation::new(Code::Starvation, message));
            }
            let chosen = if let [only] = enabled {
                scheduler.forced(*only);
                0
            } else if taken < unfair {
                scheduler.pick(enabled, taken)
            } else {
                let waited = |at: &usize| last_ran[usize::from(enabled[*at].agent)];
                (0..enabled.len()).min_by_key(waited).unwrap_or(0)
            };
            let step = enabled[chosen];
            last_ran[usize::from(step.agent)] = taken as u32 + 1;
            sure &= !(1 << step.agent);
            self.schedule.push(step);
            if let Err(violation) = world.step(program, step, &mut effects) {
                break Some(violation);
            }
        };
        End { violation, marks: effects.marks, steps: self.schedule.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::{Settings, prepare};

    /// What is known of threads and of bytes leaves out no step and no race.
    #[test]
    fn what_is_not_asked_again_is_as_it_was() {
        let settings = Settings::default();
        let (mut steps, mut known, mut apart) = (0, 0, 0);
        for seed in (0..400).map(|program| program * 32) {
            let ready = prepare(&settings, seed).expect("the design holds");
            let (mut world, program) = (ready.start.clone(), &ready.program);
            let (mut sure, mut effects) = (0, Effects::default());
            let (mut looked, mut enabled) = (Vec::new(), Vec::new());
            loop {
                known += u32::count_ones(sure);
                let may_conflict = ready.look(&world, &mut sure, &mut looked);
                enabled.clear();
                world.enabled(program, &mut enabled);
                assert_eq!(looked, enabled, "seed {seed}, step {steps}");
                if !may_conflict {
                    apart += 1;
                    assert_eq!(race::check(&world, program, &enabled), None, "seed {seed}, step {steps}");
                }
                // Any choice that changes with the step and does not follow the order of agents.
                let Some(step) = enabled.get((steps * 7 + 3) % enabled.len().max(1)) else { break };
                sure &= !(1 << step.agent);
                world.step(program, *step, &mut effects).expect("the design holds");
                steps += 1;
            }
        }
        assert!(steps > 10_000 && known > 10_000 && apart > 5_000, "{steps} steps, {known} known, {apart} apart");
    }
}
