//! Every interleaving of a case: breadth first, level by level, on all cores, with the same result on any number.
//!
//! States are kept as 128-bit fingerprints, and those of a level as a number for each of their parts. A level is explored
//! in two halves: workers expand chunks of it, then shards of the known states find out what is new. New states keep the
//! order in which one worker alone would have found them, so that the counterexample is the first of the shortest in the
//! order of agents, whoever was faster and however states are hashed.

use super::local::{Choice, Worker};
use super::parts::{Identity, Parts};
use super::reduce::Reduction;
use crate::invariants::{Code, Violation};
use crate::marks::{Mark, Marks};
use crate::program::{Expect, Program};
use crate::verdict::{Counterexample, Limit, Outcome, Verdict};
use crate::world::{StartError, Step, World};
use hashbrown::HashSet;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::hash::BuildHasherDefault;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Shards of the set of known states, which take in what is new side by side.
const SHARDS: usize = 16;
/// Levels smaller than this are explored by one worker: starting others would cost more.
const PARALLEL: usize = 512;
/// States of a level that one worker takes at a time.
const CHUNK: usize = 256;
/// States of a level after which limits are checked: memory does not grow by a whole level before anyone looks.
const BLOCK: usize = 64 * CHUNK;

/// Limits and choices of an exploration.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The most distinct states.
    pub limit_states: u64,
    /// The most bytes for states.
    pub limit_memory: u64,
    /// Whether to leave out orders that cannot matter.
    pub reduce: bool,
    /// Asked now and then whether to stop.
    pub interrupted: &'a (dyn Fn() -> bool + Sync),
    /// Counts distinct states, for whoever shows progress.
    pub progress: &'a AtomicU64,
}

type Known = HashSet<u128, BuildHasherDefault<Identity>>;

/// Some states end to end, a number for each part, with their fingerprints.
#[derive(Default)]
struct States {
    numbers: Vec<u32>,
    prints: Vec<u128>,
    /// Of each, the state that it was reached from and the step that led to it.
    from: Vec<(u32, Step)>,
}

impl States {
    fn push(&mut self, print: u128, numbers: &[u32], from: (u32, Step)) {
        self.numbers.extend_from_slice(numbers);
        self.prints.push(print);
        self.from.push(from);
    }

    fn clear(&mut self) {
        self.numbers.clear();
        self.prints.clear();
        self.from.clear();
    }

    fn len(&self) -> usize {
        self.prints.len()
    }
}

/// Successors that were not known when the level began, in order, and the places of those that belong to each shard.
struct Found {
    states: States,
    of_shard: Vec<Vec<u32>>,
}

/// Where the successors of a chunk go.
enum Finds<'a> {
    /// To the known and the new ones at once: nobody else looks at them.
    Now { known: &'a mut [Known], new: &'a mut States },
    /// To be taken in later.
    Later { known: &'a [Known], found: &'a mut Found },
}

impl Finds<'_> {
    /// Where a state belongs, unless it is known.
    fn place(&mut self, print: u128) -> Option<&mut States> {
        let at = shard_of(print);
        match self {
            Finds::Now { known, new } => known[at].insert(print).then_some(&mut **new),
            Finds::Later { known, found } => (!known[at].contains(&print)).then(|| {
                found.of_shard[at].push(found.states.len() as u32);
                &mut found.states
            }),
        }
    }
}

/// A violation and where it was seen.
#[derive(Clone)]
struct Seen {
    /// Index of the state, in order of discovery.
    state: u32,
    /// The step that violates; none if the state does.
    step: Option<Step>,
    violation: Violation,
}

/// What one chunk of a level gave.
struct ChunkResult {
    /// The violation that is looked for.
    target: Option<Seen>,
    /// The first other violation.
    other: Option<Seen>,
    also: BTreeSet<Code>,
    marks: Marks,
    ran: Vec<bool>,
    steps: u64,
}

struct Search<'a> {
    program: &'a Program,
    parts: &'a Parts,
    reduction: Reduction,
    /// The only violation that ends the search, or any.
    target: Option<Code>,
}

/// One level.
struct Level {
    states: States,
    /// Index of its first state.
    base: u32,
}

impl Level {
    fn state(&self, at: usize, width: usize) -> (&[u32], u128) {
        (&self.states.numbers[at * width..(at + 1) * width], self.states.prints[at])
    }
}

/// What a worker works with.
struct Desk<'a> {
    worker: Worker<'a>,
    choices: Vec<Choice>,
    taken: Vec<usize>,
}

