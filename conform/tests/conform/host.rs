//! Host arenas: threads, leases, events.

use crate::{Shows, conforms, found_out, mistakes, python, run, start};
use leasecheck_conform::{Kind, PLACES, PLACES_OF_BAND};
use std::collections::BTreeSet;

#[test]
fn the_correct_driver_is_accepted() {
    if python() {
        conforms("driver.py", 80);
    }
}

/// A mistake, where it shows, what is said there.
const MISTAKES: [(&str, &str, &str); 26] = [
    ("any-band", "result", "no-such-band"),
    ("available-too-high", "state.bands.full.available", ""),
    ("band-missing", "state.bands", "full"),
    ("bytes-not-moved", "state.bands.full.content", ""),
    ("compacts-one-band", "state.bands.swa.pages", ""),
    ("compacts-under-events", "finished", ""),
    ("compacts-under-leases", "result", "waits"),
    ("double-free", "result", "bad-pages"),
    ("events-forgotten", "state.events", ""),
    ("failed-wait-passes", "result", "event-failed"),
    ("free-bytes-of-gap", "state.free_bytes", ""),
    ("free-forgets-ids", "state.bands.swa.free", ""),
    ("free-keeps-watermark", "state.bands.full.holes", ""),
    ("highest-id", "result", "ok"),
    ("holes-last", "state.bands.full.pages", ""),
    ("joint-bytes", "result", "refused"),
    ("last-waits-first", "state.waiting", ""),
    ("leases-once", "state.leases", ""),
    ("leases-overtake", "result", "waits"),
    ("negative-size", "result", "bad-size"),
    ("never-compacts", "result", "refused"),
    ("own-lease", "result", "own-lease"),
    ("part-of-page", "result", "bad-pages"),
    ("release-for-free", "result", "not-held"),
    ("translate-dead", "result", "bad-pages"),
    ("watermark-at-last-page", "state.bands.full.watermark", ""),
];

#[test]
fn every_mistake_is_noticed_and_shrunk_and_replays() {
    if !python() {
        return;
    }
    let mut right = start("driver.py", 60);
    let (mut wrong, mut places, mut codes) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for (mistake, at, says) in MISTAKES {
        match found_out(&mut right, "driver.py", &Shows { mistake, at, says }) {
            Ok(found) => {
                places.insert(found.difference.at.replace(".full", "").replace(".swa", ""));
                codes.insert(says);
            }
            Err(why) => wrong.push(why),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let mut known: BTreeSet<String> = MISTAKES.iter().map(|(mistake, ..)| (*mistake).to_owned()).collect();
    known.extend(BREAKS.map(|(mistake, _)| mistake.to_owned()));
    assert_eq!(known, mistakes("driver.py"));
    // Everything that is compared has made a mistake show. (The test below is about drivers that break; places are core's
    // in a host arena.)
    let elsewhere = ["driver", "state.places"];
    let compared = PLACES.iter().filter(|place| !elsewhere.contains(place)).map(|place| (*place).to_owned());
    let compared: BTreeSet<String> =
        compared.chain(PLACES_OF_BAND.iter().map(|place| format!("state.bands.{place}"))).collect();
    assert_eq!(places, compared);
    for code in ["bad-size", "no-such-band", "bad-pages", "own-lease", "not-held", "event-failed", "waits", "refused"] {
        assert!(codes.contains(code), "no mistake shows at {code}");
    }
}

const BREAKS: [(&str, Kind); 3] = [("exits", Kind::Broken), ("hangs", Kind::Broken), ("rubbish", Kind::Rubbish)];

#[test]
fn a_driver_that_breaks_is_given_up_on() {
    if !python() {
        return;
    }
    for (mistake, kind) in BREAKS {
        let found = run(&mut start(&format!("driver.py --wrong {mistake}"), 2), 400).finding;
        let difference = found.unwrap_or_else(|| panic!("{mistake}: not noticed")).difference;
        assert_eq!((difference.kind, &difference.at[..]), (kind, "driver"), "{mistake}: {difference}");
    }
}
