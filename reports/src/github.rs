//! Annotations of a GitHub workflow: one line for each case that is not as claimed, shown at its step's line.

use crate::model::{CounterexampleReport, Report};
use crate::plain::short;
use std::fmt::Write;

/// GitHub cuts longer messages.
const LONGEST: usize = 4_000;

/// A value of a command: what would end it is written in percent.
fn data(text: &str) -> String {
    short(text, LONGEST).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property of a command, which also ends at a colon or a comma.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// `checks` are those of a gate: names, and why they failed.
#[must_use]
pub fn render(report: &Report, checks: &[(String, Result<(), String>)]) -> String {
    let mut out = String::new();
    for case in report.cases.iter().filter(|case| case.standing != "as claimed") {
        let level = if case.standing == "unknown" { "warning" } else { "error" };
        let found = case.counterexample.as_ref();
        let line = found.and_then(CounterexampleReport::line).unwrap_or(case.line);
        let mut text = format!("expected {}, but {}.", case.expected, case.why);
        if let Some(found) = found {
            text += &format!(" {}.", found.message);
            if let Some(missing) = &found.missing {
                text += &format!(" {}", missing.sentence);
            }
            text += &format!(" Replay: {}", found.replay);
        }
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "::{level} file={},line={},title={}::{}",
            property(&case.file),
            line.max(1),
            property(&format!("{} / {}", case.claim, case.case)),
            data(&text)
        );
    }
    for error in &report.errors {
        let _ = writeln!(out, "::error file={}::{}", property(&error.file), data(&error.message));
    }
    for (name, result) in checks {
        if let Err(why) = result {
            let _ = writeln!(out, "::error title={}::{}", property(name), data(why));
        }
    }
    out
}
