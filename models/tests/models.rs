//! Every model, as the gate runs it.

use leasecheck_models::{EXPECTED, Options, Tool, Verdict, list, replay, run};

/// One run of everything serves all checks: it takes a while.
#[test]
fn every_model_has_the_verdict_that_it_should() {
    let report = run(&Options { jobs: 2, iterations: Some(60), ..Options::default() });
    assert!(report.ok(), "{}{}", report.table(), report.failures(false));

    let unbounded = |row: &&leasecheck_models::Row| {
        row.tool == Tool::Loom && row.bound == "none" && row.verdict == Verdict::Exhausted
    };
    let exhaustive = report.rows.iter().filter(unbounded).count();
    assert!(exhaustive >= 10, "only {exhaustive} models are exhaustive without a bound");

    let shown = report.rows.iter().filter(|row| matches!(row.verdict, Verdict::Shows { .. })).count();
    assert_eq!(shown, EXPECTED.len(), "every expected failure belongs to a model");

    // Counts are golden: another number means another protocol, or another tool.
    let counts: Vec<String> = (report.rows.iter())
        .filter(|row| row.tool == Tool::Loom)
        .map(|row| format!("{} {} {}\n", row.model, row.subject.name(), row.executions))
        .collect();
    assert_eq!(counts.concat(), include_str!("loom_executions.txt"), "{}", report.table());

    for row in &report.rows {
        let Some(failure) = row.verdict.failure() else { continue };
        let again = replay(&failure.token).expect("tokens of this run are tokens");
        assert_eq!(again.verdict.failure(), Some(failure), "{}", failure.token);
    }
}

#[test]
fn names_are_unique_and_expected_failures_belong_to_models() {
    let mut names: Vec<_> = list().into_iter().map(|entry| (entry.model, entry.tool, entry.subject)).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    let options = |jobs| Options { only: Some("compactor".into()), jobs, ..Options::default() };
    assert_eq!(run(&options(1)), run(&options(4)));
}

#[test]
fn a_report_on_nothing_does_not_pass() {
    let report = run(&Options { only: Some("no such model".into()), ..Options::default() });
    assert!(report.rows.is_empty() && !report.ok());
}

#[test]
fn tokens_that_name_nothing_say_why() {
    for (token, why) in [
        ("1.some-claim.0:AAEC", "it should read"),
        ("m1.loom.no-model.shell.none.all.1", "there is no loom model `no-model` on `shell`"),
        ("m1.loom.lost-event.shipped.none.all.1", "there is no loom model `lost-event` on `shipped`"),
        ("m1.loom.two-layouts.shell.no-fault.3.1", "there is no fault `no-fault`"),
        ("m1.shuttle.churn.shell.none.3.1", "neither a number of preemptions nor a strategy"),
        ("m1.shuttle.churn.shell.none.pct.0", "executions are counted from 1"),
    ] {
        let error = replay(token).expect_err(token).to_string();
        assert!(error.contains(why), "{error}");
    }
}

/// The report of the deadlock that two orders of leasing make: the schedule, who waits for whom, the way back to it.
#[test]
fn a_lock_up_explains_itself() {
    let report = run(&Options { only: Some("two-layouts".into()), ..Options::default() });
    let text = report.failures(true);
    for part in [
        "two-layouts on shipped / loom: shows A13: deadlock",
        "step  model                there           back            compactor",
        "waits for moving pages; who could end that: `there`, who holds a lease and waits itself",
        "waits for a lease; who could end that: `model`, who waits itself",
        "replay: leasecheck replay m1.loom.two-layouts.shipped.none.3.",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
}
