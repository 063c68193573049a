//! Which behaviours the default configuration can show, in one place.

use super::campaign::Tally;
use crate::marks::Mark;

/// Marks that the default configuration cannot reach, and why. Every other mark must be reached by a campaign of a
/// few seconds, or the generator has lost something.
pub const UNREACHED: &[(&str, &str)] = &[
    ("translated-to-sink", "kernels touch the sink only through pages that are not bound, which callers do not name"),
    ("overtook", "transfers of a stream overtake each other only without `one-fifo-stream-per-direction`"),
    ("waited-for-nothing", "callers record events before they wait for them"),
];

/// Why the default configuration cannot reach a mark; nothing if it can.
#[must_use]
pub fn unreached(mark: Mark) -> Option<&'static str> {
    UNREACHED.iter().find(|(other, _)| *other == mark.name()).map(|(_, why)| *why)
}

/// Marks that the default configuration can reach and that the campaign did not.
#[must_use]
pub fn gaps(tally: &Tally) -> Vec<Mark> {
    let reached = |mark: Mark| tally.marks.get(mark as usize).is_some_and(|count| *count > 0);
    Mark::ALL.iter().copied().filter(|mark| !reached(*mark) && unreached(*mark).is_none()).collect()
}
