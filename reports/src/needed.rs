//! Which guards a case needs: the report of `leasecheck needed`.

use crate::lanes::{self, pad};
use crate::model::{CounterexampleReport, FileError, RowReport, VERSION, case_report, shell_word};
use crate::plain::plain;
use crate::text::plural;
use leasecheck_sim::explore::needed::{Fate, Tried, What};
use leasecheck_sim::explore::replay::Misfit;
use leasecheck_sim::litmus::LitmusFile;
use leasecheck_sim::world::StartError;
use serde::Serialize;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// The guards of a file's cases.
#[derive(Clone, Debug, Serialize)]
pub struct NeededReport {
    /// Version of this form.
    pub version: u32,
    /// Path as given.
    pub file: String,
    /// The cases.
    pub cases: Vec<CaseGuards>,
    /// What went wrong.
    pub errors: Vec<FileError>,
}

/// One case.
#[derive(Clone, Debug, Serialize)]
pub struct CaseGuards {
    /// Name of the claim.
    pub claim: String,
    /// Name of the case.
    pub case: String,
    /// `holds`; `claims a violation`, `does not hold` or `unknown`, where no guard was dropped.
    pub standing: &'static str,
    /// States of the case as it is.
    pub states: u64,
    /// The guards: steps in the order of the file, then rules.
    pub guards: Vec<GuardReport>,
}

/// One guard and what comes of leaving it out.
#[derive(Clone, Debug, Serialize)]
pub struct GuardReport {
    /// Its number, from 1.
    pub number: usize,
    /// The steps of the file that it consists of; empty for a rule.
    pub steps: Vec<StepReport>,
    /// What becomes of them.
    pub becomes: &'static str,
    /// The rule, if it is one.
    pub rule: Option<&'static str>,
    /// `needed`, `redundant`, `no part`, `unknown`, or `does not start`.
    pub fate: &'static str,
    /// States that were explored without it.
    pub states: u64,
    /// The invariant that is violated without it.
    pub code: Option<String>,
    /// What is violated, in a sentence; or why the set-up does not run.
    pub message: String,
    /// The shortest run that violates it.
    pub run: Vec<RowReport>,
    /// The run with everything that a renderer of lanes needs.
    #[serde(skip)]
    pub found: Option<Box<CounterexampleReport>>,
}

/// A step of the file.
#[derive(Clone, Debug, Serialize)]
pub struct StepReport {
    /// Line in the litmus file.
    pub line: u32,
    /// As in the file.
    pub text: String,
}

/// Makes the report of one guard.
///
/// # Errors
/// When its counterexample does not replay, which would be a defect of the explorer.
pub fn guard(file: &LitmusFile, path: &str, number: usize, tried: &Tried) -> Result<GuardReport, Misfit> {
    let (steps, becomes, rule) = match &tried.guard.what {
        What::Steps(lines, becomes) => {
            let steps = lines.iter().map(|(line, text)| StepReport { line: *line, text: text.clone() });
            (steps.collect(), *becomes, None)
        }
        What::Rule(rule) => (Vec::new(), "off", Some(rule.name())),
    };
    let fate = match tried.fate {
        Fate::Needed => "needed",
        Fate::NoStart => "does not start",
        Fate::Redundant => "redundant",
        Fate::NoPart => "no part",
        Fate::Unknown => "unknown",
    };
    let mut report = GuardReport {
        number,
        steps,
        becomes,
        rule,
        fate,
        states: 0,
        code: None,
        message: String::new(),
        run: Vec::new(),
        found: None,
    };
    match &tried.outcome {
        Ok(outcome) => {
            report.states = outcome.states;
            let without = LitmusFile { cases: vec![tried.guard.program.clone()], ..file.clone() };
            if let Some(found) = case_report(&without, path, 0, outcome)?.counterexample {
                report.code = Some(found.code.clone());
                report.message.clone_from(&found.message);
                report.run.clone_from(&found.rows);
                report.found = Some(Box::new(found));
            }
        }
        Err(StartError::Violated(violation)) => {
            report.code = Some(violation.code.name().to_owned());
            report.message.clone_from(&violation.message);
        }
        Err(StartError::Stuck(_)) => {
            "the set-up waits for something that nothing brings".clone_into(&mut report.message)
        }
        Err(StartError::Endless) => "the set-up does not end".clone_into(&mut report.message),
        Err(StartError::Layout(why)) => report.message.clone_from(why),
    }
    Ok(report)
}

