//! Runs inputs of a fuzz target without a fuzzer.
//!
//! `leasecheck-oracles TARGET FILE…` runs files, and writes what a file of the target `world` stands for as a litmus
//! file, shrunk if it fails. `leasecheck-oracles TARGET --random SEED SECONDS` runs random inputs until one fails; the
//! seconds are CPU time where the system tells it, so that a busy machine does not count.

use leasecheck_oracles::{TARGETS, Target, target};
use leasecheck_sim::hunt::{Effort, bytes};
use std::panic::catch_unwind;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: leasecheck-oracles TARGET FILE…
       leasecheck-oracles TARGET --random SEED SECONDS [CORPUS_FOLDER]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let Some((target, rest)) = args.split_first().and_then(|(name, rest)| Some((target(name)?, rest))) else {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        eprintln!("{USAGE}\ntargets: {}", names.join(", "));
        return ExitCode::from(2);
    };
    match rest {
        ["--random", seed, seconds, corpus @ ..] => match (seed.parse(), seconds.parse()) {
            (Ok(seed), Ok(seconds)) => random(target, seed, seconds, corpus.first().copied()),
            _ => {
                eprintln!("{USAGE}");
                ExitCode::from(2)
            }
        },
        [] => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
        files => run(target, files),
    }
}

fn run(target: &Target, files: &[&str]) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for file in files {
        let data = match std::fs::read(file) {
            Ok(data) => data,
            Err(error) => {
                eprintln!("{file} cannot be read: {error}");
                return ExitCode::from(2);
            }
        };
        let failed = catch_unwind(|| (target.run)(&data)).is_err();
        if failed {
            println!("fails: cargo run -p leasecheck-oracles -- {} {file}", target.name);
            code = ExitCode::from(1);
        }
        if target.name == "world" {
            match bytes::write_up(&data, Effort::default()) {
                Ok(litmus) => println!("{litmus}"),
                Err(wrong) => println!("{wrong}"),
            }
        }
    }
    code
}

/// Numbers that look random: xorshift, from a seed that is not 0.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound.max(1)
    }

    fn input(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let fresh = corpus.is_empty() || self.below(2) == 0;
        if fresh {
            let length = self.below(256);
            return (0..length).map(|_| self.below(256) as u8).collect();
        }
        let mut input = corpus[self.below(corpus.len())].clone();
        for _ in 0..1 + self.below(4) {
            let at = self.below(input.len());
            if self.below(3) == 0 {
                input.truncate(at);
            } else if let Some(byte) = input.get_mut(at) {
                *byte = self.below(256) as u8;
            }
        }
        let more = self.below(64);
        input.extend((0..more).map(|_| self.below(256) as u8));
        input
    }
}

/// Runs random and randomly changed inputs; prints how many, and how long it took.
#[allow(clippy::disallowed_methods)] // A stop watch is what this is.
fn random(target: &Target, seed: u64, seconds: u64, corpus: Option<&str>) -> ExitCode {
    let files = corpus.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let mut corpus: Vec<Vec<u8>> = files.filter_map(|file| std::fs::read(file.path()).ok()).collect();
    corpus.sort();
    let mut random = Random(seed.wrapping_mul(2).wrapping_add(1));
    let start = Instant::now();
    let spent = || cpu_time().unwrap_or_else(|| start.elapsed());
    let limit = Duration::from_secs(seconds);
    let mut runs = 0_u64;
    while !runs.is_multiple_of(64) || spent() < limit {
        let input = random.input(&corpus);
        runs += 1;
        if catch_unwind(|| (target.run)(&input)).is_err() {
            println!("{}: fails after {runs} runs, {:.2} s: {input:?}", target.name, spent().as_secs_f64());
            return ExitCode::from(1);
        }
    }
    println!("{}: {runs} runs in {seconds} s", target.name);
    ExitCode::SUCCESS
}

/// Time that this thread has spent on a CPU, as Linux tells it.
fn cpu_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
