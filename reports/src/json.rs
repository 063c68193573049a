//! The data model as JSON.

use serde::Serialize;

/// A whole report of any command, indented, with a line end.
///
/// # Errors
/// When a value cannot be written, which no report has.
pub fn render(report: &impl Serialize) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(report)? + "\n")
}
