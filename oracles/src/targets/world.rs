//! Programs whose callers honour their contract, under schedules of the fuzzer's choice: no invariant is violated.

use leasecheck_sim::hunt::{Ready, Runner, bytes};
use std::cell::RefCell;

/// Programs that are kept: most inputs of a fuzzer differ from an earlier one in their schedule only, and preparing a
/// program takes ten times as long as a run of it.
const KEPT: usize = 256;

thread_local! {
    static PROGRAMS: RefCell<Vec<(Vec<u8>, Ready)>> = const { RefCell::new(Vec::new()) };
    static RUNNER: RefCell<Runner> = RefCell::default();
}

/// Runs the program and the schedule that the bytes stand for.
pub fn run(data: &[u8]) {
    let (program, schedule) = bytes::split(data);
    let violation = PROGRAMS.with_borrow_mut(|kept| {
        let known = kept.iter().position(|(bytes, _)| bytes == program);
        let at = known.unwrap_or_else(|| {
            let ready = bytes::prepare(program).unwrap_or_else(|wrong| panic!("no program: {wrong}"));
            kept.truncate(KEPT - 1);
            kept.push((program.to_vec(), ready));
            kept.len() - 1
        });
        // What was used last is found first, and dropped last.
        kept[..=at].rotate_right(1);
        let fresh = known != Some(0);
        RUNNER.with_borrow_mut(|runner| bytes::run(runner, &kept[0].1, fresh, schedule)).violation
    });
    if let Some(violation) = violation {
        panic!("{}: {}", violation.code.name(), violation.message);
    }
}
