//! Many sequences on one driver, until the first difference that nobody knows.

use crate::compare::{Difference, Kind, Place, compare, finished_tag, same_kind};
use crate::driver::{Driver, Trouble};
use crate::generate;
use crate::known::Known;
use crate::lens::Lens;
use crate::protocol::{Answer, Call, Hello, Outcome, Step};
use crate::reference::{Reference, Tags};
use crate::shrink;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// What to run, on what.
pub struct Settings {
    /// The driver's command line.
    pub command: String,
    /// How long it may take for one answer.
    pub timeout: Duration,
    /// Differences that are known.
    pub known: Known,
    /// Sequences that shrinking may try.
    pub shrink: u32,
}

/// An unexplained difference.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The seed that it was drawn from, if it was.
    pub seed: Option<u64>,
    /// The difference of the minimal sequence.
    pub difference: Difference,
    /// The minimal sequence.
    pub steps: Vec<Step>,
}

/// What a campaign has seen.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Sequences that were run.
    pub sequences: u64,
    /// Operations compared.
    pub operations: u64,
    /// Known differences, and how many sequences ended with them.
    pub known: BTreeMap<String, u64>,
    /// Known differences that do not differ any more: their own sequence does not show them.
    pub stale: Vec<String>,
    /// The first difference that is not known.
    pub finding: Option<Finding>,
    /// Seeds up to here have been run.
    pub next_seed: u64,
}

/// How one sequence went.
pub(crate) struct Ran {
    pub(crate) operations: u64,
    pub(crate) difference: Option<Difference>,
}

/// A driver, and how to start it again.
pub struct Campaign {
    pub(crate) settings: Settings,
    driver: Option<Driver>,
    hello: Hello,
}

impl Campaign {
    /// Starts the driver.
    ///
    /// # Errors
    /// When it cannot be started, or does not speak the protocol.
    pub fn start(settings: Settings) -> Result<Campaign, Trouble> {
        let driver = Driver::start(&settings.command, settings.timeout)?;
        let hello = driver.hello.clone();
        if let Some(layout) = &hello.layout {
            Reference::new(layout).map_err(|error| Trouble::Rubbish(format!("its layout is impossible: {error}")))?;
        }
        Ok(Campaign { settings, driver: Some(driver), hello })
    }

    /// What the driver says about itself.
    #[must_use]
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Runs the known differences' own sequences, then those of the seeds, until one differs in a way that is not known
    /// or `stop` says so. `progress` hears of every sequence.
    ///
    /// # Errors
    /// When the driver cannot be started again after it has failed.
    pub fn run(
        &mut self,
        seeds: Range<u64>,
        stop: &dyn Fn() -> bool,
        progress: &dyn Fn(&Report),
    ) -> Result<Report, Trouble> {
        let mut report = Report { next_seed: seeds.start, ..Report::default() };
        for at in 0..self.settings.known.entries.len() {
            let steps = self.settings.known.entries[at].shows.clone();
            let ran = self.sequence(&steps)?;
            let entry = &self.settings.known.entries[at];
            if !ran.difference.as_ref().is_some_and(|difference| entry.explains(difference)) {
                report.stale.push(entry.name.clone());
            }
            if let Some(difference) = ran.difference.filter(|found| self.settings.known.explains(found).is_none()) {
                report.finding = Some(Finding { seed: None, difference, steps });
                return Ok(report);
            }
        }
        for seed in seeds {
            if stop() {
                break;
            }
            let steps = generate::sequence(seed, &self.hello);
            let ran = self.sequence(&steps)?;
            report.sequences += 1;
            report.operations += ran.operations;
            report.next_seed = seed + 1;
            progress(&report);
            let Some(difference) = ran.difference else { continue };
            if let Some(entry) = self.settings.known.explains(&difference) {
                *report.known.entry(entry.name.clone()).or_default() += 1;
                continue;
            }
            let (steps, difference) = shrink::shrink(self, steps, difference)?;
            report.finding = Some(Finding { seed: Some(seed), difference, steps });
            break;
        }
        Ok(report)
    }

    /// Runs one sequence; `None` if nothing differs.
    ///
    /// # Errors
    /// When the driver cannot be started again after it has failed, or the layout is impossible.
    pub fn replay(&mut self, steps: &[Step]) -> Result<(Option<Difference>, Option<String>), Trouble> {
        let difference = self.sequence(steps)?.difference;
        let known = difference.as_ref().and_then(|found| self.settings.known.explains(found));
        let known = known.map(|entry| entry.name.clone());
        Ok((difference, known))
    }

    /// Runs a sequence up to its first difference.
    pub(crate) fn sequence(&mut self, steps: &[Step]) -> Result<Ran, Trouble> {
        let mut ran = Ran { operations: 0, difference: None };
        let Some(Step { call: Call::Reset { layout }, .. }) = steps.first() else { return Ok(ran) };
        let mut reference = Reference::new(layout)
            .map_err(|error| Trouble::Rubbish(format!("the layout of the sequence is impossible: {error}")))?;
        let mut lens = Lens::new(&self.hello, layout);
        for (at, step) in steps.iter().enumerate() {
            let mut tags = reference.tags(step);
            // Whether a request fits while nothing may move depends on where the holes are, which is each side's own.
            let either = reference.gate_closed() && matches!(step.call, Call::Alloc { .. });
            let before = either.then(|| reference.clone());
            let (mut result, finished) = match at {
                0 => (Outcome::Ok(Value::Null), Vec::new()),
                _ => match reference.step(step) {
                    Some(done) => done,
                    None => continue,
                },
            };
            if self.hello.trusting && matches!(result, Outcome::Error(_)) {
                // Drawn for pages that this run does not have: a request was refused behind a closed gate.
                continue;
            }
            tags_of_outcomes(&mut tags, &result, &finished);
            let mut driver = match self.driver.take() {
                Some(driver) => driver,
                None => Driver::start(&self.settings.command, self.settings.timeout)?,
            };
            ran.operations += 1;
            match driver.ask(&lens.outgoing(step)) {
                Err(trouble) => {
                    // The process is given up; the next sequence gets a new one.
                    ran.difference = Some(Difference::trouble(&trouble, at, step, &result));
                    return Ok(ran);
                }
                Ok(mut answer) => {
                    self.driver = Some(driver);
                    if let Some(before) = before.filter(|_| answer.result == Outcome::Refused) {
                        reference = before;
                        result = Outcome::Refused;
                    }
                    let core = Answer { result, finished, state: reference.state() };
                    let ends = finished_tag(&core, &answer);
                    let seen = match same_kind(&core, &answer) {
                        true => lens.incoming(step, &core, reference.arena(), &mut answer),
                        false => Ok(()),
                    };
                    if let Some(Place(place, core, driver)) = seen.err().or_else(|| compare(&core, &answer)) {
                        let (kind, op) = (Kind::Answer, step.call.name());
                        tags.extend(ends.filter(|_| place == "finished"));
                        ran.difference = Some(Difference { kind, step: at, op, at: place, core, driver, tags });
                        return Ok(ran);
                    }
                }
            }
        }
        Ok(ran)
    }
}

fn tags_of_outcomes(tags: &mut Tags, result: &Outcome, finished: &[crate::protocol::Finished]) {
    let outcomes = || std::iter::once(result).chain(finished.iter().map(|end| &end.result));
    if outcomes().any(|outcome| matches!(outcome, Outcome::Error(fault) if fault.code == "event-failed")) {
        tags.insert("event-failed");
    }
    if !finished.is_empty() {
        tags.insert("waited");
    }
}
