//! Markdown for a review comment or a job summary.

use crate::model::{CaseReport, CounterexampleReport, Report};
use crate::plain::short;
use crate::text::plural;
use std::fmt::Write;

/// A comment on GitHub takes 65,536 characters.
const MOST_BYTES: usize = 60_000;
/// The longest name or sentence.
const LONGEST: usize = 500;
/// A report of so few cases also shows the runs that are as claimed, one of so few checks those that hold.
const FEW: usize = 6;
/// A report of more cases shows those that are not as claimed.
const MANY: usize = 50;
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

/// Markdown that stays within what a comment takes: what does not fit is counted.
struct Comment {
    text: String,
    left_out: usize,
}

impl Comment {
    fn add(&mut self, part: &str) {
        if self.text.len() + part.len() > MOST_BYTES {
            self.left_out += 1;
        } else {
            self.text += part;
        }
    }
}

/// A table of the cases (of many, only of those that are not as claimed), what else failed, and the counterexample of
/// each case that is not as claimed.
#[must_use]
pub fn render(report: &Report, checks: &[(String, Result<(), String>)]) -> String {
    let wrong = |case: &&CaseReport| case.standing != "as claimed";
    let failed = report.cases.iter().filter(wrong).count();
    let broken = checks.iter().filter(|(_, result)| result.is_err()).count() + report.errors.len();
    let head = format!(
        "# leasecheck\n\n{} cases, {failed} not as claimed; {broken} other checks failed\n\n",
        report.cases.len()
    );
    let mut out = Comment { text: head, left_out: 0 };
    let (all, held) = (report.cases.len() <= MANY, checks.len() <= FEW);
    if all || failed > 0 {
        out.add("| | claim | case | expected | verdict | states |\n| --- | --- | --- | --- | --- | ---: |\n");
    }
    for case in report.cases.iter().filter(|case| all || wrong(case)) {
        out.add(&line(case));
    }
    if !all {
        out.add(&format!("\n{} cases are as claimed.\n", report.cases.len() - failed));
    }
    for (name, result) in checks {
        match result {
            Ok(()) if held => out.add(&format!("\n- ✓ {}\n", escape(name))),
            Ok(()) => {}
            Err(why) => out.add(&format!("\n- ✗ {}: {}\n", escape(name), escape(why))),
        }
    }
    if !held {
        let holding = checks.iter().filter(|(_, result)| result.is_ok()).count();
        out.add(&format!("\n{holding} other checks hold.\n"));
    }
    for error in &report.errors {
        out.add(&format!("\n## {}\n\n```text\n{}\n```\n", escape(&error.file), fenced(&error.message)));
    }
    for case in report.cases.iter().filter(|case| wrong(case) || report.cases.len() <= FEW) {
        out.add(&details(case));
    }
    if out.left_out > 0 {
        out.text += &format!("\n{} more are left out: a comment has room for {MOST_BYTES} bytes.\n", out.left_out);
    }
    out.text
}

/// A case's row of the table.
fn line(case: &CaseReport) -> String {
    let sign = if case.standing == "as claimed" { "✓" } else { "✗" };
    let code = case.counterexample.as_ref().map_or(String::new(), |found| format!(": {}", found.code));
    format!(
        "| {sign} | {} | {} | {} | {}{code} | {} |\n",
        escape(&case.claim),
        escape(&case.case),
        escape(&case.expected),
        case.verdict,
        case.states
    )
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
        .filter(|agent| {
            run.rows.iter().any(|row| row.agent == *agent || row.queue == Some(*agent))
                || run.next().into_iter().flatten().any(|end| end.agent == *agent)
        })
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
        let wrong = if run.is_wrong(at + 1) { " ✗" } else { "" };
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
    for (end, label) in run.next().into_iter().flatten().zip(["next", "or next"]) {
        out += &format!("| {label} |");
        for agent in &used {
            let mark = if run.is_queue(end.agent) { "● " } else { "" };
            let text = if *agent == end.agent { format!("{mark}{} ✗", escape(&end.text)) } else { String::new() };
            out += &format!(" {text} |");
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
