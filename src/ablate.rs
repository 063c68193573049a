//! `leasecheck ablate`: every rule and every assumption is taken from the design, one at a time, and the hunt must
//! notice; or, with `--corpus`, a case of the corpus.

use crate::check::workers;
use crate::explorers::{Format, print_json, with_options, wrong};
use crate::progress::{Progress, now};
use crate::{BUDGET, FAILED, Limits, OK, WRONG, corpus, print};
use leasecheck_reports::ablate as reports;
use leasecheck_reports::hunted;
use leasecheck_reports::model::FileError;
use leasecheck_sim::explore::ablate::{Answer, ask, parts};
use leasecheck_sim::explore::{Item, Options};
use leasecheck_sim::hunt::Effort;
use leasecheck_sim::hunt::ablation::{self, Part};
use leasecheck_sim::litmus::LitmusFile;
use rayon::prelude::*;
use std::io::IsTerminal;
use std::path::Path;

/// What the whole corpus says to the design without the part.
fn part(files: &[LitmusFile], item: Item, options: &Options<'_>) -> reports::PartReport {
    let mut report = reports::part(item);
    for program in files.iter().flat_map(|file| &file.cases) {
        match ask(program, item, options) {
            Answer::Red(found, states) => {
                report.red += 1;
                report.fate = "noticed";
                if report.steps.is_none_or(|steps| found.steps.len() < steps) {
                    report.by = Some(format!("{} / {}", program.name.0, program.name.1));
                    report.code = Some(found.violation.code.name());
                    report.steps = Some(found.steps.len());
                    report.states = Some(states);
                }
            }
            Answer::Unknown if report.fate == "not noticed" => report.fate = "unknown",
            Answer::Unknown | Answer::Holds | Answer::NotAsked => {}
        }
    }
    report
}

/// The hunt of every part, with the seconds that each took.
pub fn hunted(runs: u64, progress: &Progress) -> (hunted::HuntedReport, Vec<f64>) {
    let interrupted = || progress.interrupted();
    let one = |part: Part| {
        let started = now();
        let answer = ablation::ablate(part, runs, Effort::default(), &interrupted);
        progress.say(&format!("hunted without {}", part.name()));
        (hunted::part(part, &answer), started.elapsed().as_secs_f64())
    };
    let parts: Vec<Part> = Part::all().collect();
    let (parts, seconds) = parts.into_par_iter().map(one).unzip();
    (hunted::report(parts, runs), seconds)
}

/// Hunts without each part.
pub fn hunt(runs: u64, timings: bool, limits: Limits, format: Format) -> u8 {
    if let Err(message) = workers(limits) {
        return wrong(&message);
    }
    let progress = Progress::start(limits.limit_seconds);
    let (report, seconds) = hunted(runs, &progress);
    progress.end();
    match format {
        Format::Text => {
            let seconds = (timings || std::io::stdout().is_terminal()).then_some(seconds.as_slice());
            print(&hunted::render(&report, seconds));
        }
        Format::Json => print_json(&report),
    }
    let any = |fate: &str| report.parts.iter().any(|part| part.fate == fate);
    match () {
        () if any("not caught") || any("too long") => FAILED,
        () if any("stopped") => BUDGET,
        () => OK,
    }
}

/// Asks every case of a corpus about each part.
pub fn run(folder: &Path, limits: Limits, format: Format) -> u8 {
    let paths = match corpus::files(folder).and_then(|paths| workers(limits).map(|()| paths)) {
        Ok(paths) => paths,
        Err(message) => return wrong(&message),
    };
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for path in &paths {
        match corpus::open(path) {
            Ok(file) => files.push(file),
            Err(message) => errors.push(FileError { file: path.display().to_string(), message }),
        }
    }
    let progress = Progress::start(limits.limit_seconds);
    let one = |item: Item| {
        progress.say(&format!("without {item}"));
        with_options(limits, &progress, |options| part(&files, item, options))
    };
    let mut report = reports::report(parts().map(one).collect());
    report.errors = errors;
    progress.end();
    match format {
        Format::Text => print(&reports::render(&report)),
        Format::Json => print_json(&report),
    }
    report.errors.iter().for_each(|error| eprintln!("{}", error.message));
    let any = |fate: &str| report.parts.iter().any(|part| part.fate == fate);
    if !report.errors.is_empty() {
        WRONG
    } else if any("not noticed") {
        FAILED
    } else if any("unknown") {
        BUDGET
    } else {
        OK
    }
}
