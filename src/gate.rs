//! `leasecheck gate`: the whole corpus, and everything else that must hold.
//!
//! The corpus must stand as claimed, with the state counts that are written down as golden values (they are the same
//! on every machine, so a change means that the world or a case has changed). Every rule must be needed: switching it
//! off turns at least one case that claims `unreachable` red. Every gate file must answer as it says, and every model
//! of the thread-safe shell must hold. A hunt with fixed seeds finds nothing in the design, notices every part that is
//! missing from it, and shows every mark that it can.

use crate::check::{Settled, code, settle, workers, write};
use crate::gate_page::{self, Found};
use crate::progress::{Progress, now};
use crate::{FAILED, Limits, OK, Verdicts, WRONG, campaign, config, corpus, models, print};
use leasecheck_config::Report as ConfigReport;
use leasecheck_core::Rule;
use leasecheck_reports::model::Report;
use leasecheck_reports::table;
use leasecheck_sim::explore::ablate::{Answer, ask};
use leasecheck_sim::explore::{Item, Options};
use rayon::prelude::*;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A check of the gate beside the cases: its name, and why it failed.
pub type Check = (String, Result<(), String>);

/// The file of golden verdicts and state counts, in the folder of the corpus.
const GOLDEN: &str = "golden.tsv";

fn golden_text(report: &Report) -> String {
    let mut text = "# claim\tcase\tverdict\tstates; written by `leasecheck gate --update`\n".to_owned();
    for case in &report.cases {
        let code = case.counterexample.as_ref().map_or(String::new(), |found| format!(": {}", found.code));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}\t{}\t{}{code}\t{}", case.claim, case.case, case.verdict, case.states);
    }
    text
}

fn compare_golden(path: &Path, text: &str) -> Check {
    let name = "verdicts and state counts equal the golden values".to_owned();
    let golden = match std::fs::read_to_string(path) {
        Ok(golden) => golden,
        Err(error) => {
            let why = format!("{} cannot be read ({error}); `leasecheck gate --update` writes it", path.display());
            return (name, Err(why));
        }
    };
    let (mut old, mut new) = (golden.lines(), text.lines());
    loop {
        let why = match (old.next(), new.next()) {
            (None, None) => return (name, Ok(())),
            (Some(old), Some(new)) if old == new => continue,
            (Some(old), Some(new)) => format!("`{old}` has become `{new}`"),
            (Some(old), None) => format!("`{old}` is gone"),
            (None, Some(new)) => format!("`{new}` is new"),
        };
        let hint = "if that is meant, `leasecheck gate --update` writes the new values";
        return (name, Err(format!("{}; {hint}", why.replace('\t', " | "))));
    }
}

/// A rule, and the first case that turns red when it is switched off and holds with it on.
pub struct Ablated {
    pub rule: Rule,
    pub red: Option<(String, String)>,
}

fn ablate(settled: &Settled, limits: Limits, progress: &Progress) -> Vec<Ablated> {
    progress.say("every rule off, one at a time");
    let interrupted = || progress.interrupted();
    let options = Options {
        limit_states: limits.limit_states.min(200_000),
        limit_memory: limits.limit_memory << 20,
        reduce: true,
        interrupted: &interrupted,
        progress: &progress.states,
    };
    let one = |rule: &Rule| {
        let mut cases = settled.files.iter().flat_map(|file| &file.cases);
        let red = cases.find(|program| matches!(ask(program, Item::Rule(*rule), &options), Answer::Red(..)));
        Ablated { rule: *rule, red: red.map(|program| program.name.clone()) }
    };
    Rule::ALL.par_iter().map(one).collect()
}

fn needed(ablated: &Ablated) -> Check {
    let missing = "no case of the corpus turns red without it: it, or a claim about it, is missing";
    let result = ablated.red.as_ref().map(|_| ()).ok_or_else(|| missing.to_owned());
    (format!("rule {} is needed", ablated.rule.name()), result)
}

/// Where the gate reads and writes.
pub struct Folders {
    pub corpus: PathBuf,
    pub config: PathBuf,
    pub report: Option<PathBuf>,
}

/// A gate file, and what there is to know of it.
pub type Configuration = (PathBuf, Result<ConfigReport, String>);

/// What there is to know of every gate file, in the order of paths.
fn configurations(folder: &Path) -> Result<Vec<Configuration>, String> {
    let files = config::files(folder)?;
    Ok(files.into_iter().map(|path| (path.clone(), config::settle(&path, None))).collect())
}

/// Whether a gate file answers its musts as it says it will.
fn answers((path, result): &Configuration) -> Check {
    let result = match result {
        Ok(report) if report.as_expected() => Ok(()),
        Ok(report) => {
            let wrong = report.musts.iter().filter(|must| !must.as_expected).map(|must| must.message.clone());
            Err(wrong.collect::<Vec<_>>().join("; "))
        }
        Err(message) => Err(message.clone()),
    };
    (format!("gate file {}", path.display()), result)
}

