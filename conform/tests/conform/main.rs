//! The drivers in `adapters/naive` behave as core does, and each of their mistakes is noticed. Needs `python3`, without any
//! package; where there is none, nothing is tested, loudly.

#![allow(missing_docs)]

mod device;
mod files;
mod host;

use leasecheck_conform::{Campaign, Finding, Kind, Known, Report, Settings, parse, render};
use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

const DRIVERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../adapters/naive");

fn python() -> bool {
    let found = Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        eprintln!("\n!!! NOT TESTED: there is no python3, so no driver could be run !!!\n");
    }
    found
}

fn settings(driver: &str, timeout: u64, known: &str) -> Settings {
    let known = Known::parse(known).unwrap_or_else(|error| panic!("{error}"));
    // A driver that is given up on costs a process for each attempt to shrink.
    let shrink = if timeout < 60 { 2 } else { 600 };
    Settings { command: format!("python3 '{DRIVERS}'/{driver}"), timeout: Duration::from_secs(timeout), known, shrink }
}

fn start(driver: &str, timeout: u64) -> Campaign {
    Campaign::start(settings(driver, timeout, "")).unwrap_or_else(|error| panic!("{driver}: {error}"))
}

fn run(campaign: &mut Campaign, seeds: u64) -> Report {
    campaign.run(0..seeds, &|| false, &|_| {}).unwrap_or_else(|error| panic!("{error}"))
}

/// The driver does as core does, whatever it is asked.
fn conforms(driver: &str, seeds: u64) {
    let report = run(&mut start(driver, 60), seeds);
    assert!(report.finding.is_none(), "{driver}: {}", report.finding.expect("checked").difference);
    assert_eq!(report.sequences, seeds);
    assert!(report.operations > 10 * seeds, "{driver}: {} operations", report.operations);
}

/// The ways to be wrong that the driver offers.
fn mistakes(driver: &str) -> BTreeSet<String> {
    let output = Command::new("python3").arg(format!("{DRIVERS}/{driver}")).arg("--list").output();
    let output = output.expect("the driver starts");
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

/// What a mistake must show: where, and a part of what is said there by core or by the driver.
struct Shows<'a> {
    mistake: &'a str,
    at: &'a str,
    says: &'a str,
}

/// The driver with this mistake is found out, in the way that is expected; what was found is minimal, and shows the
/// mistake again, which the right driver does not.
fn found_out(right: &mut Campaign, driver: &str, shows: &Shows<'_>) -> Result<Finding, String> {
    let Shows { mistake, at, says } = shows;
    let mut wrong = start(&format!("{driver} --wrong {mistake}"), 60);
    let Some(found) = run(&mut wrong, 400).finding else { return Err(format!("{mistake}: not noticed")) };
    let Finding { seed, difference, steps } = &found;
    println!("{mistake}: seed {seed:?}, {} steps, {}", steps.len() - 1, difference.at);
    if difference.kind != Kind::Answer || difference.at != *at || !difference.to_string().contains(says) {
        return Err(format!("{mistake}: expected {at}, {says}: {difference}"));
    }
    if steps.len() > 12 {
        return Err(format!("{mistake}: {} steps are not minimal", steps.len()));
    }
    let text = render("naive", *seed, Some(difference), steps);
    let read = parse(&text).map_err(|error| format!("{mistake}: {error}"))?;
    let again = |campaign: &mut Campaign| campaign.replay(&read).unwrap_or_else(|error| panic!("{error}")).0;
    if read != *steps || again(&mut wrong).as_ref() != Some(difference) || again(right).is_some() {
        return Err(format!("{mistake}: what was written does not show it"));
    }
    Ok(found)
}