/// An empty report.
#[must_use]
pub fn report(path: &str) -> NeededReport {
    NeededReport { version: VERSION, file: path.to_owned(), cases: Vec::new(), errors: Vec::new() }
}

fn result(guard: &GuardReport) -> String {
    match (&guard.code, guard.fate) {
        (Some(code), "needed") => {
            format!("needed: {code} in {} ({})", plural(guard.run.len() as u64, "step"), plural(guard.states, "state"))
        }
        (_, "redundant") => format!("redundant in this case ({})", plural(guard.states, "state")),
        (_, "does not start") => format!("does not start: {}", plain(&guard.message)),
        (_, fate) => format!("{fate}: a limit was reached"),
    }
}

/// Every case of the report.
#[must_use]
pub fn render(report: &NeededReport) -> String {
    let mut out = String::new();
    for case in &report.cases {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{} / {}   {} ({})", case.claim, case.case, case.standing, plural(case.states, "state"));
        if case.standing != "holds" {
            let _ = writeln!(out, "  guards are dropped only where a case claims `unreachable` and holds\n");
            continue;
        }
        let _ = writeln!(out);
        let text = |step: &StepReport| format!("line {:<4} {}", step.line, plain(&step.text));
        let rows: Vec<(String, Vec<String>, &GuardReport)> = { &case.guards }
            .iter()
            .filter(|guard| guard.fate != "no part")
            .map(|guard| {
                let mut lines: Vec<String> = guard.steps.iter().map(text).collect();
                if let Some(rule) = guard.rule {
                    lines.push(format!("rule {rule}"));
                }
                if !matches!(guard.becomes, "left out" | "off")
                    && let Some(last) = lines.last_mut()
                {
                    last.push_str(&format!(" → {}", guard.becomes));
                }
                (format!("{:>4}", guard.number), lines, guard)
            })
            .collect();
        let width = rows.iter().flat_map(|(_, lines, _)| lines).map(|line| line.width()).max().unwrap_or(0);
        for (number, lines, guard) in &rows {
            for (nth, line) in lines.iter().enumerate() {
                let (number, result) =
                    if nth == 0 { (number.as_str(), result(guard)) } else { ("    ", String::new()) };
                let row = format!("  {number}  {}  {result}", pad(line, width));
                let _ = writeln!(out, "{}", row.trim_end());
            }
        }
        let without_part = case.guards.len() - rows.len();
        if without_part > 0 {
            let _ = writeln!(out, "        {} no part in this case", {
                let have = if without_part == 1 { "has" } else { "have" };
                format!("{} {have}", plural(without_part as u64, "rule"))
            });
        }
        let _ = writeln!(out);
    }
    if let Some((case, guard)) =
        { &report.cases }.iter().find_map(|case| Some((case, case.guards.iter().find(|guard| guard.fate == "needed")?)))
    {
        let _ = writeln!(
            out,
            "A run that returns: leasecheck needed {} --case {} --guard {}",
            shell_word(&report.file),
            shell_word(&case.case),
            guard.number
        );
    }
    out
}

/// One guard with the run that returns without it.
#[must_use]
pub fn render_guard(case: &CaseGuards, guard: &GuardReport) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{} / {}   without\n", case.claim, case.case);
    for step in &guard.steps {
        let _ = writeln!(out, "  line {:<4} {}   ({})", step.line, plain(&step.text), guard.becomes);
    }
    if let Some(rule) = guard.rule {
        let _ = writeln!(out, "  rule {rule}");
    }
    let _ =
        writeln!(out, "\n{}", if guard.fate == "no part" { "no part in this case".to_owned() } else { result(guard) });
    if let Some(found) = &guard.found {
        let _ = writeln!(out, "\n{}\n\n{}\n", lanes::render(found), lanes::arenas(found));
        let _ = writeln!(out, "  {}: {}.", found.code, plain(&found.message));
        for reason in &found.because {
            let _ = writeln!(out, "  {}", plain(reason));
        }
    }
    out
}
