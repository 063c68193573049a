//! Which behaviours and which parts of the design the default configuration can show, in one place.

use super::ablation::Part;
use super::campaign::Tally;
use crate::marks::Mark;

/// Marks that the default configuration cannot reach, and why. Every other mark must be reached by a campaign of a
/// few seconds, or the generator has lost something.
pub const UNREACHED: &[(&str, &str)] = &[
    ("bound", "pages are bound in the set-up, whose marks are not counted: later, nothing promises room for them"),
    ("translated-to-sink", "kernels touch the sink only through pages that are not bound, which callers do not name"),
    ("overtook", "transfers of a stream overtake each other only without `one-fifo-stream-per-direction`"),
    ("waited-for-nothing", "callers record events before they wait for them"),
    ("bind-refused", "pages are bound in the set-up, where they have room"),
    ("cached", NO_CACHE),
    ("evicted", NO_CACHE),
    ("donor-evicted", NO_CACHE),
    ("passed-over", NO_CACHE),
    ("shared", NO_REFERENCES),
    ("reference-given-back", NO_REFERENCES),
    ("made-room", NO_FLOAT),
    ("pending-on-several", NO_SEVERAL),
    ("remapped", NO_MAPPINGS),
    ("unmapped", NO_MAPPINGS),
    ("written-in-part", NO_PARTS),
    ("read-beyond-valid", NO_PARTS),
    ("read-accepted", NO_REREADS),
    ("read-discarded", NO_REREADS),
    ("lease-renewed", "a timed lease is never prolonged"),
    ("condition-held", "no unit waits for a condition"),
    ("met", "no unit has threads that meet"),
    ("took", "no unit has a bounded resource"),
];

/// Rules whose absence the hunt cannot notice, and why: no unit of the workload does what they are about. The corpus
/// has a case for each.
const BEYOND: &[(&str, &str)] = &[
    ("every-path-evicts", NO_CACHE),
    ("eviction-finds-donors", NO_CACHE),
    ("eviction-passes-over-held", NO_CACHE),
    ("frees-count-references", NO_REFERENCES),
    ("gates-reach-every-band", "every gate is wired to all bands"),
    ("make-room-respects-gates", NO_FLOAT),
    ("indices-are-exact", "no arena is as wide as an index"),
    ("keys-are-framed", NO_KEYS),
    ("keys-name-everything", NO_KEYS),
    ("presence-needs-every-part", NO_KEYS),
    ("reuse-after-every-event", NO_SEVERAL),
    ("zeroed-on-hand-out", NO_PARTS),
];

const NO_CACHE: &str = "no unit has a cache that evicts";
const NO_REFERENCES: &str = "no unit shares pages by reference";
const NO_FLOAT: &str = "no program has a float band";
const NO_SEVERAL: &str = "no unit frees pages on several events";
const NO_MAPPINGS: &str = "no unit maps pages";
const NO_PARTS: &str = "no unit writes pages in part";
const NO_REREADS: &str = "no unit reads without a lease and checks afterwards";
const NO_KEYS: &str = "no unit makes keys of parts";

/// Why the default configuration cannot reach a mark; nothing if it can.
#[must_use]
pub fn unreached(mark: Mark) -> Option<&'static str> {
    UNREACHED.iter().find(|(other, _)| *other == mark.name()).map(|(_, why)| *why)
}

/// Why the hunt cannot notice that a part is missing; nothing if it must.
#[must_use]
pub fn beyond(part: Part) -> Option<&'static str> {
    BEYOND.iter().find(|(other, _)| *other == part.name()).map(|(_, why)| *why)
}

/// Marks that the default configuration can reach and that the campaign did not.
#[must_use]
pub fn gaps(tally: &Tally) -> Vec<Mark> {
    let reached = |mark: Mark| tally.marks.get(mark as usize).is_some_and(|count| *count > 0);
    Mark::ALL.iter().copied().filter(|mark| !reached(*mark) && unreached(*mark).is_none()).collect()
}
