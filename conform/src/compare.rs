//! Where an answer differs from what core did.

use crate::driver::Trouble;
use crate::lens::RULES;
use crate::protocol::{Answer, BandState, Finished, Outcome, State, Step};
use crate::reference::Tags;
use serde::Serialize;
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::fmt;

/// Where differences can be, those in the state of a band apart.
pub const PLACES: [&str; 9] = [
    "driver",
    "result",
    "finished",
    "state.bands",
    "state.free_bytes",
    "state.leases",
    "state.events",
    "state.waiting",
    "state.places",
];

/// Where differences of a band can be, after `state.bands.NAME.`.
pub const PLACES_OF_BAND: [&str; 6] = ["pages", "content", "free", "holes", "watermark", "available"];

/// Whether differences can be there, or at places that begin like that.
pub(crate) fn is_place(at: &str) -> bool {
    let of_band = |rest: &str| match rest.split_once('.') {
        Some((_, what)) => PLACES_OF_BAND.contains(&what),
        None => !rest.is_empty(),
    };
    at == "state" || PLACES.contains(&at) || at.strip_prefix("state.bands.").is_some_and(of_band)
}

/// What kind of thing went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The answer differs.
    Answer,
    /// The driver ended or hangs.
    Broken,
    /// The driver does not keep to the protocol.
    Rubbish,
}

/// The first difference of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// What kind of thing went wrong.
    pub kind: Kind,
    /// The step, counted from 1; the reset is step 0.
    pub step: usize,
    /// Its operation.
    pub op: &'static str,
    /// What differs: `result`, `finished`, `state.bands.full.watermark` …
    pub at: String,
    /// What core has.
    pub core: String,
    /// What the driver has.
    pub driver: String,
    /// What was true of the step; see the documentation of the table of known differences.
    pub tags: Tags,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "step {} ({}) differs in {}", self.step, self.op, self.at)?;
        writeln!(f, "  core    {}", self.core)?;
        write!(f, "  driver  {}", self.driver)?;
        if !self.tags.is_empty() {
            write!(f, "\n  tags    {}", self.tags.iter().copied().collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }
}

impl Difference {
    pub(crate) fn trouble(trouble: &Trouble, at: usize, step: &Step, core: &Outcome) -> Difference {
        let kind = if matches!(trouble, Trouble::Rubbish(_)) { Kind::Rubbish } else { Kind::Broken };
        let core = text(core);
        let driver = trouble.to_string();
        Difference { kind, step: at, op: step.call.name(), at: "driver".into(), core, driver, tags: Tags::new() }
    }

    /// Whether both are the same mistake, as far as shrinking cares.
    pub(crate) fn resembles(&self, other: &Difference) -> bool {
        (self.kind, self.op, &self.at, self.rule()) == (other.kind, other.op, &other.at, other.rule())
    }

    /// The one of [`RULES`] that is broken, if it is one of them.
    #[must_use]
    pub fn rule(&self) -> Option<&'static str> {
        RULES.into_iter().find(|rule| self.core.contains(rule) || self.driver.contains(rule))
    }
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// The place of the first difference, and what both have there.
pub(crate) struct Place(pub(crate) String, pub(crate) String, pub(crate) String);

fn plain(outcome: &Outcome) -> Outcome {
    match outcome {
        Outcome::Error(fault) => Outcome::error(&fault.code),
        other => other.clone(),
    }
}

fn differ(at: &str, core: Value, driver: Value) -> Option<Place> {
    (core != driver).then(|| Place(at.to_owned(), core.to_string(), driver.to_string()))
}

/// How the operations that ended differ, if one side's are some of the other's, in the same order.
pub(crate) fn finished_tag(core: &Answer, driver: &Answer) -> Option<&'static str> {
    let same =
        |one: &Finished, other: &Finished| (&one.thread, plain(&one.result)) == (&other.thread, plain(&other.result));
    let within = |few: &[Finished], many: &[Finished]| {
        let mut rest = many.iter();
        few.iter().all(|end| rest.any(|other| same(end, other)))
    };
    match core.finished.len().cmp(&driver.finished.len()) {
        Ordering::Greater if within(&driver.finished, &core.finished) => Some("fewer-finished"),
        Ordering::Less if within(&core.finished, &driver.finished) => Some("more-finished"),
        _ => None,
    }
}

/// Whether both ended in the same way, whatever their results are.
pub(crate) fn same_kind(core: &Answer, driver: &Answer) -> bool {
    let kind = |answer: &Answer| match &answer.result {
        Outcome::Ok(_) => Outcome::Ok(Value::Null),
        other => plain(other),
    };
    kind(core) == kind(driver)
}

/// Compares; what the driver left out is not compared.
pub(crate) fn compare(core: &Answer, driver: &Answer) -> Option<Place> {
    if plain(&core.result) != plain(&driver.result) {
        return Some(Place("result".into(), text(&core.result), text(&driver.result)));
    }
    let ended = |finished: &[Finished]| {
        let one = |end: &Finished| Finished { thread: end.thread.clone(), result: plain(&end.result) };
        finished.iter().map(one).collect::<Vec<_>>()
    };
    if ended(&core.finished) != ended(&driver.finished) {
        return Some(Place("finished".into(), text(&core.finished), text(&driver.finished)));
    }
    let (core, driver) = (&core.state, &driver.state);
    let names = |state: &State| json!(state.bands.keys().collect::<Vec<_>>());
    let bands = || core.bands.iter().zip(driver.bands.values());
    let events = driver.events.as_deref().map(sorted);
    differ("state.bands", names(core), names(driver))
        .or_else(|| bands().find_map(|((name, core), driver)| band(name, core, driver)))
        .or_else(|| {
            driver.free_bytes.and_then(|bytes| differ("state.free_bytes", json!(core.free_bytes), json!(bytes)))
        })
        .or_else(|| driver.leases.as_ref().and_then(|held| differ("state.leases", json!(core.leases), json!(held))))
        .or_else(|| events.and_then(|events| differ("state.events", json!(core.events), json!(events))))
        .or_else(|| driver.waiting.as_ref().and_then(|who| differ("state.waiting", json!(core.waiting), json!(who))))
}

fn sorted<T: Ord + Clone>(items: &[T]) -> Vec<T> {
    let mut items = items.to_vec();
    items.sort_unstable();
    items
}

fn band(name: &str, core: &BandState, driver: &BandState) -> Option<Place> {
    let place = |what: &str, core, driver| differ(&format!("state.bands.{name}.{what}"), core, driver);
    let (had, has) = (sorted(&core.pages), sorted(&driver.pages));
    let places = |pages: &[(i64, i64, i32)]| json!(pages.iter().map(|(id, at, _)| (*id, *at)).collect::<Vec<_>>());
    let stamps = |pages: &[(i64, i64, i32)]| json!(pages.iter().map(|(id, _, byte)| (*id, *byte)).collect::<Vec<_>>());
    let free = |state: &BandState| state.free.as_deref().map(sorted);
    let holes = |state: &BandState| state.holes.as_deref().map(sorted);
    None.or_else(|| place("pages", places(&had), places(&has)))
        .or_else(|| place("content", stamps(&had), stamps(&has)))
        .or_else(|| free(driver).and_then(|free_ids| place("free", json!(free(core)), json!(free_ids))))
        .or_else(|| holes(driver).and_then(|found| place("holes", json!(holes(core)), json!(found))))
        .or_else(|| driver.watermark.and_then(|mark| place("watermark", json!(core.watermark), json!(mark))))
        .or_else(|| driver.available.and_then(|tokens| place("available", json!(core.available), json!(tokens))))
}
