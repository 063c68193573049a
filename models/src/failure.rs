//! What went wrong, and, when nothing moves any more, who waits for what and who could have ended it.

use crate::lanes;
use crate::ledger::{Execution, Stand};
use leasecheck_core::HolderId;
use leasecheck_core::shell::{Sleeper, Wait};
use serde::Serialize;

/// Kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Everyone waits, and everyone waits for something that is not so.
    Deadlock,
    /// Everyone waits, and somebody has not been told that things have changed.
    LostWakeup,
    /// Somebody was granted what another one had asked for earlier.
    Starvation,
    /// Two accesses to the same bytes are not ordered.
    Race,
    /// The model's own check failed.
    Check,
}

impl Kind {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Deadlock => "deadlock",
            Kind::LostWakeup => "lost-wakeup",
            Kind::Starvation => "starvation",
            Kind::Race => "race",
            Kind::Check => "check",
        }
    }
}

/// One failing execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// What kind.
    pub kind: Kind,
    /// What the tool or the check said.
    pub message: String,
    /// Who waits for what, for lock-ups.
    pub waits: Vec<String>,
    /// The schedule, one column for each thread.
    pub lanes: String,
    /// Which execution it was, counted from 1.
    pub execution: u64,
    /// For `leasecheck replay`.
    pub token: String,
}

impl Failure {
    /// Sorts out what `message`, the first panic of `execution`, means. The token is filled in by whoever knows the
    /// model.
    #[must_use]
    pub fn new(message: String, execution: &Execution, number: u64) -> Failure {
        let stuck = message.starts_with("deadlock");
        let kind = if stuck && execution.sleepers().any(|sleeper| sleeper.missed) {
            Kind::LostWakeup
        } else if stuck {
            Kind::Deadlock
        } else if message.starts_with("starvation") {
            Kind::Starvation
        } else if ["Causality violation", "currently writing", "currently reading", "race:"]
            .iter()
            .any(|start| message.starts_with(start))
        {
            Kind::Race
        } else {
            Kind::Check
        };
        let message = if stuck { "nobody can go on".to_owned() } else { first_line(&message) };
        let waits = if stuck { waits(execution) } else { Vec::new() };
        let lanes = lanes::render(execution);
        Failure { kind, message, waits, lanes, execution: number, token: String::new() }
    }
}

/// loom and the standard library put locations and values on further lines.
fn first_line(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let rest: Vec<&str> = lines.take(2).filter(|line| line.starts_with("left") || line.starts_with("right")).collect();
    if rest.is_empty() { first.to_owned() } else { format!("{first} ({})", rest.join(", ")) }
}

fn waits(execution: &Execution) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for arena in &execution.arenas {
        lines.extend(arena.sleepers.iter().map(|sleeper| wait(execution, arena, sleeper)));
    }
    for (at, lane) in execution.lanes.iter().enumerate() {
        let asleep = |sleeper: &Sleeper| execution.lane_of(sleeper.holder) == Some(at);
        if !lane.ended && !execution.sleepers().any(asleep) {
            lines.push(format!("`{}` waits outside the arena, or for its lock", lane.name));
        }
    }
    lines
}

fn wait(execution: &Execution, arena: &Stand, sleeper: &Sleeper) -> String {
    let who = name(execution, sleeper.holder);
    let (wants, mut by): (&str, Vec<String>) = match sleeper.wait {
        Wait::Lease => {
            let movers = arena.sleepers.iter().filter(|other| other.wait != Wait::Lease);
            ("a lease", movers.map(|other| format!("{}, who waits itself", name(execution, other.holder))).collect())
        }
        Wait::Move => ("moving pages", covers(execution, arena)),
        Wait::Destroy => ("destroying the arena", covers(execution, arena)),
    };
    if sleeper.missed {
        return format!("{who} waits for {wants}; something has changed since it looked last, and nobody woke it");
    }
    if by.is_empty() {
        by.push("nobody".to_owned());
    }
    format!("{who} waits for {wants}; who could end that: {}", by.join("; "))
}

/// Whoever keeps the layout still.
fn covers(execution: &Execution, arena: &Stand) -> Vec<String> {
    let holders = arena.holders.iter().map(|holder| {
        let who = name(execution, *holder);
        let lane = execution.lane_of(*holder);
        let asleep = execution.sleepers().any(|sleeper| lane == execution.lane_of(sleeper.holder));
        match (asleep, lane.is_some_and(|lane| execution.lanes[lane].ended)) {
            (true, _) => format!("{who}, who holds a lease and waits itself"),
            (_, true) => format!("{who}, who holds a lease and has returned"),
            _ => format!("{who}, who holds a lease"),
        }
    });
    let events = arena.events.iter().map(|event| format!("the completion of event {event}"));
    holders.chain(events).collect()
}

fn name(execution: &Execution, holder: HolderId) -> String {
    match execution.lane_of(holder) {
        Some(lane) => format!("`{}`", execution.lanes[lane].name),
        None => format!("holder {holder}"),
    }
}
