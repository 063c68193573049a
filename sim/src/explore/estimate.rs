//! How many states an exhaustive run will have, from random walks.
//!
//! A walk visits states; many walks overlap. How much they overlap says how many states there are, as recaptured animals
//! tell the size of a population: if `q1` states of a level were visited by exactly one walk and `q2` by exactly two,
//! about `q1² / 2·q2` were visited by none (A. Chao, *Estimating the population size for capture-recapture data with
//! unequal catchability*, 1987). The levels are estimated one by one and added, because a level that every walk
//! crosses says nothing about one where walks spread out.
//!
//! A scheduler that takes each step with the same probability would keep all agents abreast and hardly ever see the
//! states in which one is far ahead. So each walk draws with an urn: an agent is chosen in proportion to one plus the
//! steps that it has taken. Over independent agents, that makes every split of the steps equally likely.
//!
//! Chao's number is a lower bound in expectation. A level in which no two walks ever met only says "at least".

use super::draws::Draws;
use super::local::{Choice, Worker};
use super::parts::Parts;
use super::reduce::Reduction;
use crate::invariants::Code;
use crate::program::{Expect, Program};
use crate::world::{StartError, World};
use rayon::prelude::*;
use std::sync::{Mutex, PoisonError};

/// The longest walk. Loops that wait for something make walks longer than the state space is deep.
const MOST_STEPS: u32 = 2_000;
/// The most visits of states, which bounds memory.
const MOST_VISITS: usize = 8_000_000;
/// Walks between two looks at that bound.
const BATCH: u32 = 256;

/// Choices of an estimate.
#[derive(Clone, Copy)]
pub struct EstimateOptions {
    /// Random walks.
    pub walks: u32,
    /// Seed of the walks.
    pub seed: u64,
    /// Whether to walk the space in which orders that cannot matter are left out.
    pub reduce: bool,
}

/// What walks say about the size of a state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Expected distinct states of an exhaustive run.
    pub states: u64,
    /// States that the walks have seen, up to where the run is expected to end.
    pub seen: u64,
    /// Whether walks met too rarely on some level for more than a lower bound.
    pub at_least: bool,
    /// The deepest level that counts.
    pub depth: u32,
    /// Walks that were made: fewer than asked for if they were long.
    pub walks: u32,
    /// Walks that ended in a violation that ends the exhaustive run.
    pub violations: u32,
}

struct Visit {
    state: u128,
    walk: u32,
    depth: u32,
}

#[derive(Default)]
struct Walk {
    visits: Vec<Visit>,
    /// The deepest level that an exhaustive run still completes, if the walk ended in a violation that ends it.
    violated: Option<u32>,
}

#[derive(Clone, Copy, Default)]
struct Level {
    seen: u64,
    once: u64,
    twice: u64,
}

impl Level {
    /// The states that no walk has visited.
    fn unseen(self) -> u64 {
        if self.twice > 0 {
            self.once * self.once / (2 * self.twice)
        } else {
            self.once * self.once.saturating_sub(1) / 2
        }
    }
}

/// Estimates the size of an exhaustive run of a program.
///
/// # Errors
/// When the case cannot start.
pub fn estimate(program: &Program, options: &EstimateOptions) -> Result<Estimate, StartError> {
    let start = World::start(program)?;
    let parts = Parts::new(program, &start);
    let first = parts.state(&start);
    let worker = |nth| Mutex::new(Worker::new(program, &parts, &start, nth));
    let workers: Vec<Mutex<Worker<'_>>> = (0..rayon::current_num_threads()).map(worker).collect();
    let reduction = Reduction::new(program, options.reduce);
    let mut visits: Vec<Visit> = Vec::new();
    let mut violated: Vec<u32> = Vec::new();
    let mut walks = 0;
    while walks < options.walks && visits.len() < MOST_VISITS {
        let end = options.walks.min(walks + BATCH);
        let one = |nth: u32| {
            let worker = &workers[rayon::current_thread_index().unwrap_or(0)];
            let mut worker = worker.lock().unwrap_or_else(PoisonError::into_inner);
            walk(program, &first, &reduction, &mut worker, Draws::new(options.seed, nth.into()))
        };
        let batch: Vec<Walk> = (walks..end).into_par_iter().map(one).collect();
        for (nth, mut walk) in (walks..end).zip(batch) {
            walk.visits.iter_mut().for_each(|visit| visit.walk = nth);
            visits.append(&mut walk.visits);
            violated.extend(walk.violated);
        }
        walks = end;
    }
    // A breadth-first run ends with the level of its first violation.
    let last = violated.iter().copied().min().unwrap_or(u32::MAX);
    let levels = levels(visits, last);
    Ok(Estimate {
        states: levels.iter().fold(0, |sum, level| sum + level.seen + level.unseen()),
        seen: levels.iter().map(|level| level.seen).sum(),
        at_least: levels.iter().any(|level| level.once > 1 && level.twice == 0),
        depth: levels.len().saturating_sub(1) as u32,
        walks,
        violations: violated.len() as u32,
    })
}