impl Search<'_> {
    /// Expands the states `range` of a level. `finds` gets every successor.
    fn expand(&self, level: &Level, range: Range<usize>, desk: &mut Desk<'_>, finds: &mut Finds<'_>) -> ChunkResult {
        let mut result = ChunkResult {
            target: None,
            other: None,
            also: BTreeSet::new(),
            marks: Marks::default(),
            ran: vec![false; self.program.code.len()],
            steps: 0,
        };
        for at in range {
            let index = level.base + at as u32;
            let (state, print) = level.state(at, self.parts.width());
            let mut choices = std::mem::take(&mut desk.choices);
            let wrong = desk.worker.turn_to(state, &mut choices);
            let places = desk.worker.places(state);
            if index > 0 && choices.is_empty() && places.finished() {
                result.marks.set(Mark::Finished);
            }
            if let Some(violation) = wrong
                && self.note(Seen { state: index, step: None, violation }, &mut result)
            {
                return result;
            }
            // Once a step of this level violates, only a state of this level could be a shorter counterexample.
            if result.target.is_none() {
                let alone = self.reduction.alone(self.program, &places, &choices);
                let first = alone.map_or(0..choices.len(), |alone| alone..alone + 1);
                let violations = self.take_steps((index, print), &choices[first.clone()], desk, &mut result, finds);
                if alone.is_some() && violations > 0 && result.target.is_none() {
                    // The step ends every run that it is part of. Runs of the others that never take it have no
                    // equivalent among those that do, so that they are not left out.
                    for others in [0..first.start, first.end..choices.len()] {
                        self.take_steps((index, print), &choices[others], desk, &mut result, finds);
                    }
                }
            }
            desk.choices = choices;
        }
        result
    }

    /// Takes each of the steps from the state at hand. Returns how many violate something.
    fn take_steps(
        &self,
        (index, print): (u32, u128),
        choices: &[Choice],
        desk: &mut Desk<'_>,
        result: &mut ChunkResult,
        finds: &mut Finds<'_>,
    ) -> usize {
        let mut violations = 0;
        // First all answers, so that the states after these steps are told as much as possible.
        desk.taken.clear();
        desk.taken.extend(choices.iter().map(|choice| desk.worker.take(choice)));
        for (choice, number) in choices.iter().zip(&desk.taken) {
            if result.target.is_some() {
                break;
            }
            if !self.program.agents[usize::from(choice.step.agent)].is_queue() {
                result.ran[usize::from(choice.pc)] = true;
            }
            result.steps += 1;
            let taken = desk.worker.taken(*number);
            result.marks.add(taken.marks);
            match &taken.violation {
                None => {
                    let print = print ^ taken.delta;
                    if let Some(states) = finds.place(print) {
                        desk.worker.after(choice.step.agent, *number, &mut states.numbers);
                        states.prints.push(print);
                        states.from.push((index, choice.step));
                    }
                }
                Some(violation) => {
                    violations += 1;
                    let violation = Violation::clone(violation);
                    self.note(Seen { state: index, step: Some(choice.step), violation }, result);
                }
            }
        }
        violations
    }

    /// Keeps a violation; true if it is the one that is looked for.
    fn note(&self, seen: Seen, result: &mut ChunkResult) -> bool {
        let code = seen.violation.code;
        if self.target.is_none_or(|target| target == code) {
            if result.target.is_none() || seen.step.is_none() {
                result.target = Some(seen);
            }
            return true;
        }
        result.also.insert(code);
        if result.other.is_none() {
            result.other = Some(seen);
        }
        false
    }
}

