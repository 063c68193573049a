//! What the gate hunts, with seeds that never change: the design, which must hold and show every mark that it can; the
//! canary; and the design without each of its parts, whose absence must be noticed.

use crate::ablate;
use crate::gate::Check;
use crate::progress::Progress;
use leasecheck_reports::hunted;
use leasecheck_sim::hunt::ablation::RUNS;
use leasecheck_sim::hunt::{Budget, Finds, RunToken, Settings, campaign, canary, unreached};
use leasecheck_sim::marks::Mark;
use std::fmt::Write;

/// Runs of the design.
const HUNTED: u64 = 32_768;

fn held(finds: &Finds) -> Result<(), String> {
    if let Some((identity, found)) = finds.finds.iter().next() {
        let token = RunToken { settings: Settings::default(), seed: found.seed };
        let (code, why) = (identity.code.name(), &found.violation.message);
        return Err(format!("{code} in {} runs: {why}; `leasecheck replay {token}` shows the first", found.count));
    }
    if finds.next.is_some() {
        return Err("not finished: the time is up".to_owned());
    }
    match finds.tally.unusable {
        0 => Ok(()),
        count => Err(format!("{count} programs could not start")),
    }
}

/// The checks, and the tables for people.
pub fn settle(progress: &Progress) -> (Vec<Check>, String) {
    progress.say("hunting the design");
    let interrupted = || progress.interrupted();
    let budget = Budget { interrupted: Some(&interrupted), ..Budget::default() };
    let found = campaign(&Settings::default(), 0..HUNTED, &budget);
    let mut checks = vec![(format!("hunt of {HUNTED} runs"), held(&found))];
    let canary = canary(0);
    let blind = || format!("{} of {} runs failed: the hunt is blind", canary.failures, canary.runs);
    checks.push(("canary".to_owned(), canary.alive().then_some(()).ok_or_else(blind)));
    for mark in Mark::ALL.iter().filter(|mark| unreached(**mark).is_none()) {
        let reached = found.tally.marks.get(*mark as usize).is_some_and(|runs| *runs > 0);
        let missing = || "the default configuration can reach it, and the hunt did not".to_owned();
        checks.push((format!("mark {}", mark.name()), reached.then_some(()).ok_or_else(missing)));
    }
    progress.say("hunting the design without each of its parts");
    let (report, _) = ablate::hunted(RUNS, progress);
    for part in &report.parts {
        let result = match (part.fate, part.confirmed) {
            // How far it shrinks is for `ablate` to insist on: here it must be noticed.
            ("caught" | "too long", true) => Ok(()),
            ("caught" | "too long", false) => {
                Err("caught, but an exhaustive check of the shrunk program does not agree".to_owned())
            }
            (fate, _) => Err(format!("{fate} within {} runs", report.budget_runs)),
        };
        checks.push((format!("hunt without {} {}", part.kind, part.name), result));
    }
    let mut out = hunted::render(&report, None);
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "\n{} runs of the design, {} steps; canary: {} of {} runs failed, as about one in a hundred must\n{}",
        found.tally.runs,
        found.tally.steps,
        canary.failures,
        canary.runs,
        hunted::marks(&found.tally)
    );
    (checks, out)
}
