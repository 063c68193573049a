//! Every `leasecheck` command in the documentation runs, and prints what the documentation says it prints.
//!
//! A fenced `console` block holds commands after `$ `; a `text` block right after it holds the output of the last one.
//! `cargo` commands are CI's to run. `<cut>` alone on a line of the expected text stands for any lines.

use std::path::Path;
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Splits a command line at blanks, outside double quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("never empty").push(c),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn run(command: &str) -> String {
    let report = tempfile::tempdir().expect("a folder for reports");
    let words = words(command);
    let report_folder = report.path().to_str().expect("a plain path");
    let args: Vec<&str> =
        words[1..].iter().map(|word| if word == "report" { report_folder } else { word.as_str() }).collect();
    let output =
        Command::new(env!("CARGO_BIN_EXE_leasecheck")).args(&args).current_dir(root()).output().expect("it starts");
    let code = output.status.code().expect("it ends by itself");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(code == 0 || code == 1, "`{command}` ends with {code}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// Fenced blocks: language and text.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((language.to_owned(), body.join("\n")));
        }
    }
    blocks
}

/// Whether `actual` is `expected`, with any lines where `expected` says `<cut>`.
fn matches(expected: &str, actual: &str) -> bool {
    let mut rest = actual.trim_end();
    for (nth, part) in format!("{}\n", expected.trim_end()).split("<cut>\n").enumerate() {
        let part = part.trim_end();
        match rest.find(part) {
            Some(at) if nth > 0 || at == 0 => rest = &rest[at + part.len()..],
            _ => return false,
        }
    }
    rest.trim().is_empty() || expected.trim_end().ends_with("<cut>")
}

/// Runs a document's commands. Returns what it says of their output where they print something else, and that.
fn differences(path: &str) -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join(path)).expect("the document is there");
    let blocks = blocks(&text);
    let mut commands = 0;
    let mut differences = Vec::new();
    for (nth, (language, body)) in blocks.iter().enumerate() {
        if language != "console" {
            continue;
        }
        let mut output = String::new();
        for line in body.lines().filter_map(|line| line.strip_prefix("$ leasecheck")) {
            output = run(&format!("leasecheck{line}"));
            commands += 1;
        }
        if let Some((next, expected)) = blocks.get(nth + 1)
            && next == "text"
            && !matches(expected, &output)
        {
            differences.push((expected.clone(), output.trim_end().to_owned()));
        }
    }
    assert!(commands > 0, "{path} has no command");
    differences
}

fn check(path: &str) {
    if let Some((expected, output)) = differences(path).first() {
        panic!(
            "{path} says\n{expected}\nbut the command prints\n{output}\n\
             (`cargo test --test docs -- --ignored update_the_documents` writes it)"
        );
    }
}

/// What `actual` says, cut where `expected` is: its first part up to the same number of lines, and so on.
fn cut_alike(expected: &str, actual: &str) -> String {
    let lines: Vec<&str> = actual.lines().collect();
    let expected = format!("{expected}\n");
    let parts: Vec<Vec<&str>> = expected.split("<cut>\n").map(|part| part.lines().collect()).collect();
    let mut text: Vec<&str> = Vec::new();
    let mut at = 0;
    for (nth, part) in parts.iter().enumerate() {
        if nth > 0 {
            text.push("<cut>");
            let begins = |line: &str| line.trim().split(' ').next().unwrap_or_default().to_owned();
            let start = part.first().and_then(|first| {
                let rest = &lines[at..];
                rest.iter()
                    .position(|line| line == first)
                    .or_else(|| rest.iter().position(|line| !first.is_empty() && begins(line) == begins(first)))
            });
            let last = nth + 1 == parts.len();
            at = start.map_or(if last { lines.len() - part.len() } else { at }, |start| at + start);
        }
        let end = (at + part.len()).min(lines.len());
        text.extend(if parts.len() == 1 { &lines[..] } else { &lines[at..end] });
        at = end;
    }
    text.join("\n")
}

#[test]
#[ignore = "writes the documents; look at the difference"]
fn update_the_documents() {
    for path in ["README.md", "docs/explorers.md", "docs/patterns.md", "docs/trace-format.md", "docs/litmus.md"] {
        let mut text = std::fs::read_to_string(root().join(path)).expect("the document is there");
        for (expected, output) in differences(path) {
            text = text.replacen(
                &format!("```text\n{expected}\n```"),
                &format!("```text\n{}\n```", cut_alike(&expected, &output)),
                1,
            );
        }
        std::fs::write(root().join(path), text).expect("the document can be written");
    }
}

#[test]
fn readme() {
    check("README.md");
}

#[test]
fn explorers() {
    check("docs/explorers.md");
}

#[test]
fn patterns() {
    check("docs/patterns.md");
}

#[test]
fn trace_format() {
    check("docs/trace-format.md");
}

#[test]
fn litmus_tutorial() {
    check("docs/litmus.md");
    let text = std::fs::read_to_string(root().join("docs/litmus.md")).expect("the tutorial is there");
    let parts: Vec<String> =
        blocks(&text).into_iter().filter(|(language, _)| language == "toml").map(|(_, body)| body).collect();
    let example =
        std::fs::read_to_string(root().join("docs/examples/view-outlives-lease.toml")).expect("the example is there");
    assert_eq!(parts[..3].join("\n\n") + "\n", example, "the tutorial builds the example file");
}
