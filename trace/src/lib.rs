//! Traces of real runs: their format, and the checker that holds them against the design.
//!
//! [`format`] says what a line is, [`check`] reads a trace in one pass and [`Checker`] takes its lines one by one. What
//! the checker needs to be promised for each invariant is a table in [`report`]. Nothing here knows which engine wrote
//! a trace, and nothing here runs one.

mod check;
mod clocks;
pub mod format;
mod history;
pub mod litmus;
mod read;
pub mod report;
pub mod text;

pub use check::Checker;
pub use read::{MAX_LINE, check, header};
pub use report::Report;
