//! Distinct states a second, ours and stateright's.

use super::litmus_model::stateright;
use super::seconds::rate;
use leasecheck_sim::explore::{Options, explore};
use leasecheck_sim::litmus::{Source, load};
use leasecheck_sim::program::Program;
use std::sync::atomic::AtomicU64;

/// The cases of a litmus file that must be right.
pub fn load_text(text: &str) -> Vec<Program> {
    let source = Source { path: "benchmark".to_owned(), text: text.to_owned() };
    load(&source).unwrap_or_else(|wrong| panic!("{}", wrong.render(&source))).cases
}

/// Distinct states of a case, nothing left out.
pub fn explored(program: &Program) -> u64 {
    let progress = AtomicU64::new(0);
    let options = Options {
        limit_states: u64::MAX,
        limit_memory: 1 << 34,
        reduce: false,
        interrupted: &|| false,
        progress: &progress,
    };
    explore(program, &options).expect("the case starts").states
}

/// Explores a case with both engines and says how fast they were. On a case with a counterexample, the two stop at
/// different states of its level, and only the rates are compared.
pub fn compare(program: &Program, repeats: u64) -> String {
    let (ours, states) = rate(repeats, || explored(program));
    let mut length = None;
    let (theirs, other) = rate(repeats.div_ceil(8), || {
        let (states, counterexample) = stateright(program);
        length = counterexample;
        states
    });
    assert!(length.is_some() || states == other, "{states} states, and {other} by stateright");
    format!(
        "{} / {}: {states} states; {ours} thousand distinct states/s, stateright {theirs}; {}.{} times as fast",
        program.name.0,
        program.name.1,
        ours / theirs.max(1),
        ours * 10 / theirs.max(1) % 10
    )
}
