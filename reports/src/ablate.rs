//! Whether a corpus notices each part of the design when it is missing: the report of `leasecheck ablate --corpus`.

use crate::model::{FileError, VERSION};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use leasecheck_sim::explore::Item;
use serde::Serialize;

/// Every part of the design, taken away one at a time.
#[derive(Clone, Debug, Serialize)]
pub struct AblateReport {
    /// Version of this form.
    pub version: u32,
    /// The rules, then the assumptions.
    pub parts: Vec<PartReport>,
    /// What went wrong.
    pub errors: Vec<FileError>,
}

/// One part.
#[derive(Clone, Debug, Serialize)]
pub struct PartReport {
    /// `rule` or `assumption`.
    pub kind: &'static str,
    /// Its name.
    pub name: &'static str,
    /// `noticed`, `not noticed`, or `unknown` (not noticed, and a limit was reached).
    pub fate: &'static str,
    /// Cases that claim `unreachable` with the part and turn red without it.
    pub red: usize,
    /// The case with the shortest counterexample.
    pub by: Option<String>,
    /// The invariant that it violates.
    pub code: Option<&'static str>,
    /// Steps of that counterexample.
    pub steps: Option<usize>,
    /// States that were explored to find it.
    pub states: Option<u64>,
}

/// A part that nothing has been said about yet.
#[must_use]
pub fn part(item: Item) -> PartReport {
    let (kind, name) = match item {
        Item::Rule(rule) => ("rule", rule.name()),
        Item::Assumption(assumption) => ("assumption", assumption.name()),
        Item::Planner(_) => ("planner", "planner"),
    };
    PartReport { kind, name, fate: "not noticed", red: 0, by: None, code: None, steps: None, states: None }
}

/// A report of these parts.
#[must_use]
pub fn report(parts: Vec<PartReport>) -> AblateReport {
    AblateReport { version: VERSION, parts, errors: Vec::new() }
}

/// The table, and how many were noticed.
#[must_use]
pub fn render(report: &AblateReport) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["", "without", "turns red", "invariant", "steps", "states", "in the case"]);
    let right = |cell: Cell| cell.set_alignment(CellAlignment::Right);
    let number = |number: Option<u64>| right(Cell::new(number.map_or(String::new(), |number| number.to_string())));
    for part in &report.parts {
        let sign = match part.fate {
            "noticed" => "✓",
            "unknown" => "?",
            _ => "✗",
        };
        table.add_row([
            Cell::new(sign),
            Cell::new(format!("{} {}", part.kind, part.name)),
            right(Cell::new(match part.red {
                1 => "1 case".to_owned(),
                red => format!("{red} cases"),
            })),
            Cell::new(part.code.unwrap_or_default()),
            number(part.steps.map(|steps| steps as u64)),
            number(part.states),
            Cell::new(part.by.as_deref().unwrap_or(part.fate)),
        ]);
    }
    let mut out: String = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    let noticed = |kind: &str| {
        let of_kind = report.parts.iter().filter(|part| part.kind == kind);
        let count = of_kind.clone().filter(|part| part.fate == "noticed").count();
        format!("{count} of {} {kind}s", of_kind.count())
    };
    out += &format!("\nnoticed: {}, {}\n", noticed("rule"), noticed("assumption"));
    out
}
