//! Markdown for a review comment or a job summary.

use crate::model::{CaseReport, CounterexampleReport, Report};
use crate::plain::short;
use crate::text::plural;
use std::fmt::Write;

/// A comment on GitHub takes 65,536 characters.
const MOST_BYTES: usize = 60_000;
/// The longest name or sentence.
const LONGEST: usize = 500;
/// A report of so few cases also shows the runs that are as claimed.
const FEW: usize = 6;
/// The most rows of a run, and how many of them are its first.
const MOST_ROWS: usize = 40;
const FIRST_ROWS: usize = 8;

/// Text in a table cell or sentence: nothing in it is markup.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in short(text, LONGEST).chars() {
        match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' => {
                out.push('\\');
                out.push(c);
            }
            // A name must not call anybody.
            '@' => out.push_str("&#64;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}

/// A table of all cases, and the counterexample of each that is not as claimed.
#[must_use]
pub fn render(report: &Report, checks: &[(String, Result<(), String>)]) -> String {
    let mut out = String::new();
    let failed = report.cases.iter().filter(|case| case.standing != "as claimed").count();
    let broken = checks.iter().filter(|(_, result)| result.is_err()).count() + report.errors.len();
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "# leasecheck\n\n{} cases, {failed} not as claimed; {broken} other checks failed\n",
        report.cases.len()
    );
    let _ = writeln!(out, "| | claim | case | expected | verdict | states |\n| --- | --- | --- | --- | --- | ---: |");
    for case in &report.cases {
        let sign = if case.standing == "as claimed" { "✓" } else { "✗" };
        let code = case.counterexample.as_ref().map_or(String::new(), |found| format!(": {}", found.code));
        let _ = writeln!(
            out,
            "| {sign} | {} | {} | {} | {}{code} | {} |",
            escape(&case.claim),
            escape(&case.case),
            escape(&case.expected),
            case.verdict,
            case.states
        );
    }
    for (name, result) in checks {
        match result {
            Ok(()) => {
                let _ = writeln!(out, "\n- ✓ {}", escape(name));
            }
            Err(why) => {
                let _ = writeln!(out, "\n- ✗ {}: {}", escape(name), escape(why));
            }
        }
    }
    let mut left_out = 0_usize;
    for case in report.cases.iter().filter(|case| case.standing != "as claimed" || report.cases.len() <= FEW) {
        let text = details(case);
        if out.len() + text.len() > MOST_BYTES {
            left_out += 1;
            continue;
        }
        out += &text;
    }
    if left_out > 0 {
        let _ = writeln!(out, "\n{left_out} more are left out: a comment has room for {MOST_BYTES} bytes.");
    }
    for error in &report.errors {
        let _ = writeln!(out, "\n## {}\n\n```text\n{}\n```", escape(&error.file), fenced(&error.message));
    }
    out
}

/// A case: claim, verdict, the run as a table, the command that replays it.
fn details(case: &CaseReport) -> String {
    let mut out = String::new();
    let Some(found) = &case.counterexample else {
        if case.standing != "as claimed" {
            // Writing to a string cannot fail.
            let _ =
                writeln!(out, "\n## {} / {}\n\n{}\n", escape(&case.claim), escape(&case.case), escape(&case.statement));
            let _ = writeln!(out, "Expected {}, but {}.", escape(&case.expected), escape(&case.why));
        }
        return out;
    };
    let _ = writeln!(out, "\n## {} / {}\n\n{}\n", escape(&case.claim), escape(&case.case), escape(&case.statement));
    let steps = plural(found.rows.len() as u64, "step");
    let shortest = if found.shortest { "no shorter run does it" } else { "there may be a shorter run" };
    let _ = writeln!(out, "**{}: {}** in {steps} ({shortest}).", escape(&case.verdict), escape(&found.code));
    if case.standing != "as claimed" {
        let _ = writeln!(out, "Expected {}, but {}.", escape(&case.expected), escape(&case.why));
    }
    let _ = writeln!(out, "\n{}\n{}.", run_table(found), escape(&found.message));
    let missing = found.missing.iter().map(|missing| &missing.sentence);
    for sentence in missing.chain(&found.because) {
        let _ = writeln!(out, "{}", escape(sentence));
    }
    let _ = writeln!(out, "\nReplay: {}", code(&found.replay));
    out
}

/// Text as code, whatever quotes are in it.
fn code(text: &str) -> String {
    let text = short(text, LONGEST);
    let mut ticks = "`".to_owned();
    while text.contains(&ticks) {
        ticks.push('`');
    }
    format!("{ticks} {text} {ticks}")
}

/// The steps of a run, a column for each agent: `○` is enqueued, `●` is executed.
fn run_table(run: &CounterexampleReport) -> String {
    let used: Vec<u8> = (0..run.agents.len() as u8)
        .filter(|agent| run.rows.iter().any(|row| row.agent == *agent || row.queue == Some(*agent)))
        .collect();
    let mut out = "| step |".to_owned();
    for agent in &used {
        out += &format!(" {} |", escape(&run.agents[usize::from(*agent)]));
    }
    out += &format!("\n| ---: |{}\n", " --- |".repeat(used.len()));
    let skipped = run.rows.len().saturating_sub(MOST_ROWS);
    for (at, row) in run.rows.iter().enumerate() {
        if skipped > 0 && at == FIRST_ROWS {
            out += &format!("| … | {} steps are left out |{}\n", skipped, " |".repeat(used.len() - 1));
        }
        if skipped > 0 && (FIRST_ROWS..FIRST_ROWS + skipped).contains(&at) {
            continue;
        }
        let wrong = if at + 1 == run.rows.len() && !run.code.is_empty() { " ✗" } else { "" };
        out += &format!("| {} |", at + 1);
        for agent in &used {
            let text = match (row.queue, row.agent == *agent) {
                (Some(queue), _) if queue == *agent => format!("○ {}", escape(&row.text)),
                (Some(_), true) => "enqueues".to_owned(),
                (None, true) if row.kind == "run" => format!("● {}{wrong}", escape(&row.text)),
                (None, true) => format!("{}{wrong}", escape(&row.text)),
                _ => String::new(),
            };
            let notes = row.notes.iter().filter(|_| row.agent == *agent).map(|note| format!("; {}", escape(note)));
            out += &format!(" {text}{} |", notes.take(3).collect::<String>());
        }
        out.push('\n');
    }
    out
}

/// A text of several lines that nothing in it can end.
fn fenced(text: &str) -> String {
    let lines: Vec<String> = text.lines().take(40).map(|line| short(line, LONGEST).replace("```", "'''")).collect();
    lines.join("\n")
}
