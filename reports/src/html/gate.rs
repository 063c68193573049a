//! The page of a gate. It alone holds times: every other output is the same on every machine.

use super::{CASES, PICTURE, Page, STYLE, data};
use crate::charts;
use crate::model::Report;
use crate::plain::short;
use crate::why::Chances;
use askama::Template;
use serde::Serialize;
use std::collections::BTreeSet;

/// The longest text of a cell.
const LONGEST: usize = 1_000;
/// The most lines of what opens below a line.
const MOST_LINES: usize = 200;

/// A table of the page beside the cases.
#[derive(Clone, Debug, Serialize)]
pub struct Section {
    /// What it is about.
    pub title: String,
    /// Names of the columns.
    pub head: Vec<String>,
    /// The lines.
    pub rows: Vec<Line>,
}

/// A line of a table.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Whether it is as it must be.
    pub ok: bool,
    /// One text for each column.
    pub cells: Vec<String>,
    /// What opens below the line: a failing execution, a sequence of operations, nothing.
    pub detail: String,
}

impl Line {
    /// A line that opens nothing.
    #[must_use]
    pub fn new(ok: bool, cells: Vec<String>) -> Line {
        Line { ok, cells, detail: String::new() }
    }
}

/// What a gate knows of a case beside its report.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct More {
    /// Distinct states.
    pub states: u64,
    /// The same, as written down; none if the case is new.
    pub golden: Option<u64>,
    /// How long it took, in milliseconds.
    pub ms: f64,
}

#[derive(Serialize)]
struct Data {
    words: data::Vocabulary,
    cases: Vec<data::Case>,
    more: Vec<More>,
    sections: Vec<Section>,
}

/// The checks whose names begin with `prefix`, as a table.
#[must_use]
pub fn checked(title: &str, prefix: &str, checks: &[(String, Result<(), String>)]) -> Section {
    let rows = checks.iter().filter_map(|(name, result)| {
        let why = result.as_ref().err().cloned().unwrap_or_default();
        Some(Line::new(result.is_ok(), vec![name.strip_prefix(prefix)?.to_owned(), why]))
    });
    Section { title: title.to_owned(), head: vec![prefix.trim().to_owned(), String::new()], rows: rows.collect() }
}

/// The behaviours that the cases have reached and, as lines of their own, those that none has.
#[must_use]
pub fn marks(report: &Report) -> Section {
    let rows = leasecheck_sim::marks::Mark::ALL.iter().map(|mark| {
        let reached = report.cases.iter().filter(|case| case.marks.iter().any(|name| name == mark.name()));
        let by: BTreeSet<&str> = reached.map(|case| case.claim.as_str()).collect();
        let first = by.first().map_or("a gap: no case reaches it".to_owned(), |first| (*first).to_owned());
        let cells = vec![mark.name().to_owned(), mark.doc().to_owned(), by.len().to_string(), first];
        Line::new(!by.is_empty(), cells)
    });
    // A gap is to be seen, and does not fail the gate.
    let mut rows: Vec<Line> = rows.collect();
    rows.sort_by_key(|line| line.ok);
    rows.iter_mut().for_each(|line| line.ok = true);
    let head = ["mark", "what happens", "claims", "for example"].map(str::to_owned).to_vec();
    Section { title: "Marks and gaps".to_owned(), head, rows }
}

/// A text of several lines, none of which is longer than what is shown.
fn lines(text: &str) -> String {
    text.lines().take(MOST_LINES).map(|line| short(line, LONGEST)).collect::<Vec<_>>().join("\n")
}

/// The page; `chances` holds how likely the violation of each case is after each step, as far as that is known.
///
/// # Errors
/// When it cannot be written, which no report has.
pub fn render(
    report: &Report,
    more: Vec<More>,
    chances: &[Option<Chances>],
    mut sections: Vec<Section>,
) -> Result<String, String> {
    for section in &mut sections {
        section.title = short(&section.title, LONGEST);
        section.head.iter_mut().for_each(|name| *name = short(name, LONGEST));
    }
    for row in sections.iter_mut().flat_map(|section| &mut section.rows) {
        row.cells.iter_mut().for_each(|cell| *cell = short(cell, LONGEST));
        row.detail = lines(&row.detail);
    }
    if !report.errors.is_empty() {
        let rows = report
            .errors
            .iter()
            .map(|error| Line::new(false, vec![short(&error.file, LONGEST), short(&error.message, LONGEST)]));
        let head = vec!["file".to_owned(), "what is wrong".to_owned()];
        sections.insert(0, Section { title: "Files that cannot be used".to_owned(), head, rows: rows.collect() });
    }
    let mut charts = charts::gate(report, &more)?;
    for (at, chances) in chances.iter().enumerate() {
        charts.extend(chances.as_ref().map(|chances| charts::chances(at, chances)).transpose()?);
    }
    let cases = report.cases.iter().map(data::case).collect();
    let data = Data { words: data::Vocabulary::new(), cases, more, sections };
    let page = Page {
        title: "gate".to_owned(),
        kind: "gate",
        asks: false,
        without_script: "This page shows its tables with a script. The same in plain text: report.md beside it.",
        style: STYLE,
        scripts: &[PICTURE, CASES, include_str!("gate.js")],
        charts,
        data: data::json(&data).map_err(|error| error.to_string())?,
    };
    page.render().map_err(|error| error.to_string())
}
