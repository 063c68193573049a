//! The same result on every run and with any number of workers, and nothing lost between a world and its bytes, a
//! counterexample and its replay, a schedule and its token.

mod common;
#[path = "../benches/support/large.rs"]
mod large;

use common::{cases, parse, programs, search, title};
use leasecheck_sim::explore::Options;
use leasecheck_sim::explore::{Token, check, replay};
use leasecheck_sim::program::Program;
use leasecheck_sim::verdict::{Outcome, Verdict};
use leasecheck_sim::world::{Effects, Step, World};
use proptest::prelude::*;
use std::sync::atomic::AtomicU64;

fn with_workers(workers: usize, program: &Program) -> Outcome {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("workers");
    pool.install(|| search(program, false, 1_000_000))
}

/// As a person would settle the case.
fn settled(program: &Program) -> Outcome {
    let progress = AtomicU64::new(0);
    let interrupted = || false;
    let options = Options {
        limit_states: 1_000_000,
        limit_memory: 1 << 32,
        reduce: true,
        interrupted: &interrupted,
        progress: &progress,
    };
    check(program, &options).unwrap_or_else(|error| panic!("{} cannot start: {error:?}", title(program)))
}

#[test]
fn every_case_of_the_corpus_comes_out_the_same() {
    for program in programs() {
        let first = with_workers(1, &program);
        assert_eq!(first.levels.iter().sum::<u64>(), first.states, "{}", title(&program));
        assert_eq!(first.levels.len(), first.depth as usize + 1, "{}", title(&program));
        for workers in [1, 2, 4] {
            assert_eq!(with_workers(workers, &program), first, "{} with {workers} workers", title(&program));
        }
    }
}

#[test]
fn a_large_space_comes_out_the_same() {
    let large = parse("large", &large::large(5));
    let first = with_workers(1, &large.cases[0]);
    assert_eq!(first.verdict, Verdict::Unreachable);
    assert!(first.states > 200_000, "only {} states", first.states);
    for workers in [2, 4] {
        assert_eq!(with_workers(workers, &large.cases[0]), first, "with {workers} workers");
    }
}

/// A limit inside a level, and a counterexample in a large level, are where chunks of work could show.
#[test]
fn a_truncated_search_and_a_deep_counterexample_come_out_the_same() {
    let text = large::large(3).replace("tick", "tick\nwrite a");
    let broken = &parse("broken", &text).cases[0];
    let first = with_workers(1, broken);
    assert!(matches!(first.verdict, Verdict::Reachable(_)), "{:?}", first.verdict);
    for workers in [2, 4] {
        assert_eq!(with_workers(workers, broken), first, "with {workers} workers");
    }
    let large = &parse("large", &large::large(3)).cases[0];
    let cut = |workers| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("workers");
        pool.install(|| search(large, false, 20_000))
    };
    assert!(matches!(cut(1).verdict, Verdict::Truncated { .. }));
    assert_eq!(cut(1), cut(4));
}

#[test]
fn every_counterexample_of_the_corpus_replays() {
    let mut replayed = 0;
    for (at, program) in programs().iter().enumerate() {
        let Verdict::Reachable(found) = settled(program).verdict else { continue };
        let token = Token { claim: program.name.0.clone(), case: at, steps: found.steps.clone() };
        let back: Token = token.to_string().parse().expect("a token can be read back");
        assert_eq!(back, token, "{}", title(program));
        let run = replay::run(program, &back.steps).unwrap_or_else(|misfit| panic!("{}: {misfit}", title(program)));
        assert_eq!(run.violation.as_ref(), Some(&found.violation), "{}", title(program));
        assert_eq!(run.rows.len(), found.steps.len(), "{}", title(program));
        replayed += 1;
    }
    assert!(replayed >= 10, "only {replayed} counterexamples");
}

proptest! {
    #![proptest_config(cases(8))]

    /// Walks through every case of the corpus, choosing by `choices`; the world read back into a world that was
    /// elsewhere equals the one that was packed, and has the same bytes.
    #[test]
    fn a_world_survives_its_bytes(choices in prop::collection::vec(any::<u16>(), 60)) {
        for program in programs() {
            let start = World::start(&program).expect("the case starts");
            let (mut world, mut other) = (start.clone(), start);
            let mut bytes = Vec::new();
            for choice in &choices {
                let mut steps = Vec::new();
                world.enabled(&program, &mut steps);
                let Some(step) = steps.get(usize::from(*choice) % steps.len().max(1)) else { break };
                if world.step(&program, *step, &mut Effects::default()).is_err() {
                    break;
                }
                bytes.clear();
                world.pack(&mut bytes);
                other.unpack(&bytes);
                prop_assert_eq!(&other, &world, "{}", title(&program));
                let mut again = Vec::new();
                other.pack(&mut again);
                prop_assert_eq!(&again, &bytes, "{}", title(&program));
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn a_token_survives_its_text(
        claim in "[a-z][a-z0-9._-]{0,30}",
        case in 0_usize..100,
        steps in prop::collection::vec((0_u8..24, prop_oneof![4 => Just(0_u8), 1 => any::<u8>()]), 0..200),
    ) {
        let steps = steps.into_iter().map(|(agent, choice)| Step { agent, choice }).collect();
        let token = Token { claim, case, steps };
        prop_assert_eq!(token.to_string().parse::<Token>(), Ok(token));
    }

    #[test]
    fn no_text_is_read_as_a_token_by_accident(text in "\\PC{0,60}") {
        if let Ok(token) = text.parse::<Token>() {
            let again: Token = token.to_string().parse().expect("a token can be read back");
            prop_assert_eq!(again, token);
        }
    }
}
