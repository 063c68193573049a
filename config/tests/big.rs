//! The benchmark's files, small enough for a test, and one as large as the benchmark's.

#[path = "../benches/support/big_file.rs"]
mod big_file;

use big_file::{Shape, big_file};
use leasecheck_config::{analyse, parse, render_text};

fn report(shape: &Shape, seed: u64) -> leasecheck_config::Report {
    analyse(&parse("big.toml", &big_file(shape, seed)).expect("the generator writes gate files"), None)
}

#[test]
fn the_benchmark_works_when_it_is_tiny() {
    let shape = |without_last| Shape { flags: 8, fives: 2, gates: 10, reach: 5, without_last };
    let new = parse("new.toml", &big_file(&shape(0), 1)).expect("the generator writes gate files");
    let old = parse("old.toml", &big_file(&shape(2), 1)).expect("the generator writes gate files");
    let report = analyse(&new, Some(&old));
    assert_eq!(report.totals.configurations.exact(), Some("6400"));
    assert!(report.comparison.is_some_and(|comparison| comparison.newly_accepted.example.is_none()));
}

#[test]
fn sixty_options_are_no_problem_and_answers_do_not_vary() {
    let shape = Shape { flags: 50, fives: 10, gates: 60, reach: 6, without_last: 0 };
    let report = report(&shape, 7);
    assert_eq!(report.totals.options, 60);
    assert_eq!(report.totals.configurations.exact(), Some("10995116277760000000000"));
    assert!(report.totals.accepted.exact().is_some());
    let again = analyse(&parse("big.toml", &big_file(&shape, 7)).expect("the same file"), None);
    assert_eq!(render_text(&report), render_text(&again));
}
