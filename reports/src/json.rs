//! The data model as JSON.

use crate::model::Report;

/// The whole report, indented, with a line end.
///
/// # Errors
/// When a value cannot be written, which no report has.
pub fn render(report: &Report) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(report)? + "\n")
}
