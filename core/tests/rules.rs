//! Every rule that core itself implements is worth something: with the rule off, the bad thing that it prevents
//! really happens; with it on, it does not; and no other rule prevents it (or the exception is named).
//!
//! The list is complete: the sources of core's state machines are searched for the rules that they ask about.
//!
//! Not checked: the rules that the thread-safe shell or the simulated world implement (their own tests and the litmus
//! corpus), and that a checker notices (the corpus).

use crate::common::*;
use leasecheck_core::*;
use std::collections::BTreeSet;

const ME: HolderId = HolderId(1);
const OTHER: HolderId = HolderId(2);
const DONE: EventKey = EventKey(1);
const LATER: EventKey = EventKey(2);

fn host(rules: Rules, planner: Planner) -> Arena {
    Arena::new(ArenaConfig { rules, planner, ..two_ended(48, 4, 8) }).unwrap()
}

fn pool(rules: Rules) -> Arena {
    Arena::new(ArenaConfig { rules, ..device(48, 8, 4) }).unwrap()
}

fn ask(band: BandId, pages: u32) -> Request {
    Request { band, pages }
}

fn take(arena: &mut Arena, band: BandId, pages: u32) -> Vec<LogicalPage> {
    arena.allocate(&[ask(band, pages)]).unwrap().remove(0)
}

/// Where a live page of each band begins and ends.
fn ranges(arena: &Arena) -> Vec<(u64, u64)> {
    let place = |band: BandId, envelope: u64, page: PhysicalPage| {
        assert!(page.0 < arena.pages(band));
        (u64::from(page.0) * envelope, u64::from(page.0 + 1) * envelope)
    };
    let bands = arena.bands();
    bands.flat_map(|(id, band)| arena.placements(id).map(move |(_, page)| place(id, band.envelope, page))).collect()
}

fn overlap(arena: &Arena) -> bool {
    let mut ranges = ranges(arena);
    ranges.sort_unstable();
    ranges.windows(2).any(|pair| pair[1].0 < pair[0].1)
}

/// Two bands that fit alone and not together.
fn demands_collide(rules: Rules) -> bool {
    let mut arena = host(rules, Planner::Minimal);
    let _ = arena.allocate(&[ask(A, 8), ask(B, 4)]);
    overlap(&arena)
}

/// One band wants more than half of an empty arena.
fn what_fits_is_refused(rules: Rules) -> bool {
    let mut arena = host(rules, Planner::Minimal);
    let refused = !arena.admission(&[ask(B, 5)], everything).admitted();
    refused && arena.allocate(&[ask(B, 5)]).is_ok()
}

/// The arena is full but for a hole, and one page is wanted.
fn a_hole_is_not_used(rules: Rules) -> bool {
    let mut arena = host(rules, Planner::Minimal);
    let pages = take(&mut arena, A, 12);
    arena.free(A, &pages[3..4], None).unwrap();
    arena.holes(A) == 1 && arena.allocate(&[ask(A, 1)]).is_err()
}

/// The second of two bands gets nothing.
fn half_an_allocation_stays(rules: Rules) -> bool {
    let mut arena = host(rules, Planner::Minimal);
    let refused = arena.allocate(&[ask(A, 2), ask(B, 6)]).is_err();
    refused && arena.live(A) > 0
}

/// A page is freed after an event, and a page is allocated.
fn a_page_is_reused_early(rules: Rules) -> bool {
    let mut arena = host(rules, Planner::Minimal);
    let page = take(&mut arena, A, 1)[0];
    let at = arena.translate(A, page);
    arena.free(A, &[page], Some(DONE)).unwrap();
    let next = take(&mut arena, A, 1)[0];
    arena.translate(A, next) == at
}

/// The place that a page was moved from, while a kernel still reads it there.
fn a_source_is_reused_early(rules: Rules) -> bool {
    let mut arena = host(rules, Planner::Minimal);
    let pages = take(&mut arena, A, 2);
    let source = arena.translate(A, pages[1]);
    arena.free(A, &pages[..1], None).unwrap();
    let plan = arena.plan(&everything);
    arena.commit(&plan, Some(DONE));
    let next = take(&mut arena, A, 1)[0];
    arena.translate(A, next) == source
}

/// A page that two streams may still touch, when the work of one of them is done.
fn one_of_two_events_is_enough(rules: Rules) -> bool {
    let mut arena = host(rules, Planner::Minimal);
    let page = take(&mut arena, A, 1)[0];
    let at = arena.translate(A, page).unwrap();
    arena.free(A, &[page], Some(DONE)).unwrap();
    arena.await_also(A, &[at], LATER);
    arena.event_completed(DONE);
    let next = take(&mut arena, A, 1)[0];
    arena.translate(A, next) == Some(at)
}

