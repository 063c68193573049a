//! `leasecheck gate`: the whole corpus, and everything else that must hold.
//!
//! The corpus must stand as claimed, with the state counts that are written down as golden values (they are the same
//! on every machine, so a change means that the world or a case has changed). Every rule must be needed: switching it
//! off turns at least one case that claims `unreachable` red. Every gate file must answer as it says, and every model
//! of the thread-safe shell must hold. A hunt with fixed seeds finds nothing in the design, notices every part that is
//! missing from it, and shows every mark that it can.

use crate::check::{Settled, code, settle, workers, write};
use crate::progress::{Progress, now};
use crate::{FAILED, Limits, OK, Verdicts, WRONG, campaign, config, corpus, models, print};
use leasecheck_core::Rule;
use leasecheck_reports::html::gate::{More, checked, marks};
use leasecheck_reports::model::Report;
use leasecheck_reports::{html, json, junit, markdown, sarif, table};
use leasecheck_sim::explore::ablate::{Answer, ask};
use leasecheck_sim::explore::{Item, Options};
use leasecheck_sim::litmus::LitmusFile;
use rayon::prelude::*;
use std::collections::BTreeMap;
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

/// Whether switching the rule off turns a case red that holds with it on.
fn noticed(files: &[LitmusFile], rule: Rule, options: &Options<'_>) -> bool {
    let mut cases = files.iter().flat_map(|file| &file.cases);
    cases.any(|program| matches!(ask(program, Item::Rule(rule), options), Answer::Red(..)))
}

fn ablate(settled: &Settled, limits: Limits, progress: &Progress) -> Vec<Check> {
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
        let missing = "no case of the corpus turns red without it: it, or a claim about it, is missing";
        let result = if noticed(&settled.files, *rule, &options) { Ok(()) } else { Err(missing.to_owned()) };
        (format!("rule {} is needed", rule.name()), result)
    };
    Rule::ALL.par_iter().map(one).collect()
}

/// The state counts that were written down, by claim and case.
fn golden_states(text: &str) -> BTreeMap<(&str, &str), u64> {
    text.lines().filter_map(golden_line).collect()
}

fn golden_line(line: &str) -> Option<((&str, &str), u64)> {
    let mut parts = line.split('\t');
    let (claim, case, _, states) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    Some(((claim, case), states.parse().ok()?))
}

/// The page of the gate.
fn page(settled: &Settled, golden: &str, checks: &[Check]) -> Result<String, String> {
    let golden = golden_states(golden);
    let cases = settled.report.cases.iter().zip(&settled.seconds);
    let more = cases.map(|(case, seconds)| {
        let golden = golden.get(&(case.claim.as_str(), case.case.as_str())).copied();
        More { states: case.states, golden, ms: milliseconds(*seconds) }
    });
    let known = ["rule ", "model ", "gate file ", "hunt without ", "mark "];
    let others: Vec<Check> =
        checks.iter().filter(|(name, _)| !known.iter().any(|known| name.starts_with(known))).cloned().collect();
    let sections = vec![
        checked("Other checks", "", &others),
        checked("Ablation: every rule switched off must be noticed", "rule ", checks),
        checked("Models of the thread-safe shell", "model ", checks),
        checked("Configuration gates", "gate file ", checks),
        checked("The hunt notices every part that is missing", "hunt without ", checks),
        checked("The hunt shows every mark that it can", "mark ", checks),
        marks(&settled.report),
    ];
    html::gate::render(&settled.report, more.collect(), sections)
}

#[expect(clippy::float_arithmetic, reason = "times are for people; no result depends on them")]
fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1e4).round() / 10.0
}

fn write_reports(folder: &Path, golden: &str, settled: &Settled, checks: &[Check]) -> Result<(), String> {
    let failed =
        |what: &Path, error: &dyn std::fmt::Display| format!("error: {}: cannot be written: {error}", what.display());
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))?;
    let json = json::render(&settled.report).map_err(|error| failed(folder, &error))?;
    let junit = junit::render(&settled.report, checks, &settled.seconds)?;
    let sarif = sarif::render(&settled.report, checks)?;
    let page = page(settled, golden, checks)?;
    let files = [
        ("index.html", page),
        ("report.sarif", sarif),
        ("report.json", json),
        ("junit.xml", junit),
        ("report.md", markdown::render(&settled.report, checks)),
    ];
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| failed(&path, &error))?;
    }
    Ok(())
}

/// Where the gate reads and writes.
pub struct Folders {
    pub corpus: PathBuf,
    pub config: PathBuf,
    pub report: Option<PathBuf>,
}

/// Every gate file answers its musts as it says it will.
fn configurations(folder: &Path) -> Vec<Check> {
    let files = match config::files(folder) {
        Ok(files) => files,
        Err(message) => return vec![("gate files".to_owned(), Err(message))],
    };
    let one = |path: &PathBuf| {
        let name = format!("gate file {}", path.display());
        let result = match config::settle(path, None) {
            Ok(report) if report.as_expected() => Ok(()),
            Ok(report) => {
                let wrong = report.musts.iter().filter(|must| !must.as_expected).map(|must| must.message.clone());
                Err(wrong.collect::<Vec<_>>().join("; "))
            }
            Err(message) => Err(message),
        };
        (name, result)
    };
    files.iter().map(one).collect()
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
    checks.extend(ablate(&settled, limits, &progress));
    checks.extend(configurations(&folders.config));
    let (rows, models) = modelled(limits, &progress);
    checks.extend(rows);
    let (rows, hunted) = campaign::settle(&progress);
    checks.extend(rows);
    progress.end();
    if let Some(folder) = &folders.report
        && let Err(message) = write_reports(folder, &written, &settled, &checks)
    {
        eprintln!("{message}");
        return WRONG;
    }
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
