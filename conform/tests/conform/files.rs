//! Tables of known differences, files that replay, commands that are no driver.

use crate::{python, run, settings};
use leasecheck_conform::{Campaign, Known, Settings, Trouble, parse};

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
    let known = |arguments: &str| {
        let settings = settings(&format!("driver.py {arguments}"), 60, TABLE);
        run(&mut Campaign::start(settings).expect("the driver starts"), 60)
    };
    let wrong = known("--wrong highest-id");
    assert!(wrong.finding.is_none() && wrong.stale.is_empty());
    assert!(wrong.known["highest-first"] > 10, "{:?}", wrong.known);
    let right = known("");
    assert_eq!((right.stale, right.finding.is_none()), (vec!["highest-first".to_owned()], true));
    let other = known("--wrong free-keeps-watermark");
    assert!(other.finding.is_some_and(|found| found.difference.at.starts_with("state.bands")));
}

#[test]
fn what_is_no_driver_is_said_to_be_none() {
    let start = |command: &str| {
        let settings = Settings { command: command.into(), ..settings("driver.py", 5, "") };
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

#[cfg(unix)]
#[test]
fn a_driver_is_not_interrupted_with_the_campaign() {
    if !python() {
        return;
    }
    let script = r#"import json, os, sys; sys.stdin.readline(); print(json.dumps({"protocol": 1, "name": str(os.getpgrp() == os.getpid())}), flush=True); sys.stdin.read()"#;
    let settings = Settings { command: format!("python3 -c '{script}'"), ..settings("driver.py", 60, "") };
    let campaign = Campaign::start(settings).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(campaign.hello().name, "True", "it leads a process group of its own");
}

#[test]
fn wrong_tables_and_files_are_refused_with_the_line() {
    assert!(Known::parse("[[difference]]\nname = 1").is_err());
    let bad = TABLE.replace("\"op\":\"alloc\"", "\"op\":\"allocate\"");
    let error = Known::parse(&bad).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("highest-first") && error.contains("line 2"), "{error}");
    for (right, wrong, says) in [
        ("ops    = [\"alloc\"]", "ops    = [\"aloc\"]", "is about `aloc`, which is no operation"),
        ("\"result\"", "\"results\"", "is at `results`, where nothing is compared"),
        ("\"result\"", "\"state.bands.full.pagez\"", "where nothing is compared"),
        ("core   = \"ok\"", "tags   = [\"sunk\"]", "has the tag `sunk`, which does not exist"),
        ("this driver hands out the highest id", " ", "has no reason"),
    ] {
        let error = Known::parse(&TABLE.replace(right, wrong)).err().expect(wrong).to_string();
        assert!(error.contains("highest-first") && error.contains(says), "{error}");
    }
    for at in ["state", "state.bands", "state.bands.full", "state.bands.full.pages", "finished"] {
        assert!(Known::parse(&TABLE.replace("\"result\"", &format!("\"{at}\""))).is_ok(), "{at}");
    }
    assert!(parse("").is_err());
    let error = parse("{\"thread\":\"a\",\"op\":\"acquire\"}\n").expect_err("no reset");
    assert!(error.contains("line 1"), "{error}");
    assert!(parse("{\"conform\":99}\n").is_err());
}
