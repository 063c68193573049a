//! Markdown for a review comment or a job summary.

use crate::lanes;
use crate::model::Report;
use std::fmt::Write;

/// Text in a table cell or sentence: nothing in it is markup.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
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
    for case in report.cases.iter().filter(|case| case.standing != "as claimed") {
        let _ = writeln!(out, "\n## {} / {}\n\n{}\n", escape(&case.claim), escape(&case.case), escape(&case.statement));
        let _ = writeln!(out, "Expected {}, but {}.\n", escape(&case.expected), escape(&case.why));
        if let Some(found) = &case.counterexample {
            let lanes = lanes::render(found).replace("```", "'''");
            let _ = writeln!(
                out,
                "```text\n{lanes}\n```\n\n{}\n\n`leasecheck replay {}`",
                escape(&found.message),
                found.token
            );
        }
    }
    for error in &report.errors {
        let _ = writeln!(out, "\n## {}\n\n```text\n{}\n```", escape(&error.file), error.message.replace("```", "'''"));
    }
    out
}
