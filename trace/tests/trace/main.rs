//! The tests of the trace checker, in one program: linking is what takes long.

#![allow(missing_docs)]

mod alterations;
mod common;
mod fires;
mod format;
mod litmus;
mod random_runs;
mod recorded;
mod reports;
mod sanitizer;
