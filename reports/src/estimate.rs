//! How large an exhaustive run will be: the report of `leasecheck estimate`.

use crate::model::{FileError, VERSION};
use crate::text::plural;
use leasecheck_sim::explore::estimate::Estimate;
use leasecheck_sim::program::Program;
use serde::Serialize;
use std::fmt::Write;

/// The estimates of a file's cases.
#[derive(Clone, Debug, Serialize)]
pub struct EstimateReport {
    /// Version of this form.
    pub version: u32,
    /// Path as given.
    pub file: String,
    /// Walks asked for.
    pub walks: u32,
    /// Seed of the walks.
    pub seed: u64,
    /// The cases.
    pub cases: Vec<CaseEstimate>,
    /// What went wrong.
    pub errors: Vec<FileError>,
}

/// One case.
#[derive(Clone, Debug, Serialize)]
pub struct CaseEstimate {
    /// Name of the claim.
    pub claim: String,
    /// Name of the case.
    pub case: String,
    /// Every order.
    pub full: SpaceEstimate,
    /// Orders that cannot matter left out.
    pub reduced: SpaceEstimate,
    /// Which of the two `check` explores.
    pub checked: &'static str,
}

/// One state space.
#[derive(Clone, Debug, Serialize)]
pub struct SpaceEstimate {
    /// Expected distinct states.
    pub states: u64,
    /// Whether that is a lower bound only, because walks met too rarely.
    pub at_least: bool,
    /// States that the walks have seen.
    pub seen: u64,
    /// The deepest level.
    pub depth: u32,
    /// Walks made.
    pub walks: u32,
    /// Walks that ended in a violation.
    pub violations: u32,
}

/// Seconds for the two spaces of a case, from a calibration; they differ from run to run and stay out of the data.
#[derive(Clone, Copy, Debug)]
pub struct Seconds {
    /// For every order, in milliseconds.
    pub full_ms: u64,
    /// For the reduced space, in milliseconds.
    pub reduced_ms: u64,
    /// States per second that were measured.
    pub rate: u64,
}

fn space(estimate: &Estimate) -> SpaceEstimate {
    SpaceEstimate {
        states: estimate.states,
        at_least: estimate.at_least,
        seen: estimate.seen,
        depth: estimate.depth,
        walks: estimate.walks,
        violations: estimate.violations,
    }
}

/// Makes the report of one case.
#[must_use]
pub fn case(program: &Program, full: &Estimate, reduced: &Estimate) -> CaseEstimate {
    let checked = match program.expect {
        leasecheck_sim::program::Expect::Unreachable => "reduced",
        leasecheck_sim::program::Expect::Reachable(_) => "full",
        leasecheck_sim::program::Expect::Never(_) => "reduced",
    };
    CaseEstimate {
        claim: program.name.0.clone(),
        case: program.name.1.clone(),
        full: space(full),
        reduced: space(reduced),
        checked,
    }
}

/// An empty report.
#[must_use]
pub fn report(file: &str, walks: u32, seed: u64) -> EstimateReport {
    EstimateReport { version: VERSION, file: file.to_owned(), walks, seed, cases: Vec::new(), errors: Vec::new() }
}

/// A number of states as people say it: two digits that mean something.
fn about(space: &SpaceEstimate) -> String {
    let mut unit = 1;
    while space.states / unit >= 100 {
        unit *= 10;
    }
    // A space that the walks have seen whole is known exactly.
    let states = if space.states == space.seen { space.states } else { space.states / unit * unit };
    let sign = match (space.at_least, space.states == space.seen) {
        (true, _) => "at least ",
        (false, true) => "",
        (false, false) => "about ",
    };
    format!("{sign}{}", plural(states, "state"))
}

/// A time as people say it.
fn time(ms: u64) -> String {
    match ms {
        0..100 => "less than 0.1 s".to_owned(),
        100..10_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        10_000..600_000 => format!("{} s", ms / 1000),
        600_000..36_000_000 => format!("{} min", ms / 60_000),
        _ => format!("{} h", ms / 3_600_000),
    }
}

/// One paragraph for each case. `seconds` holds the times of each, in the same order.
#[must_use]
pub fn render(report: &EstimateReport, seconds: &[Seconds]) -> String {
    let mut out = String::new();
    for (nth, case) in report.cases.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{} / {}", case.claim, case.case);
        for (name, space, word) in
            [("every order", &case.full, "full"), ("orders that cannot matter left out", &case.reduced, "reduced")]
        {
            let here = if case.checked == word { "  ◂ what check explores" } else { "" };
            let violations = match space.violations {
                0 => String::new(),
                violations => format!(" ({violations} ended in the violation)"),
            };
            let _ = writeln!(
                out,
                "  {name:<35} {}, {} deep{here}\n  {:<35} from {}{violations} that saw {}",
                about(space),
                space.depth,
                "",
                plural(space.walks.into(), "walk"),
                plural(space.seen, "state"),
            );
        }
        if let Some(seconds) = seconds.get(nth) {
            let _ = writeln!(
                out,
                "  seconds: {} full, {} reduced, at {} states/s measured now\n",
                time(seconds.full_ms),
                time(seconds.reduced_ms),
                seconds.rate
            );
        }
    }
    out
}
