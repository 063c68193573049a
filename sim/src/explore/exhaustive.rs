//! Every interleaving of a case: breadth first, level by level, on all cores, with the same result on any number.
//!
//! States are kept as 128-bit fingerprints of their packed bytes. A level is explored in two halves: workers expand
//! chunks of it and sort what they find into shards; then each shard takes in what is new, in the order of the level.
//! Nothing depends on which worker was faster.

use super::reduce::Reduction;
use crate::invariants::{Code, Violation, deadlock, lost_wakeup, race};
use crate::marks::Marks;
use crate::program::{END, Expect, Program};
use crate::verdict::{Counterexample, Limit, Outcome, Verdict};
use crate::world::{Effects, StartError, Step, World};
use hashbrown::HashSet;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::xxh3_128;

/// Shards of the set of known states; fixed, so that the order of states is the same for any number of workers.
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

/// The fingerprint is its own hash.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {}
    fn write_u128(&mut self, value: u128) {
        self.0 = value as u64;
    }
}

type Known = HashSet<u128, BuildHasherDefault<Identity>>;

#[derive(Default)]
struct Shard {
    known: Known,
    /// New states of the next level: packed bytes end to end, and for each the end of its bytes, its parent and step.
    bytes: Vec<u8>,
    ends: Vec<(usize, u32, Step)>,
}

impl Shard {
    fn take_in(&mut self, fingerprint: u128, bytes: &[u8], parent: u32, step: Step) {
        if self.known.insert(fingerprint) {
            self.bytes.extend_from_slice(bytes);
            self.ends.push((self.bytes.len(), parent, step));
        }
    }
}

/// Successors that a worker found and that were not known when the level began.
#[derive(Default)]
struct Found {
    bytes: Vec<u8>,
    entries: Vec<(u128, usize, u32, Step)>,
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
    found: Vec<Found>,
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
    reduction: Reduction,
    /// The only violation that ends the search, or any.
    target: Option<Code>,
}

/// One level: packed states end to end.
struct Level {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// Index of its first state.
    base: u32,
}

impl Level {
    fn state(&self, at: usize) -> &[u8] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }
}

/// A world that is sent from state to state.
struct Cursor {
    world: World,
    /// The world, packed; nothing if a step has left it without meaning.
    bytes: Vec<u8>,
}

impl Cursor {
    fn new(world: &World) -> Cursor {
        Cursor { world: world.clone(), bytes: Vec::new() }
    }

    /// Makes the world the one that `bytes` says.
    fn go(&mut self, bytes: &[u8]) {
        self.world.unpack_changed(bytes, &self.bytes);
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
    }

    fn step(&mut self, program: &Program, step: Step, effects: &mut Effects) -> Result<(), Violation> {
        self.bytes.clear();
        self.world.step(program, step, effects)?;
        self.world.pack(&mut self.bytes);
        Ok(())
    }
}

