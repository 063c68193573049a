//! Whether the checker notices when a part of the design is missing: a case that claims `unreachable` must turn red.
//!
//! A rule whose ablation nothing notices is useless, or the claim about it is missing, or the checker is blind to what
//! it is for. This module looks at one case; who goes through a corpus decides whether the first case is enough.

use super::variant::{Item, Variant};
use super::{Options, check};
use crate::assumptions::Assumption;
use crate::program::{Expect, Program};
use crate::verdict::{Counterexample, Verdict};
use leasecheck_core::Rule;

/// Everything that can be taken from the design, one at a time: every rule, then every assumption.
pub fn parts() -> impl Iterator<Item = Item> {
    let rules = Rule::ALL.iter().copied().map(Item::Rule);
    rules.chain(Assumption::ALL.iter().copied().map(Item::Assumption))
}

/// What a case says to the design without a part.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The case does not claim `unreachable`, or is already without the part.
    NotAsked,
    /// It turns red with this counterexample, among so many states.
    Red(Counterexample, u64),
    /// It holds as before.
    Holds,
    /// A limit was reached.
    Unknown,
}

fn ablated(program: &Program, part: Item) -> Option<Program> {
    let variant = Variant(vec![part]);
    (program.expect == Expect::Unreachable && !variant.is_in(program)).then(|| variant.apply(program))
}

/// What a case says to the design without the part, with the shortest counterexample.
#[must_use]
pub fn ask(program: &Program, part: Item, options: &Options<'_>) -> Answer {
    let Some(ablated) = ablated(program, part) else { return Answer::NotAsked };
    // A case whose set-up needs the part says nothing about what its threads do.
    let Ok(outcome) = check(&ablated, options) else { return Answer::NotAsked };
    match outcome.verdict {
        Verdict::Reachable(found) => Answer::Red(found, outcome.states),
        Verdict::Truncated { .. } => Answer::Unknown,
        Verdict::Unreachable | Verdict::Vacuous { .. } => Answer::Holds,
    }
}
