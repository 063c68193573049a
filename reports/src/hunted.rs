//! Whether the hunt notices each part of the design when it is missing: the report of `leasecheck ablate`.

use crate::model::VERSION;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use leasecheck_sim::hunt::ablation::{Ablated, Part, STEPS};
use leasecheck_sim::hunt::{Tally, unreached};
use leasecheck_sim::marks::Mark;
use serde::Serialize;

/// Every part of the design, hunted without it.
#[derive(Clone, Debug, Serialize)]
pub struct HuntedReport {
    /// Version of this form.
    pub version: u32,
    /// Runs within which a part must be caught.
    pub budget_runs: u64,
    /// Steps that a shrunk program has at most.
    pub budget_steps: usize,
    /// The rules, then the assumptions.
    pub parts: Vec<HuntedPart>,
}

/// One part.
#[derive(Clone, Debug, Serialize)]
pub struct HuntedPart {
    /// `rule` or `assumption`.
    pub kind: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The rule that is off beside an assumption.
    pub beside: Option<&'static str>,
    /// `caught`, `not caught`, `too long` (caught, and not shrunk to the budget's steps), or `stopped`.
    pub fate: &'static str,
    /// The first seed whose run fails because of it.
    pub seed: Option<u64>,
    /// Runs to get there.
    pub runs: Option<u64>,
    /// The invariant.
    pub invariant: Option<String>,
    /// Steps of the shrunk program.
    pub steps: Option<usize>,
    /// Whether an exhaustive check of the shrunk program finds the same invariant.
    pub confirmed: bool,
    /// Names the run.
    pub token: Option<String>,
}

/// What was said to one part.
#[must_use]
pub fn part(part: Part, answer: &Ablated) -> HuntedPart {
    let kind = match part {
        Part::Rule(_) => "rule",
        Part::Assumption(_) => "assumption",
    };
    let none = HuntedPart {
        kind,
        name: part.name(),
        beside: part.beside().map(|rule| rule.name()),
        fate: "not caught",
        seed: None,
        runs: None,
        invariant: None,
        steps: None,
        confirmed: false,
        token: None,
    };
    match answer {
        Ablated::Missed => none,
        Ablated::Stopped => HuntedPart { fate: "stopped", ..none },
        Ablated::Caught(case) => HuntedPart {
            fate: if case.steps.1 <= STEPS { "caught" } else { "too long" },
            seed: Some(case.seed),
            runs: Some(case.seed + 1),
            invariant: Some(case.invariant.clone()),
            steps: Some(case.steps.1),
            confirmed: case.confirmed,
            token: Some(case.token.clone()),
            ..none
        },
    }
}

/// A report of these parts.
#[must_use]
pub fn report(parts: Vec<HuntedPart>, budget_runs: u64) -> HuntedReport {
    HuntedReport { version: VERSION, budget_runs, budget_steps: STEPS, parts }
}

/// The table, and how many were caught. `seconds` are those of each part, for people.
#[must_use]
pub fn render(report: &HuntedReport, seconds: Option<&[f64]>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    let mut header = vec!["", "without", "runs", "steps", "invariant", "first run"];
    if seconds.is_some() {
        header.insert(3, "seconds");
    }
    table.set_header(header);
    let right = |text: String| Cell::new(text).set_alignment(CellAlignment::Right);
    let number = |number: Option<u64>| right(number.map_or(String::new(), |number| number.to_string()));
    for (nth, part) in report.parts.iter().enumerate() {
        let beside = part.beside.map_or(String::new(), |rule| format!(" beside {rule}"));
        let mut row = vec![
            Cell::new(if part.fate == "caught" { "✓" } else { "✗" }),
            Cell::new(format!("{} {}{beside}", part.kind, part.name)),
            number(part.runs),
            number(part.steps.map(|steps| steps as u64)),
            Cell::new(match &part.invariant {
                Some(invariant) if part.confirmed => invariant.clone(),
                Some(invariant) => format!("{invariant} (not confirmed)"),
                None => String::new(),
            }),
            Cell::new(part.token.as_deref().unwrap_or(part.fate)),
        ];
        if let Some(seconds) = seconds {
            row.insert(3, right(seconds.get(nth).map_or(String::new(), |seconds| format!("{seconds:.1}"))));
        }
        table.add_row(row);
    }
    let mut out: String = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    let caught = |kind: &str| {
        let of_kind = report.parts.iter().filter(|part| part.kind == kind);
        let count = of_kind.clone().filter(|part| part.fate == "caught").count();
        format!("{count} of {} {kind}s", of_kind.count())
    };
    out += &format!(
        "\ncaught within {} runs and shrunk to at most {} steps: {}, {}\n",
        report.budget_runs,
        report.budget_steps,
        caught("rule"),
        caught("assumption"),
    );
    out
}

/// Every mark: in how many runs it was seen, and whether the default configuration can show it.
#[must_use]
pub fn marks(tally: &Tally) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["", "mark", "runs", "by default"]);
    for mark in Mark::ALL {
        let runs = tally.marks.get(*mark as usize).copied().unwrap_or(0);
        let sign = match (runs, unreached(*mark)) {
            (0, None) => "✗",
            (0, Some(_)) => "–",
            _ => "✓",
        };
        table.add_row([
            Cell::new(sign),
            Cell::new(mark.name()),
            Cell::new(runs.to_string()).set_alignment(CellAlignment::Right),
            Cell::new(unreached(*mark).unwrap_or("reachable")),
        ]);
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}
