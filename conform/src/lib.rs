//! Conformance of a foreign allocator: the same operations on it and on core, every result and every observable state
//! compared.
//!
//! A *driver* is a process that speaks a line protocol ([`protocol`]) and drives the foreign implementation. Sequences
//! are drawn from seeds, run on the driver and on core's arena and lease table side by side, and the first difference
//! that is not in the table of known ones is shrunk to a minimal sequence.

mod campaign;
mod compare;
mod driver;
mod file;
mod generate;
mod known;
mod lens;
pub mod protocol;
mod reference;
mod shrink;

pub use campaign::{Campaign, Finding, Report, Settings};
pub use compare::{Difference, Kind, PLACES, PLACES_OF_BAND};
pub use driver::Trouble;
pub use file::{parse, render};
pub use known::{Entry, Known, KnownError};
pub use lens::RULES;
