//! Every rule and every assumption is needed: without it, at least one case of the corpus that holds turns red.
//!
//! `cargo test -p leasecheck-sim --test rules -- --nocapture` prints which case notices, and what it says then.

mod common;

use common::{programs, search, title};
use leasecheck_core::Rule;
use leasecheck_sim::assumptions::Assumption;
use leasecheck_sim::program::{Expect, Program};
use leasecheck_sim::verdict::{Standing, Verdict};
use leasecheck_sim::world::World;
use std::fmt::Write;

const MOST_STATES: u64 = 200_000;

/// The first case that holds and does not hold once `change` has been applied, and what is violated then.
fn noticed(cases: &[Program], change: impl Fn(&Program) -> Option<Program>) -> Option<(String, &'static str)> {
    cases.iter().find_map(|program| {
        let changed = change(program)?;
        // A case whose set-up needs the part says nothing about what its threads do.
        World::start(&changed).ok()?;
        let outcome = search(&changed, true, MOST_STATES);
        (outcome.standing(&changed) == Standing::Failed).then(|| {
            let word = match &outcome.verdict {
                Verdict::Reachable(found) => found.violation.code.name(),
                other => other.word(),
            };
            (title(program), word)
        })
    })
}

fn holding() -> Vec<Program> {
    let claims = programs().into_iter().filter(|program| program.expect == Expect::Unreachable);
    claims.filter(|program| search(program, true, MOST_STATES).standing(program) == Standing::AsClaimed).collect()
}

#[test]
fn every_rule_is_needed() {
    let cases = holding();
    let (mut table, mut needless) = (String::new(), Vec::new());
    for rule in Rule::ALL {
        let without =
            |program: &Program| program.rules.on(*rule).then(|| program.with_rules(program.rules.without(*rule)));
        match noticed(&cases, without) {
            Some((case, code)) => writeln!(table, "{:32} {code:20} {case}", rule.name()).expect("a string"),
            None => needless.push(rule.name()),
        }
    }
    println!("{table}");
    assert!(needless.is_empty(), "no case turns red without: {}", needless.join(", "));
}

#[test]
fn every_assumption_is_needed() {
    let cases = holding();
    let (mut table, mut needless) = (String::new(), Vec::new());
    for assumption in Assumption::ALL {
        let without = |program: &Program| {
            let mut changed = program.clone();
            changed.assume = program.assume.without(*assumption);
            program.assume.on(*assumption).then_some(changed)
        };
        match noticed(&cases, without) {
            Some((case, code)) => writeln!(table, "{:32} {code:20} {case}", assumption.name()).expect("a string"),
            None => needless.push(assumption.name()),
        }
    }
    println!("{table}");
    assert!(needless.is_empty(), "no case turns red without: {}", needless.join(", "));
}

#[test]
fn every_report_behind_a_rule_is_an_entry_of_the_corpus() {
    let entries = std::fs::read_to_string("../tests/entries.toml").expect("the list of entries");
    let known = |name: &str| entries.lines().any(|line| line.split_once(" = ").is_some_and(|(entry, _)| entry == name));
    let reports = Rule::ALL.iter().flat_map(|rule| rule.reports());
    let unknown: Vec<&&str> = reports.filter(|report| !known(report)).collect();
    assert!(unknown.is_empty(), "not in tests/entries.toml: {unknown:?}");
}
