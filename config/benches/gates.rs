//! 40 flags and 10 five-valued options (10^19 configurations) with 100 gates: every question, against a baseline.
//!
//! `cargo bench -p leasecheck-config` prints the seconds. Run with `--test` (as `cargo test --benches` does) it only
//! checks that a tiny file works.

#[path = "support/big_file.rs"]
mod big_file;

use big_file::{Shape, big_file};
use leasecheck_config::{analyse, parse, render_text};

fn main() {
    let tiny = std::env::args().any(|argument| argument == "--test");
    let (flags, fives, gates) = if tiny { (8, 2, 10) } else { (40, 10, 100) };
    for (name, reach) in [("gates over nearby options", 12), ("gates over any options", usize::MAX)] {
        for seed in 1..=if tiny { 1 } else { 3 } {
            let shape = |without_last| Shape { flags, fives, gates, reach: reach.min(flags + fives), without_last };
            let (new, old) = (big_file(&shape(0), seed), big_file(&shape(gates / 20), seed));
            #[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
            let start = std::time::Instant::now();
            let new = parse("new.toml", &new).expect("the generator writes gate files");
            let old = parse("old.toml", &old).expect("the generator writes gate files");
            let report = analyse(&new, Some(&old));
            let seconds = start.elapsed().as_millis();
            assert!(render_text(&report).contains("verdict"));
            println!(
                "{name}, seed {seed}: {}.{:03} s; {} of {} configurations accepted, {} redundant gates, {} groups newly rejected",
                seconds / 1000,
                seconds % 1000,
                report.totals.accepted,
                report.totals.configurations,
                report.redundant.len(),
                report.comparison.map_or(0, |comparison| comparison.newly_rejected.groups.len()),
            );
        }
    }
}
