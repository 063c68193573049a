//! What differs between two designs: the report of `leasecheck compare`, a small Markdown table.

use crate::markdown::escape;
use crate::model::{CaseReport, FileError, VERSION};
use crate::text::plural;
use serde::Serialize;
use std::fmt::Write;

/// Two designs, case by case.
#[derive(Clone, Debug, Serialize)]
pub struct CompareReport {
    /// Version of this form.
    pub version: u32,
    /// The first design: a file or a configuration.
    pub a: String,
    /// The second.
    pub b: String,
    /// Cases that both have.
    pub cases: Vec<Compared>,
    /// Random runs under both; none for two files.
    pub hunt: Option<Hunt>,
    /// Cases that only the first has.
    pub only_a: Vec<String>,
    /// Cases that only the second has.
    pub only_b: Vec<String>,
    /// What went wrong.
    pub errors: Vec<FileError>,
}

/// The same seeds under both.
#[derive(Clone, Debug, Serialize)]
pub struct Hunt {
    /// The first seed, and the one behind the last that was run.
    pub seeds: (u64, u64),
    /// The seed behind the last that was asked for, if there was no time for them all.
    pub asked: Option<u64>,
    /// Programs that cannot start under one of them.
    pub unusable: u64,
    /// Runs by how they end.
    pub runs: Vec<Runs>,
}

/// Runs that end alike.
#[derive(Clone, Debug, Serialize)]
pub struct Runs {
    /// As [`Compared::change`].
    pub change: &'static str,
    /// The invariant that is violated under the first.
    pub a: Option<String>,
    /// Under the second.
    pub b: Option<String>,
    /// How many.
    pub count: u64,
    /// The command that shows the first of them.
    pub show: String,
}

/// One case under both.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// `claim / case`.
    pub case: String,
    /// `fixed`, `broken`, `changed` (both violate something, not the same), `unknown`, or `unchanged`.
    pub change: &'static str,
    /// Under the first.
    pub a: Side,
    /// Under the second.
    pub b: Side,
}

/// One case under one design.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// The verdict's word, and the invariant that is violated.
    pub verdict: String,
    /// The invariant that is violated.
    pub code: Option<String>,
    /// Steps of the counterexample.
    pub steps: Option<usize>,
    /// States explored.
    pub states: u64,
}

/// A case's side.
#[must_use]
pub fn side(case: &CaseReport) -> Side {
    let found = case.counterexample.as_ref();
    Side {
        verdict: case.verdict.clone(),
        code: found.map(|found| found.code.clone()),
        steps: found.map(|found| found.rows.len()),
        states: case.states,
    }
}

/// The case under both.
#[must_use]
pub fn compared(case: String, a: Side, b: Side) -> Compared {
    let settled = |side: &Side| matches!(side.verdict.as_str(), "reachable" | "unreachable");
    let change = if settled(&a) && settled(&b) {
        change(&a.code, &b.code)
    } else if a == b && a.verdict == "vacuous" {
        "unchanged"
    } else {
        "unknown"
    };
    Compared { case, change, a, b }
}

/// What it means that this is violated under the first, and that under the second.
#[must_use]
pub fn change(a: &Option<String>, b: &Option<String>) -> &'static str {
    match (a, b) {
        (Some(_), None) => "fixed",
        (None, Some(_)) => "broken",
        (Some(a), Some(b)) if a != b => "changed",
        _ => "unchanged",
    }
}

/// An empty report.
#[must_use]
pub fn report(a: &str, b: &str) -> CompareReport {
    CompareReport {
        version: VERSION,
        a: a.to_owned(),
        b: b.to_owned(),
        cases: Vec::new(),
        hunt: None,
        only_a: Vec::new(),
        only_b: Vec::new(),
        errors: Vec::new(),
    }
}

fn cell(side: &Side) -> String {
    match (&side.code, side.steps) {
        (Some(code), Some(steps)) => format!("{}: {code}, {}", side.verdict, plural(steps as u64, "step")),
        _ => format!("{}, {}", side.verdict, plural(side.states, "state")),
    }
}

/// The table: the cases that differ, and how many do not.
#[must_use]
pub fn render(report: &CompareReport) -> String {
    let mut out = String::new();
    let count = |change: &str| report.cases.iter().filter(|case| case.change == change).count();
    let kinds = ["broken", "fixed", "changed", "unknown"];
    // Writing to a string cannot fail.
    if count("unchanged") < report.cases.len() {
        let _ = writeln!(out, "| | case | {} | {} |\n| --- | --- | --- | --- |", escape(&report.a), escape(&report.b));
    }
    for kind in kinds {
        for case in report.cases.iter().filter(|case| case.change == kind) {
            let _ = writeln!(
                out,
                "| {kind} | {} | {} | {} |",
                escape(&case.case),
                escape(&cell(&case.a)),
                escape(&cell(&case.b))
            );
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let counts = kinds.iter().map(|kind| format!("{} {kind}", count(kind)));
    let _ = writeln!(out, "{}, {} unchanged", counts.collect::<Vec<_>>().join(", "), count("unchanged"));
    if let Some(hunt) = &report.hunt {
        render_hunt(report, hunt, &mut out);
    }
    for (names, place) in [(&report.only_a, &report.a), (&report.only_b, &report.b)] {
        if !names.is_empty() {
            let names = names.iter().map(|name| escape(name)).collect::<Vec<_>>().join("; ");
            let _ = writeln!(out, "\nonly in {}: {names}", escape(place));
        }
    }
    out
}

fn render_hunt(report: &CompareReport, hunt: &Hunt, out: &mut String) {
    let count =
        |change: &str| hunt.runs.iter().filter(|runs| runs.change == change).map(|runs| runs.count).sum::<u64>();
    let kinds = ["broken", "fixed", "changed"];
    let differ = hunt.runs.iter().any(|runs| runs.change != "unchanged");
    // Writing to a string cannot fail.
    if differ {
        let (a, b) = (escape(&report.a), escape(&report.b));
        let _ = writeln!(out, "\n| | runs | {a} | {b} | the first |\n| --- | ---: | --- | --- | --- |");
    }
    for kind in kinds {
        for runs in hunt.runs.iter().filter(|runs| runs.change == kind) {
            let code = |code: &Option<String>| code.clone().unwrap_or_else(|| "-".to_owned());
            let (a, b) = (code(&runs.a), code(&runs.b));
            let _ = writeln!(out, "| {kind} | {} | {a} | {b} | `{}` |", runs.count, runs.show);
        }
    }
    let counts = kinds.iter().map(|kind| format!("{} {kind}", count(kind))).collect::<Vec<_>>().join(", ");
    let (from, to) = hunt.seeds;
    let _ = writeln!(out, "\nruns of seeds {from}..{to}: {counts}, {} unchanged", count("unchanged"));
    if hunt.unusable > 0 {
        let _ = writeln!(out, "{} cannot start under one of the two", plural(hunt.unusable, "program"));
    }
    if let Some(asked) = hunt.asked {
        let _ = writeln!(out, "no time for the seeds {to}..{asked}");
    }
}
