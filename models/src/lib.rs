//! Models of the thread-safe shell of leasecheck-core ([`leasecheck_core::shell`]): the code that implements the
//! protocol with locks and condition variables, under every interleaving (loom) or very many schedules (shuttle).
//!
//! The shell is generic over its monitor, so that what runs here is what runs on real threads, line by line; loom
//! and shuttle are ordinary dependencies, and nothing is built twice. Every model that makes sense there also runs on
//! the monitor that SGLang 0.5.23 ships ([`shipped`], in our own words), where the misbehaviours that are known of it
//! are *expected*: each must be found, and one that is not found any more is an error like any other.
//!
//! ```
//! use leasecheck_models::{Options, run};
//!
//! let report = run(&Options { only: Some("lease-vs-compaction".into()), ..Options::default() });
//! assert!(report.ok(), "{}{}", report.table(), report.failures(false));
//! ```
//!
//! | call | what it gives |
//! | --- | --- |
//! | [`list()`] | every model on every implementation, what happens in it, what it is expected to show |
//! | [`run()`], [`run_with()`] | a [`Report`]: rows of model, tool, executions, bound, verdict; deterministic, whatever the number of jobs. [`run_with()`] tells when models begin and end, for progress and wall time |
//! | [`replay()`] | one execution again, from the token that every failure carries |
//! | [`mutants()`] | every fault of the shell with the first loom model that notices it |
//! | [`Report::table()`], [`Report::table_with()`], [`Report::failures()`] | text: the table (with a column of the caller's, for seconds), and the schedules of failures, one column for each thread |
//!
//! # Verdicts
//!
//! loom is silent when it has explored everything and when it was cut off; shuttle is silent in any case. Here,
//! *exhausted* means every interleaving within the stated bound, *passed* means the schedules that were tried,
//! *truncated* that a limit was hit, *vacuous* that nobody ever had to wait. Only the first two, and *shows* for an
//! expected failure, let a gate pass. When nothing moves any more, the report tells *deadlock* (everybody waits for
//! what is not so) from *lost wake-up* (somebody waits for what is so, and was not told) from *starvation* (somebody
//! was granted what another one had asked for earlier), and says who waits for what and who could have ended it.
//!
//! # What this does not show
//!
//! loom's condition variables do not wake spuriously, and neither do shuttle's. Executions are sequentially
//! consistent but for what loom checks of the bytes; the shell has no atomics beside its monitor that could tell the
//! difference. The number of threads in a model is what it is.
//!
//! Writes to standard error come from shuttle, which announces panics in its tasks even where they are expected.

pub mod bytes;
mod catalogue;
mod draws;
mod failure;
pub mod lanes;
pub mod ledger;
mod loom_models;
pub mod loom_platform;
mod loom_runner;
pub mod ours;
pub mod paged_bytes;
mod platform;
mod report;
mod run;
mod schedulers;
pub mod shipped;
mod shuttle_models;
pub mod shuttle_platform;
mod shuttle_runner;
pub mod subject;
mod token;
pub mod workload;

pub use catalogue::{EXPECTED, Entry, Expected, Subject, Tool, list};
pub use failure::{Failure, Kind};
pub use report::{Report, Row, Verdict};
pub use run::{LOOM_EXECUTIONS, Mutant, Options, Progress, SHUTTLE_SCHEDULES, explore, mutants, replay, run, run_with};
pub use token::{Order, Token, TokenError};
