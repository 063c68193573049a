//! No step, rule or invariant is there for one file of the corpus, unless `leasecheck list` says why.

use leasecheck_core::Rule;
use leasecheck_sim::alone::{ALONE, alone};
use leasecheck_sim::explore::ablate::{Answer, ask};
use leasecheck_sim::explore::{Item, Options};
use leasecheck_sim::invariants::Code;
use leasecheck_sim::litmus::steps::STEPS;
use leasecheck_sim::litmus::{Source, load, usage};
use leasecheck_sim::program::{Expect, Program};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the corpus is there").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
}

/// The text and the cases of every file.
fn corpus() -> Vec<(String, Vec<Program>)> {
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/litmus"), &mut paths);
    let programs = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("litmus files are text");
        let source = Source { path: path.display().to_string(), text };
        let cases = load(&source).unwrap_or_else(|wrong| panic!("{}", wrong.render(&source))).cases;
        (source.text, cases)
    };
    paths.into_iter().map(programs).collect()
}

/// Whether a step as written is one of this syntax: its words in their order, the first one first.
fn is_written(text: &str, syntax: &str) -> bool {
    let word = |word: &&str| word.starts_with(|c: char| c.is_ascii_lowercase()) || ["->", "="].contains(word);
    let optional = |part: &&str| !part.starts_with('[') && !part.ends_with(']');
    let mut wanted = syntax.split(' ').filter(optional).filter(word).peekable();
    let mut have = text.split(' ').peekable();
    if wanted.peek() != Some(&"try") && wanted.peek() != Some(&"wait") {
        have.next_if(|first| *first == "try");
    }
    wanted.next() == have.next() && wanted.all(|word| have.any(|other| other == word))
}

/// Names that fewer than two files use without a reason, or that two use in spite of one.
fn wrong(names: impl Iterator<Item = (String, usize)>) -> Vec<String> {
    names
        .filter(|(name, files)| match alone(name) {
            Some(_) => *files != 1,
            None => *files < 2,
        })
        .map(|(name, files)| format!("`{name}` is used by {files} files"))
        .collect()
}

#[test]
fn nothing_is_there_for_one_file() {
    let corpus = corpus();
    let count =
        |uses: &dyn Fn(&Program) -> bool| corpus.iter().filter(|(_, cases)| cases.iter().any(uses)).take(2).count();
    let steps = STEPS.iter().map(|def| {
        let step = |program: &Program| program.code.iter().any(|instr| is_written(&instr.text, def.syntax));
        // Loops are written out when a program is made.
        let line =
            |text: &str| def.syntax.ends_with('{') && text.lines().any(|line| is_written(line.trim(), def.syntax));
        let used = corpus.iter().filter(|(text, cases)| line(text) || cases.iter().any(step));
        (usage(def), used.take(2).count())
    });
    let codes = Code::ALL.iter().map(|code| {
        let uses = |program: &Program| {
            matches!(program.expect, Expect::Reachable(other) | Expect::Never(other) if other == *code)
        };
        (code.name().to_owned(), count(&uses))
    });
    let progress = AtomicU64::new(0);
    let options = Options {
        limit_states: 1_000_000,
        limit_memory: 1 << 32,
        reduce: true,
        interrupted: &|| false,
        progress: &progress,
    };
    let rules = Rule::ALL.iter().map(|rule| {
        let uses = |program: &Program| matches!(ask(program, Item::Rule(*rule), &options), Answer::Red(..));
        (rule.name().to_owned(), count(&uses))
    });
    let wrong = wrong(steps.chain(codes).chain(rules));
    assert!(wrong.is_empty(), "{}\nsee sim/src/alone.rs, which has {} reasons", wrong.join("\n"), ALONE.len());
}
