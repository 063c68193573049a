//! `leasecheck estimate`: how large an exhaustive run will be.

use crate::check::{one, workers};
use crate::explorers::{Format, chosen, no_start, print_json, wrong};
use crate::progress::now;
use crate::{Limits, OK, WRONG, print};
use leasecheck_reports::estimate as reports;
use leasecheck_sim::explore::estimate::{EstimateOptions, estimate};
use leasecheck_sim::explore::{Options, explore};
use leasecheck_sim::program::Program;
use leasecheck_sim::world::StartError;
use std::path::Path;
use std::sync::atomic::AtomicU64;

/// States of a calibration: enough for a rate, over in a moment.
const CALIBRATION: u64 = 20_000;

/// States per second, measured on the first states of the space.
fn rate(program: &Program, reduce: bool) -> u64 {
    let progress = AtomicU64::new(0);
    let options = Options {
        limit_states: CALIBRATION,
        limit_memory: 1 << 30,
        reduce,
        interrupted: &|| false,
        progress: &progress,
    };
    let started = now();
    let states = explore(program, &options).map_or(0, |outcome| outcome.states);
    let nanoseconds = started.elapsed().as_nanos().max(1);
    u64::try_from(u128::from(states) * 1_000_000_000 / nanoseconds).unwrap_or(u64::MAX).max(1)
}

fn case(
    program: &Program,
    (walks, seed): (u32, u64),
    calibrate: bool,
) -> Result<(reports::CaseEstimate, Option<reports::Seconds>), StartError> {
    let estimated = |reduce| estimate(program, &EstimateOptions { walks, seed, reduce });
    let (full, reduced) = (estimated(false)?, estimated(true)?);
    let seconds = calibrate.then(|| {
        let ms = |states: u64, rate: u64| states.saturating_mul(1000) / rate;
        let (rate_full, rate_reduced) = (rate(program, false), rate(program, true));
        let (full_ms, reduced_ms) = (ms(full.states, rate_full), ms(reduced.states, rate_reduced));
        reports::Seconds { full_ms, reduced_ms, rate: rate_full }
    });
    Ok((reports::case(program, &full, &reduced), seconds))
}

pub fn run(path: &Path, name: Option<&str>, probes: (u32, u64), jobs: Option<u16>, format: Format) -> u8 {
    let shown = path.display().to_string();
    let file = match one(path) {
        Ok(file) => file,
        Err(code) => return code,
    };
    let limits = Limits { limit_states: 1, limit_seconds: None, limit_memory: 1, jobs };
    let cases = match workers(limits).and_then(|()| chosen(&file, &shown, name)) {
        Ok(cases) => cases,
        Err(message) => return wrong(&message),
    };
    let mut report = reports::report(&shown, probes.0, probes.1);
    let mut seconds = Vec::new();
    for (_, program) in cases {
        match case(program, probes, format == Format::Text) {
            Ok((case, time)) => {
                report.cases.push(case);
                seconds.extend(time);
            }
            Err(error) => report.errors.push(no_start(&shown, program, &error)),
        }
    }
    match format {
        Format::Text => print(&reports::render(&report, &seconds)),
        Format::Json => print_json(&report),
    }
    report.errors.iter().for_each(|error| eprintln!("{}", error.message));
    if report.errors.is_empty() { OK } else { WRONG }
}
