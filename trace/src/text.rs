//! A report for people.

use crate::report::{Finding, Report};
use std::fmt::Write;

/// Findings that are printed; the JSON report has more.
const PRINTED: usize = 10;

/// The report as text, with a line end.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut out, report);
    out
}

fn write(out: &mut String, report: &Report) -> std::fmt::Result {
    let Report { file, events, fitting, found, .. } = report;
    match report.findings.first() {
        Some(first) => writeln!(
            out,
            "✗ {file}   {} in line {}   {found} {}, the first {fitting} of {events} events fit",
            first.invariant.name(),
            first.line,
            if *found == 1 { "finding" } else { "findings" },
        )?,
        None if report.broken.is_some() => writeln!(out, "✗ {file}   cannot be read to its end   {events} events fit")?,
        None => writeln!(out, "✓ {file}   {events} events fit")?,
    }
    for finding in report.findings.iter().take(PRINTED) {
        self::finding(out, finding)?;
    }
    if report.findings.len() > PRINTED {
        writeln!(out, "\n  and {} more (all that are kept: --format json)", found - PRINTED as u64)?;
    }
    if let Some(broken) = &report.broken {
        writeln!(out, "\n  line {}: {}", broken.line, broken.message)?;
    }
    let checked: Vec<String> =
        report.checked.iter().map(|checked| format!("{} {}×", checked.invariant.name(), checked.times)).collect();
    if !checked.is_empty() {
        writeln!(out, "\n  checked: {}", checked.join(", "))?;
    }
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for unchecked in &report.unchecked {
        match reasons.iter_mut().find(|(why, _)| *why == unchecked.why) {
            Some((_, codes)) => codes.push(unchecked.invariant.name()),
            None => reasons.push((&unchecked.why, vec![unchecked.invariant.name()])),
        }
    }
    if !reasons.is_empty() {
        writeln!(out, "  not checked:")?;
    }
    for (why, codes) in reasons {
        writeln!(out, "    {}: {why}", codes.join(", "))?;
    }
    for note in &report.notes {
        writeln!(out, "  note: {note}")?;
    }
    if report.found > 0 {
        writeln!(out, "  reproduce: leasecheck trace {file}")?;
    }
    Ok(())
}

fn finding(out: &mut String, finding: &Finding) -> std::fmt::Result {
    let Finding { line, invariant, message, allowed, guard, earlier, event, .. } = finding;
    writeln!(out, "\n  line {line}: {}: {message}", invariant.name())?;
    writeln!(out, "    event    {event}")?;
    writeln!(out, "    allowed  {allowed}")?;
    if let Some(guard) = guard {
        writeln!(out, "    guard    {}: {}", guard.name(), guard.doc())?;
    }
    if let Some(earlier) = earlier {
        writeln!(out, "    see      line {earlier}")?;
    }
    Ok(())
}