/// Two batches of moved pages under one event: afterwards all pages are someone's, or free.
fn a_batch_is_lost(rules: Rules) -> bool {
    let mut arena = host(rules, Planner::Minimal);
    let pages = take(&mut arena, A, 4);
    for dead in [pages[0], pages[1]] {
        arena.free(A, &[dead], None).unwrap();
        let plan = arena.plan(&everything);
        assert_eq!(plan.moves().len(), 1);
        arena.commit(&plan, Some(DONE));
    }
    arena.event_completed(DONE);
    arena.live(A) + arena.holes(A) + arena.pending(A).count() as u32 != arena.span(A)
}

/// A sliding-window page is released, and its page goes to another id.
fn a_dead_binding_leads_to_anothers_page(rules: Rules) -> bool {
    let mut arena = pool(rules);
    let ids = arena.allocate(&[ask(A, 2), ask(B, 1)]).unwrap().remove(0);
    arena.tombstone(B, &[ids[1]], None).unwrap();
    arena.bind(B, &[ids[0]]).unwrap();
    arena.translate(B, ids[0]) == arena.translate(B, ids[1])
}

/// The order of moves of a plan that shifts several pages by one, made on real bytes.
fn a_move_overwrites_a_page(rules: Rules) -> bool {
    let mut arena = host(rules, Planner::Slide);
    let pages = take(&mut arena, A, 4);
    let mut bytes: Vec<u32> = (0..12).collect();
    arena.free(A, &pages[..1], None).unwrap();
    let plan = arena.plan(&everything);
    for step in plan.moves() {
        bytes[step.to.0 as usize] = bytes[step.from.0 as usize];
    }
    arena.commit(&plan, None);
    pages[1..].iter().any(|id| bytes[arena.translate(A, *id).unwrap().0 as usize] != id.0)
}

fn moves_under_a_lease(rules: Rules) -> bool {
    let mut table = LeaseTable::new(rules);
    table.acquire(ME, None);
    table.request_compaction(OTHER) == Outcome::Granted && table.depth(ME) > 0
}

fn moves_before_the_copy_is_done(rules: Rules) -> bool {
    let mut table = LeaseTable::new(rules);
    table.acquire(ME, None);
    table.hand_off(ME, DONE).unwrap();
    table.request_compaction(OTHER) == Outcome::Granted && table.events() == [DONE]
}

/// Handed off, and forgotten: nothing covers the copy.
fn the_hand_off_is_lost(rules: Rules) -> bool {
    let mut table = LeaseTable::new(rules);
    table.acquire(ME, None);
    table.hand_off(ME, DONE).unwrap();
    !table.covered()
}

/// Two holders whose leases overlap all the time keep a compaction waiting.
fn leases_starve_a_compaction(rules: Rules) -> bool {
    let mut table = LeaseTable::new(rules);
    table.acquire(ME, None);
    table.request_compaction(HolderId(9));
    (0..100).all(|round| {
        let (next, last) = if round % 2 == 0 { (OTHER, ME) } else { (ME, OTHER) };
        table.acquire(next, None) == Outcome::Granted
            && table.release(last).is_ok()
            && table.request_compaction(HolderId(9)) == Outcome::MustWait
    })
}

/// A holder asks for another lease while a compaction waits for the one it has.
fn a_nested_lease_waits_for_itself(rules: Rules) -> bool {
    let mut table = LeaseTable::new(rules);
    table.acquire(ME, None);
    table.request_compaction(OTHER) == Outcome::MustWait && table.acquire(ME, None) == Outcome::MustWait
}

/// A holder of a lease asks for a compaction, which waits for that lease.
fn a_compaction_waits_for_itself(rules: Rules) -> bool {
    let mut table = LeaseTable::new(rules);
    table.acquire(ME, None);
    table.request_compaction(ME) == Outcome::MustWait
}

/// Two compactions wait; the first one ends, and a new lease is granted although the second still waits.
fn the_end_of_one_opens_for_all(rules: Rules) -> bool {
    let mut table = LeaseTable::new(rules);
    table.acquire(ME, None);
    table.request_compaction(HolderId(8));
    table.request_compaction(HolderId(9));
    table.end_compaction(HolderId(8));
    table.waiting() == [HolderId(9)] && table.acquire(OTHER, None) == Outcome::Granted
}

