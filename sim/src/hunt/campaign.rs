//! A campaign: many seeds, what they showed, and what failed, each failure once.
//!
//! Seeds are taken in batches; within a batch, programs are shared out to workers and their results joined in the
//! order of seeds. Everything that is counted or found is a function of the settings and the seeds.

use super::identity::{self, Identity};
use super::run::Runner;
use super::settings::Settings;
use super::{SCHEDULES, prepare, run_seed};
use crate::invariants::{Code, Violation};
use crate::marks::Mark;
use crate::world::Step;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// Programs that one worker takes at a time.
const CHUNK: u64 = 16;

/// When a campaign ends before its last seed, and who is told how far it is.
#[derive(Clone, Copy, Default)]
pub struct Budget<'a> {
    /// Whether to stop at the end of the batch in which the first failure was found.
    pub stop_at_first: bool,
    /// Asked between batches whether to stop.
    pub interrupted: Option<&'a (dyn Fn() -> bool + Sync)>,
    /// Told after each batch.
    pub progress: Option<&'a dyn Fn(&Finds)>,
    /// Only this shard of the seeds: its number, from 0, and how many there are.
    pub shard: Option<(u64, u64)>,
    /// Programs of a batch; more mean less waiting for the slowest worker. 256 if 0.
    pub batch: u64,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Runs.
    pub runs: u64,
    /// World steps.
    pub steps: u64,
    /// Runs that violated something.
    pub failures: u64,
    /// Programs that could not start.
    pub unusable: u64,
    /// Runs that showed each mark, by its place in [`Mark::ALL`].
    pub marks: Vec<u64>,
    /// Failures by invariant, by its place in [`Code::ALL`].
    pub codes: Vec<u64>,
}

impl Tally {
    /// Adds what another part of the campaign did.
    pub fn add(&mut self, other: &Tally) {
        self.runs += other.runs;
        self.steps += other.steps;
        self.failures += other.failures;
        self.unusable += other.unusable;
        for (mine, theirs) in [(&mut self.marks, &other.marks), (&mut self.codes, &other.codes)] {
            mine.resize(mine.len().max(theirs.len()), 0);
            for (mine, theirs) in mine.iter_mut().zip(theirs) {
                *mine += theirs;
            }
        }
    }

    fn new() -> Tally {
        Tally { marks: vec![0; Mark::ALL.len()], codes: vec![0; Code::ALL.len()], ..Tally::default() }
    }
}

/// A failure: the first seed that showed it, and how many did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The smallest seed.
    pub seed: u64,
    /// Runs that failed in the same way.
    pub count: u64,
    /// What was violated.
    pub violation: Violation,
    /// The schedule of the seed's run.
    pub schedule: Vec<Step>,
}

/// What a campaign gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finds {
    /// What was done.
    pub tally: Tally,
    /// Failures, each once.
    pub finds: BTreeMap<Identity, Found>,
    /// The first seed that has not been looked at, if the campaign ended early.
    pub next: Option<u64>,
}

impl Finds {
    /// Joins what another part of the campaign gave.
    pub fn add(&mut self, other: Finds) {
        self.tally.add(&other.tally);
        for (identity, found) in other.finds {
            match self.finds.get_mut(&identity) {
                None => {
                    self.finds.insert(identity, found);
                }
                Some(mine) => {
                    mine.count += found.count;
                    if found.seed < mine.seed {
                        *mine = Found { count: mine.count, ..found };
                    }
                }
            }
        }
    }

    fn fail(&mut self, identity: Identity, found: Found) {
        self.tally.failures += 1;
        self.tally.codes[identity.code as usize] += 1;
        let mut one = Finds { tally: Tally::default(), finds: BTreeMap::new(), next: None };
        one.finds.insert(identity, found);
        self.add(one);
    }
}

/// Whether a shard has the programs of this seed.
#[must_use]
pub fn shard(of: Option<(u64, u64)>, seed: u64) -> bool {
    of.is_none_or(|(number, count)| (seed / SCHEDULES) % count.max(1) == number)
}

/// Runs the seeds that share the program number `program` and lie in `seeds`.
fn program_runs(settings: &Settings, program: u64, seeds: &Range<u64>, runner: &mut Runner, finds: &mut Finds) {
    let first = (program * SCHEDULES).max(seeds.start);
    let last = program.saturating_add(1).saturating_mul(SCHEDULES).min(seeds.end);
    let Ok(ready) = prepare(settings, first) else {
        finds.tally.unusable += 1;
        finds.tally.runs += last - first;
        return;
    };
    for seed in first..last {
        let end = run_seed(runner, &ready, settings, seed, seed == first);
        finds.tally.runs += 1;
        finds.tally.steps += end.steps as u64;
        for mark in end.marks.iter() {
            finds.tally.marks[mark as usize] += 1;
        }
        if let Some(violation) = end.violation {
            let schedule = runner.schedule.clone();
            let identity = identity::of(&ready.program, &schedule, &violation);
            finds.fail(identity, Found { seed, count: 1, violation, schedule });
        }
    }
}

/// Runs every seed of a range, or as many as the budget allows.
#[must_use]
pub fn campaign(settings: &Settings, seeds: Range<u64>, budget: &Budget<'_>) -> Finds {
    let mut all = Finds { tally: Tally::new(), ..Finds::default() };
    let batch = if budget.batch == 0 { 256 } else { budget.batch };
    let programs = seeds.start / SCHEDULES..seeds.end.div_ceil(SCHEDULES);
    let mut at = if seeds.is_empty() { programs.end } else { programs.start };
    while at < programs.end {
        let stop = budget.interrupted.is_some_and(|interrupted| interrupted());
        if stop || (budget.stop_at_first && !all.finds.is_empty()) {
            all.next = Some((at * SCHEDULES).max(seeds.start));
            break;
        }
        let end = at.saturating_add(batch).min(programs.end);
        let mine: Vec<u64> = (at..end).filter(|program| shard(budget.shard, program * SCHEDULES)).collect();
        let parts: Vec<Finds> = mine
            .par_chunks(CHUNK as usize)
            .map(|chunk| {
                let mut part = Finds { tally: Tally::new(), ..Finds::default() };
                let mut runner = Runner::default();
                for program in chunk {
                    program_runs(settings, *program, &seeds, &mut runner, &mut part);
                }
                part
            })
            .collect();
        parts.into_iter().for_each(|part| all.add(part));
        at = end;
        if let Some(progress) = budget.progress {
            progress(&all);
        }
    }
    all
}

/// How the canary fared: runs, and how many of them failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canary {
    /// Runs.
    pub runs: u64,
    /// Failures among them.
    pub failures: u64,
}

impl Canary {
    /// Whether about one run in a hundred failed, as it must.
    #[must_use]
    pub fn alive(&self) -> bool {
        let permille = self.failures * 1_000 / self.runs.max(1);
        (2..=50).contains(&permille)
    }
}

/// Runs the canary: a configuration whose callers break the contract now and then. A hunt that does not notice is
/// blind, whatever else it says.
#[must_use]
pub fn canary(seed: u64) -> Canary {
    let settings = Settings { canary: true, ..Settings::default() };
    // Enough programs that some of the few with the broken unit are among them, whatever the first seed.
    let runs = 8_192;
    let start = seed.min(u64::MAX - runs);
    let finds = campaign(&settings, start..start + runs, &Budget::default());
    Canary { runs: finds.tally.runs, failures: finds.tally.failures }
}
