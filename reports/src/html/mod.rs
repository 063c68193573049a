//! Pages that are one file: no network, nothing but the script and the style that stand in them.

pub mod data;
pub mod gate;

use crate::charts::{self, Chart};
use crate::model::CaseReport;
use crate::plain::short;
use crate::why::Chances;
use askama::Template;
use serde::Serialize;

/// The style of every page.
const STYLE: &str = include_str!("style.css");
/// Draws runs.
const PICTURE: &str = include_str!("picture.js");
/// Shows cases and their runs.
const CASES: &str = include_str!("cases.js");

/// The one template of all pages.
#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    title: String,
    /// `cases`, `gate` or `explore`.
    kind: &'a str,
    /// Whether the page asks the server that it came from.
    asks: bool,
    /// What somebody sees who has no scripts.
    without_script: &'a str,
    style: &'a str,
    scripts: &'a [&'a str],
    charts: Vec<Chart>,
    data: String,
}

/// Data of a page of cases.
#[derive(Serialize)]
struct Cases {
    words: data::Vocabulary,
    cases: Vec<data::Case>,
}

/// A page that shows cases, and the run that violates where there is one; `chances` holds how likely the violation of
/// each is after each step, as far as that is known.
///
/// # Errors
/// When the page cannot be written, which no report has.
pub fn cases(reports: &[CaseReport], chances: &[Option<Chances>]) -> Result<String, String> {
    let cases = Cases { words: data::Vocabulary::new(), cases: reports.iter().map(data::case).collect() };
    let mut charts = Vec::new();
    for (at, case) in reports.iter().enumerate() {
        let chances = chances.get(at).and_then(Option::as_ref);
        charts.extend(chances.map(|chances| charts::chances(at, chances)).transpose()?);
        charts.extend(charts::levels(at, case)?);
    }
    let page = Page {
        title: reports.first().map_or("no case".to_owned(), |case| short(&case.claim, 100)),
        kind: "cases",
        asks: false,
        without_script: "This page draws its picture with a script. The same picture without one: leasecheck check --svg.",
        style: STYLE,
        scripts: &[PICTURE, CASES],
        charts,
        data: data::json(&cases).map_err(|error| error.to_string())?,
    };
    page.render().map_err(|error| error.to_string())
}

/// The page of `leasecheck explore`: it asks the server that it came from, and nobody else. `start` is what it knows
/// from the beginning.
///
/// # Errors
/// When the page cannot be written, which it can.
pub fn explore(claim: &str, start: &impl Serialize) -> Result<String, String> {
    #[derive(Serialize)]
    struct Explore<'a, T> {
        words: data::Vocabulary,
        start: &'a T,
    }
    let data = Explore { words: data::Vocabulary::new(), start };
    let page = Page {
        title: format!("{} · explore", short(claim, 100)),
        kind: "explore",
        asks: true,
        without_script: "This page needs its script.",
        style: STYLE,
        scripts: &[PICTURE, CASES, include_str!("explore.js")],
        charts: Vec::new(),
        data: data::json(&data).map_err(|error| error.to_string())?,
    };
    page.render().map_err(|error| error.to_string())
}
