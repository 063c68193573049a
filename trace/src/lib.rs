//! Traces of real runs: their format, and the checker that holds them against the design.

pub mod format;
