//! Reports of real cases, and the same with hostile names.

#![allow(dead_code, reason = "each test uses its part")]

use leasecheck_reports::model::{CaseReport, FileError, Report, VERSION, case_report};
use leasecheck_sim::explore::{Options, explore};
use leasecheck_sim::litmus::{LitmusFile, Source, load};
use std::path::Path;
use std::sync::atomic::AtomicU64;

/// The file of the case that most tests look at, as reports name it.
pub const REPORTED: &str = "tests/litmus/seed/index-read-before-producer-wait.toml";

/// What is in a file of the repository.
pub fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Compiles a litmus file.
pub fn litmus(path: &str, text: String) -> LitmusFile {
    let source = Source { path: path.to_owned(), text };
    load(&source).unwrap_or_else(|diagnostic| panic!("{}", diagnostic.render(&source)))
}

/// Explores a case, every order of it.
pub fn settle(file: &LitmusFile, path: &str, case: usize) -> CaseReport {
    let interrupted = || false;
    let progress = AtomicU64::new(0);
    let options = Options {
        limit_states: 1_000_000,
        limit_memory: 1 << 30,
        reduce: false,
        interrupted: &interrupted,
        progress: &progress,
    };
    let outcome = explore(&file.cases[case], &options).expect("the case starts");
    case_report(file, path, case, &outcome).expect("the run replays")
}

/// The cases of a file of the corpus.
pub fn cases(path: &str) -> Vec<CaseReport> {
    let file = litmus(path, read(path));
    (0..file.cases.len()).map(|case| settle(&file, path, case)).collect()
}

/// A report in which one case has failed, one is as claimed, and one file is wrong.
pub fn failing() -> Report {
    let text = read(REPORTED);
    let claim = "{ reachable = \"stale-index\" }";
    assert!(text.contains(claim), "the case claims what it always has");
    let file = litmus(REPORTED, text.replacen(claim, "\"unreachable\"", 1));
    let cases = (0..file.cases.len()).map(|case| settle(&file, REPORTED, case)).collect();
    let message = "error: tests/litmus/wrong.toml: needs `name`".to_owned();
    Report { version: VERSION, cases, errors: vec![FileError { file: "tests/litmus/wrong.toml".to_owned(), message }] }
}

/// Names that nothing must take for anything but text.
pub fn hostile() -> Vec<String> {
    let mut names: Vec<String> = [
        "<script>alert(1)</script>",
        "</script><img src=x onerror=alert(1)>",
        "<!-- ]]> -->",
        "\"quotes\" 'and' `ticks` ``` %0A::error::",
        "two\nlines\r\n::error::injected",
        "\u{202e}backwards\u{202c} \u{2066}isolated\u{2069} \u{200f}",
        "\u{1b}[31mred\u{7}\u{0}",
        "| table | cell |\n| --- |\n@everyone [link](javascript:alert(1)) ![x](y) https://example.com",
        "{{ template }} {% raw %} ${js} &amp; & &lt;",
    ]
    .map(str::to_owned)
    .to_vec();
    names.push("n".repeat(10_000));
    names
}

/// The failing report with `name` wherever a name or a text stands that comes from a litmus file.
pub fn hostile_report(name: &str) -> Report {
    let mut report = failing();
    for error in &mut report.errors {
        (error.file, error.message) = (name.to_owned(), name.to_owned());
    }
    for case in &mut report.cases {
        for text in
            [&mut case.claim, &mut case.case, &mut case.file, &mut case.source, &mut case.statement, &mut case.why]
        {
            *text = name.to_owned();
        }
        for line in &mut case.program {
            (line.thread, line.text) = (name.to_owned(), name.to_owned());
        }
        let Some(run) = &mut case.counterexample else { continue };
        run.because.push(name.to_owned());
        for text in run.agents.iter_mut().chain([&mut run.message, &mut run.token, &mut run.replay]) {
            *text = name.to_owned();
        }
        for row in &mut run.rows {
            row.text = name.to_owned();
            row.notes.push(name.to_owned());
        }
        for line in &mut run.program {
            (line.thread, line.text) = (name.to_owned(), name.to_owned());
        }
        for arena in &mut run.arenas {
            arena.name = name.to_owned();
            arena.bands.iter_mut().for_each(|band| band.name = name.to_owned());
        }
        run.left.iter_mut().for_each(|left| left.text = name.to_owned());
        run.orders.iter_mut().for_each(|order| order.name = name.to_owned());
        run.holds.iter_mut().for_each(|hold| hold.name = name.to_owned());
        if let Some(missing) = &mut run.missing {
            missing.sentence = name.to_owned();
            missing.before.text = name.to_owned();
            missing.after.text = name.to_owned();
        }
    }
    report
}
