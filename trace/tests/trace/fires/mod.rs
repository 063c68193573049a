//! Every invariant fires on a trace that violates it, at the line that does, and stays silent on the same trace without
//! the mistake.

mod broken;
mod copies;
mod holds;
mod order;
mod pages;
mod unordered;

use leasecheck_sim::invariants::Code;
use leasecheck_trace::{Report, check};
use std::collections::BTreeSet;

pub const HOST: &str = r#"{"name":"host","bytes":48,"bands":[{"name":"swa","envelope":4,"grow":"up"},{"name":"full","envelope":8,"grow":"down","page_tokens":4}]}"#;
pub const DESIGN: &str = r#"{"name":"host","bytes":48,"design":"sglang-0.5.23","bands":[{"name":"swa","envelope":4,"grow":"up"},{"name":"full","envelope":8,"grow":"down"}]}"#;
pub const DEVICE: &str = r#"{"name":"device","bytes":64,"sink":true,"bands":[{"name":"kv","envelope":8,"grow":"up","page_tokens":4,"multiplier":70},{"name":"win","envelope":4,"grow":"down","ids_of":"kv"}]}"#;
pub const BUFFER: &str = r#"{"name":"gpu","bytes":64},{"name":"idx","bytes":16,"role":"index"}"#;
pub const OTHER: &str = r#"{"name":"peer","bytes":48,"bands":[{"name":"rows","envelope":4}]}"#;

/// What it is about, arenas, the invariant that a line violates, lines. A line that begins with `!` is the mistake: it is
/// refused, and without it the trace is accepted. A line that begins with `+` is what is missing in the trace that is
/// refused, at the line that begins with `?`.
pub type Case<'a> = (&'a str, &'a [&'a str], &'a str, &'a str);

fn trace(arenas: &[&str], complete: &str, lines: &[&str]) -> String {
    let header =
        format!(r#"{{"leasecheck_trace":1,"producer":"test","arenas":[{}],"complete":{complete}}}"#, arenas.join(","));
    let mut text = header;
    for line in lines.iter().filter(|line| !line.contains(r#""k":"end""#)) {
        text += "\n";
        text += line;
    }
    text + "\n{\"k\":\"end\"}\n"
}

const ALL: &str = r#"["pages","leases","order","writes","copies"]"#;

fn first(report: &Report) -> Option<(&str, u64)> {
    report.findings.first().map(|finding| (finding.invariant.name(), finding.line))
}

/// The cases that are not refused or not accepted as they should be.
pub fn mistakes(cases: &[Case<'_>]) -> Vec<String> {
    let mut mistakes = Vec::new();
    for (what, arenas, code, lines) in cases {
        let lines: Vec<&str> = lines.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let plain = |line: &&str| -> Option<String> { Some(line.trim_start_matches(['!', '?', '+']).to_owned()) };
        let wrong: Vec<String> = lines.iter().filter(|line| !line.starts_with('+')).filter_map(plain).collect();
        let right: Vec<String> = lines.iter().filter(|line| !line.starts_with('!')).filter_map(plain).collect();
        let marked = lines.iter().filter(|line| !line.starts_with('+')).position(|line| line.starts_with(['!', '?']));
        let at = marked.map_or(0, |nth| nth as u64 + 2);
        let run = |lines: &[String], complete: &str| {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            check("trace", trace(arenas, complete, &lines).as_bytes())
        };
        let report = run(&wrong, ALL);
        if report.broken.is_some() || first(&report) != Some((*code, at)) {
            mistakes.push(format!("{what}: not refused in line {at}: {:?} {:?}", report.findings, report.broken));
        }
        let report = run(&right, ALL);
        if !report.accepted() {
            mistakes.push(format!("{what}: not accepted: {:?} {:?}", report.findings, report.broken));
        }
        // What nobody promised to record makes no finding.
        let report = run(&wrong, "[]");
        let promised_nothing = ["partial-page", "mis-keyed", "wrong-space", "lost-bytes"];
        let expected = promised_nothing.contains(code) && !what.contains("success without");
        // What an id stands for is known only if every page is.
        let by_page =
            what.contains("an id as") || what.contains("index as a page") || what.contains("bytes of a transfer");
        if report.broken.is_none() && !by_page && (report.found > 0) != expected {
            mistakes.push(format!("{what}: with nothing promised: {:?}", report.findings));
        }
    }
    mistakes
}

#[test]
fn every_invariant_fires_and_stays_silent() {
    let cases = [pages::CASES, holds::CASES, order::CASES, unordered::CASES, copies::CASES].concat();
    let mistakes = mistakes(&cases);
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    let fired: BTreeSet<&str> = cases.iter().map(|(_, _, code, _)| *code).collect();
    // What a case states, memory that is unmapped, and decisions of several ranks are not recorded.
    let beyond = ["check", "unmapped", "divergence"];
    let missing: Vec<&str> = Code::ALL
        .iter()
        .map(|code| code.name())
        .filter(|code| !(beyond.contains(code) || fired.contains(code)))
        .collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}
