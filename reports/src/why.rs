//! When a failing run went wrong: the report of `leasecheck why` and its chart.

use crate::lanes::pad;
use crate::model::{VERSION, replay};
use crate::plain::plain;
use crate::text::plural;
use leasecheck_sim::explore::Token;
use leasecheck_sim::explore::replay::{Misfit, RowKind, run};
use leasecheck_sim::explore::why::{Why, WhyOptions};
use leasecheck_sim::program::Program;
use serde::Serialize;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Characters of a full bar.
const BAR: u64 = 32;

/// The answer, as data.
#[derive(Clone, Debug, Serialize)]
pub struct WhyReport {
    /// Version of this form.
    pub version: u32,
    /// Name of the claim.
    pub claim: String,
    /// Name of the case.
    pub case: String,
    /// The invariant that the run violates.
    pub code: String,
    /// What is violated, in a sentence.
    pub message: String,
    /// Rolls from each prefix.
    pub rolls: u32,
    /// Seed of the rolls.
    pub seed: u64,
    /// For each number of steps taken, from none to all, what the rolls came to.
    pub prefixes: Vec<PrefixReport>,
    /// So many steps make the violation likely: from there on at least half of the rolls end in it.
    pub likely: usize,
    /// So many steps make it certain: no run from there ends without a violation.
    pub certain: usize,
    /// The budget ran out when the prefix of so many steps was searched for a way out: it may be certain earlier.
    pub certain_unknown_at: Option<usize>,
    /// States of the search that showed the certainty; 0 where the run has ended.
    pub certain_states: u64,
    /// The token of the run.
    pub token: String,
    /// The command that replays it.
    pub replay: String,
}

/// One prefix of the run.
#[derive(Clone, Debug, Serialize)]
pub struct PrefixReport {
    /// Steps taken.
    pub steps: usize,
    /// The last of them: who took it, and its text; empty for the start.
    pub step: String,
    /// Line in the litmus file.
    pub line: u32,
    /// Rolls that end in the violation.
    pub hits: u32,
    /// Rolls that end in another violation.
    pub others: u32,
    /// Rolls that end well.
    pub clean: u32,
    /// Rolls that did not end.
    pub unfinished: u32,
}

/// Makes the report of a run of the case in the file at `path`.
///
/// # Errors
/// When the token does not fit the program.
pub fn report(
    program: &Program,
    (token, path): (&Token, &str),
    why: &Why,
    options: &WhyOptions<'_>,
) -> Result<WhyReport, Misfit> {
    let run = run(program, &token.steps)?;
    let agent = |agent: u8| program.agents[usize::from(agent)].name.as_str();
    let step = |row: &leasecheck_sim::explore::replay::Row| match row.kind {
        RowKind::Queued(queue) => format!("{}: queue {} → {}", agent(row.step.agent), row.text, agent(queue)),
        RowKind::Host | RowKind::Run => format!("{}: {}", agent(row.step.agent), row.text),
    };
    let steps = std::iter::once((String::new(), 0)).chain(run.rows.iter().map(|row| (step(row), row.line)));
    let prefixes = steps.zip(&why.rolled).enumerate().map(|(nth, ((step, line), rolled))| PrefixReport {
        steps: nth,
        step,
        line,
        hits: rolled.hits,
        others: rolled.others,
        clean: rolled.clean,
        unfinished: rolled.unfinished,
    });
    Ok(WhyReport {
        version: VERSION,
        claim: program.name.0.clone(),
        case: program.name.1.clone(),
        code: why.violation.code.name().to_owned(),
        message: why.violation.message.clone(),
        rolls: options.rolls,
        seed: options.seed,
        prefixes: prefixes.collect(),
        likely: why.likely,
        certain: why.certain.from,
        certain_unknown_at: why.certain.unknown,
        certain_states: why.certain.states,
        token: token.to_string(),
        replay: replay(token, path),
    })
}

/// How likely the violation of a run is after each of its steps, when the rest is left to chance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chances {
    /// The invariant.
    pub code: String,
    /// Rolls from each step.
    pub rolls: u32,
    /// Steps taken, and how many rolls from there end in the violation.
    pub hits: Vec<(usize, u32)>,
}

fn bar(hits: u32, rolls: u32) -> String {
    let eighths = u64::from(hits) * BAR * 8 / u64::from(rolls.max(1));
    let rest = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let mut bar = "█".repeat((eighths / 8) as usize);
    bar.extend((eighths % 8).checked_sub(1).map(|at| rest[at as usize]));
    bar
}

fn percent(hits: u32, rolls: u32) -> String {
    let tenths = u64::from(hits) * 1000 / u64::from(rolls.max(1));
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// The chart and the two steps that matter.
#[must_use]
pub fn render(report: &WhyReport) -> String {
    let mut out = String::new();
    let steps = report.prefixes.len().saturating_sub(1) as u64;
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{} / {}   {}   {}\n", report.claim, report.case, report.code, plural(steps, "step"));
    let _ = writeln!(
        out,
        "P({}) when everything after the step is scheduled at random ({} from each step, seed {}):\n",
        report.code,
        plural(report.rolls.into(), "roll"),
        report.seed
    );
    let name = |prefix: &PrefixReport| match prefix.steps {
        0 => "(the start)".to_owned(),
        _ => plain(&prefix.step),
    };
    let width = report.prefixes.iter().map(|prefix| name(prefix).width()).max().unwrap_or(0);
    for prefix in &report.prefixes {
        let mut line = format!(
            "  {:>3}  {}  {:>7}  {}",
            prefix.steps,
            pad(&name(prefix), width),
            percent(prefix.hits, report.rolls),
            bar(prefix.hits, report.rolls)
        );
        let marks = [(prefix.steps == report.likely, "likely"), (prefix.steps == report.certain, "certain")];
        for (_, mark) in marks.into_iter().filter(|(here, _)| *here) {
            line += &format!("  ◂ {mark}");
        }
        for (count, what) in [(prefix.others, "another violation"), (prefix.unfinished, "unfinished")] {
            if count > 0 {
                line += &format!("  ({what}: {})", percent(count, report.rolls));
            }
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    let step = |steps: usize| match report.prefixes.get(steps) {
        Some(prefix) if steps > 0 => format!("with step {steps}, `{}` (line {})", plain(&prefix.step), prefix.line),
        _ => "at the start of the case already".to_owned(),
    };
    let _ = writeln!(
        out,
        "\nIt became likely {}: from there on at least half of the rolls end in it.",
        step(report.likely)
    );
    let searched = match report.certain_states {
        0 => "that step is the violation".to_owned(),
        states => format!("no run from there ends without a violation ({} searched)", plural(states, "state")),
    };
    let _ = writeln!(out, "It became certain {}: {searched}.", step(report.certain));
    if let Some(unknown) = report.certain_unknown_at {
        let _ = writeln!(
            out,
            "Unknown: whether it was certain after {} already; the budget for the search ran out (--limit-states).",
            plural(unknown as u64, "step")
        );
    }
    let _ = writeln!(out, "\n{}: {}.\nreplay: {}", report.code, plain(&report.message), report.replay);
    out
}
