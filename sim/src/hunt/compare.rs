//! The same seeds under two configurations: which runs go well under one and fail under the other.

use super::run::{Ready, Runner};
use super::settings::{RunToken, Settings};
use super::{SCHEDULES, draft, run_seed};
use crate::explore::{Item, Variant};
use crate::invariants::Code;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// Runs that went alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alike {
    /// How many.
    pub runs: u64,
    /// The smallest seed.
    pub first: u64,
}

/// What runs violated under each configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// By what they violated under the first and under the second, if anything.
    pub ends: BTreeMap<[Option<Code>; 2], Alike>,
    /// Programs that cannot start under one of them, of which nothing was run.
    pub unusable: u64,
}

impl Compared {
    fn put(&mut self, ends: [Option<Code>; 2], alike: Alike) {
        let mine = self.ends.entry(ends).or_insert(Alike { runs: 0, ..alike });
        mine.runs += alike.runs;
        mine.first = mine.first.min(alike.first);
    }

    /// Joins what other seeds gave.
    pub fn add(&mut self, other: Compared) {
        other.ends.into_iter().for_each(|(ends, alike)| self.put(ends, alike));
        self.unusable += other.unusable;
    }
}

fn settings(variant: &Variant) -> Settings {
    let mut settings = Settings::default();
    for item in &variant.0 {
        match item {
            Item::Rule(rule) => settings.rules_off.push(*rule),
            Item::Assumption(assumption) => settings.assume_off.push(*assumption),
            Item::Planner(_) => {}
        }
    }
    settings.ordered()
}

/// The token of a seed's run, which names no planner.
#[must_use]
pub fn token(variant: &Variant, seed: u64) -> Option<RunToken> {
    let planner = variant.0.iter().any(|item| matches!(item, Item::Planner(_)));
    (!planner).then(|| RunToken { settings: settings(variant), seed })
}

/// What the seeds from `first` to `last`, which share a program, violate.
fn ends(variant: &Variant, first: u64, last: u64) -> Option<Vec<Option<Code>>> {
    let settings = settings(variant);
    let program = draft(&settings, first).compile().ok()?;
    let ready = Ready::new(variant.apply(&program)).ok()?;
    let mut runner = Runner::default();
    let end = |seed| run_seed(&mut runner, &ready, &settings, seed, seed == first).violation;
    Some((first..last).map(end).map(|violation| violation.map(|violation| violation.code)).collect())
}

/// Runs every seed under both. Programs are drawn under each configuration: callers break an assumption only where it
/// is dropped.
#[must_use]
pub fn compare(variants: [&Variant; 2], seeds: &Range<u64>) -> Compared {
    let programs = seeds.start / SCHEDULES..seeds.end.div_ceil(SCHEDULES);
    let one = |program: u64| {
        let first = (program * SCHEDULES).max(seeds.start);
        let last = program.saturating_add(1).saturating_mul(SCHEDULES).min(seeds.end);
        let mut compared = Compared::default();
        let [Some(a), Some(b)] = variants.map(|variant| ends(variant, first, last)) else {
            compared.unusable = 1;
            return compared;
        };
        for ((seed, a), b) in (first..).zip(a).zip(b) {
            compared.put([a, b], Alike { runs: 1, first: seed });
        }
        compared
    };
    let join = |mut all: Compared, part: Compared| {
        all.add(part);
        all
    };
    programs.into_par_iter().map(one).reduce(Compared::default, join)
}