/// Every model of the thread-safe shell, and of the protocol that SGLang ships.
fn modelled(limits: Limits, progress: &Progress) -> (Vec<Check>, models::Modelled) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let options = leasecheck_models::Options {
        jobs: limits.jobs.map_or(cores, usize::from),
        ..leasecheck_models::Options::default()
    };
    let modelled = models::settle(&options, progress);
    let one = |row: &leasecheck_models::Row| {
        let name = format!("model {} on {} ({})", row.model, row.subject.name(), row.tool.name());
        (name, if row.verdict.ok() { Ok(()) } else { Err(row.verdict.words()) })
    };
    (modelled.report.rows.iter().map(one).collect(), modelled)
}

pub fn run(folders: &Folders, update: bool, limits: Limits, format: Verdicts) -> u8 {
    let folder = &folders.corpus;
    let files: Vec<PathBuf> = match corpus::files(folder).and_then(|files| workers(limits).map(|()| files)) {
        Ok(files) => files,
        Err(message) => {
            eprintln!("{message}");
            return WRONG;
        }
    };
    let started = now();
    let progress = Progress::start(limits.limit_seconds);
    let settled = settle(&files, None, false, limits, &progress);
    let golden = folder.join(GOLDEN);
    let text = golden_text(&settled.report);
    let written = std::fs::read_to_string(&golden).unwrap_or_default();
    let mut checks = Vec::new();
    if update {
        if let Err(error) = std::fs::write(&golden, &text) {
            eprintln!("error: {}: cannot be written: {error}", golden.display());
            return WRONG;
        }
    } else {
        checks.push(compare_golden(&golden, &text));
    }
    let ablated = ablate(&settled, limits, &progress);
    checks.extend(ablated.iter().map(needed));
    let configurations = configurations(&folders.config).unwrap_or_else(|message| {
        checks.push(("gate files".to_owned(), Err(message)));
        Vec::new()
    });
    checks.extend(configurations.iter().map(answers));
    let (rows, models) = modelled(limits, &progress);
    checks.extend(rows);
    let (rows, hunted) = campaign::settle(&progress);
    checks.extend(rows);
    if let Some(folder) = &folders.report {
        let found = Found {
            settled: &settled,
            chances: &settled.chances(&progress),
            golden: &written,
            checks: &checks,
            ablated: &ablated,
            models: &models,
            configurations: &configurations,
        };
        if let Err(message) = gate_page::write(folder, &found) {
            progress.end();
            eprintln!("{message}");
            return WRONG;
        }
    }
    progress.end();
    if format == Verdicts::Text {
        print(&summary(&settled, (&models, &hunted), &checks, started.elapsed().as_secs_f64()));
    } else {
        write(&settled, &checks, format);
    }
    for error in &settled.report.errors {
        eprintln!("{}", error.message);
    }
    match code(&settled.report) {
        OK if checks.iter().any(|(_, result)| result.is_err()) => FAILED,
        code => code,
    }
}

fn summary(settled: &Settled, (models, hunted): (&models::Modelled, &str), checks: &[Check], seconds: f64) -> String {
    let mut out = table::render(&settled.report, &settled.seconds);
    out.push_str("\n\n");
    out.push_str(&models.table());
    out.push_str(&models.report.failures(false));
    out.push('\n');
    out.push_str(hunted);
    out.push('\n');
    for case in settled.report.cases.iter().filter(|case| case.standing != "as claimed") {
        out.push_str(&leasecheck_reports::text::case(case));
        out.push('\n');
    }
    let held = checks.iter().filter(|(_, result)| result.is_ok()).count();
    for (name, result) in checks {
        if let Err(why) = result {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "✗ {name}: {why}");
        }
    }
    let cases = &settled.report.cases;
    let claimed = cases.iter().filter(|case| case.standing == "as claimed").count();
    let states: u64 = cases.iter().map(|case| case.states).sum();
    let good = claimed == cases.len() && held == checks.len() && settled.report.errors.is_empty();
    let of = |prefix: &str| {
        let all = checks.iter().filter(|(name, _)| name.starts_with(prefix));
        let held = all.clone().filter(|(_, result)| result.is_ok()).count();
        format!("{held} of {}", all.count())
    };
    let _ = writeln!(
        out,
        "{}: {claimed} of {} cases as claimed ({states} states, P(collision) < 2^-{}), {} rules needed, {} models, {} gate files, {} parts missed by the hunt, {} marks, {} of {} checks in all, {} files wrong; {seconds:.1} s",
        if good { "gate passed" } else { "gate FAILED" },
        cases.len(),
        leasecheck_sim::verdict::collision_bits(states),
        of("rule "),
        of("model "),
        of("gate file "),
        of("hunt without "),
        of("mark "),
        held,
        checks.len(),
        settled.report.errors.len(),
    );
    out
}
