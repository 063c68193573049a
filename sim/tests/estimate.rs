//! Estimates are within a factor of ten of what the exhaustive run finds: on every case of the corpus, in full and
//! reduced, and on larger programs of several shapes.

mod common;

use common::{parse, programs, search, title};
use leasecheck_sim::explore::estimate::{Estimate, EstimateOptions, estimate};
use leasecheck_sim::program::Program;
use leasecheck_sim::verdict::Verdict;

fn estimated(program: &Program, reduce: bool, (walks, seed): (u32, u64)) -> Estimate {
    estimate(program, &EstimateOptions { walks, seed, reduce })
        .unwrap_or_else(|error| panic!("{} cannot start: {error:?}", title(program)))
}

/// How many times too large or too small, times ten.
fn off(estimate: u64, states: u64) -> u64 {
    let (low, high) = (estimate.min(states).max(1), estimate.max(states).max(1));
    high * 10 / low
}

#[test]
fn within_a_factor_of_ten_on_the_corpus() {
    let (mut worst, mut where_worst) = (0, String::new());
    for program in programs() {
        for reduce in [false, true] {
            let outcome = search(&program, reduce, 1_000_000);
            if matches!(outcome.verdict, Verdict::Truncated { .. }) {
                continue;
            }
            let estimate = estimated(&program, reduce, (512, 1));
            let off = off(estimate.states, outcome.states);
            assert!(off <= 100, "{}: {estimate:?}, but {} states", title(&program), outcome.states);
            if off > worst {
                (worst, where_worst) = (off, title(&program));
            }
        }
    }
    println!("corpus: at worst off by a factor of {}.{} ({where_worst})", worst / 10, worst % 10);
}

/// A claim about one arena, with these threads.
fn larger(name: &str, threads: &[String]) -> Program {
    let mut text = format!(
        "name = \"{name}\"\nsource = \"generated\"\nclaim = \"none\"\n\n[arena.device]\nbytes = 96\n\
         bands.full = {{ envelope = 4, page_tokens = 4, grow = \"up\" }}\n\
         bands.swa = {{ envelope = 4, page_tokens = 4, grow = \"down\" }}\n\n\
         [[case]]\nname = \"only\"\nexpect = \"unreachable\"\nwitness = [\"finished\"]\n"
    );
    for (nth, thread) in threads.iter().enumerate() {
        text += &format!("threads.t{nth} = \"\"\"\n{thread}\"\"\"\n");
    }
    parse(name, &text).cases.swap_remove(0)
}

/// Threads that have nothing to do with each other: as many states as the product of their lengths.
fn independent(threads: usize, steps: usize) -> Program {
    let thread = |nth: usize| (0..steps).map(|step| format!("let n{nth} = {step}\n")).collect();
    larger("independent", &(0..threads).map(thread).collect::<Vec<String>>())
}

/// Each thread queues work on a stream of its own and waits for it.
fn streams(threads: usize, rounds: usize) -> Program {
    let thread = |nth: usize| {
        let round = format!("s{nth}: write a{nth}\ns{nth}: read a{nth}\n");
        format!("alloc full 1 -> a{nth}\n{}sync s{nth}\nfree a{nth}\n", round.repeat(rounds))
    };
    larger("streams", &(0..threads).map(thread).collect::<Vec<String>>())
}

/// Threads that lease, allocate and free under one lock now and then: much depends on the order.
fn contended(threads: usize, rounds: usize) -> Program {
    let thread = |nth: usize| {
        let round = format!(
            "lease acquire\nwrite a{nth}\nlease release\nlock m\ntry alloc full 1 -> b{nth}\nunlock m\nif b{nth} {{ free b{nth} }}\n"
        );
        format!("alloc full 1 -> a{nth}\n{}free a{nth}\n", round.repeat(rounds))
    };
    larger("contended", &(0..threads).map(thread).collect::<Vec<String>>())
}

/// A stream that runs behind, and a host that polls it.
fn polling(threads: usize) -> Program {
    let thread = |nth: usize| {
        format!(
            "alloc full 1 -> a{nth}\ns{nth}: write a{nth}\ns{nth}: record e{nth}\nlet d{nth} = 0\n\
             while d{nth} == 0 {{ query e{nth} -> d{nth} }}\nread a{nth}\nfree a{nth}\n"
        )
    };
    larger("polling", &(0..threads).map(thread).collect::<Vec<String>>())
}

#[test]
fn within_a_factor_of_ten_on_larger_programs() {
    let programs = [
        independent(3, 40),
        independent(5, 8),
        streams(2, 4),
        streams(3, 2),
        contended(2, 2),
        contended(3, 1),
        polling(3),
    ];
    let mut largest = 0;
    for program in &programs {
        let outcome = search(program, false, 1_000_000);
        assert!(!matches!(outcome.verdict, Verdict::Truncated { .. }), "{} is too large", title(program));
        for seed in [1, 2] {
            let estimate = estimated(program, false, (4_096, seed));
            let off = off(estimate.states, outcome.states);
            println!(
                "{}: {} states, {} estimated, {} seen, off by {}.{}",
                title(program),
                outcome.states,
                estimate.states,
                estimate.seen,
                off / 10,
                off % 10
            );
            assert!(off <= 100, "{}: {estimate:?}, but {} states", title(program), outcome.states);
        }
        largest = largest.max(outcome.states);
    }
    assert!(largest > 50_000, "the programs are not larger than the corpus");
}

#[test]
fn the_same_seed_gives_the_same_estimate() {
    let program = polling(3);
    assert_eq!(estimated(&program, true, (256, 7)), estimated(&program, true, (256, 7)));
}
