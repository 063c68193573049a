//! What turns results into something a person or a CI reads: one data model, one renderer per file.

pub mod ablate;
mod charts;
pub mod compare;
pub mod estimate;
pub mod github;
pub mod html;
pub mod hunted;
pub mod json;
pub mod junit;
pub mod lanes;
pub mod markdown;
pub mod model;
pub mod needed;
pub mod perfetto;
pub mod picture;
pub mod plain;
pub mod sarif;
pub mod schema;
pub mod svg;
pub mod table;
pub mod text;
pub mod why;

pub use model::{CaseReport, CounterexampleReport, Report};
