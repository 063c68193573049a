//! The hunt: reproducible to the byte, the same in shards, silent about the design, and not blind.
//!
//! The first version of the generator found two false alarms of the world itself: a kernel queued before its page's
//! sliding-window binding was released was said to use a stale address, and an admission next to a ragged sink was
//! said to be impossible. Both are litmus files in `tests/litmus/regressions` now.

#![allow(missing_docs)]

use leasecheck_core::Rule;
use leasecheck_sim::explore::{Options, check};
use leasecheck_sim::hunt::{
    Blame, Budget, Effort, Finds, RunToken, Runner, SCHEDULES, Settings, campaign, canary, gaps, prepare, program_text,
    run_seed, write_up,
};
use leasecheck_sim::litmus::{Source, load};
use leasecheck_sim::verdict::Verdict;
use std::fmt::Write;
use std::sync::atomic::AtomicU64;

fn without(rule: Rule) -> Settings {
    Settings { rules_off: vec![rule], ..Settings::default() }
}

/// Everything that a thousand runs show, as text.
fn transcript(settings: &Settings) -> String {
    let mut out = String::new();
    let mut runner = Runner::default();
    for program in 0..1_000_u64.div_ceil(SCHEDULES) {
        let ready = prepare(settings, program * SCHEDULES).expect("the generator writes litmus files");
        out.push_str(&program_text(settings, program * SCHEDULES));
        for seed in program * SCHEDULES..(program + 1) * SCHEDULES {
            let end = run_seed(&mut runner, &ready, settings, seed, seed == program * SCHEDULES);
            writeln!(out, "{seed} {end:?} {:?}", runner.schedule).expect("strings take everything");
        }
    }
    out
}

#[test]
fn a_thousand_runs_are_the_same_to_the_byte() {
    let settings = without(Rule::CompactionWaitsForEvents);
    assert_eq!(transcript(&settings), transcript(&settings));
}

#[test]
fn a_token_names_the_run() {
    let token = RunToken { settings: without(Rule::JointBytes), seed: 77 };
    assert_eq!(token.to_string().parse(), Ok(token));
    assert!("h0.mixed:3".parse::<RunToken>().is_err());
    assert!("h3.mixed,no-such-rule:3".parse::<RunToken>().is_err());
}

#[test]
fn shards_find_what_the_whole_finds() {
    let settings = without(Rule::CompactionWaitsForLeases);
    let whole = campaign(&settings, 0..4_000, &Budget::default());
    let mut joined = Finds::default();
    for number in (0..4).rev() {
        joined.add(campaign(&settings, 0..4_000, &Budget { shard: Some((number, 4)), ..Budget::default() }));
    }
    assert!(!whole.finds.is_empty());
    assert_eq!(whole, joined);
}

#[test]
fn the_design_holds_and_every_reachable_mark_is_reached() {
    let found = campaign(&Settings::default(), 0..40_000, &Budget::default());
    assert!(found.finds.is_empty(), "{:#?}", found.finds);
    assert_eq!(found.tally.unusable, 0, "the generator draws programs that cannot start");
    assert_eq!(gaps(&found.tally), []);
}

#[test]
fn the_canary_fails_about_once_in_a_hundred() {
    let canary = canary(0);
    assert!(canary.alive(), "{canary:?}");
}

#[test]
fn a_find_is_a_litmus_file_that_check_confirms() {
    let settings = without(Rule::FreesAreChecked);
    let found = campaign(&settings, 0..100_000, &Budget { stop_at_first: true, ..Budget::default() });
    let (identity, first) = found.finds.iter().next().expect("a free that comes twice is noticed");
    let case =
        write_up(&settings, identity, first, Blame::Everything, Effort::default()).expect("the run can be taken again");
    assert!(case.shrunk && case.confirmed && case.steps.1 <= 12, "{case:#?}");
    let source = Source { path: case.name.clone(), text: case.litmus.clone() };
    let file = load(&source).unwrap_or_else(|error| panic!("{}", error.render(&source)));
    let options = Options {
        limit_states: 100_000,
        limit_memory: 1 << 30,
        reduce: true,
        interrupted: &|| false,
        progress: &AtomicU64::new(0),
    };
    let outcome = check(&file.cases[0], &options).expect("it starts");
    let Verdict::Reachable(counterexample) = outcome.verdict else { panic!("{:?}", outcome.verdict) };
    assert_eq!(counterexample.violation.code, identity.code);
    let again = write_up(&settings, identity, first, Blame::Everything, Effort::default());
    assert_eq!(again, Some(case), "shrinking is the same every time");
    let hurried = write_up(&settings, identity, first, Blame::Everything, Effort { candidates: 3 })
        .expect("a budget is no failure");
    assert!(!hurried.shrunk, "a budget that ended says so");
}
