//! Pages that are one file: no network, nothing but the script and the style that stand in them.

pub mod data;
pub mod gate;

use crate::model::CaseReport;
use crate::plain::short;
use askama::Template;
use serde::Serialize;

/// The style of every page.
const STYLE: &str = include_str!("style.css");
/// Draws runs.
const PICTURE: &str = include_str!("picture.js");
/// Shows cases and their runs.
const CASES: &str = include_str!("cases.js");

#[derive(Template)]
#[template(path = "cases.html")]
struct CasesPage<'a> {
    title: String,
    style: &'a str,
    scripts: &'a [&'a str],
    data: String,
}

/// A page that shows cases, and the run that violates where there is one.
///
/// # Errors
/// When the page cannot be written, which no report has.
pub fn cases(reports: &[CaseReport]) -> Result<String, String> {
    let cases: Vec<data::Case> = reports.iter().map(data::case).collect();
    let title = reports.first().map_or("leasecheck".to_owned(), |case| short(&case.claim, 100));
    let data = data::json(&cases).map_err(|error| error.to_string())?;
    let page = CasesPage { title, style: STYLE, scripts: &[PICTURE, CASES], data };
    page.render().map_err(|error| error.to_string())
}

#[derive(Template)]
#[template(path = "explore.html")]
struct ExplorePage<'a> {
    title: String,
    style: &'a str,
    scripts: &'a [&'a str],
    data: String,
}

/// The page of `leasecheck explore`: it asks the server that it came from, and nobody else.
///
/// # Errors
/// When the page cannot be written, which it can.
pub fn explore(claim: &str, start: &impl Serialize) -> Result<String, String> {
    let data = data::json(start).map_err(|error| error.to_string())?;
    let scripts = &[PICTURE, CASES, include_str!("explore.js")];
    let page = ExplorePage { title: short(claim, 100), style: STYLE, scripts, data };
    page.render().map_err(|error| error.to_string())
}
