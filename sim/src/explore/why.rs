//! When a failing run went wrong: how likely the violation is from each of its prefixes, and from which on nothing
//! can avoid it.
//!
//! From every prefix the rest is re-rolled many times by a scheduler that takes each possible step with the same
//! probability. The violation *became likely* with the step from which on at least half of the rolls end in it; it
//! *became certain* with the step from which on no run ends without a violation, which rolls cannot show and a search
//! does. The probabilities are those of that scheduler, not of any machine.
//!
//! A run ends with a step that violates something, with a state in which nothing goes on, or with the violation that is
//! to be explained. A state in which *another* pair of accesses could race does not end it, as in a search for one
//! violation: most wrong addresses are used next to a race.

use super::draws::Draws;
use super::replay::{self, Misfit, wrong};
use crate::invariants::{Code, Violation};
use crate::program::Program;
use crate::world::{Effects, Step, World};

use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fmt;
use xxhash_rust::xxh3::xxh3_128;

/// A roll that is longer than this counts as unfinished.
const MOST_STEPS: usize = 10_000;

/// Limits and choices.
#[derive(Clone, Copy)]
pub struct WhyOptions<'a> {
    /// Rolls from each prefix.
    pub rolls: u32,
    /// Seed of the rolls.
    pub seed: u64,
    /// The most states that the search for a way out visits from one prefix.
    pub limit_states: u64,
    /// Asked now and then whether to stop.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
}

/// What the rolls from one prefix came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rolled {
    /// Ended in the violation of the run.
    pub hits: u32,
    /// Ended in another violation.
    pub others: u32,
    /// Ended well.
    pub clean: u32,
    /// Did not end.
    pub unfinished: u32,
}

/// From which prefix on no run ends without a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Certainty {
    /// The number of steps of the shortest prefix that is known to be certain.
    pub from: usize,
    /// The prefix before it for which the budget ran out; none if a way out is known from there, or if there is none.
    pub unknown: Option<usize>,
    /// States of the search that showed it; 0 where the run had already ended.
    pub states: u64,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Why {
    /// The violation at the end of the run.
    pub violation: Violation,
    /// Per number of steps taken, from none to all.
    pub rolled: Vec<Rolled>,
    /// The number of steps from which on at least half of the rolls end in the violation.
    pub likely: usize,
    /// From which number of steps on it is certain.
    pub certain: Certainty,
}

/// Why there is nothing to explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyError {
    /// The schedule does not fit the case.
    Misfit(Misfit),
    /// The run violates nothing.
    Clean,
    /// Stopped before the rolls were made.
    Interrupted,
}

impl fmt::Display for WhyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WhyError::Misfit(misfit) => misfit.fmt(f),
            WhyError::Clean => f.write_str("the run violates nothing: there is nothing to explain"),
            WhyError::Interrupted => f.write_str("stopped before the rolls were made"),
        }
    }
}

impl std::error::Error for WhyError {}

/// Explains a failing run.
///
/// # Errors
/// When the steps do not fit the program, or violate nothing.
pub fn why(program: &Program, steps: &[Step], options: &WhyOptions<'_>) -> Result<Why, WhyError> {
    let run = replay::run(program, steps).map_err(WhyError::Misfit)?;
    let violation = run.violation.ok_or(WhyError::Clean)?;
    let mut world = World::start(program).map_err(|_| WhyError::Misfit(Misfit { step: 0 }))?;
    let mut worlds = vec![world.clone()];
    for step in steps {
        if world.step(program, *step, &mut Effects::default()).is_err() {
            break;
        }
        worlds.push(world.clone());
    }
    let mut rolled = Vec::new();
    for (prefix, world) in worlds.iter().enumerate() {
        if (options.interrupted)() {
            return Err(WhyError::Interrupted);
        }
        rolled.push(roll_all(program, world, prefix, &violation, options));
    }
    // A run whose last step violates has no world after it; one that ends in a bad state has.
    while rolled.len() <= steps.len() {
        rolled.push(Rolled { hits: options.rolls, ..Rolled::default() });
    }
    let half = |rolled: &Rolled| u64::from(rolled.hits) * 2 >= u64::from(options.rolls);
    let likely = rolled.iter().rposition(|rolled| !half(rolled)).map_or(0, |prefix| prefix + 1);
    let certain = certainty(program, &worlds, &rolled, violation.code, options);
    Ok(Why { violation, rolled, likely, certain })
}