impl Search<'_> {
    /// Expands the states `range` of a level. `take` gets every successor.
    fn expand(
        &self,
        level: &Level,
        range: Range<usize>,
        cursor: &mut Cursor,
        mut take: impl FnMut(u128, &[u8], u32, Step),
    ) -> ChunkResult {
        let mut result = ChunkResult {
            found: Vec::new(),
            target: None,
            other: None,
            also: BTreeSet::new(),
            marks: Marks::default(),
            ran: vec![false; self.program.code.len()],
            steps: 0,
        };
        let mut steps = Vec::new();
        for at in range {
            let state = level.base + at as u32;
            cursor.go(level.state(at));
            let world = &cursor.world;
            steps.clear();
            world.enabled(self.program, &mut steps);
            let wrong = if steps.is_empty() {
                (!world.finished()).then(|| {
                    lost_wakeup::check(world, self.program).unwrap_or_else(|| deadlock::check(world, self.program))
                })
            } else {
                race::check(world, self.program, &steps)
            };
            if let Some(violation) = wrong
                && self.note(Seen { state, step: None, violation }, &mut result)
            {
                return result;
            }
            if result.target.is_some() {
                // A step of this level violates: only a state of this level could be a shorter counterexample.
                continue;
            }
            let mut take = |fingerprint: u128, bytes: &[u8], step: Step| take(fingerprint, bytes, state, step);
            let Some(alone) = self.reduction.alone(self.program, world, &steps) else {
                self.take_steps((state, level.state(at)), &steps, cursor, &mut result, &mut take);
                continue;
            };
            let alone = steps.remove(alone);
            let violations = self.take_steps((state, level.state(at)), &[alone], cursor, &mut result, &mut take);
            if violations > 0 && result.target.is_none() {
                // The step ends every run that it is part of. Runs of the others that never take it have no equivalent
                // among those that do, so that they are not left out.
                self.take_steps((state, level.state(at)), &steps, cursor, &mut result, &mut take);
            }
        }
        result
    }

    /// Takes each of the steps from a state. Returns how many violate something.
    fn take_steps(
        &self,
        (state, bytes): (u32, &[u8]),
        steps: &[Step],
        cursor: &mut Cursor,
        result: &mut ChunkResult,
        take: &mut impl FnMut(u128, &[u8], Step),
    ) -> usize {
        let mut violations = 0;
        for step in steps {
            cursor.go(bytes);
            if let Some(thread) = cursor.world.threads.get(World::thread_slot(self.program, step.agent))
                && thread.pc != END
                && !self.program.agents[usize::from(step.agent)].is_queue()
            {
                result.ran[usize::from(thread.pc)] = true;
            }
            let mut effects = Effects::default();
            result.steps += 1;
            let outcome = cursor.step(self.program, *step, &mut effects);
            result.marks.add(effects.marks);
            match outcome {
                Ok(()) => take(xxh3_128(&cursor.bytes), &cursor.bytes, *step),
                Err(violation) => {
                    violations += 1;
                    if self.note(Seen { state, step: Some(*step), violation }, result) {
                        break;
                    }
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
    let target = match program.expect {
        Expect::Unreachable => None,
        Expect::Reachable(code) => Some(code),
    };
    let search = Search { program, reduction: Reduction::new(program, options.reduce), target };
    let mut shards: Vec<Shard> = (0..SHARDS).map(|_| Shard::default()).collect();
    let mut packed = Vec::new();
    start.pack(&mut packed);
    let fingerprint = xxh3_128(&packed);
    shards[shard_of(fingerprint)].known.insert(fingerprint);
    let mut parents: Vec<(u32, Step)> = vec![(u32::MAX, Step { agent: 0, choice: 0 })];
    let mut level = Level { ends: vec![packed.len()], bytes: packed, base: 0 };
    let mut total = Totals { ran: vec![false; program.code.len()], ..Totals::default() };
    let mut other: Option<Seen> = None;
    let mut cursor = Cursor::new(&start);
    let mut depth = 0;
    loop {
        let mut limit = None;
        let mut target: Option<Seen> = None;
        let mut expanded = 0;
        while limit.is_none() && expanded < level.ends.len() {
            let next: usize = shards.iter().map(|shard| shard.ends.len()).sum();
            let bytes: usize = shards.iter().map(|shard| shard.bytes.len()).sum();
            let states = (parents.len() + next) as u64;
            options.progress.store(states, Ordering::Relaxed);
            // A state that is kept has a fingerprint in a table that may be half empty, a parent and a step.
            let stored = (level.bytes.len() + bytes) as u64 + states * 48;
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
            let block = expanded..(expanded + BLOCK).min(level.ends.len());
            expanded = block.end;
            for result in expand_block(&search, &level, block, &mut shards, &mut cursor, &start) {
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
            let next: usize = shards.iter().map(|shard| shard.ends.len()).sum();
            let verdict = Verdict::Truncated { limit, left: (level.ends.len() - expanded + next) as u64 };
            let states = (parents.len() + next) as u64;
            return Ok(total.outcome(program, verdict, states, depth, search.reduction.is_on()));
        }
        let base = parents.len() as u32;
        let mut next = Level { bytes: Vec::new(), ends: Vec::new(), base };
        for shard in &mut shards {
            let offset = next.bytes.len();
            next.bytes.append(&mut shard.bytes);
            for (end, parent, step) in shard.ends.drain(..) {
                next.ends.push(offset + end);
                parents.push((parent, step));
            }
        }
        if next.ends.is_empty() {
            let states = parents.len() as u64;
            let verdict = match other {
                Some(seen) => Verdict::Reachable(counterexample(&parents, &seen, !search.reduction.is_on())),
                None => {
                    let missing: Vec<_> =
                        program.witness.iter().copied().filter(|mark| !total.marks.has(*mark)).collect();
                    if missing.is_empty() { Verdict::Unreachable } else { Verdict::Vacuous { missing } }
                }
            };
            return Ok(total.outcome(program, verdict, states, depth, search.reduction.is_on()));
        }
        level = next;
        depth += 1;
    }
}

fn shard_of(fingerprint: u128) -> usize {
    (fingerprint >> 64) as usize % SHARDS
}

/// Expands some states of a level, in chunks that are the same for any number of workers.
fn expand_block(
    search: &Search<'_>,
    level: &Level,
    block: Range<usize>,
    shards: &mut [Shard],
    cursor: &mut Cursor,
    start: &World,
) -> Vec<ChunkResult> {
    let chunks: Vec<Range<usize>> =
        block.clone().step_by(CHUNK).map(|from| from..(from + CHUNK).min(block.end)).collect();
    if block.len() < PARALLEL || rayon::current_num_threads() == 1 {
        let mut take = |fingerprint: u128, bytes: &[u8], parent, step| {
            shards[shard_of(fingerprint)].take_in(fingerprint, bytes, parent, step);
        };
        return chunks.into_iter().map(|chunk| search.expand(level, chunk, cursor, &mut take)).collect();
    }
    let known: &[Shard] = shards;
    let mut results: Vec<ChunkResult> = chunks
        .into_par_iter()
        .map_init(
            || Cursor::new(start),
            |cursor, chunk| {
                let mut found: Vec<Found> = (0..SHARDS).map(|_| Found::default()).collect();
                let take = |fingerprint: u128, bytes: &[u8], parent, step| {
                    let at = shard_of(fingerprint);
                    if !known[at].known.contains(&fingerprint) {
                        found[at].bytes.extend_from_slice(bytes);
                        let end = found[at].bytes.len();
                        found[at].entries.push((fingerprint, end, parent, step));
                    }
                };
                let mut result = search.expand(level, chunk, cursor, take);
                result.found = found;
                result
            },
        )
        .collect();
    shards.par_iter_mut().enumerate().for_each(|(at, shard)| {
        for result in &results {
            let found = &result.found[at];
            let mut from = 0;
            for (fingerprint, end, parent, step) in &found.entries {
                shard.take_in(*fingerprint, &found.bytes[from..*end], *parent, *step);
                from = *end;
            }
        }
    });
    results.iter_mut().for_each(|result| result.found.clear());
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
        Expect::Unreachable => {
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
