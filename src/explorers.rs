//! The commands that explain, size and compare what the exhaustive explorer finds: `why`, `needed`, `estimate`,
//! `compare`, `ablate`. Their command line, and what they share.

use crate::progress::Progress;
use crate::{Limits, WRONG, ablate, compare, estimate, needed, print, why};
use clap::{Subcommand, ValueEnum};
use leasecheck_reports::json;
use leasecheck_reports::model::FileError;
use leasecheck_sim::explore::Options;
use leasecheck_sim::hunt::ablation::RUNS;
use leasecheck_sim::litmus::LitmusFile;
use leasecheck_sim::program::Program;
use leasecheck_sim::world::StartError;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Subcommand)]
pub enum Command {
    /// Show when a failing run went wrong: how likely the violation is from each of its steps on.
    Why {
        /// A token, as printed with a counterexample, or a litmus file.
        #[arg(value_name = "TOKEN|FILE")]
        what: String,
        /// The litmus file of a token that is not about the corpus.
        file: Option<PathBuf>,
        /// The case of the file; the first that has a counterexample if not given.
        #[arg(long, value_name = "NAME")]
        case: Option<String>,
        /// Random continuations from each step.
        #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        rolls: u32,
        /// Seed of the continuations.
        #[arg(long, value_name = "S", default_value_t = 1)]
        seed: u64,
        /// Folder of the corpus.
        #[arg(long, value_name = "DIR", default_value = "tests/litmus")]
        corpus: PathBuf,
        #[command(flatten)]
        limits: Limits,
        /// How results are written to the standard output.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Drop each guard of a case that holds, and show which violation returns.
    Needed {
        /// The litmus file.
        file: PathBuf,
        /// Only the case of this name.
        #[arg(long, value_name = "NAME")]
        case: Option<String>,
        /// Show the run that returns without the guard of this number.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        guard: Option<u16>,
        #[command(flatten)]
        limits: Limits,
        /// How results are written to the standard output.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Say how many states and seconds an exhaustive run will take, without making it.
    Estimate {
        /// The litmus file.
        file: PathBuf,
        /// Only the case of this name.
        #[arg(long, value_name = "NAME")]
        case: Option<String>,
        /// Random walks.
        #[arg(long, value_name = "N", default_value_t = 4_096, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
        walks: u32,
        /// Seed of the walks.
        #[arg(long, value_name = "S", default_value_t = 1)]
        seed: u64,
        /// Worker threads; all cores if not given.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
        jobs: Option<u16>,
        /// How results are written to the standard output.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Compare two litmus files, or two configurations over the corpus: what is fixed, what is broken.
    ///
    /// A configuration is `design`, or a list such as
    /// `rule:compaction-rechecks-plan=off,assume:one-allocating-thread=off,planner=slide`.
    Compare {
        /// A litmus file or a configuration.
        a: String,
        /// What it is compared with: a file if the first is one, a configuration otherwise.
        b: String,
        /// Seeds of random runs that configurations are compared on: `A..B`, or a git commit hash; 0..4096 if not given.
        #[arg(long, value_name = "A..B|HASH")]
        seeds: Option<String>,
        /// Folder of the corpus that configurations are compared on.
        #[arg(long, value_name = "DIR", default_value = "tests/litmus")]
        corpus: PathBuf,
        #[command(flatten)]
        limits: Limits,
        /// How results are written to the standard output.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Take every rule and every assumption from the design, one at a time, and show how the hunt notices.
    Ablate {
        /// Ask the cases of this folder instead of the hunt: one must turn red.
        #[arg(long, value_name = "DIR", conflicts_with_all = ["runs", "timings"])]
        corpus: Option<PathBuf>,
        /// Runs within which each part must be caught.
        #[arg(long, value_name = "N", default_value_t = RUNS, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
        runs: u64,
        /// Show seconds, which differ from run to run, also where the output is no terminal.
        #[arg(long)]
        timings: bool,
        #[command(flatten)]
        limits: Limits,
        /// How results are written to the standard output.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text,
    /// The versioned data model.
    Json,
}

pub fn run(command: Command) -> u8 {
    match command {
        Command::Why { what, file, case, rolls, seed, corpus, limits, format } => {
            let asked = why::Asked { what, file, case, rolls, seed, corpus };
            why::run(&asked, limits, format)
        }
        Command::Needed { file, case, guard, limits, format } => {
            needed::run(&file, case.as_deref(), guard, limits, format)
        }
        Command::Estimate { file, case, walks, seed, jobs, format } => {
            estimate::run(&file, case.as_deref(), (walks, seed), jobs, format)
        }
        Command::Compare { a, b, seeds, corpus, limits, format } => {
            compare::run(&a, &b, seeds.as_deref(), &corpus, limits, format)
        }
        Command::Ablate { corpus: Some(corpus), limits, format, .. } => ablate::run(&corpus, limits, format),
        Command::Ablate { corpus: None, runs, timings, limits, format } => ablate::hunt(runs, timings, limits, format),
    }
}

/// Runs `body` with the options of an exploration.
pub fn with_options<T>(limits: Limits, progress: &Progress, body: impl FnOnce(&Options<'_>) -> T) -> T {
    let interrupted = || progress.interrupted();
    body(&Options {
        limit_states: limits.limit_states,
        limit_memory: limits.limit_memory << 20,
        reduce: true,
        interrupted: &interrupted,
        progress: &progress.states,
    })
}

/// The cases of that name, or all, with their places in the file.
pub fn chosen<'f>(file: &'f LitmusFile, path: &str, case: Option<&str>) -> Result<Vec<(usize, &'f Program)>, String> {
    let all = file.cases.iter().enumerate();
    let found: Vec<_> = all.filter(|(_, program)| case.is_none_or(|case| case == program.name.1)).collect();
    if found.is_empty() {
        let known: Vec<&str> = file.cases.iter().map(|program| program.name.1.as_str()).collect();
        let case = case.unwrap_or_default();
        return Err(format!("error: {path}: no case is called `{case}`; there are: {}", known.join(", ")));
    }
    Ok(found)
}

/// Why a case cannot start, as an error of its file.
pub fn no_start(path: &str, program: &Program, error: &StartError) -> FileError {
    let why = match error {
        StartError::Violated(violation) => {
            format!("the set-up itself violates `{}`: {}", violation.code.name(), violation.message)
        }
        StartError::Stuck(_) => "the set-up waits for something that nothing will bring".to_owned(),
        StartError::Endless => "the set-up does not end".to_owned(),
        StartError::Layout(why) => why.clone(),
    };
    FileError { file: path.to_owned(), message: format!("error: {path}: case `{}`: {why}", program.name.1) }
}

/// Says what is wrong with the input.
pub fn wrong(message: &str) -> u8 {
    eprintln!("{message}");
    WRONG
}

/// Writes a report as data.
pub fn print_json(report: &impl Serialize) {
    match json::render(report) {
        Ok(text) => print(&text),
        Err(error) => eprintln!("error: the report cannot be written: {error}"),
    }
}
