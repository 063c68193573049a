//! The driver in `adapters/naive` behaves as core does, and each of its mistakes is noticed. Needs `python3`, without any
//! package; where there is none, nothing is tested, loudly.

use leasecheck_conform::{Campaign, Kind, Known, Report, Settings, Trouble, parse, render};
use std::process::Command;
use std::time::Duration;

const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../adapters/naive/driver.py");

/// Seeds that the correct driver is run with.
const SEEDS: u64 = 80;

fn python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("\n!!! NOT TESTED: there is no python3, so no driver could be run !!!\n");
    }
    found
}

fn settings(arguments: &str, timeout: u64, known: &str) -> Settings {
    let known = Known::parse(known).unwrap_or_else(|error| panic!("{error}"));
    let command = format!("python3 '{DRIVER}' {arguments}");
    // A driver that is given up on costs a process for each attempt to shrink.
    let shrink = if timeout < 60 { 2 } else { 600 };
    Settings { command, timeout: Duration::from_secs(timeout), known, shrink }
}

fn run(arguments: &str, timeout: u64, seeds: u64) -> Report {
    let mut campaign = Campaign::start(settings(arguments, timeout, "")).unwrap_or_else(|error| panic!("{error}"));
    campaign.run(0..seeds, &|| false, &|_| {}).unwrap_or_else(|error| panic!("{error}"))
}

fn kinds() -> Vec<String> {
    let output = Command::new("python3").args([DRIVER, "--list"]).output().expect("the driver starts");
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn the_correct_driver_is_accepted() {
    if !python() {
        return;
    }
    let report = run("", 60, SEEDS);
    assert!(report.finding.is_none(), "{}", report.finding.expect("checked").difference);
    assert_eq!(report.sequences, SEEDS);
    assert!(report.operations > 10 * SEEDS, "{} operations", report.operations);
}

#[test]
fn every_mistake_is_noticed_and_shrunk_and_replays() {
    if !python() {
        return;
    }
    let kinds = kinds();
    assert!(kinds.len() >= 8, "{kinds:?}");
    let start = |arguments: &str, timeout| {
        Campaign::start(settings(arguments, timeout, "")).unwrap_or_else(|error| panic!("{arguments}: {error}"))
    };
    // Drivers that still answer are used again: each costs a process that has to start.
    let mut right = start("", 60);
    let mut unnoticed = Vec::new();
    for kind in &kinds {
        let process = ["exits", "hangs", "rubbish"].contains(&kind.as_str());
        let mut wrong = start(&format!("--wrong {kind}"), if process { 2 } else { 60 });
        let report = wrong.run(0..400, &|| false, &|_| {}).unwrap_or_else(|error| panic!("{kind}: {error}"));
        let Some(found) = report.finding else {
            unnoticed.push(kind);
            continue;
        };
        println!("{kind}: seed {:?}, {} steps, {}", found.seed, found.steps.len() - 1, found.difference.at);
        let expected = match kind.as_str() {
            "exits" | "hangs" => Kind::Broken,
            "rubbish" => Kind::Rubbish,
            _ => Kind::Answer,
        };
        assert_eq!(found.difference.kind, expected, "{kind}: {}", found.difference);
        if process {
            continue;
        }
        assert!(found.steps.len() <= 12, "{kind}: {} steps are not minimal", found.steps.len());
        // The file shows it again, on the driver that is wrong and not on the one that is right.
        let text = render("naive", found.seed, Some(&found.difference), &found.steps);
        let steps = parse(&text).unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert_eq!(steps, found.steps, "{kind}");
        let again = |campaign: &mut Campaign| campaign.replay(&steps).unwrap_or_else(|error| panic!("{error}")).0;
        assert_eq!(again(&mut wrong).as_ref(), Some(&found.difference), "{kind}");
        assert_eq!(again(&mut right), None, "{kind}");
    }
    assert!(unnoticed.is_empty(), "not noticed: {unnoticed:?}");
}

const TABLE: &str = r#"
[[difference]]
name   = "highest-first"
reason = "this driver hands out the highest id"
ops    = ["alloc"]
at     = "result"
core   = "ok"
shows  = '''
{"op":"reset","layout":{"bytes":64,"bands":[{"name":"full","envelope":16,"page_tokens":1,"grow":"down"}]}}
{"thread":"a","op":"alloc","requests":[["full",1]],"stamp":1}
'''
"#;

#[test]
fn a_known_difference_explains_itself_and_nothing_else_and_goes_stale() {
    if !python() {
        return;
    }
    let run = |arguments: &str| {
        let mut campaign = Campaign::start(settings(arguments, 60, TABLE)).expect("the driver starts");
        campaign.run(0..60, &|| false, &|_| {}).unwrap_or_else(|error| panic!("{error}"))
    };
    let wrong = run("--wrong highest-id");
    assert!(wrong.finding.is_none() && wrong.stale.is_empty());
    assert!(wrong.known["highest-first"] > 10, "{:?}", wrong.known);
    let right = run("");
    assert_eq!((right.stale, right.finding.is_none()), (vec!["highest-first".to_owned()], true));
    let other = run("--wrong free-keeps-watermark");
    assert!(other.finding.is_some_and(|found| found.difference.at.starts_with("state.bands")));
}

#[test]
fn what_is_no_driver_is_said_to_be_none() {
    let start = |command: &str| {
        let settings = Settings { command: command.into(), ..settings("", 5, "") };
        Campaign::start(settings).err()
    };
    assert!(matches!(start(""), Some(Trouble::Start(_))));
    assert!(matches!(start("'unclosed"), Some(Trouble::Start(_))));
    assert!(matches!(start("no-such-program-anywhere"), Some(Trouble::Start(_))));
    if python() {
        assert!(matches!(start("python3 -c 'print(1)'"), Some(Trouble::Rubbish(_))));
        assert!(matches!(start("python3 -c 'raise SystemExit(3)'"), Some(Trouble::Ended(_))));
    }
}

#[test]
fn wrong_tables_and_files_are_refused_with_the_line() {
    assert!(Known::parse("[[difference]]\nname = 1").is_err());
    let bad = TABLE.replace("\"op\":\"alloc\"", "\"op\":\"allocate\"");
    let error = Known::parse(&bad).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("highest-first") && error.contains("line 2"), "{error}");
    assert!(parse("").is_err());
    let error = parse("{\"thread\":\"a\",\"op\":\"acquire\"}\n").expect_err("no reset");
    assert!(error.contains("line 1"), "{error}");
    assert!(parse("{\"conform\":99}\n").is_err());
}
