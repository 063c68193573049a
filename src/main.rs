//! leasecheck: settles claims about page allocators that move live pages.

mod ablate;
mod campaign;
mod check;
mod compare;
mod config;
mod conform;
mod corpus;
mod estimate;
mod explore;
mod explorers;
mod gate;
mod gate_page;
mod hunt;
mod list;
mod models;
mod needed;
mod pictures;
mod progress;
mod replay;
mod trace;
mod why;

use clap::{Parser, Subcommand, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Everything is as claimed.
const OK: u8 = 0;
/// A claim or the gate failed.
const FAILED: u8 = 1;
/// The input or the usage is wrong.
const WRONG: u8 = 2;
/// A budget ran out.
const BUDGET: u8 = 3;

/// Settles claims about page allocators that move live pages under leases, gates, streams and events.
///
/// Exit codes: 0 all as claimed, 1 a claim or gate failed, 2 the input or the usage is wrong, 3 a budget ran out.
#[derive(Parser)]
#[command(name = "leasecheck", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Settle the claims of litmus files.
    Check {
        /// Litmus files.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Only the cases of this name.
        #[arg(long, value_name = "NAME")]
        case: Option<String>,
        /// Explore every order, also of independent steps.
        #[arg(long)]
        full: bool,
        #[command(flatten)]
        limits: Limits,
        #[command(flatten)]
        pictures: pictures::Pictures,
        /// How results are written to the standard output.
        #[arg(long, value_enum, default_value_t = Verdicts::Text)]
        format: Verdicts,
    },
    /// Settle the whole corpus and everything else that must hold.
    Gate {
        /// Folder of the corpus.
        #[arg(long, value_name = "DIR", default_value = "tests/litmus")]
        corpus: PathBuf,
        /// Folder of the gate files.
        #[arg(long, value_name = "DIR", default_value = "tests/config")]
        config: PathBuf,
        /// Write `index.html`, `report.json`, `report.md`, `junit.xml` and `report.sarif` into this folder.
        #[arg(long, value_name = "DIR")]
        report: Option<PathBuf>,
        /// Write the verdicts and state counts of this run as the corpus's golden values.
        #[arg(long)]
        update: bool,
        #[command(flatten)]
        limits: Limits,
        /// How results are written to the standard output.
        #[arg(long, value_enum, default_value_t = Verdicts::Text)]
        format: Verdicts,
    },
    /// Show the run that a token stands for.
    Replay {
        /// The token, as printed with a counterexample.
        token: String,
        /// The litmus file, if it is not in the corpus.
        file: Option<PathBuf>,
        /// Folder of the corpus.
        #[arg(long, value_name = "DIR", default_value = "tests/litmus")]
        corpus: PathBuf,
        #[command(flatten)]
        pictures: pictures::Pictures,
        /// How the run is written to the standard output.
        #[arg(long, value_enum, default_value_t = explorers::Format::Text)]
        format: explorers::Format,
    },
    /// Say what configuration gates can and cannot reach.
    Config {
        /// The gate file.
        file: PathBuf,
        /// An older gate file to compare with, instead of the one that the file names.
        #[arg(long, value_name = "OLD")]
        baseline: Option<PathBuf>,
        /// How results are written to the standard output.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Compare a foreign allocator with core, operation by operation.
    Conform(conform::Args),
    /// Run the thread-safe shell under loom and shuttle, beside the protocol that SGLang ships.
    Models {
        /// Only models whose name contains this.
        #[arg(long, value_name = "NAME")]
        only: Option<String>,
        /// At most so many preemptions in every loom model.
        #[arg(long, value_name = "N")]
        preemptions: Option<u32>,
        /// Schedules for each strategy of shuttle.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        iterations: Option<u64>,
        /// Models to run at the same time; all cores if not given.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
        jobs: Option<u16>,
        /// How results are written to the standard output.
        #[arg(long, value_enum, default_value_t = explorers::Format::Text)]
        format: explorers::Format,
    },
    /// Search random programs and schedules for violations, and write what is found as litmus files.
    Hunt(hunt::Args),
    /// Join what several hunts, or the shards of one, have left in their folders.
    Merge {
        /// Folders of `hunt --out`.
        #[arg(required = true, value_name = "DIR")]
        folders: Vec<PathBuf>,
        /// Write the joined campaign into this folder.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Walk a claim by hand, in a browser on this machine.
    Explore {
        /// The litmus file.
        file: PathBuf,
        /// The port on 127.0.0.1; any free one if 0.
        #[arg(long, value_name = "N", default_value_t = 0)]
        port: u16,
        #[command(flatten)]
        limits: Limits,
    },
    /// Hold traces of real runs against the design.
    Trace(trace::Args),
    #[command(flatten)]
    Explorers(explorers::Command),
    /// List the vocabulary: steps, rules, assumptions, invariants, marks.
    List {
        /// What to list.
        #[arg(value_enum)]
        what: list::What,
    },
}

/// Budgets. A verdict that would need more is `truncated`, and the exit code is 3.
#[derive(clap::Args, Clone, Copy)]
struct Limits {
    /// The most distinct states of a case.
    #[arg(long, value_name = "N", default_value_t = 20_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    limit_states: u64,
    /// The most seconds for everything.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit_seconds: Option<u64>,
    /// The most MiB for the states of a case.
    #[arg(long, value_name = "N", default_value_t = 8_192, value_parser = clap::value_parser!(u64).range(1..1_000_000))]
    limit_memory: u64,
    /// Worker threads; all cores if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

/// Formats for the verdicts of claims.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Verdicts {
    /// For people.
    Text,
    /// The versioned data model; `leasecheck list schema` is its schema.
    Json,
    /// For a review comment.
    Markdown,
    /// JUnit XML, for a CI.
    Junit,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// Annotations of a GitHub workflow.
    Github,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// For people.
    Text,
    /// The versioned data model.
    Json,
    /// For a review comment.
    Markdown,
    /// For a CI.
    Junit,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let code = match cli.command {
        Command::Check { files, case, full, limits, pictures, format } => {
            check::run(&files, case.as_deref(), full, limits, (&pictures, format))
        }
        Command::Gate { corpus, config, report, update, limits, format } => {
            gate::run(&gate::Folders { corpus, config, report }, update, limits, format)
        }
        Command::Config { file, baseline, format } => config::run(&file, baseline.as_deref(), format),
        Command::Conform(args) => conform::run(&args),
        Command::Models { only, preemptions, iterations, jobs, format } => {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            models::run(only, preemptions, iterations, jobs.map_or(cores, usize::from), format)
        }
        Command::Replay { token, format, .. } if token.starts_with("m1.") => models::replay(&token, format),
        Command::Replay { token, file, pictures, format, .. } if hunt::is_token(&token) => match file {
            None => hunt::replay(&token, &pictures, format),
            Some(file) => no_file(&file),
        },
        Command::Replay { token, file, corpus, pictures, format } => {
            replay::run(&token, file.as_deref(), &corpus, (&pictures, format))
        }
        Command::Hunt(args) => hunt::run(&args),
        Command::Merge { folders, out } => hunt::merge(&folders, out.as_deref()),
        Command::Explore { file, port, limits } => explore::run(&file, port, limits),
        Command::Trace(args) => trace::run(&args),
        Command::Explorers(command) => explorers::run(command),
        Command::List { what } => list::run(what),
    };
    ExitCode::from(code)
}

/// A hunted run was named, and a file.
fn no_file(file: &Path) -> u8 {
    eprintln!(
        "error: {}: no file belongs to the token of a hunted run, which says which program was drawn",
        file.display()
    );
    WRONG
}

/// Writes to the standard output; that nobody reads it any more is no error.
fn print(text: &str) {
    use std::io::Write;
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}
