//! Whether the hunt notices when a part of the design is missing.
//!
//! A part is switched off and seeds are hunted from 0 on, until one fails *because of it*: the same program, with
//! nothing but the part given back, is clean. An assumption that the design does not depend on (its rules see to that)
//! is taken away beside the rule that makes it needless.

use super::campaign::{Budget, Found, campaign};
use super::find::{Blame, Case, blamed, write_up};
use super::identity::Identity;
use super::settings::Settings;
use super::shrink::Effort;
use super::{SCHEDULES, draft};
use crate::assumptions::Assumption;
use leasecheck_core::Rule;

/// Runs within which the absence of every part is noticed: a few seconds on one core.
pub const RUNS: u64 = 65_536;
/// Steps that the program of a find has at most when it has been shrunk.
pub const STEPS: usize = 12;
/// Programs between two looks at what was found.
const BATCH: u64 = 32;
/// Finds that are shrunk, until one is short enough: some end in a program from which no small change leads on.
const ATTEMPTS: usize = 4;

/// What is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A rule is off.
    Rule(Rule),
    /// An assumption is dropped.
    Assumption(Assumption),
}

impl Part {
    /// Every rule, then every assumption.
    pub fn all() -> impl Iterator<Item = Part> {
        let rules = Rule::ALL.iter().copied().map(Part::Rule);
        rules.chain(Assumption::ALL.iter().copied().map(Part::Assumption))
    }

    /// The part's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Part::Rule(rule) => rule.name(),
            Part::Assumption(assumption) => assumption.name(),
        }
    }

    /// The rule that makes the design independent of an assumption: the assumption stands for it in designs that do
    /// without.
    #[must_use]
    pub fn beside(self) -> Option<Rule> {
        let Part::Assumption(assumption) = self else { return None };
        match assumption {
            Assumption::CallersPassWholePages | Assumption::BindingsArePerPage => Some(Rule::WholePages),
            Assumption::OneAllocatingThread => Some(Rule::CompactionRechecksPlan),
            Assumption::OneFifoStreamPerDirection
            | Assumption::EventsRecordedBeforeWaited
            | Assumption::CompletionAfterLanding => None,
        }
    }

    /// The configuration of the hunt.
    #[must_use]
    pub fn settings(self) -> Settings {
        let mut settings = Settings { rules_off: self.beside().into_iter().collect(), ..Settings::default() };
        match self {
            Part::Rule(rule) => settings.rules_off.push(rule),
            Part::Assumption(assumption) => settings.assume_off.push(assumption),
        }
        settings
    }

    /// What a failure must be due to.
    fn blame(self) -> Blame {
        match self {
            Part::Rule(_) => Blame::Everything,
            Part::Assumption(_) => Blame::Assumptions,
        }
    }
}

/// What the hunt says to the design without a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ablated {
    /// A run fails because of it.
    Caught(Box<Case>),
    /// No run of the budget does.
    Missed,
    /// Interrupted before the budget's end.
    Stopped,
}

/// Hunts the design without `part`, for at most `runs` runs. Of the first few finds, the shortest counts.
#[must_use]
pub fn ablate(part: Part, runs: u64, effort: Effort, interrupted: &(dyn Fn() -> bool + Sync)) -> Ablated {
    let settings = part.settings();
    let budget = Budget { interrupted: Some(interrupted), batch: BATCH, ..Budget::default() };
    let (mut at, mut attempts) = (0, 0);
    let mut best: Option<Case> = None;
    while at < runs && attempts < ATTEMPTS {
        let end = (at + BATCH * SCHEDULES).min(runs);
        let found = campaign(&settings, at..end, &budget);
        if found.next.is_some() {
            return Ablated::Stopped;
        }
        let mut finds: Vec<(&Identity, &Found)> = found.finds.iter().collect();
        finds.sort_by_key(|(_, found)| found.seed);
        let due = |found: &Found| blamed(&draft(&settings, found.seed), &settings, part.blame(), &found.schedule);
        for (identity, found) in finds.into_iter().filter(|(_, found)| due(found)).take(ATTEMPTS - attempts) {
            let Some(case) = write_up(&settings, identity, found, part.blame(), effort) else { continue };
            attempts += 1;
            if best.as_ref().is_none_or(|best| case.steps.1 < best.steps.1) {
                best = Some(case);
            }
            if best.as_ref().is_some_and(|best| best.steps.1 <= STEPS && best.confirmed) {
                attempts = ATTEMPTS;
                break;
            }
        }
        at = end;
    }
    best.map_or(Ablated::Missed, |case| Ablated::Caught(Box::new(case)))
}
