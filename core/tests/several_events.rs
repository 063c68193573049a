//! Pages that wait for several events are handed out again when the last of them has completed, and are counted once.
//!
//! Against a model that keeps, for every page, the set of events that it waits for.

use crate::common::*;
use leasecheck_core::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
enum Step {
    Allocate(u32),
    Free(u16, Vec<u32>),
    Fire(u32),
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (1_u32..4).prop_map(Step::Allocate),
        4 => (any::<u16>(), prop::collection::vec(0_u32..4, 0..4)).prop_map(|(pick, events)| Step::Free(pick, events)),
        3 => (0_u32..4).prop_map(Step::Fire),
    ]
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn reused_after_the_last_event(steps in prop::collection::vec(steps(), 1..60), up in any::<bool>()) {
        let grow = if up { Grow::Up } else { Grow::Down };
        let mut arena = Arena::new(config(40, vec![band("a", 4, grow, Ids::Own)])).unwrap();
        let mut live: Vec<LogicalPage> = Vec::new();
        let mut waiting: BTreeMap<PhysicalPage, BTreeSet<u32>> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Allocate(pages) => {
                    let Ok(granted) = arena.allocate(&[Request { band: A, pages }]) else { continue };
                    for id in &granted[0] {
                        let page = arena.translate(A, *id).unwrap();
                        prop_assert!(!waiting.contains_key(&page), "page {page} is handed out and waits");
                    }
                    live.extend(&granted[0]);
                }
                Step::Free(pick, events) if !live.is_empty() => {
                    let id = live.swap_remove(pick as usize % live.len());
                    let page = arena.translate(A, id).unwrap();
                    arena.free(A, &[id], events.first().map(|event| EventKey(*event))).unwrap();
                    for event in events.iter().skip(1) {
                        arena.await_also(A, &[page], EventKey(*event));
                    }
                    if !events.is_empty() {
                        waiting.insert(page, events.into_iter().collect());
                    }
                }
                Step::Free(..) => {}
                Step::Fire(event) => {
                    arena.event_completed(EventKey(event));
                    for events in waiting.values_mut() {
                        events.remove(&event);
                    }
                    waiting.retain(|_, events| !events.is_empty());
                }
            }
            let pending: BTreeSet<PhysicalPage> = arena.pending(A).map(|(page, _)| page).collect();
            prop_assert_eq!(pending.len() as u32, arena.pending_pages(A));
            prop_assert_eq!(pending, waiting.keys().copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(arena.live(A) + arena.holes(A) + arena.pending_pages(A), arena.span(A));
        }
    }
}

#[test]
fn without_the_rule_the_first_event_is_enough() {
    let rules = Rules::all().without(Rule::ReuseAfterEveryEvent);
    let layout = ArenaConfig { rules, ..config(8, vec![band("a", 4, Grow::Up, Ids::Own)]) };
    let mut arena = Arena::new(layout).unwrap();
    let pages = arena.allocate(&[Request { band: A, pages: 2 }]).unwrap().remove(0);
    let place = arena.translate(A, pages[0]).unwrap();
    arena.free(A, &pages[..1], Some(EventKey(0))).unwrap();
    arena.await_also(A, &[place], EventKey(1));
    assert_eq!(arena.available_now(A), 0);
    arena.event_completed(EventKey(0));
    assert_eq!(arena.available_now(A), 1);
}
