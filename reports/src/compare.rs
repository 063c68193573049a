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
    /// Cases that only the first has.
    pub only_a: Vec<String>,
    /// Cases that only the second has.
    pub only_b: Vec<String>,
    /// What went wrong.
    pub errors: Vec<FileError>,
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
    let change = match (&a.code, &b.code) {
        _ if !settled(&a) || !settled(&b) => {
            if a == b && a.verdict == "vacuous" {
                "unchanged"
            } else {
                "unknown"
            }
        }
        (Some(_), None) => "fixed",
        (None, Some(_)) => "broken",
        (Some(a), Some(b)) if a != b => "changed",
        _ => "unchanged",
    };
    Compared { case, change, a, b }
}

/// An empty report.
#[must_use]
pub fn report(a: &str, b: &str) -> CompareReport {
    CompareReport {
        version: VERSION,
        a: a.to_owned(),
        b: b.to_owned(),
        cases: Vec::new(),
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
    for (names, place) in [(&report.only_a, &report.a), (&report.only_b, &report.b)] {
        if !names.is_empty() {
            let names = names.iter().map(|name| escape(name)).collect::<Vec<_>>().join("; ");
            let _ = writeln!(out, "\nonly in {}: {names}", escape(place));
        }
    }
    out
}
