//! Verdicts as text for a terminal.

use crate::lanes;
use crate::model::{CaseReport, CounterexampleReport};
use crate::plain::plain;
use std::fmt::Write;

pub(crate) fn plural(count: u64, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

/// One case: its verdict, and the counterexample if there is one.
#[must_use]
pub fn case(report: &CaseReport) -> String {
    let mut out = String::new();
    let sign = match report.standing.as_str() {
        "as claimed" => "✓",
        "failed" => "✗",
        _ => "?",
    };
    let code = match &report.counterexample {
        Some(found) => format!(": {}", found.code),
        // A claim about one violation says nothing about the others, at which runs end.
        None if report.verdict == "unreachable" && !report.also.is_empty() => {
            format!("{}, and runs end at {}", report.expected.trim_start_matches("unreachable"), report.also.join(", "))
        }
        None => String::new(),
    };
    let size = match &report.counterexample {
        Some(found) => format!("{}, {}", plural(found.rows.len() as u64, "step"), plural(report.states, "state")),
        None => {
            let reduced = if report.reduced { ", independent orders left out" } else { "" };
            let collision = report.collision_below.as_ref().map(|below| format!(", P(collision) < {below}"));
            format!("{}{reduced}{}", plural(report.states, "state"), collision.unwrap_or_default())
        }
    };
    // Writing to a string cannot fail.
    let _ =
        writeln!(out, "{sign} {} / {}   {}{code}   {size}", plain(&report.claim), plain(&report.case), report.verdict);
    for (what, names) in [("rules off", &report.rules_off), ("assumptions dropped", &report.assumptions_off)] {
        if !names.is_empty() {
            let _ = writeln!(out, "  {what}: {}", names.join(", "));
        }
    }
    if !report.why.is_empty() {
        let _ = writeln!(out, "  expected {}, but {}", report.expected, plain(&report.why));
    }
    if let Some(found) = &report.counterexample {
        let _ = writeln!(out, "\n{}", run(found));
    }
    out
}

/// A run: lanes, arenas, the reason, the command that replays it.
#[must_use]
pub fn run(found: &CounterexampleReport) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{}\n", lanes::render(found));
    let _ = writeln!(out, "{}\n", lanes::arenas(found));
    if found.code.is_empty() {
        let _ = writeln!(out, "  nothing is violated up to here");
    } else {
        let _ = writeln!(out, "  {}: {}.", found.code, plain(&found.message));
    }
    for reason in &found.because {
        let _ = writeln!(out, "  {}", plain(reason));
    }
    if !found.shortest {
        let _ = writeln!(out, "  (There may be a shorter run.)");
    }
    let _ = write!(out, "  replay: {}", plain(&found.replay));
    out
}
