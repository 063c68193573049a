//! Device pools, which choose ids and places by themselves: eager, and lazy with flushes, a gate and forwards.

use crate::{Shows, conforms, found_out, mistakes, python, start};
use leasecheck_conform::RULES;
use std::collections::BTreeSet;

const EAGER: &str = "device_driver.py";
const LAZY: &str = "device_driver.py lazy";

#[test]
fn the_correct_pools_are_accepted() {
    if python() {
        conforms(EAGER, 80);
        conforms(LAZY, 160);
    }
}

/// A mistake, the pools that can make it, where it shows, what is said there.
const MISTAKES: [(&str, &[&str], &str, &str); 29] = [
    ("alloc-behind-gate", &[LAZY], "state.places", "no page moves while the gate is closed"),
    ("available-of-one-band", &[EAGER, LAZY], "state.bands.full.available", ""),
    ("band-missing", &[EAGER, LAZY], "state.bands", "full"),
    ("bytes-not-moved", &[LAZY], "state.bands.full.content", ""),
    ("bytes-not-moved", &[EAGER], "state.bands.swa.content", ""),
    ("clear-keeps-window", &[EAGER, LAZY], "state.bands.swa.pages", ""),
    ("flat-tokens", &[EAGER, LAZY], "result", "no lists of tokens"),
    ("flush-behind-gate", &[LAZY], "state.places", "no page moves while the gate is closed"),
    ("free-bytes-of-one-band", &[EAGER, LAZY], "state.free_bytes", ""),
    ("free-counts-pages", &[EAGER, LAZY], "result", "ok"),
    ("free-keeps-window", &[EAGER, LAZY], "state.bands.swa.pages", ""),
    ("free-moves", &[LAZY], "state.places", "the place that a page leaves waits for the forward in flight"),
    ("frontier-without-holes", &[LAZY], "state.places", "no two pages share bytes"),
    ("id-twice", &[EAGER, LAZY], "state.bands.full.pages", ""),
    ("joint-bytes", &[EAGER, LAZY], "result", "refused"),
    ("never-packs", &[LAZY], "result", "refused"),
    ("odd-tokens", &[EAGER, LAZY], "result", "not as many whole pages as were asked for"),
    ("on-the-sink", &[EAGER, LAZY], "state.places", "every page lies in its band, beyond the sink"),
    ("one-list", &[EAGER, LAZY], "result", "not one list for each request"),
    ("page-short", &[EAGER, LAZY], "result", "not as many whole pages as were asked for"),
    ("past-the-end", &[EAGER, LAZY], "state.places", "every page lies in its band, beyond the sink"),
    ("pending-forgotten", &[LAZY], "state.places", "a place that waits goes on waiting until its event completes"),
    ("places-not-pending", &[LAZY], "state.places", "the place that a page leaves waits for the forward in flight"),
    ("raises-when-full", &[EAGER, LAZY], "result", "MemoryError"),
    ("reuses-pending", &[LAZY], "state.places", "no page stands where a place waits for an event"),
    ("sees-no-forward", &[LAZY], "state.places", "no page moves that the forward in flight writes"),
    ("translates-at-birth", &[EAGER, LAZY], "result", "by its own state"),
    ("unbind-frees-page", &[EAGER, LAZY], "state.bands.full.pages", ""),
    ("window-unbound", &[EAGER, LAZY], "state.bands.full.available", ""),
];

#[test]
fn every_mistake_is_noticed_and_shrunk_and_replays() {
    if !python() {
        return;
    }
    let (mut wrong, mut fired) = (Vec::new(), BTreeSet::new());
    for pool in [EAGER, LAZY] {
        let mut right = start(pool, 60);
        for (mistake, _, at, says) in MISTAKES.iter().filter(|(_, pools, ..)| pools.contains(&pool)) {
            match found_out(&mut right, pool, &Shows { mistake, at, says }) {
                Ok(found) => fired.extend(found.difference.rule()),
                Err(why) => wrong.push(format!("{pool}: {why}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(fired, BTreeSet::from(RULES));
    let known: BTreeSet<String> = MISTAKES.iter().map(|(mistake, ..)| (*mistake).to_owned()).collect();
    assert_eq!(known, mistakes(EAGER));
}
