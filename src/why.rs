//! `leasecheck why`: when a failing run went wrong.

use crate::check::{one, workers};
use crate::explorers::{Format, chosen, no_start, print_json, with_options, wrong};
use crate::progress::Progress;
use crate::{BUDGET, Limits, OK, hunt, no_file, print, replay};
use leasecheck_reports::CounterexampleReport;
use leasecheck_reports::why as reports;
use leasecheck_sim::explore::why::{WhyError, WhyOptions, chances as rolls, why};
use leasecheck_sim::explore::{Token, check};
use leasecheck_sim::litmus::LitmusFile;
use leasecheck_sim::program::Program;
use leasecheck_sim::verdict::Verdict;
use std::path::{Path, PathBuf};

/// What the command line asks.
pub struct Asked {
    pub what: String,
    pub file: Option<PathBuf>,
    pub case: Option<String>,
    pub rolls: u32,
    pub seed: u64,
    pub corpus: PathBuf,
}

/// Rolls from each step for a chart, the most steps that are rolled from, and the longest run that is.
const ROLLS: u32 = 64;
const MOST_PREFIXES: usize = 60;
const LONGEST: usize = 400;

/// The most states that are searched from a step of a hunted run: its program was not made to be exhausted.
const HUNTED: u64 = 20_000;

/// How likely the violation of a run is after each of its steps; none if nothing is violated, or the run is too long to
/// be rolled in passing.
pub fn chances(program: &Program, found: &CounterexampleReport, progress: &Progress) -> Option<reports::Chances> {
    let token: Token = found.token.parse().ok()?;
    if token.steps.len() > LONGEST {
        return None;
    }
    let interrupted = || progress.interrupted();
    let options = WhyOptions { rolls: ROLLS, seed: 0, limit_states: 0, interrupted: &interrupted };
    let rolled = rolls(program, &token.steps, MOST_PREFIXES, &options).ok()?;
    let hits = rolled.into_iter().map(|(steps, rolled)| (steps, rolled.hits)).collect();
    Some(reports::Chances { code: found.code.clone(), rolls: ROLLS, hits })
}

/// The file, where it is, and the run in it.
fn failing_run(asked: &Asked, limits: Limits, progress: &Progress) -> Result<(LitmusFile, PathBuf, Token), u8> {
    let path = Path::new(&asked.what);
    if hunt::is_token(&asked.what) && !path.exists() {
        if let Some(file) = &asked.file {
            return Err(no_file(file));
        }
        let (_, program, token) = hunt::again(&asked.what).map_err(|message| wrong(&message))?;
        let (name, source, claim) = (token.claim.clone(), asked.what.clone(), String::new());
        return Ok((LitmusFile { name, source, claim, cases: vec![program] }, path.to_owned(), token));
    }
    if !path.exists() && asked.what.contains(':') {
        let token: Token = asked.what.parse().map_err(|error| wrong(&format!("error: {error}")))?;
        let (file, path) = replay::find(&token, asked.file.as_deref(), &asked.corpus)?;
        return Ok((file, path, token));
    }
    if let Some(surplus) = &asked.file {
        let message = format!("error: {}: a file beside `{}`, which is no token", surplus.display(), asked.what);
        return Err(wrong(&message));
    }
    let file = one(path)?;
    let shown = path.display().to_string();
    let cases = chosen(&file, &shown, asked.case.as_deref()).map_err(|message| wrong(&message))?;
    let mut unknown = false;
    for (case, program) in cases {
        progress.say(&program.name.1);
        let outcome = with_options(limits, progress, |options| check(program, options))
            .map_err(|error| wrong(&no_start(&shown, program, &error).message))?;
        match outcome.verdict {
            Verdict::Reachable(found) => {
                let token = Token { claim: file.name.clone(), case, steps: found.steps };
                return Ok((file, path.to_owned(), token));
            }
            Verdict::Truncated { .. } => unknown = true,
            Verdict::Unreachable | Verdict::Vacuous { .. } => {}
        }
    }
    if unknown {
        eprintln!("error: {shown}: a limit was reached before a counterexample; raise `--limit-states`");
        return Err(BUDGET);
    }
    Err(wrong(&format!("error: {shown}: nothing is violated: there is nothing to explain")))
}

pub fn run(asked: &Asked, limits: Limits, format: Format) -> u8 {
    if let Err(message) = workers(limits) {
        return wrong(&message);
    }
    let progress = Progress::start(limits.limit_seconds);
    let found = failing_run(asked, limits, &progress);
    let (file, path, token) = match found {
        Ok(found) => found,
        Err(code) => {
            progress.end();
            return code;
        }
    };
    let Some(program) = file.cases.get(token.case) else {
        progress.end();
        let (count, case) = (file.cases.len(), token.case + 1);
        return wrong(&format!("error: `{}` has {count} cases, and the token is about case {case}", file.name));
    };
    progress.say("rolls from every step");
    let interrupted = || progress.interrupted();
    let most = if hunt::is_token(&asked.what) { HUNTED } else { u64::MAX };
    let options = WhyOptions {
        rolls: asked.rolls,
        seed: asked.seed,
        limit_states: limits.limit_states.min(most),
        interrupted: &interrupted,
    };
    let answer = why(program, &token.steps, &options);
    progress.end();
    let answer = match answer {
        Ok(answer) => answer,
        Err(WhyError::Interrupted) => {
            eprintln!("error: {}", WhyError::Interrupted);
            return BUDGET;
        }
        Err(error) => return wrong(&format!("error: {error}")),
    };
    let mut report = match reports::report(program, (&token, &path.display().to_string()), &answer, &options) {
        Ok(report) => report,
        Err(misfit) => return wrong(&format!("error: {misfit}")),
    };
    if hunt::is_token(&asked.what) {
        report.replay = hunt::replay_command(&asked.what);
    }
    match format {
        Format::Text => print(&reports::render(&report)),
        Format::Json => print_json(&report),
    }
    if report.certain_unknown_at.is_some() { BUDGET } else { OK }
}
