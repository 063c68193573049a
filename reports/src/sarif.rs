//! SARIF 2.1.0: a result for each case that is not as claimed, at the step's line in the litmus file, with the run as a
//! code flow.

use crate::model::{CaseReport, CounterexampleReport, Report};
use crate::plain::{plain, short};
use leasecheck_sim::invariants::Code;
use serde_json::{Value, json};

/// The longest text of a message.
const LONGEST: usize = 4_000;
/// The most steps of a code flow.
const MOST_STEPS: usize = 1_000;

/// Results that are not an invariant's: their rule, and what it says.
const OTHER: [(&str, &str); 4] = [
    ("not-reachable", "the violation that the case claims is reachable"),
    ("vacuous", "what the claim is about happens in some run"),
    ("truncated", "the case is explored completely, within the limits"),
    ("gate", "everything that the gate checks beside the cases holds"),
];

/// `checks` are those of a gate: names, and why they failed.
///
/// # Errors
/// When the log cannot be written, which no report has.
pub fn render(report: &Report, checks: &[(String, Result<(), String>)]) -> Result<String, String> {
    let codes = Code::ALL.iter().map(|code| (code.name(), code.doc()));
    let rules: Vec<Value> =
        (codes.chain(OTHER)).map(|(id, doc)| json!({ "id": id, "shortDescription": { "text": doc } })).collect();
    let cases = report.cases.iter().filter(|case| case.standing != "as claimed").map(case);
    let failed = checks.iter().filter_map(|(name, result)| Some((name, result.as_ref().err()?)));
    let failed = failed.map(|(name, why)| {
        json!({ "ruleId": "gate", "level": "error", "message": { "text": short(&format!("{name}: {why}"), LONGEST) } })
    });
    let results: Vec<Value> = cases.chain(failed).collect();
    let errors = report.errors.iter().map(|error| {
        let location = json!({ "physicalLocation": { "artifactLocation": { "uri": uri(&error.file) } } });
        let text = error.message.lines().take(40).map(|line| short(line, LONGEST)).collect::<Vec<_>>().join("\n");
        json!({ "level": "error", "message": { "text": text }, "locations": [location] })
    });
    let notifications: Vec<Value> = errors.collect();
    let log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "leasecheck", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": report.errors.is_empty(),
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    });
    crate::json::render(&log).map_err(|error| error.to_string())
}

/// A path as the reference of a URI: everything that has a meaning there is written in percent.
fn uri(path: &str) -> String {
    let mut out = if path.starts_with('/') { "file://".to_owned() } else { String::new() };
    for byte in path.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
            byte if byte.is_ascii_alphanumeric() => out.push(char::from(byte)),
            byte => out += &format!("%{byte:02X}"),
        }
    }
    out
}

fn location(file: &str, line: u32, text: &str) -> Value {
    json!({
        "physicalLocation": { "artifactLocation": { "uri": uri(file) }, "region": { "startLine": line.max(1) } },
        "message": { "text": short(text, LONGEST) },
    })
}

fn case(case: &CaseReport) -> Value {
    let found = case.counterexample.as_ref();
    let (rule, level) = match (case.verdict.as_str(), found) {
        (_, Some(found)) => (found.code.as_str(), "error"),
        ("truncated", _) => ("truncated", "warning"),
        ("vacuous", _) => ("vacuous", "error"),
        _ => ("not-reachable", "error"),
    };
    let mut text = format!("{} / {}: expected {}, but {}.", case.claim, case.case, case.expected, case.why);
    if let Some(found) = found {
        text += &format!(" {}.", found.message);
        if let Some(missing) = &found.missing {
            text += &format!(" {}", missing.sentence);
        }
        text += &format!(" Replay: {}", found.replay);
    }
    let line = found.and_then(CounterexampleReport::line).unwrap_or(case.line);
    let mut result = json!({
        "ruleId": rule,
        "level": level,
        "message": { "text": short(&text, LONGEST) },
        "locations": [location(&case.file, line, &case.case)],
        "partialFingerprints": { "case/v1": short(&format!("{}/{}/{rule}", case.claim, case.case), LONGEST) },
    });
    if let Some(found) = found {
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": flow(&case.file, found) }] }]);
    }
    result
}

/// The steps of a run; of a long one, the last.
fn flow(file: &str, run: &CounterexampleReport) -> Vec<Value> {
    let first = run.rows.len().saturating_sub(MOST_STEPS);
    let steps = run.rows.iter().enumerate().skip(first).map(|(at, row)| {
        let agent = &run.agents[usize::from(row.agent)];
        let does = match row.queue {
            Some(queue) => format!("{agent} enqueues on {}: {}", run.agents[usize::from(queue)], row.text),
            None => format!("{agent}: {}", row.text),
        };
        let text = [does].into_iter().chain(row.notes.iter().cloned()).collect::<Vec<_>>().join("; ");
        json!({ "location": location(file, row.line, &plain(&text)), "executionOrder": at + 1 })
    });
    let next = run.next().into_iter().flatten().map(|end| {
        let text = format!("not taken yet, can be next: {}: {}", run.agents[usize::from(end.agent)], end.text);
        json!({ "location": location(file, end.line, &plain(&text)), "executionOrder": run.rows.len() + 1 })
    });
    let steps: Vec<Value> = steps.chain(next).collect();
    if steps.is_empty() { vec![json!({ "location": location(file, 1, "the start") })] } else { steps }
}
