//! Rows of results, and the text table of them.

use crate::catalogue::{Subject, Tool};
use crate::failure::Failure;
use crate::ledger::Marks;
use serde::Serialize;
use std::fmt::Write as _;

/// What an exploration means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// Every interleaving within the bound passes.
    Exhausted,
    /// All schedules that were tried pass. There are more.
    Passed,
    /// The exploration was cut off.
    Truncated {
        /// By which limit.
        limit: String,
    },
    /// Nothing failed, and in no execution did anybody have to wait, so that nothing was shown.
    Vacuous,
    /// An execution fails.
    Failed {
        /// How.
        failure: Failure,
    },
    /// An execution of the arena as shipped fails, as it must.
    Shows {
        /// The misbehaviour.
        code: &'static str,
        /// How.
        failure: Failure,
    },
    /// The arena as shipped does not fail in the way in which it must.
    Unexpected {
        /// The misbehaviour that was expected.
        code: &'static str,
        /// How it fails instead, if it does.
        failure: Option<Failure>,
    },
}

impl Verdict {
    /// Whether a gate may pass.
    #[must_use]
    pub const fn ok(&self) -> bool {
        matches!(self, Verdict::Exhausted | Verdict::Passed | Verdict::Shows { .. })
    }

    /// The failing execution, if there is one.
    #[must_use]
    pub const fn failure(&self) -> Option<&Failure> {
        match self {
            Verdict::Failed { failure } | Verdict::Shows { failure, .. } => Some(failure),
            Verdict::Unexpected { failure, .. } => failure.as_ref(),
            Verdict::Exhausted | Verdict::Passed | Verdict::Truncated { .. } | Verdict::Vacuous => None,
        }
    }

    /// The verdict in a few words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Verdict::Exhausted => "exhausted".to_owned(),
            Verdict::Passed => "passed".to_owned(),
            Verdict::Truncated { limit } => format!("TRUNCATED at {limit}"),
            Verdict::Vacuous => "VACUOUS: nobody ever waited".to_owned(),
            Verdict::Failed { failure } => format!("FAILED: {}", failure.kind.name()),
            Verdict::Shows { code, failure } => format!("shows {code}: {}", failure.kind.name()),
            Verdict::Unexpected { code, failure: None } => format!("UNEXPECTED: does not show {code} any more"),
            Verdict::Unexpected { code, failure: Some(failure) } => {
                format!("UNEXPECTED: {} instead of {code}", failure.kind.name())
            }
        }
    }
}

/// One model on one implementation, explored. Wall time is not part of it: whoever runs it has a clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The model.
    pub model: String,
    /// What explored it.
    pub tool: Tool,
    /// What it ran on.
    pub subject: Subject,
    /// Interleavings or schedules run.
    pub executions: u64,
    /// Within which bound: `none`, a number of preemptions, or schedules per strategy.
    pub bound: String,
    /// In how many executions something had to happen for the verdict to mean anything.
    pub witnesses: Marks,
    /// What that means.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// Everything that was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// In the order of [`crate::list`].
    pub rows: Vec<Row>,
}

impl Report {
    /// Whether a gate may pass: something was run, and nothing is wrong with any of it.
    #[must_use]
    pub fn ok(&self) -> bool {
        !self.rows.is_empty() && self.rows.iter().all(|row| row.verdict.ok())
    }

    /// The rows as a table, with a line that sums them up.
    #[must_use]
    pub fn table(&self) -> String {
        self.table_with("", |_| String::new())
    }

    /// The table, with a column of the caller's own between bound and verdict (wall time, say).
    #[must_use]
    pub fn table_with(&self, title: &str, column: impl Fn(&Row) -> String) -> String {
        let mut cells = vec![["model", "on", "tool", "executions", "bound", title, "verdict"].map(str::to_owned)];
        cells.extend(self.rows.iter().map(|row| {
            [
                row.model.clone(),
                row.subject.name().to_owned(),
                row.tool.name().to_owned(),
                row.executions.to_string(),
                row.bound.clone(),
                column(row),
                row.verdict.words(),
            ]
        }));
        let widths: Vec<usize> =
            (0..6).map(|at| cells.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
        let mut out = String::new();
        for row in &cells {
            let mut line = String::new();
            for (at, width) in widths.iter().enumerate().filter(|(_, width)| **width > 0) {
                let cell = &row[at];
                // Numbers stand to the right.
                let _ = if at == 3 { write!(line, "{cell:>width$}  ") } else { write!(line, "{cell:<width$}  ") };
            }
            line.push_str(&row[6]);
            let _ = writeln!(out, "{}", line.trim_end());
        }
        let executions: u64 = self.rows.iter().map(|row| row.executions).sum();
        let wrong = self.rows.iter().filter(|row| !row.verdict.ok()).count();
        let _ = writeln!(out, "{} models, {executions} executions, {wrong} wrong", self.rows.len());
        out
    }

    /// The schedules of all failures, expected ones included if `all`.
    #[must_use]
    pub fn failures(&self, all: bool) -> String {
        let mut out = String::new();
        for row in self.rows.iter().filter(|row| all || !row.verdict.ok()) {
            if let Some(failure) = row.verdict.failure() {
                let title = format!("{} on {} / {}", row.model, row.subject.name(), row.tool.name());
                let _ = writeln!(out, "{title}: {}, execution {}", row.verdict.words(), failure.execution);
                let _ = writeln!(out, "\n{}\n  {}", failure.lanes, failure.message);
                for wait in &failure.waits {
                    let _ = writeln!(out, "  {wait}");
                }
                let _ = writeln!(out, "  replay: leasecheck replay {}\n", failure.token);
            }
        }
        out
    }
}
