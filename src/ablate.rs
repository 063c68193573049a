//! `leasecheck ablate`: every rule and every assumption is taken from the design, one at a time, and a case of the
//! corpus must notice.

use crate::check::workers;
use crate::explorers::{Format, print_json, with_options, wrong};
use crate::progress::Progress;
use crate::{BUDGET, FAILED, Limits, OK, WRONG, corpus, print};
use leasecheck_reports::ablate as reports;
use leasecheck_reports::model::FileError;
use leasecheck_sim::explore::ablate::{Answer, ask, parts};
use leasecheck_sim::explore::{Item, Options};
use leasecheck_sim::litmus::LitmusFile;
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
