//! Two engines agree: stateright explores the corpus with the same step relation, and comes to the same verdicts, the
//! same number of distinct states and counterexamples of the same length.
//!
//! What this does not check: the step relation itself, which both share, and the reduction, which stateright does not
//! have (see `reduction.rs`).

mod common;
#[path = "../benches/support/litmus_model.rs"]
mod litmus_model;

use common::{programs, search, title};
use leasecheck_sim::program::Expect;
use leasecheck_sim::verdict::Verdict;
use litmus_model::stateright;

/// Cases with more states than this are left out: stateright takes its time.
const MOST_STATES: u64 = 20_000;

#[test]
fn stateright_agrees_on_the_corpus() {
    let (mut compared, mut left_out) = (0, 0);
    for program in programs() {
        let ours = search(&program, false, MOST_STATES);
        match &ours.verdict {
            Verdict::Truncated { .. } => left_out += 1,
            Verdict::Reachable(found) if matches!(program.expect, Expect::Reachable(code) if code != found.violation.code) =>
            {
                // The expected violation is not reachable, so that stateright has to exhaust the space as well.
                assert_eq!(stateright(&program), (ours.states, None), "{}", title(&program));
                compared += 1;
            }
            Verdict::Reachable(found) => {
                let (_, length) = stateright(&program);
                assert_eq!(length, Some(found.steps.len()), "{}: {}", title(&program), found.violation.message);
                compared += 1;
            }
            Verdict::Unreachable | Verdict::Vacuous { .. } => {
                assert_eq!(stateright(&program), (ours.states, None), "{}", title(&program));
                compared += 1;
            }
        }
    }
    println!("{compared} cases compared, {left_out} left out for their size");
    assert!(compared >= 2 && left_out * 4 <= compared, "{compared} cases compared, {left_out} left out");
}
