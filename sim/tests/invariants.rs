//! Every invariant fires: each code is what at least one case of the corpus comes to, and its counterexample says who
//! and what it is about.

mod common;

use common::{programs, search, title};
use leasecheck_sim::explore::replay;
use leasecheck_sim::invariants::Code;
use leasecheck_sim::program::{Expect, Program};
use leasecheck_sim::verdict::{Counterexample, Standing, Verdict};
use std::collections::BTreeSet;

/// Reachable cases with their counterexamples.
fn found() -> Vec<(Program, Counterexample)> {
    let reachable = programs().into_iter().filter(|program| matches!(program.expect, Expect::Reachable(_)));
    let settle = |program: Program| match search(&program, false, 1_000_000).verdict {
        Verdict::Reachable(found) => (program, found),
        other => panic!("{} is {}", title(&program), other.word()),
    };
    reachable.map(settle).collect()
}

#[test]
fn every_case_stands_as_claimed() {
    for program in programs() {
        let outcome = search(&program, false, 1_000_000);
        assert_eq!(outcome.standing(&program), Standing::AsClaimed, "{}: {:?}", title(&program), outcome.verdict);
    }
}

#[test]
fn every_code_is_the_outcome_of_a_case() {
    let fired: BTreeSet<Code> = found().iter().map(|(_, found)| found.violation.code).collect();
    let silent: Vec<&str> = Code::ALL.iter().filter(|code| !fired.contains(code)).map(|code| code.name()).collect();
    assert!(silent.is_empty(), "no case of the corpus comes to: {}", silent.join(", "));
}

#[test]
fn every_counterexample_is_explained() {
    for (program, found) in found() {
        let message = &found.violation.message;
        let agents = program.agents.iter().map(|agent| agent.name.clone());
        let bands = program.arenas.iter().flat_map(|arena| {
            let bands = arena.config.bands.iter().map(|band| band.name.clone());
            bands.chain([arena.name.clone()])
        });
        let buffers = program.buffers.iter().map(|buffer| buffer.name.clone());
        let keys = program.keys.iter().map(|key| key.name.clone());
        let steps = program.code.iter().map(|instr| instr.text.clone());
        let mut names = agents.chain(bands).chain(buffers).chain(keys).chain(steps).filter(|name| !name.is_empty());
        assert!(names.any(|name| message.contains(&name)), "{}: `{message}` names nobody", title(&program));
        let run = replay::run(&program, &found.steps).expect("the counterexample fits its case");
        assert!(!run.rows.is_empty() && run.rows.iter().all(|row| !row.text.is_empty()), "{}", title(&program));
    }
}
