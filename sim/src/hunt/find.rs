//! A failure written up: shrunk, as a litmus file that `check` confirms, with everything that names the run.

use super::campaign::Found;
use super::draft::{Claim, Draft};
use super::identity::Identity;
use super::run::{Ready, Runner};
use super::settings::{RunToken, Settings};
use super::shrink::{Effort, Shrunk, clean, shrink};
use crate::assumptions::Assumption;
use crate::explore::{Options, Token, check};
use crate::invariants::Code;
use crate::litmus::{Source, load};
use crate::marks::Mark;
use crate::verdict::Verdict;
use crate::world::Step;
use serde::{Deserialize, Serialize};
use std::sync::atomic::AtomicU64;

/// States after which a shrunk case is left unconfirmed.
const CONFIRM_STATES: u64 = 300_000;
/// The same, in bytes.
const CONFIRM_BYTES: u64 = 512 << 20;
/// Marks that a written case names as its witness.
pub(super) const WITNESSES: usize = 3;

/// One find: a line of JSON, and a litmus file beside it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Version of this line.
    pub version: u32,
    /// Name of the litmus file's claim, and of the file.
    pub name: String,
    /// The invariant.
    pub invariant: String,
    /// The pair of steps.
    pub pair: [String; 2],
    /// What the failure needs to be off: rules and assumptions, `-` if none.
    pub off: String,
    /// The first seed that failed in this way.
    pub seed: u64,
    /// Runs that failed in this way.
    pub count: u64,
    /// Names the run.
    pub token: String,
    /// What was violated, in words.
    pub message: String,
    /// Steps of the program as drawn, and as written.
    pub steps: (usize, usize),
    /// Whether shrinking came to its end, or its budget did.
    pub shrunk: bool,
    /// Candidates that shrinking tried.
    pub tried: usize,
    /// Whether an exhaustive check of the litmus file found the same invariant.
    pub confirmed: bool,
    /// The shrunk run, for `leasecheck replay TOKEN FILE`.
    pub replay: String,
    /// The litmus file.
    #[serde(skip)]
    pub litmus: String,
}

/// What an exhaustive check says about a draft: the marks of its shortest counterexample.
pub(super) fn confirm(draft: &Draft, claim: &Claim<'_>, code: Code) -> Option<Vec<Mark>> {
    let source = Source { path: claim.name.to_owned(), text: draft.render(claim) };
    let program = load(&source).ok()?.cases.pop()?;
    let interrupted = || false;
    let options = Options {
        limit_states: CONFIRM_STATES,
        limit_memory: CONFIRM_BYTES,
        reduce: true,
        interrupted: &interrupted,
        progress: &AtomicU64::new(0),
    };
    let outcome = check(&program, &options).ok()?;
    match outcome.verdict {
        Verdict::Reachable(found) if found.violation.code == code => Some(outcome.marks.iter().collect()),
        _ => None,
    }
}

/// What a failure must be due to: the program is clean when that is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The rules that are off and the assumptions that the campaign has dropped, all together.
    Everything,
    /// The assumptions that the campaign has dropped, beside rules that stay off.
    Assumptions,
}

impl Blame {
    /// The program with what is blamed given back; nothing if there is nothing to give back.
    pub(crate) fn given_back(self, draft: &Draft, settings: &Settings) -> Option<Draft> {
        let rules = self == Blame::Everything && !settings.rules_off.is_empty();
        if !rules && settings.assume_off.is_empty() {
            return None;
        }
        let mut back = draft.clone();
        if rules {
            back.rules_off.clear();
        }
        // What else is dropped belongs to the program.
        back.assume_off.retain(|assumption| !settings.assume_off.contains(assumption));
        Some(back)
    }
}

/// Whether a failing run is clean when what is blamed is given back.
pub(crate) fn blamed(draft: &Draft, settings: &Settings, blame: Blame, schedule: &[Step]) -> bool {
    let Some(back) = blame.given_back(draft, settings) else { return true };
    let Some(ready) = back.compile().ok().and_then(|program| Ready::new(program).ok()) else { return false };
    clean(&mut Runner::default(), &ready, schedule)
}

/// Shrinks a failure and writes it up. `None` if the run cannot be taken again, which nothing should cause.
#[must_use]
pub fn write_up(settings: &Settings, identity: &Identity, found: &Found, blame: Blame, effort: Effort) -> Option<Case> {
    let draft = super::draft(settings, found.seed);
    let program = draft.compile().ok()?;
    let run = (identity, found.violation.clone(), found.schedule.clone());
    let shrunk = shrink((draft, program), run, (settings, blame), effort);
    Some(case(settings, identity, found, &shrunk))
}

fn case(settings: &Settings, identity: &Identity, found: &Found, shrunk: &Shrunk) -> Case {
    let token = RunToken { settings: settings.clone(), seed: found.seed }.to_string();
    let code = identity.code;
    let dropped = |assumption: &Assumption| shrunk.draft.assume_off.contains(assumption);
    let off = Settings {
        rules_off: shrunk.draft.rules_off.clone(),
        assume_off: settings.assume_off.iter().copied().filter(dropped).collect(),
        ..settings.clone()
    };
    let off = off.off();
    let name = format!("hunt-{}-{}", code.name(), found.seed);
    let text = format!(
        "A hunted run violates {} with off: {off} (first step: {}; second: {})",
        code.name(),
        identity.pair[0],
        identity.pair[1]
    );
    let mut claim = Claim { name: &name, source: &token, claim: &text, expect: Some(code), witness: &[] };
    let confirmed = confirm(&shrunk.draft, &claim, code);
    let mut witness = confirmed.clone().unwrap_or_default();
    witness.truncate(WITNESSES);
    claim.witness = &witness;
    let litmus = shrunk.draft.render(&claim);
    Case {
        version: super::VERSION,
        invariant: code.name().to_owned(),
        pair: identity.pair.clone(),
        off,
        seed: found.seed,
        count: found.count,
        message: shrunk.violation.message.clone(),
        steps: shrunk.steps,
        shrunk: shrunk.complete,
        tried: shrunk.tried,
        confirmed: confirmed.is_some_and(|marks| !marks.is_empty()),
        replay: Token { claim: name.clone(), case: 0, steps: shrunk.schedule.clone() }.to_string(),
        litmus,
        token,
        name,
    }
}
