//! `leasecheck check`: settles the claims of litmus files.

use crate::pictures::Pictures;
use crate::progress::{Progress, now};
use crate::{BUDGET, FAILED, Limits, OK, Verdicts, WRONG, corpus, print, why};
use leasecheck_reports::model::{CaseReport, FileError, Report, VERSION, case_report};
use leasecheck_reports::why::Chances;
use leasecheck_reports::{github, json, junit, markdown, sarif, text};
use leasecheck_sim::explore::{Options, check, explore};
use leasecheck_sim::litmus::LitmusFile;
use leasecheck_sim::verdict::Outcome;
use leasecheck_sim::world::StartError;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Results and the seconds of each case.
pub struct Settled {
    pub report: Report,
    pub seconds: Vec<f64>,
    /// The files that could be read.
    pub files: Vec<LitmusFile>,
    /// For each case of the report: its file among these, and its place there.
    pub places: Vec<(usize, usize)>,
}

impl Settled {
    /// For each case: how likely its violation is after each step of its run, if it has a run.
    pub fn chances(&self, progress: &Progress) -> Vec<Option<Chances>> {
        progress.say("how likely each violation is, step by step");
        let one = |(case, (file, at)): (&CaseReport, &(usize, usize))| {
            let found = case.counterexample.as_ref()?;
            why::chances(&self.files[*file].cases[*at], found, progress)
        };
        self.report.cases.par_iter().zip(&self.places).map(one).collect()
    }
}

/// Sets the number of workers.
pub fn workers(limits: Limits) -> Result<(), String> {
    workers_of(limits.jobs)
}

/// The same, for commands without the other limits.
pub fn workers_of(jobs: Option<u16>) -> Result<(), String> {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(jobs.map_or(0, usize::from));
    builder.build_global().map_err(|error| format!("error: worker threads cannot be started: {error}"))
}

/// Settles every case of the files; `full` leaves no order out.
pub fn settle(files: &[PathBuf], case: Option<&str>, full: bool, limits: Limits, progress: &Progress) -> Settled {
    let report = Report { version: VERSION, cases: Vec::new(), errors: Vec::new() };
    let mut settled = Settled { report, seconds: Vec::new(), files: Vec::new(), places: Vec::new() };
    let interrupted = || progress.interrupted();
    let options = Options {
        limit_states: limits.limit_states,
        limit_memory: limits.limit_memory << 20,
        reduce: !full,
        interrupted: &interrupted,
        progress: &progress.states,
    };
    for path in files {
        let shown = path.display().to_string();
        let mut fail = |message: String| {
            settled.report.errors.push(FileError { file: shown.clone(), message });
        };
        let file = match corpus::open(path) {
            Ok(file) => file,
            Err(message) => {
                fail(message);
                continue;
            }
        };
        let chosen = |name: &str| case.is_none_or(|case| case == name);
        if !file.cases.iter().any(|program| chosen(&program.name.1)) {
            let known: Vec<&str> = file.cases.iter().map(|program| program.name.1.as_str()).collect();
            fail(format!(
                "error: {shown}: no case is called `{}`; there are: {}",
                case.unwrap_or_default(),
                known.join(", ")
            ));
            continue;
        }
        for (at, program) in file.cases.iter().enumerate().filter(|(_, program)| chosen(&program.name.1)) {
            progress.say(&format!("{} / {}", file.name, program.name.1));
            let started = now();
            let outcome = if full { explore(program, &options) } else { check(program, &options) };
            match finish(&file, &shown, at, outcome) {
                Ok(report) => {
                    settled.report.cases.push(report);
                    settled.places.push((settled.files.len(), at));
                    settled.seconds.push(started.elapsed().as_secs_f64());
                }
                Err(message) => settled.report.errors.push(FileError { file: shown.clone(), message }),
            }
        }
        settled.files.push(file);
    }
    settled
}

fn finish(
    file: &LitmusFile,
    path: &str,
    at: usize,
    outcome: Result<Outcome, StartError>,
) -> Result<CaseReport, String> {
    let program = &file.cases[at];
    let place = |pc: u16| match program.code.get(usize::from(pc)) {
        Some(instr) => format!("{path}:{}: `{}`", instr.line, instr.text),
        None => path.to_owned(),
    };
    let name = format!("case `{}`", program.name.1);
    let outcome = outcome.map_err(|error| match error {
        StartError::Violated(violation) => {
            format!(
                "error: {path}: {name}: the set-up itself violates `{}`: {}",
                violation.code.name(),
                violation.message
            )
        }
        StartError::Stuck(pc) => {
            format!("error: {}: {name}: the set-up waits here, and nothing will end the wait", place(pc))
        }
        StartError::Endless => format!("error: {path}: {name}: the set-up does not end"),
        StartError::Layout(why) => format!("error: {path}: {name}: {why}"),
    })?;
    case_report(file, path, at, &outcome).map_err(|misfit| format!("error: {path}: {name}: {misfit}"))
}

/// Writes results in one of the formats for machines.
pub fn write(settled: &Settled, checks: &[(String, Result<(), String>)], format: Verdicts) {
    let text = match format {
        Verdicts::Markdown => Ok(markdown::render(&settled.report, checks)),
        Verdicts::Junit => junit::render(&settled.report, checks, &settled.seconds),
        Verdicts::Sarif => sarif::render(&settled.report, checks),
        Verdicts::Github => Ok(github::render(&settled.report, checks)),
        Verdicts::Json | Verdicts::Text => json::render(&settled.report).map_err(|error| error.to_string()),
    };
    match text {
        Ok(text) => print(&text),
        Err(error) => eprintln!("error: the report cannot be written: {error}"),
    }
}

/// The exit code of a report.
pub fn code(report: &Report) -> u8 {
    if !report.errors.is_empty() {
        return WRONG;
    }
    if report.cases.iter().any(|case| case.standing == "failed") {
        return FAILED;
    }
    if report.cases.iter().any(|case| case.standing == "unknown") { BUDGET } else { OK }
}

pub fn run(
    files: &[PathBuf],
    case: Option<&str>,
    full: bool,
    limits: Limits,
    (pictures, format): (&Pictures, Verdicts),
) -> u8 {
    if let Err(message) = workers(limits) {
        eprintln!("{message}");
        return WRONG;
    }
    let progress = Progress::start(limits.limit_seconds);
    let settled = settle(files, case, full, limits, &progress);
    let chances = if pictures.has_page() { settled.chances(&progress) } else { Vec::new() };
    progress.end();
    if format == Verdicts::Text {
        settled.report.cases.iter().for_each(|case| print(&text::case(case)));
    } else {
        write(&settled, &[], format);
    }
    for error in &settled.report.errors {
        eprintln!("{}", error.message);
    }
    if let Err(message) = pictures.write(&settled.report.cases, &chances) {
        eprintln!("{message}");
        return WRONG;
    }
    code(&settled.report)
}

/// Reads one file for a command that is about a single one.
pub fn one(path: &Path) -> Result<LitmusFile, u8> {
    corpus::open(path).map_err(|message| {
        eprintln!("{message}");
        WRONG
    })
}