/// How often the states of each level were visited. A state belongs to the first level on which a walk met it.
fn levels(mut visits: Vec<Visit>, last: u32) -> Vec<Level> {
    visits.par_sort_unstable_by_key(|visit| (visit.state, visit.walk, visit.depth));
    let mut levels: Vec<Level> = Vec::new();
    for visits in visits.chunk_by(|a, b| a.state == b.state) {
        let depth = visits.iter().map(|visit| visit.depth).min().unwrap_or(0);
        if depth > last {
            continue;
        }
        let at = depth as usize;
        if levels.len() <= at {
            levels.resize(at + 1, Level::default());
        }
        let walks = visits.chunk_by(|a, b| a.walk == b.walk).count();
        levels[at].seen += 1;
        levels[at].once += u64::from(walks == 1);
        levels[at].twice += u64::from(walks == 2);
    }
    levels
}

fn walk(
    program: &Program,
    first: &(Vec<u32>, u128),
    reduction: &Reduction,
    worker: &mut Worker<'_>,
    draws: Draws,
) -> Walk {
    let ends = |code: Code| match program.expect {
        Expect::Unreachable => true,
        Expect::Reachable(target) | Expect::Never(target) => code == target,
    };
    let mut draws = draws;
    let mut urn = vec![1_usize; program.agents.len()];
    let (mut state, mut print) = first.clone();
    let (mut choices, mut next) = (Vec::new(), Vec::new());
    let mut walk = Walk::default();
    for depth in 0..MOST_STEPS {
        walk.visits.push(Visit { state: print, walk: 0, depth });
        if worker.turn_to(&state, &mut choices).is_some_and(|violation| ends(violation.code)) {
            walk.violated = Some(depth);
            break;
        }
        if choices.is_empty() {
            break;
        }
        let nth = match reduction.alone(program, &worker.places(&state), &choices) {
            Some(alone) => alone,
            None => choose(&choices, &urn, &mut draws),
        };
        urn[usize::from(choices[nth].step.agent)] += 1;
        let number = worker.take(&choices[nth]);
        if let Some(violation) = &worker.taken(number).violation {
            walk.violated = ends(violation.code).then_some(depth);
            break;
        }
        print ^= worker.taken(number).delta;
        next.clear();
        worker.after(choices[nth].step.agent, number, &mut next);
        std::mem::swap(&mut state, &mut next);
    }
    walk
}

/// An agent in proportion to its balls in the urn, then one of its steps.
fn choose(choices: &[Choice], urn: &[usize], draws: &mut Draws) -> usize {
    let mut agents: Vec<u8> = choices.iter().map(|choice| choice.step.agent).collect();
    agents.dedup();
    let balls = |agent: &u8| urn[usize::from(*agent)];
    let mut drawn = draws.below(agents.iter().map(balls).sum());
    let mut chosen = choices[0].step.agent;
    for agent in &agents {
        chosen = *agent;
        match drawn.checked_sub(balls(agent)) {
            Some(rest) => drawn = rest,
            None => break,
        }
    }
    let mut own = (0..choices.len()).filter(|nth| choices[*nth].step.agent == chosen);
    let nth = if agents.len() == choices.len() { 0 } else { draws.below(own.clone().count().max(1)) };
    own.nth(nth).unwrap_or(0)
}