/// Explores a program from its start until the violation that its claim is about, any violation if it claims that none
/// is reachable, or the end of the state space.
///
/// # Errors
/// When the case cannot start.
pub fn explore(program: &Program, options: &Options<'_>) -> Result<Outcome, StartError> {
    let start = World::start(program)?;
    let parts = Parts::new(program, &start);
    let target = match program.expect {
        Expect::Unreachable => None,
        Expect::Reachable(code) | Expect::Never(code) => Some(code),
    };
    let search = Search { program, parts: &parts, reduction: Reduction::new(program, options.reduce), target };
    let mut known: Vec<Known> = (0..SHARDS).map(|_| Known::default()).collect();
    let (numbers, print) = parts.state(&start);
    known[shard_of(print)].insert(print);
    let mut parents: Vec<(u32, Step)> = vec![(u32::MAX, Step { agent: 0, choice: 0 })];
    let mut level = Level { states: States { numbers, prints: vec![print], from: Vec::new() }, base: 0 };
    let mut new = States::default();
    let desk = |nth| {
        let worker = Worker::new(program, &parts, &start, nth);
        Mutex::new(Desk { worker, choices: Vec::new(), taken: Vec::new() })
    };
    let desks: Vec<Mutex<Desk<'_>>> = (0..rayon::current_num_threads()).map(desk).collect();
    let mut total = Totals { ran: vec![false; program.code.len()], ..Totals::default() };
    let mut other: Option<Seen> = None;
    let mut depth = 0;
    total.levels.push(1);
    loop {
        let mut limit = None;
        let mut target: Option<Seen> = None;
        let mut expanded = 0;
        while limit.is_none() && expanded < level.states.len() {
            let states = (parents.len() + new.len()) as u64;
            options.progress.store(states, Ordering::Relaxed);
            // A state that is kept has a fingerprint in a table that may be half empty, a parent and a step; in a level,
            // the number of each part and the fingerprint again.
            let in_levels = (level.states.len() + new.len()) as u64 * (parts.width() as u64 * 4 + 24);
            let stored = in_levels + states * 48 + parts.stored();
            limit = if states > options.limit_states {
                Some(Limit::States(options.limit_states))
            } else if stored > options.limit_memory {
                Some(Limit::Memory(options.limit_memory))
            } else if (options.interrupted)() {
                Some(Limit::Interrupted)
            } else {
                None
            };
            if limit.is_some() {
                break;
            }
            let block = expanded..(expanded + BLOCK).min(level.states.len());
            expanded = block.end;
            for result in expand_block(&search, &level, block, (&mut known, &mut new), &desks) {
                total.add(&result);
                other = other.or(result.other);
                // A state that violates is nearer than one from which a step does.
                target = match (target, result.target) {
                    (Some(first), Some(second)) if first.step.is_some() && second.step.is_none() => Some(second),
                    (first, second) => first.or(second),
                };
            }
        }
        if let Some(seen) = target {
            let states = parents.len() as u64;
            let shortest = !search.reduction.is_on() && (limit.is_none() || seen.step.is_none());
            let verdict = Verdict::Reachable(counterexample(&parents, &seen, shortest));
            return Ok(total.outcome(program, verdict, states, depth, search.reduction.is_on()));
        }
        if let Some(limit) = limit {
            let verdict = Verdict::Truncated { limit, left: (level.states.len() - expanded + new.len()) as u64 };
            let states = (parents.len() + new.len()) as u64;
            total.levels.extend((new.len() > 0).then_some(new.len() as u64));
            return Ok(total.outcome(program, verdict, states, depth, search.reduction.is_on()));
        }
        level.base = parents.len() as u32;
        level.states.clear();
        std::mem::swap(&mut level.states, &mut new);
        parents.append(&mut level.states.from);
        if level.states.len() == 0 {
            let states = parents.len() as u64;
            let verdict = match other {
                Some(seen) if !matches!(program.expect, Expect::Never(_)) => {
                    Verdict::Reachable(counterexample(&parents, &seen, !search.reduction.is_on()))
                }
                _ => {
                    let missing: Vec<_> =
                        program.witness.iter().copied().filter(|mark| !total.marks.has(*mark)).collect();
                    if missing.is_empty() { Verdict::Unreachable } else { Verdict::Vacuous { missing } }
                }
            };
            return Ok(total.outcome(program, verdict, states, depth, search.reduction.is_on()));
        }
        total.levels.push(level.states.len() as u64);
        depth += 1;
    }
}

fn shard_of(print: u128) -> usize {
    (print >> 64) as usize % SHARDS
}

