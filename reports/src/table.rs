//! The gate's table.

use crate::model::Report;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

/// One line for each case; `seconds` holds the time of each.
#[must_use]
#[expect(clippy::float_arithmetic, reason = "times are for people; no result depends on them")]
pub fn render(report: &Report, seconds: &[f64]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["", "case", "claim", "verdict", "states", "ms"]);
    for (nth, case) in report.cases.iter().enumerate() {
        let sign = match case.standing.as_str() {
            "as claimed" => "✓",
            "failed" => "✗",
            _ => "?",
        };
        let verdict = match &case.counterexample {
            Some(found) => format!("{}: {}", case.verdict, found.code),
            None => case.verdict.clone(),
        };
        let time = seconds.get(nth).copied().unwrap_or(0.0) * 1e3;
        table.add_row([
            Cell::new(sign),
            Cell::new(format!("{} / {}", case.claim, case.case)),
            Cell::new(&case.expected),
            Cell::new(verdict),
            Cell::new(case.states).set_alignment(CellAlignment::Right),
            Cell::new(format!("{time:.0}")).set_alignment(CellAlignment::Right),
        ]);
    }
    let lines = table.lines().map(|line| line.trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}
