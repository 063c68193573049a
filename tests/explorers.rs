//! `why`, `needed`, `estimate`, `compare` and `ablate` from outside: what they find, exit codes, and that neither
//! another run nor another number of workers changes a byte. (Their texts are compared by the test of
//! `docs/explorers.md`.)

use std::process::{Command, Output};

const HOLDS: &str = "tests/litmus/seed/lease-spans-async-transfer.toml";
const FAILS: &str = "tests/litmus/seed/lease-ends-before-view-used.toml";

fn leasecheck(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_leasecheck"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("it starts")
}

fn json(args: &[&str]) -> (i32, serde_json::Value) {
    let output = leasecheck(&[args, &["--format", "json"]].concat());
    let text = String::from_utf8(output.stdout).expect("text");
    let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{args:?}: {error}: {text}"));
    (output.status.code().expect("it ends by itself"), value)
}

#[test]
fn neither_the_run_nor_the_number_of_workers_changes_a_byte() {
    let commands: &[&[&str]] = &[
        &["why", FAILS],
        &["needed", HOLDS],
        &["estimate", HOLDS, "--format", "json"],
        &["compare", "design", "planner=slide"],
        &["ablate", "--corpus", "tests/litmus/seed"],
    ];
    for command in commands {
        let runs = ["1", "2", "2"].map(|jobs| leasecheck(&[command, &["--jobs", jobs][..]].concat()));
        assert!(!runs[0].stdout.is_empty(), "{command:?}");
        assert_eq!(runs[0].stdout, runs[1].stdout, "{command:?} with another number of workers");
        assert_eq!(runs[1].stdout, runs[2].stdout, "{command:?} again");
    }
}

#[test]
fn a_token_is_explained_like_its_file() {
    let (code, by_file) = json(&["why", FAILS]);
    assert_eq!(code, 0);
    let token = by_file["token"].as_str().expect("a token");
    assert_eq!(json(&["why", token]), (0, by_file.clone()));
    let prefixes = by_file["prefixes"].as_array().expect("prefixes");
    let last = prefixes.last().expect("a step");
    assert_eq!(last["hits"], by_file["rolls"], "the whole run violates: {last}");
}

/// A search for a way out that may look at one state only cannot know.
#[test]
fn certainty_that_a_budget_cuts_off_is_unknown() {
    let output = leasecheck(&["why", "tests/litmus/seed/two-compactors.toml", "--rolls", "1", "--limit-states", "1"]);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{errors}");
}

#[test]
fn the_lease_and_its_hand_off_are_needed() {
    let (code, report) = json(&["needed", HOLDS, "--case", "as built"]);
    assert_eq!(code, 0);
    let guards = report["cases"][0]["guards"].as_array().expect("guards");
    for (number, becomes) in [(1, "left out"), (2, "a plain release")] {
        let guard = &guards[number - 1];
        assert_eq!((guard["fate"].as_str(), guard["becomes"].as_str()), (Some("needed"), Some(becomes)), "{guard}");
        assert!(!guard["run"].as_array().expect("a run").is_empty());
    }
    assert!(guards.iter().any(|guard| guard["fate"] == "no part"), "every rule has a part in this case");
}

#[test]
fn estimates_of_small_cases_are_exact() {
    let (code, report) = json(&["estimate", HOLDS, "--case", "as built"]);
    assert_eq!(code, 0);
    let (_, checked) = json(&["check", HOLDS, "--case", "as built"]);
    let reduced = &report["cases"][0]["reduced"];
    assert_eq!(reduced["states"], checked["cases"][0]["states"], "{reduced}");
    assert!(!report.to_string().contains("second"), "times differ from run to run: they are not data");
}

