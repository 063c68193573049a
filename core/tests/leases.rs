//! The lease table against a naive model: a map of depths, a set of events, a list of who waits. Random calls by a few
//! holders with a few events: every answer and everything that can be asked is compared after each of them.
//!
//! Covers nesting, hand-off to events (also from an inner lease), timed leases, compactions that wait and are granted,
//! leases held back meanwhile (polled, and in turn), refusal under one's own lease, failing queries and failing waits.
//! A second property is about time: whoever waits to compact is granted once the leases of the moment have ended,
//! whatever the others try meanwhile.
//!
//! Not checked: who wakes whom (the shell's business), designs with rules switched off (`rules.rs`, `pack.rs`).

use crate::common::cases;
use leasecheck_core::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
enum Call {
    Acquire(u32, Option<u32>),
    AcquireInTurn(u32),
    Withdraw(u32),
    Release(u32),
    HandOff(u32, u32),
    Complete(u32),
    QueryFailed(u32),
    WaitFailed(u32),
    Tick,
    Request(u32),
    End(u32),
}

fn calls() -> impl Strategy<Value = Call> {
    let (holder, event) = (0_u32..4, 0_u32..3);
    let ttl = prop_oneof![3 => Just(None), 1 => (0_u32..4).prop_map(Some)];
    prop_oneof![
        5 => (holder.clone(), ttl).prop_map(|(holder, ttl)| Call::Acquire(holder, ttl)),
        2 => holder.clone().prop_map(Call::AcquireInTurn),
        1 => holder.clone().prop_map(Call::Withdraw),
        5 => holder.clone().prop_map(Call::Release),
        2 => (holder.clone(), event.clone()).prop_map(|(holder, event)| Call::HandOff(holder, event)),
        3 => event.clone().prop_map(Call::Complete),
        1 => event.prop_map(Call::QueryFailed),
        1 => holder.clone().prop_map(Call::WaitFailed),
        1 => Just(Call::Tick),
        4 => holder.clone().prop_map(Call::Request),
        3 => holder.prop_map(Call::End),
    ]
}

#[derive(Default)]
struct Model {
    leases: BTreeMap<u32, (u32, Option<u32>)>,
    events: BTreeSet<u32>,
    waiting: Vec<u32>,
    /// Who waits for a lease in turn, and the compactions that come first.
    queue: Vec<(u32, BTreeSet<u32>)>,
}

impl Model {
    fn acquire(&mut self, holder: u32, ttl: Option<u32>) -> Outcome {
        if let Some((depth, left)) = self.leases.get_mut(&holder) {
            *depth += 1;
            *left = match (*left, ttl) {
                (Some(left), Some(ttl)) => Some(left.max(ttl)),
                _ => None,
            };
        } else if self.waiting.is_empty() {
            self.leases.insert(holder, (1, ttl));
        } else {
            return Outcome::MustWait;
        }
        Outcome::Granted
    }

    fn release(&mut self, holder: u32) -> Result<(), LeaseError> {
        let Some((depth, _)) = self.leases.get_mut(&holder) else {
            return Err(LeaseError::NotHeld(HolderId(holder)));
        };
        *depth -= 1;
        if *depth == 0 {
            self.leases.remove(&holder);
        }
        Ok(())
    }