/// Expands some states of a level, in chunks that are the same for any number of workers.
fn expand_block(
    search: &Search<'_>,
    level: &Level,
    block: Range<usize>,
    (known, new): (&mut [Known], &mut States),
    desks: &[Mutex<Desk<'_>>],
) -> Vec<ChunkResult> {
    let chunks: Vec<Range<usize>> =
        block.clone().step_by(CHUNK).map(|from| from..(from + CHUNK).min(block.end)).collect();
    if block.len() < PARALLEL || desks.len() == 1 {
        let mut desk = desks[0].lock().unwrap_or_else(PoisonError::into_inner);
        let mut finds = Finds::Now { known, new };
        return chunks.into_iter().map(|chunk| search.expand(level, chunk, &mut desk, &mut finds)).collect();
    }
    let before: &[Known] = known;
    let (results, found): (Vec<ChunkResult>, Vec<Found>) = chunks
        .into_par_iter()
        .map(|chunk| {
            let mut found = Found { states: States::default(), of_shard: vec![Vec::new(); SHARDS] };
            let mut finds = Finds::Later { known: before, found: &mut found };
            // A desk for each worker: nobody waits.
            let desk = &desks[rayon::current_thread_index().unwrap_or(0)];
            let mut desk = desk.lock().unwrap_or_else(PoisonError::into_inner);
            let result = search.expand(level, chunk, &mut desk, &mut finds);
            (result, found)
        })
        .unzip();
    let of_shard = |(shard, known): (usize, &mut Known)| {
        let mut fresh: Vec<(usize, u32)> = Vec::new();
        for (chunk, found) in found.iter().enumerate() {
            let at = found.of_shard[shard].iter().copied();
            fresh.extend(at.filter(|at| known.insert(found.states.prints[*at as usize])).map(|at| (chunk, at)));
        }
        fresh
    };
    let mut fresh: Vec<(usize, u32)> = known.par_iter_mut().enumerate().flat_map_iter(of_shard).collect();
    fresh.par_sort_unstable();
    let width = search.parts.width();
    for (chunk, at) in fresh {
        let (states, at) = (&found[chunk].states, at as usize);
        new.push(states.prints[at], &states.numbers[at * width..(at + 1) * width], states.from[at]);
    }
    results
}

fn counterexample(parents: &[(u32, Step)], seen: &Seen, shortest: bool) -> Counterexample {
    let mut steps: Vec<Step> = seen.step.into_iter().collect();
    let mut at = seen.state as usize;
    while at != 0 {
        let (parent, step) = parents[at];
        steps.push(step);
        at = parent as usize;
    }
    steps.reverse();
    Counterexample { steps, violation: seen.violation.clone(), shortest }
}

#[derive(Default)]
struct Totals {
    levels: Vec<u64>,
    marks: Marks,
    also: BTreeSet<Code>,
    ran: Vec<bool>,
    steps: u64,
}

impl Totals {
    fn add(&mut self, result: &ChunkResult) {
        self.marks.add(result.marks);
        self.also.extend(&result.also);
        self.steps += result.steps;
        for (all, one) in self.ran.iter_mut().zip(&result.ran) {
            *all |= one;
        }
    }

    fn outcome(self, program: &Program, verdict: Verdict, states: u64, depth: u32, reduced: bool) -> Outcome {
        let mut marks = self.marks;
        if let Verdict::Reachable(found) = &verdict {
            marks = super::replay::marks(program, &found.steps);
        }
        let threads = program.entries.iter().copied().min().unwrap_or(0);
        let never_ran = self.ran.iter().enumerate().filter(|(at, ran)| {
            let op = &program.code[*at].op;
            !**ran && *at >= usize::from(threads) && !matches!(op, crate::program::Op::Jump { .. })
        });
        let never_ran = never_ran.map(|(at, _)| at as u16).collect();
        Outcome {
            verdict,
            states,
            steps: self.steps,
            depth,
            levels: self.levels,
            reduced,
            marks,
            also: self.also.into_iter().collect(),
            never_ran,
        }
    }
}

/// Settles a case: the reduced search for claims that nothing is reachable, the full one for shortest counterexamples.
///
/// # Errors
/// When the case cannot start.
pub fn check(program: &Program, options: &Options<'_>) -> Result<Outcome, StartError> {
    let full = Options { reduce: false, ..*options };
    match program.expect {
        Expect::Reachable(_) => {
            let outcome = explore(program, &full)?;
            match outcome.verdict {
                Verdict::Truncated { .. } if options.reduce && !(options.interrupted)() => {
                    let reduced = explore(program, options)?;
                    Ok(if matches!(reduced.verdict, Verdict::Truncated { .. }) { outcome } else { reduced })
                }
                _ => Ok(outcome),
            }
        }
        Expect::Unreachable | Expect::Never(_) => {
            let outcome = explore(program, options)?;
            match outcome.verdict {
                Verdict::Reachable(_) if outcome.reduced => {
                    let shortest = explore(program, &full)?;
                    Ok(if matches!(shortest.verdict, Verdict::Reachable(_)) { shortest } else { outcome })
                }
                _ => Ok(outcome),
            }
        }
    }
}
