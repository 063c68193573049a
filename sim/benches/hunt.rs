//! World steps a second of one core, all invariants on, over the hunt's default workload; and, in the same run, the
//! steps a second of shuttle on a comparable program: threads that allocate, write, copy under leases that they hand
//! off, wait, check contents and free, with streams that run the copies, over the same arena of `leasecheck-core`.
//!
//! ```text
//! cargo bench -p leasecheck-sim --bench hunt
//! ```
//!
//! A step is what the scheduler decides on: here a step of a thread or the next operation of a stream, there whatever
//! runs up to the next lock, channel or wait. Anything but `cargo bench` runs it once, tiny.

#[path = "support/seconds.rs"]
mod seconds;
#[path = "support/shuttle_model.rs"]
mod shuttle_model;

use leasecheck_sim::hunt::{Budget, Settings, campaign};
use seconds::rate;

fn main() {
    let tiny = !std::env::args().any(|argument| argument == "--bench");
    let (runs, schedules) = if tiny { (256, 2) } else { (32_768, 2_000) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one worker");
    let (ours, steps) =
        pool.install(|| rate(1, || campaign(&Settings::default(), 0..runs, &Budget::default()).tally.steps));
    let (theirs, other) = rate(1, || shuttle_model::steps(schedules));
    println!(
        "hunt: {runs} runs, {steps} steps, {ours} thousand steps/s; shuttle: {schedules} schedules, {other} steps, \
         {theirs} thousand steps/s; {}.{} times as fast",
        ours / theirs.max(1),
        ours * 10 / theirs.max(1) % 10
    );
}