    fn end(&mut self, holder: u32) {
        self.waiting.retain(|other| *other != holder);
        for (_, ahead) in &mut self.queue {
            ahead.remove(&holder);
        }
        for (holder, ahead) in std::mem::take(&mut self.queue) {
            if ahead.is_empty() {
                self.leases.entry(holder).or_insert((0, None)).0 += 1;
            } else {
                self.queue.push((holder, ahead));
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(2500))]

    #[test]
    fn behaves_like_counts_and_sets(calls in prop::collection::vec(calls(), 1..60)) {
        let mut table = LeaseTable::new(Rules::all());
        let mut model = Model::default();
        for call in calls {
            let (held, events) = (model.leases.len(), model.events.len());
            match call {
                Call::Acquire(holder, ttl) => {
                    let may = table.may_acquire(HolderId(holder));
                    let outcome = model.acquire(holder, ttl);
                    prop_assert_eq!(may, outcome == Outcome::Granted);
                    prop_assert_eq!(table.acquire(HolderId(holder), ttl), outcome);
                }
                Call::AcquireInTurn(holder) => {
                    // A holder that waits cannot ask for anything else.
                    if model.queue.iter().all(|(other, _)| *other != holder) {
                        let outcome = model.acquire(holder, None);
                        if outcome == Outcome::MustWait {
                            model.queue.push((holder, model.waiting.iter().copied().collect()));
                        }
                        prop_assert_eq!(table.acquire_in_turn(HolderId(holder)), outcome);
                    }
                }
                Call::Withdraw(holder) => {
                    model.queue.retain(|(other, _)| *other != holder);
                    table.withdraw(HolderId(holder));
                }
                Call::Release(holder) => {
                    prop_assert_eq!(table.release(HolderId(holder)), model.release(holder));
                }
                Call::HandOff(holder, event) => {
                    let released = model.release(holder);
                    if released.is_ok() {
                        model.events.insert(event);
                    }
                    prop_assert_eq!(table.hand_off(HolderId(holder), EventKey(event)), released);
                }
                Call::Complete(event) => {
                    model.events.remove(&event);
                    table.event_completed(EventKey(event));
                }
                Call::QueryFailed(event) => table.query_failed(EventKey(event)),
                Call::WaitFailed(holder) => {
                    model.end(holder);
                    table.wait_failed(HolderId(holder));
                }
                Call::Tick => {
                    for (_, left) in model.leases.values_mut() {
                        *left = left.map(|left| left.saturating_sub(1));
                    }
                    model.leases.retain(|_, (_, left)| *left != Some(0));
                    table.tick();
                }
                Call::Request(holder) => {
                    let expected = if model.leases.contains_key(&holder) {
                        Outcome::Refused(LeaseError::OwnLease(HolderId(holder)))
                    } else {
                        if !model.waiting.contains(&holder) {
                            model.waiting.push(holder);
                        }
                        if held == 0 && events == 0 { Outcome::Granted } else { Outcome::MustWait }
                    };
                    prop_assert_eq!(table.request_compaction(HolderId(holder)), expected);
                }
                Call::End(holder) => {
                    model.end(holder);
                    table.end_compaction(HolderId(holder));
                }
            }
            let idle = model.leases.is_empty() && model.events.is_empty();
            prop_assert_eq!(table.covered(), !idle);
            prop_assert_eq!(table.may_compact(), idle);
            prop_assert!(table.holders().eq(model.leases.keys().copied().map(HolderId)));
            prop_assert!(table.events().iter().copied().eq(model.events.iter().copied().map(EventKey)));
            prop_assert!(table.waiting().iter().copied().eq(model.waiting.iter().copied().map(HolderId)));
            for holder in 0..4 {
                let id = HolderId(holder);
                prop_assert_eq!(table.depth(id), model.leases.get(&holder).map_or(0, |(depth, _)| *depth));
                prop_assert_eq!(table.is_held_back(id), model.queue.iter().any(|(other, _)| *other == holder));
                prop_assert_eq!(table.may_compact_in_turn(id), idle && model.waiting.first() == Some(&holder));
            }
        }
    }

    /// Nobody can keep a waiting compaction waiting: the leases of the moment end, and no new holder gets in.
    #[test]
    fn a_waiting_compaction_is_granted_in_the_end(
        before in prop::collection::vec(calls(), 0..30),
        meanwhile in prop::collection::vec(calls(), 0..40),
    ) {
        let mut table = LeaseTable::new(Rules::all());
        let run = |table: &mut LeaseTable, call: &Call| match *call {
            Call::Acquire(holder, ttl) => drop(table.acquire(HolderId(holder), ttl)),
            Call::Release(holder) => drop(table.release(HolderId(holder))),
            Call::HandOff(holder, event) => drop(table.hand_off(HolderId(holder), EventKey(event))),
            Call::Request(holder) => drop(table.request_compaction(HolderId(holder))),
            Call::End(holder) => table.end_compaction(HolderId(holder)),
            Call::Tick => table.tick(),
            _ => {}
        };
        before.iter().for_each(|call| run(&mut table, call));
        let compactor = HolderId(9);
        let mut holders: BTreeSet<HolderId> = table.holders().collect();
        let mut granted = table.request_compaction(compactor);
        prop_assert_eq!(granted == Outcome::Granted, !table.covered());
        for call in &meanwhile {
            run(&mut table, call);
            let now: BTreeSet<HolderId> = table.holders().collect();
            prop_assert!(now.is_subset(&holders), "a new holder got in: {:?} beside {:?}", now, holders);
            holders = now;
        }
        for holder in holders {
            while table.release(holder).is_ok() {}
        }
        (0..3).for_each(|event| table.event_completed(EventKey(event)));
        granted = table.request_compaction(compactor);
        prop_assert_eq!(granted, Outcome::Granted);
    }
}

/// A renewed lease has as long to live as one that was taken now; one without a limit keeps none.
#[test]
fn renewing_begins_anew() {
    let (mut old, mut new) = (LeaseTable::new(Rules::all()), LeaseTable::new(Rules::all()));
    let (timed, endless) = (HolderId(1), HolderId(2));
    assert_eq!(old.acquire(timed, Some(2)), Outcome::Granted);
    assert_eq!(old.acquire(endless, None), Outcome::Granted);
    old.tick();
    assert_eq!(old.renew(timed, 3), Ok(()));
    assert_eq!(old.renew(endless, 1), Ok(()));
    assert_eq!(new.acquire(timed, Some(3)), Outcome::Granted);
    for _ in 0..5 {
        old.tick();
        new.tick();
        assert_eq!((old.depth(timed), old.depth(endless)), (new.depth(timed), 1));
    }
    assert_eq!(old.renew(timed, 3), Err(LeaseError::NotHeld(timed)));
}

/// Where leases do not nest, a holder's second request waits behind the compaction, and counts when its turn comes.
#[test]
fn a_second_request_that_was_held_back_counts() {
    let mut table = LeaseTable::new(Rules::all().without(Rule::LeasesReentrant));
    let (holder, compactor) = (HolderId(1), HolderId(2));
    assert_eq!(table.acquire(holder, None), Outcome::Granted);
    assert_eq!(table.request_compaction(compactor), Outcome::MustWait);
    assert_eq!(table.acquire_in_turn(holder), Outcome::MustWait);
    table.end_compaction(compactor);
    assert_eq!(table.depth(holder), 2);
}
