//! S4: a fitting allocation reuses holes without a compaction. Exhaustive: every state that a single band of 1 to 7
//! pages can reach by allocating, freeing and compacting (ids included), growing from either end, with both planners
//! (at 7 pages one planner for each end); in each of them every request that fits by pages succeeds without a move, and every other is refused.
//!
//! Not checked: several bands (`admission.rs`), pages that cannot move or be reused.

use crate::common::*;
use leasecheck_core::*;
use std::collections::{BTreeMap, BTreeSet};

const MAX: u32 = 7;

/// Explores one layout; returns how many states, and how many patterns of live pages and holes among them.
fn explore(pages: u32, grow: Grow, planner: Planner) -> (usize, usize) {
    // A tail shorter than a page, so that the arena is not a multiple of the envelope.
    let config = config(u64::from(pages) * 3 + 2, vec![band("a", 3, grow, Ids::Own)]);
    let mut arena = Arena::new(ArenaConfig { planner, ..config }).unwrap();
    let pack = |arena: &Arena| {
        let mut bytes = Vec::new();
        arena.pack(&mut bytes);
        bytes
    };
    let mut seen = BTreeSet::from([pack(&arena)]);
    let mut todo: Vec<Vec<u8>> = seen.iter().cloned().collect();
    let mut patterns = BTreeSet::new();
    let mut add = |next: &Arena, todo: &mut Vec<Vec<u8>>| {
        let bytes = pack(next);
        if seen.insert(bytes.clone()) {
            todo.push(bytes);
        }
    };
    while let Some(bytes) = todo.pop() {
        assert!(arena.unpack(&bytes).is_empty());
        let before: BTreeMap<LogicalPage, PhysicalPage> = arena.placements(A).collect();
        patterns.insert(before.values().copied().collect::<BTreeSet<PhysicalPage>>());
        for wanted in 1..=pages + 1 {
            let request = [Request { band: A, pages: wanted }];
            let fits = before.len() as u32 + wanted <= pages;
            let admission = arena.admission(&request, |_, _| panic!("asked whether a page could move"));
            assert_eq!(admission == Admission::FitsNow, fits, "{wanted} pages beside {before:?}: {admission:?}");
            assert_eq!(admission.admitted(), fits);
            let mut next = arena.clone();
            match next.allocate(&request) {
                Ok(granted) => {
                    assert!(fits);
                    let after: BTreeMap<LogicalPage, PhysicalPage> = next.placements(A).collect();
                    assert_eq!(after.len(), before.len() + granted[0].len());
                    assert!(before.iter().all(|(id, at)| after.get(id) == Some(at)), "something moved");
                    add(&next, &mut todo);
                }
                Err(_) => assert!(!fits && next == arena),
            }
        }
        for id in before.keys() {
            let mut next = arena.clone();
            next.free(A, &[*id], None).unwrap();
            add(&next, &mut todo);
        }
        let mut next = arena.clone();
        next.commit(&arena.plan(&everything), None);
        assert_eq!(next.holes(A), 0);
        add(&next, &mut todo);
    }
    (seen.len(), patterns.len())
}

fn every_fitting_request_succeeds_without_a_move(grow: Grow, planner_at_7: Planner) {
    let (mut states, mut patterns) = (0, 0);
    for pages in 1..=MAX {
        let both = [Planner::Slide, Planner::Minimal];
        let planners = if pages < MAX { &both[..] } else { &[planner_at_7][..] };
        let mut of_size = BTreeSet::new();
        for planner in planners {
            let explored = explore(pages, grow, *planner);
            println!("{pages} pages, {grow:?}, {planner:?}: {} states, {} patterns", explored.0, explored.1);
            of_size.insert(explored);
            states += explored.0;
            patterns += explored.1;
        }
        // Every placement of any ids on any pages can be reached, whatever the planner.
        let placements = [2, 7, 34, 209, 1_546, 13_327, 130_922][pages as usize - 1];
        assert_eq!(of_size, BTreeSet::from([(placements, 1 << pages)]));
    }
    println!("{grow:?}: {states} states, {patterns} patterns of live pages and holes");
}

#[test]
fn growing_up() {
    every_fitting_request_succeeds_without_a_move(Grow::Up, Planner::Slide);
}

#[test]
fn growing_down() {
    every_fitting_request_succeeds_without_a_move(Grow::Down, Planner::Minimal);
}
