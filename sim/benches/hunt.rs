//! World steps a second of one core, all invariants on, over the hunt's default workload; and, in the same run, the
//! steps a second of shuttle on a comparable program: threads that allocate, write, copy under leases that they hand
//! off, wait, check contents and free, with streams that run the copies, over the same arena of `leasecheck-core`.
//!
//! ```text
//! cargo bench -p leasecheck-sim --bench hunt
//! ```
//!
//! A step is what the scheduler decides on: here a step of a thread or the next operation of a stream, there whatever
//! runs up to the next lock, channel or wait. Both take turns, a few rounds long: on a shared machine a round can be half
//! as fast as the one before, so that the best round says what the code costs, and the middle one what the machine gave.
//! Anything but `cargo bench` runs one round, tiny.

#[path = "support/seconds.rs"]
mod seconds;
#[path = "support/shuttle_model.rs"]
mod shuttle_model;

use leasecheck_sim::hunt::{Budget, Settings, campaign};
use seconds::rate;

/// The best rate, and the middle one.
fn best_and_middle(mut rates: Vec<u64>) -> (u64, u64) {
    rates.sort_unstable();
    (rates[rates.len() - 1], rates[rates.len() / 2])
}

fn main() {
    let tiny = !std::env::args().any(|argument| argument == "--bench");
    let (rounds, runs, schedules) = if tiny { (1, 256, 2) } else { (9, 16_384, 1_000) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one worker");
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let (mut steps, mut other) = (0, 0);
    for _ in 0..rounds {
        let rate_of_ours =
            pool.install(|| rate(1, || campaign(&Settings::default(), 0..runs, &Budget::default()).tally.steps));
        let rate_of_theirs = rate(1, || shuttle_model::steps(schedules));
        ours.push(rate_of_ours.0);
        theirs.push(rate_of_theirs.0);
        (steps, other) = (rate_of_ours.1, rate_of_theirs.1);
    }
    let (ours, theirs) = (best_and_middle(ours), best_and_middle(theirs));
    println!("thousand steps/s of one core, the best of {rounds} rounds and the middle one:");
    println!("  hunt     {:>6} {:>6}   {runs} runs of {steps} steps in all, a round", ours.0, ours.1);
    println!("  shuttle  {:>6} {:>6}   {schedules} schedules of {other} steps in all, a round", theirs.0, theirs.1);
}