#[test]
fn a_rule_that_is_switched_off_breaks_what_it_is_for_and_back_on_fixes_it() {
    let off = "rule:frees-are-checked=off";
    let changes = |report: &serde_json::Value, change: &str| {
        let cases = report["cases"].as_array().expect("cases").iter();
        cases.filter(|case| case["change"] == change).map(|case| case["case"].clone()).collect::<Vec<_>>()
    };
    let (code, there) = json(&["compare", "design", off]);
    assert_eq!(code, 1);
    let (code, back) = json(&["compare", off, "design"]);
    assert_eq!(code, 0);
    assert!(!changes(&there, "broken").is_empty());
    assert_eq!(changes(&there, "broken"), changes(&back, "fixed"));
    let (code, same) = json(&["compare", FAILS, FAILS]);
    assert_eq!(code, 0);
    assert_eq!(changes(&same, "unchanged").len(), same["cases"].as_array().expect("cases").len());
    assert!(same["hunt"].is_null(), "a file has no seeds");

    let runs = |report: &serde_json::Value, change: &str| -> u64 {
        let runs = report["hunt"]["runs"].as_array().expect("runs").iter();
        runs.filter(|runs| runs["change"] == change).map(|runs| runs["count"].as_u64().expect("a number")).sum()
    };
    assert!(runs(&there, "broken") > 0, "{there}");
    assert_eq!(runs(&there, "broken"), runs(&back, "fixed"));
    assert_eq!(runs(&there, "broken") + runs(&there, "unchanged"), 4_096);
    let broken = there["hunt"]["runs"].as_array().expect("runs").iter().find(|runs| runs["change"] == "broken");
    let (broken, code) = broken.map(|runs| (runs["show"].as_str(), runs["b"].as_str())).expect("a run");
    let shown: Vec<&str> = broken.expect("a command").split(' ').skip(1).collect();
    let shown = leasecheck(&shown);
    assert_eq!(shown.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&shown.stdout).contains(code.expect("an invariant")), "{shown:?}");
}

#[test]
fn seeds_are_compared_in_pieces_as_in_one() {
    let report = |seeds: &str| {
        let compare = ["compare", "design", "planner=slide", "--corpus", "docs/examples", "--seeds", seeds];
        json(&compare).1["hunt"].clone()
    };
    let count = |hunt: &serde_json::Value| -> u64 {
        hunt["runs"].as_array().expect("runs").iter().map(|runs| runs["count"].as_u64().expect("a number")).sum()
    };
    let (all, first, second) = (report("40..5000"), report("40..2500"), report("2500..5000"));
    assert_eq!((count(&all), count(&first) + count(&second)), (4_960, 4_960));
}

#[test]
fn every_rule_and_every_assumption_is_noticed() {
    let (code, report) = json(&["ablate", "--corpus", "tests/litmus"]);
    let parts = report["parts"].as_array().expect("parts");
    let blind: Vec<_> = parts.iter().filter(|part| part["fate"] != "noticed").collect();
    assert!(blind.is_empty(), "{blind:?}");
    assert_eq!(code, 0);
    // A corpus about something else notices little, which is a failure.
    assert_eq!(json(&["ablate", "--corpus", "docs/examples"]).0, 1);
}

#[test]
fn wrong_input_ends_with_2_and_says_what_to_do() {
    let wrong: &[(&[&str], &str)] = &[
        (&["why", "tests/nothing.toml"], "cannot be read"),
        (&["why", "1.nothing.0:AAAA"], "no litmus file"),
        (&["why", "1.lease-spans-async-transfer.0:_w"], "cut off"),
        (&["why", FAILS, "--case", "none"], "there are: as reported"),
        (&["why", FAILS, "--rolls", "0"], "--rolls"),
        (&["needed", HOLDS, "--guard", "999"], "there is no guard 999"),
        (&["estimate", HOLDS, "--walks", "1"], "--walks"),
        (&["compare", HOLDS, "design"], "name two litmus files, or two configurations"),
        (&["compare", HOLDS, HOLDS, "--seeds", "0..9"], "`--seeds` is for configurations"),
        (&["compare", "design", "planner=slide", "--seeds", "9..1"], "write `--seeds A..B` with A < B"),
        (&["compare", "design", "rule:frees-are-cheked=off"], "did you mean `frees-are-checked`"),
        (&["compare", "design", "rule:frees-are-checked=on"], "write `rule:frees-are-checked=off`"),
        (&["compare", "design", "planer=slide"], "expected `design`"),
        (&["ablate", "--corpus", "tests/nothing"], "cannot be read"),
    ];
    for (args, expected) in wrong {
        let output = leasecheck(args);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {errors}");
        assert!(errors.contains(expected), "{args:?}: {errors}");
    }
}