/// Rolls from the prefixes of a run, without the search for certainty: the number of steps of each, and what its rolls
/// came to. A run of more than `most` steps is rolled from as many of its prefixes, evenly spread, the last among them.
///
/// # Errors
/// As [`why`].
pub fn chances(
    program: &Program,
    steps: &[Step],
    most: usize,
    options: &WhyOptions<'_>,
) -> Result<Vec<(usize, Rolled)>, WhyError> {
    let run = replay::run(program, steps).map_err(WhyError::Misfit)?;
    let violation = run.violation.ok_or(WhyError::Clean)?;
    let mut world = World::start(program).map_err(|_| WhyError::Misfit(Misfit { step: 0 }))?;
    let every = steps.len().div_ceil(most.max(1)).max(1);
    let mut rolled = Vec::new();
    for prefix in 0..=steps.len() {
        if (options.interrupted)() {
            return Err(WhyError::Interrupted);
        }
        if prefix == steps.len() {
            rolled.push((prefix, Rolled { hits: options.rolls, ..Rolled::default() }));
        } else {
            if prefix % every == 0 {
                rolled.push((prefix, roll_all(program, &world, prefix, &violation, options)));
            }
            // The last step may be the one that violates.
            let _ = world.step(program, steps[prefix], &mut Effects::default());
        }
    }
    Ok(rolled)
}

fn roll_all(
    program: &Program,
    world: &World,
    prefix: usize,
    violation: &Violation,
    options: &WhyOptions<'_>,
) -> Rolled {
    let roll = |nth: u32| {
        let mut draws = Draws::new(options.seed, (prefix as u64) << 32 | u64::from(nth));
        match roll(program, world.clone(), violation.code, &mut draws) {
            End::Violated(found) if found == violation.code => Rolled { hits: 1, ..Rolled::default() },
            End::Violated(_) => Rolled { others: 1, ..Rolled::default() },
            End::Finished => Rolled { clean: 1, ..Rolled::default() },
            End::Unfinished => Rolled { unfinished: 1, ..Rolled::default() },
        }
    };
    let add = |a: Rolled, b: Rolled| Rolled {
        hits: a.hits + b.hits,
        others: a.others + b.others,
        clean: a.clean + b.clean,
        unfinished: a.unfinished + b.unfinished,
    };
    (0..options.rolls).into_par_iter().map(roll).reduce(Rolled::default, add)
}

enum End {
    Violated(Code),
    Finished,
    Unfinished,
}

/// What is wrong with a state, if that ends a run.
fn ends(program: &Program, world: &World, steps: &[Step], target: Code) -> Option<Code> {
    let code = wrong(program, world, steps)?.code;
    (code == target || steps.is_empty()).then_some(code)
}

/// Takes random steps until the run ends.
fn roll(program: &Program, mut world: World, target: Code, draws: &mut Draws) -> End {
    let mut steps = Vec::new();
    for _ in 0..MOST_STEPS {
        steps.clear();
        world.enabled(program, &mut steps);
        if let Some(code) = ends(program, &world, &steps, target) {
            return End::Violated(code);
        }
        if steps.is_empty() {
            return End::Finished;
        }
        let step = steps[draws.below(steps.len())];
        if let Err(violation) = world.step(program, step, &mut Effects::default()) {
            return End::Violated(violation.code);
        }
    }
    End::Unfinished
}

fn certainty(
    program: &Program,
    worlds: &[World],
    rolled: &[Rolled],
    target: Code,
    options: &WhyOptions<'_>,
) -> Certainty {
    let mut certain = Certainty { from: rolled.len() - 1, unknown: None, states: 0 };
    // Backwards: what is certain stays so, and the last worlds have the least ahead of them.
    for (prefix, world) in worlds.iter().enumerate().rev() {
        if rolled[prefix].clean > 0 {
            break;
        }
        match way_out(program, world, target, options) {
            WayOut::Found => break,
            WayOut::None(states) => certain = Certainty { from: prefix, unknown: None, states },
            WayOut::Unknown => {
                certain.unknown = Some(prefix);
                break;
            }
        }
    }
    certain
}

enum WayOut {
    Found,
    /// There is none, among so many states.
    None(u64),
    Unknown,
}

/// Looks for a run that ends without a violation, depth first. Every order is tried: an order left out could be the
/// only one in which no race shows.
fn way_out(program: &Program, start: &World, target: Code, options: &WhyOptions<'_>) -> WayOut {
    let mut known: BTreeSet<u128> = BTreeSet::new();
    let mut packed = Vec::new();
    let mut fingerprint = |world: &World| {
        packed.clear();
        world.pack(&mut packed);
        xxh3_128(&packed)
    };
    let mut stack = vec![start.clone()];
    known.insert(fingerprint(start));
    let mut steps = Vec::new();
    while let Some(world) = stack.pop() {
        if known.len() as u64 > options.limit_states || (options.interrupted)() {
            return WayOut::Unknown;
        }
        steps.clear();
        world.enabled(program, &mut steps);
        if ends(program, &world, &steps, target).is_some() {
            continue;
        }
        if steps.is_empty() {
            return WayOut::Found;
        }
        for step in &steps {
            let mut next = world.clone();
            if next.step(program, *step, &mut Effects::default()).is_ok() && known.insert(fingerprint(&next)) {
                stack.push(next);
            }
        }
    }
    WayOut::None(known.len() as u64)
}
