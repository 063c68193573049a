//! Calls of a lease table, and both tables side by side.

use crate::bytes::below;
use crate::lease_model::LeaseModel;
use arbitrary::Unstructured;
use leasecheck_core::{EventKey, HolderId, LeaseTable, Outcome, Rules};
use serde::{Deserialize, Serialize};

/// Holders that calls name.
pub const HOLDERS: u32 = 4;
/// Events that calls name.
pub const EVENTS: u32 = 3;

/// One call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum LeaseCall {
    Acquire { holder: u32, ttl: Option<u32> },
    AcquireInTurn { holder: u32 },
    Withdraw { holder: u32 },
    Release { holder: u32 },
    HandOff { holder: u32, event: u32 },
    Complete { event: u32 },
    QueryFailed { event: u32 },
    WaitFailed { holder: u32 },
    Tick,
    Request { holder: u32 },
    End { holder: u32 },
}

impl LeaseCall {
    /// Who makes it, if a holder does.
    #[must_use]
    pub fn holder(self) -> Option<u32> {
        match self {
            LeaseCall::Acquire { holder, .. }
            | LeaseCall::AcquireInTurn { holder }
            | LeaseCall::Withdraw { holder }
            | LeaseCall::Release { holder }
            | LeaseCall::HandOff { holder, .. }
            | LeaseCall::WaitFailed { holder }
            | LeaseCall::Request { holder }
            | LeaseCall::End { holder } => Some(holder),
            LeaseCall::Complete { .. } | LeaseCall::QueryFailed { .. } | LeaseCall::Tick => None,
        }
    }
}

/// Draws a call.
///
/// # Errors
/// When the bytes are used up.
pub fn call(bytes: &mut Unstructured<'_>) -> arbitrary::Result<LeaseCall> {
    let kind = below(bytes, 28)?;
    let drawn = below(bytes, HOLDERS * EVENTS * 2)?;
    let (holder, event) = (drawn % HOLDERS, drawn / HOLDERS % EVENTS);
    Ok(match kind {
        0..=3 => LeaseCall::Acquire { holder, ttl: None },
        4 | 5 => LeaseCall::Acquire { holder, ttl: Some(drawn / HOLDERS) },
        6 | 7 => LeaseCall::AcquireInTurn { holder },
        8 => LeaseCall::Withdraw { holder },
        9..=13 => LeaseCall::Release { holder },
        14..=16 => LeaseCall::HandOff { holder, event },
        17 | 18 => LeaseCall::Complete { event },
        19 => LeaseCall::QueryFailed { event },
        20 => LeaseCall::WaitFailed { holder },
        21 => LeaseCall::Tick,
        22..=24 => LeaseCall::Request { holder },
        _ => LeaseCall::End { holder },
    })
}

/// Makes the call on the naive table alone.
pub fn apply(model: &mut LeaseModel, call: &LeaseCall) {
    // What is refused changes nothing.
    match *call {
        LeaseCall::Acquire { holder, ttl } => drop(model.acquire(holder, ttl)),
        LeaseCall::AcquireInTurn { holder } => drop(model.acquire_in_turn(holder)),
        LeaseCall::Withdraw { holder } => model.queue.retain(|(other, _)| *other != holder),
        LeaseCall::Release { holder } => drop(model.release(holder)),
        LeaseCall::HandOff { holder, event } => drop(model.hand_off(holder, event)),
        LeaseCall::Complete { event } => model.events.retain(|other| *other != event),
        LeaseCall::QueryFailed { .. } => {}
        LeaseCall::WaitFailed { holder } | LeaseCall::End { holder } => model.end_compaction(holder),
        LeaseCall::Tick => model.tick(),
        LeaseCall::Request { holder } => drop(model.request_compaction(holder)),
    }
}

/// Both tables.
#[derive(Debug)]
pub struct Pair {
    /// The core's.
    pub table: LeaseTable,
    /// The naive one.
    pub model: LeaseModel,
}

impl Default for Pair {
    fn default() -> Pair {
        Pair { table: LeaseTable::new(Rules::all()), model: LeaseModel::default() }
    }
}

impl Pair {
    /// Makes the call on both and compares answers and states.
    pub fn make(&mut self, call: &LeaseCall) {
        let (table, model) = (&mut self.table, &mut self.model);
        match *call {
            LeaseCall::Acquire { holder, ttl } => {
                let may = table.may_acquire(HolderId(holder));
                let outcome = model.acquire(holder, ttl);
                assert_eq!(may, outcome == Outcome::Granted, "{call:?}");
                assert_eq!(table.acquire(HolderId(holder), ttl), outcome, "{call:?}");
            }
            // Who waits for a lease cannot ask for another.
            LeaseCall::AcquireInTurn { holder } if model.queue.iter().any(|(other, _)| *other == holder) => {}
            LeaseCall::AcquireInTurn { holder } => {
                assert_eq!(table.acquire_in_turn(HolderId(holder)), model.acquire_in_turn(holder), "{call:?}");
            }
            LeaseCall::Withdraw { holder } => {
                table.withdraw(HolderId(holder));
                model.queue.retain(|(other, _)| *other != holder);
            }
            LeaseCall::Release { holder } => {
                assert_eq!(table.release(HolderId(holder)), model.release(holder), "{call:?}");
            }
            LeaseCall::HandOff { holder, event } => {
                let handed_off = table.hand_off(HolderId(holder), EventKey(event));
                assert_eq!(handed_off, model.hand_off(holder, event), "{call:?}");
            }
            LeaseCall::Complete { event } => {
                table.event_completed(EventKey(event));
                model.events.retain(|other| *other != event);
            }
            // Says nothing about the work.
            LeaseCall::QueryFailed { event } => table.query_failed(EventKey(event)),
            LeaseCall::WaitFailed { holder } => {
                table.wait_failed(HolderId(holder));
                model.end_compaction(holder);
            }
            LeaseCall::Tick => {
                table.tick();
                model.tick();
            }
            LeaseCall::Request { holder } => {
                let outcome = model.request_compaction(holder);
                assert_eq!(table.request_compaction(HolderId(holder)), outcome, "{call:?}");
            }
            LeaseCall::End { holder } => {
                table.end_compaction(HolderId(holder));
                model.end_compaction(holder);
            }
        }
        self.compare();
    }

    fn compare(&self) {
        let (table, model) = (&self.table, &self.model);
        assert_eq!((table.covered(), table.may_compact()), (!model.idle(), model.idle()));
        assert!(table.holders().map(|holder| holder.0).eq(model.leases.iter().map(|lease| lease.0)), "holders");
        assert!(table.events().iter().copied().eq(model.event_keys()), "events");
        assert!(table.waiting().iter().map(|holder| holder.0).eq(model.waiting.iter().copied()), "who waits");
        for holder in 0..HOLDERS {
            let id = HolderId(holder);
            assert_eq!(table.depth(id), model.depth(holder), "leases of {holder}");
            assert_eq!(table.is_held_back(id), model.queue.iter().any(|(other, _)| *other == holder));
            assert_eq!(table.may_compact_in_turn(id), model.idle() && model.waiting.first() == Some(&holder));
            assert_eq!(table.may_acquire(id), model.depth(holder) > 0 || model.waiting.is_empty());
        }
    }
}
