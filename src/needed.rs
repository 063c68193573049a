//! `leasecheck needed`: which guards of a case that holds are needed.

use crate::check::{one, workers};
use crate::explorers::{Format, chosen, no_start, print_json, with_options, wrong};
use crate::progress::Progress;
use crate::{BUDGET, FAILED, Limits, OK, WRONG, print};
use leasecheck_reports::model::FileError;
use leasecheck_reports::needed as reports;
use leasecheck_sim::explore::check;
use leasecheck_sim::explore::needed::needed;
use leasecheck_sim::litmus::LitmusFile;
use leasecheck_sim::program::Expect;
use leasecheck_sim::program::Program;
use leasecheck_sim::verdict::Standing;
use std::path::Path;

fn case(
    file: &LitmusFile,
    path: &str,
    program: &Program,
    limits: Limits,
    progress: &Progress,
) -> Result<reports::CaseGuards, FileError> {
    let outcome = with_options(limits, progress, |options| check(program, options))
        .map_err(|error| no_start(path, program, &error))?;
    let standing = match (program.expect, outcome.standing(program)) {
        (Expect::Reachable(_) | Expect::Never(_), _) => "claims something about one violation only",
        (_, Standing::AsClaimed) => "holds",
        (_, Standing::Failed) => "does not hold",
        (_, Standing::Unknown) => "unknown",
    };
    let mut case = reports::CaseGuards {
        claim: program.name.0.clone(),
        case: program.name.1.clone(),
        standing,
        states: outcome.states,
        guards: Vec::new(),
    };
    if standing == "holds" {
        let tried = with_options(limits, progress, |options| needed(program, &outcome, options));
        for (nth, tried) in tried.iter().enumerate() {
            let guard = reports::guard(file, path, nth + 1, tried).map_err(|misfit| FileError {
                file: path.to_owned(),
                message: format!("error: {path}: case `{}`: {misfit}", program.name.1),
            })?;
            case.guards.push(guard);
        }
    }
    Ok(case)
}

pub fn run(path: &Path, name: Option<&str>, guard: Option<u16>, limits: Limits, format: Format) -> u8 {
    let shown = path.display().to_string();
    let file = match one(path) {
        Ok(file) => file,
        Err(code) => return code,
    };
    let cases = match workers(limits).and_then(|()| chosen(&file, &shown, name)) {
        Ok(cases) => cases,
        Err(message) => return wrong(&message),
    };
    let progress = Progress::start(limits.limit_seconds);
    let mut report = reports::report(&shown);
    for (_, program) in cases {
        progress.say(&program.name.1);
        match case(&file, &shown, program, limits, &progress) {
            Ok(case) => report.cases.push(case),
            Err(error) => report.errors.push(error),
        }
    }
    progress.end();
    if let Some(number) = guard {
        let number = usize::from(number);
        let holding = report.cases.iter().find(|case| case.standing == "holds");
        let Some((case, guard)) = holding.and_then(|case| Some((case, case.guards.get(number - 1)?))) else {
            let count = holding.map_or(0, |case| case.guards.len());
            return wrong(&format!("error: {shown}: there is no guard {number}; the case has {count}"));
        };
        match format {
            Format::Text => print(&reports::render_guard(case, guard)),
            Format::Json => print_json(guard),
        }
    } else {
        match format {
            Format::Text => print(&reports::render(&report)),
            Format::Json => print_json(&report),
        }
    }
    report.errors.iter().for_each(|error| eprintln!("{}", error.message));
    code(&report)
}

fn code(report: &reports::NeededReport) -> u8 {
    let any = |standing: &str| report.cases.iter().any(|case| case.standing == standing);
    if !report.errors.is_empty() {
        WRONG
    } else if any("does not hold") {
        FAILED
    } else if any("unknown") || report.cases.iter().flat_map(|case| &case.guards).any(|guard| guard.fate == "unknown") {
        BUDGET
    } else {
        OK
    }
}