/// The wait for one of two events fails, and with it the compaction; the other event's copy is still running.
fn a_failed_wait_uncovers_the_rest(rules: Rules) -> bool {
    let mut table = LeaseTable::new(rules);
    table.acquire(ME, None);
    table.acquire(ME, None);
    table.hand_off(ME, DONE).unwrap();
    table.hand_off(ME, LATER).unwrap();
    let covered = table.events().contains(&LATER);
    table.request_compaction(OTHER);
    table.wait_failed(OTHER);
    covered && !table.events().contains(&LATER)
}

/// Asking an event fails, and it counts as completed.
fn a_failed_query_uncovers(rules: Rules) -> bool {
    let mut table = LeaseTable::new(rules);
    table.acquire(ME, None);
    table.hand_off(ME, DONE).unwrap();
    let covered = table.covered();
    table.query_failed(DONE);
    covered && !table.covered()
}

type Bad = fn(Rules) -> bool;

const WORTH: &[(Rule, Bad)] = &[
    (Rule::JointBytes, demands_collide),
    (Rule::RefusalMeansInfeasible, what_fits_is_refused),
    (Rule::HolesBeforeMoves, a_hole_is_not_used),
    (Rule::AllocAllOrNothing, half_an_allocation_stays),
    (Rule::ReuseAfterEvents, a_page_is_reused_early),
    (Rule::ReuseAfterEvents, a_source_is_reused_early),
    (Rule::ReuseAfterEveryEvent, one_of_two_events_is_enough),
    (Rule::BatchesAccumulate, a_batch_is_lost),
    (Rule::TombstoneClearsBinding, a_dead_binding_leads_to_anothers_page),
    (Rule::MovesInSafeOrder, a_move_overwrites_a_page),
    (Rule::CompactionWaitsForLeases, moves_under_a_lease),
    (Rule::CompactionWaitsForEvents, moves_before_the_copy_is_done),
    (Rule::LeasesHandedOff, the_hand_off_is_lost),
    (Rule::CompactionHoldsBackLeases, leases_starve_a_compaction),
    (Rule::LeasesReentrant, a_nested_lease_waits_for_itself),
    (Rule::CompactionRefusesOwnLease, a_compaction_waits_for_itself),
    (Rule::CompactionOneAtATime, the_end_of_one_opens_for_all),
    (Rule::CompactionKeepsEvents, a_failed_wait_uncovers_the_rest),
    (Rule::LeasesSurviveFailingQuery, a_failed_query_uncovers),
];

/// Where two rules stand between a design and the same harm: the harm shown for the first needs the second as well.
const ALSO: &[(Rule, Rule)] = &[
    (Rule::CompactionOneAtATime, Rule::CompactionHoldsBackLeases),
    (Rule::ReuseAfterEveryEvent, Rule::ReuseAfterEvents),
];

#[test]
fn without_the_rule_it_happens_and_with_it_it_does_not() {
    for (rule, bad) in WORTH {
        assert!(bad(Rules::all().without(*rule)), "{} is off and nothing bad happens", rule.name());
        assert!(!bad(Rules::all()), "{} is on and it happens anyway", rule.name());
        let others = Rule::ALL.iter().copied().filter(|other| other != rule);
        let also: Vec<Rule> = others.filter(|other| bad(Rules::all().without(*other))).collect();
        let expected: Vec<Rule> = ALSO.iter().filter(|(first, _)| first == rule).map(|(_, second)| *second).collect();
        assert_eq!(also, expected, "what {} prevents also happens without these", rule.name());
    }
}

#[test]
fn no_rule_of_core_is_forgotten() {
    let sources = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut asked = BTreeSet::new();
    for entry in std::fs::read_dir(sources).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rs") || path.ends_with("rules.rs") {
            continue;
        }
        for part in std::fs::read_to_string(path).unwrap().split("on(Rule::").skip(1) {
            asked.insert(part.split(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned());
        }
    }
    let shown: BTreeSet<String> = WORTH.iter().map(|(rule, _)| format!("{rule:?}")).collect();
    assert_eq!(asked, shown);
    println!("{} rules", asked.len());
}

#[test]
fn rules_are_found_by_name_and_listed_when_off() {
    let mut off = Rules::all();
    for (at, rule) in Rule::ALL.iter().enumerate() {
        assert_eq!(Rule::named(rule.name()), Some(*rule));
        assert!(off.on(*rule));
        off = off.without(*rule);
        assert!(!off.on(*rule) && off.off().eq(Rule::ALL[..=at].iter().copied()));
        assert!(!rule.doc().is_empty() && rule.doc().ends_with('.'));
    }
    assert_eq!(Rule::named("no-such-rule"), None);
}
