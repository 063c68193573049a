//! The JSON Schema of the data model, made from the types themselves.

use crate::model::Report;

/// The schema of `leasecheck check --format json` and `leasecheck gate --format json`.
///
/// # Errors
/// When it cannot be written, which it can.
pub fn text() -> Result<String, serde_json::Error> {
    crate::json::render(&schemars::schema_for!(Report))
}
