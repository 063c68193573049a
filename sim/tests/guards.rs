//! Dropping a guard from the compiled program gives what deleting its lines from the file gives.

mod common;

use common::{corpus, corpus_texts, search, title};
use leasecheck_sim::explore::needed::{What, guards};
use leasecheck_sim::litmus::{Source, load};
use leasecheck_sim::program::{Expect, Op, Program};
use leasecheck_sim::verdict::{Outcome, Verdict};

/// The text with these steps taken out of their lines.
fn without(text: &str, steps: &[(u32, String)]) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (line, step) in steps {
        let line = lines.get_mut(*line as usize - 1)?;
        if !line.contains(step.as_str()) {
            return None;
        }
        *line = line.replacen(step.as_str(), "", 1);
    }
    Some(lines.join("\n"))
}

fn result(outcome: &Outcome) -> (&'static str, u64) {
    match &outcome.verdict {
        Verdict::Reachable(found) => (found.violation.code.name(), outcome.states),
        other => (other.word(), outcome.states),
    }
}

#[test]
fn dropping_a_guard_is_deleting_its_lines() {
    let mut compared = 0;
    for (path, text) in corpus_texts() {
        let source = Source { path, text: text.clone() };
        let file = load(&source).unwrap_or_else(|wrong| panic!("{}", wrong.render(&source)));
        for (at, program) in file.cases.iter().enumerate().filter(|(_, program)| program.expect == Expect::Unreachable)
        {
            for guard in guards(program) {
                let What::Steps(steps, "left out") = &guard.what else { continue };
                let Some(edited) = without(&text, steps) else { continue };
                let source = Source { path: "edited".to_owned(), text: edited };
                let Ok(edited) = load(&source) else { continue };
                let edited = Program { witness: Vec::new(), ..edited.cases[at].clone() };
                let (dropped, deleted) = (search(&guard.program, false, 300_000), search(&edited, false, 300_000));
                assert_eq!(result(&dropped), result(&deleted), "{} without {steps:?}", title(program));
                compared += 1;
            }
        }
    }
    assert!(compared > 40, "only {compared} guards of the corpus were compared");
}

/// Both ends of every guard with two ends are found, also where an `if` ends it in two places.
#[test]
fn guards_have_both_their_ends() {
    let text = r#"
name = "ends"
source = "test"
claim = "none"

[arena.host]
bytes = 48
bands.full = { envelope = 8, page_tokens = 4, grow = "up" }

[[case]]
name = "only"
expect = "unreachable"
witness = ["finished"]
setup = """
alloc full 1 -> a
copy: record done
pin a
"""
threads.one = """
lock m
lease acquire
lease acquire
lease release
query done -> ok
if ok { lease release } else { lease hand off done }
unlock m
barrier b
"""
threads.two = """
lock m
unlock m
barrier b
unpin a
free a
"""
"#;
    let source = Source { path: "ends".to_owned(), text: text.to_owned() };
    let file = load(&source).unwrap_or_else(|wrong| panic!("{}", wrong.render(&source)));
    let found: Vec<Vec<String>> = guards(&file.cases[0])
        .into_iter()
        .filter_map(|guard| match guard.what {
            What::Steps(steps, _) => Some(steps.into_iter().map(|(_, text)| text).collect()),
            What::Rule(_) => None,
        })
        .collect();
    let expected: &[&[&str]] = &[
        &["pin a", "unpin a"],
        &["lock m", "unlock m"],
        &["lease acquire", "lease release", "lease hand off done"],
        &["lease acquire", "lease release"],
        &["query done -> ok"],
        &["lease hand off done"],
        &["barrier b", "barrier b"],
        &["lock m", "unlock m"],
    ];
    let texts: Vec<Vec<&str>> = found.iter().map(|steps| steps.iter().map(String::as_str).collect()).collect();
    assert_eq!(texts, expected);
}

/// A rule guard differs from the case in that rule only, and no guard of any case is left as it was.
#[test]
fn every_guard_changes_the_program() {
    for program in corpus().iter().flat_map(|file| &file.cases) {
        for guard in guards(program) {
            let ops = |program: &Program| program.code.iter().map(|instr| instr.op.clone()).collect::<Vec<Op>>();
            match guard.what {
                What::Steps(..) => assert_ne!(ops(program), ops(&guard.program), "{}", title(program)),
                What::Rule(rule) => {
                    assert!(program.rules.on(rule) && !guard.program.rules.on(rule));
                    assert_eq!(ops(program), ops(&guard.program));
                }
            }
        }
    }
}
