//! JUnit XML: a suite for each claim, a test for each case.

use crate::model::Report;
use crate::plain::plain;
use crate::text;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// `seconds` holds the time of each case, in the order of the report.
///
/// # Errors
/// When the XML cannot be written.
pub fn render(report: &Report, checks: &[(String, Result<(), String>)], seconds: &[f64]) -> Result<String, String> {
    let mut junit = quick_junit::Report::new("leasecheck gate");
    let mut suites: Vec<TestSuite> = Vec::new();
    for (nth, case) in report.cases.iter().enumerate() {
        let mut status = TestCaseStatus::success();
        if case.standing != "as claimed" {
            status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status
                .set_message(plain(&format!("expected {}, but {}", case.expected, case.why)))
                .set_description(text::case(case));
        }
        let mut test = TestCase::new(plain(&case.case), status);
        let claim = plain(&case.claim);
        test.set_classname(claim.clone());
        test.set_time(Duration::from_secs_f64(seconds.get(nth).copied().unwrap_or(0.0)));
        match suites.last_mut().filter(|suite| suite.name.as_str() == claim) {
            Some(suite) => {
                suite.add_test_case(test);
            }
            None => {
                let mut suite = TestSuite::new(claim);
                suite.add_test_case(test);
                suites.push(suite);
            }
        }
    }
    let mut suite = suite("gate", checks);
    for error in &report.errors {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(lines(&error.message));
        suite.add_test_case(TestCase::new(plain(&error.file), status));
    }
    suites.push(suite);
    junit.add_test_suites(suites);
    junit.to_string().map_err(|error| error.to_string())
}

fn suite(name: &str, checks: &[(String, Result<(), String>)]) -> TestSuite {
    let mut suite = TestSuite::new(name);
    for (name, result) in checks {
        let mut status = TestCaseStatus::success();
        if let Err(why) = result {
            status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_message(lines(why));
        }
        suite.add_test_case(TestCase::new(plain(name), status));
    }
    suite
}

/// A suite of checks that are not cases: their names, and why they failed.
///
/// # Errors
/// When the XML cannot be written.
pub fn checks(name: &str, checks: &[(String, Result<(), String>)]) -> Result<String, String> {
    let mut junit = quick_junit::Report::new(name);
    junit.add_test_suite(suite(name, checks));
    junit.to_string().map_err(|error| error.to_string())
}

/// A text of several lines, each of them as it may be shown.
fn lines(text: &str) -> String {
    text.lines().map(plain).collect::<Vec<_>>().join("\n")
}
