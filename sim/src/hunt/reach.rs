//! Which behaviours the default configuration can show, in one place.

use super::campaign::Tally;
use crate::marks::Mark;

/// Marks that the default configuration cannot reach, and why. Every other mark must be reached by a campaign of a
/// few seconds, or the generator has lost something.
pub const UNREACHED: &[(Mark, &str)] = &[
    (Mark::Bound, "pages are bound in the set-up, whose marks are not counted: later, nothing promises room for them"),
    (Mark::TranslatedToSink, "kernels touch the sink only through pages that are not bound, which callers do not name"),
    (Mark::Overtook, "transfers of a stream overtake each other only without `one-fifo-stream-per-direction`"),
    (Mark::WaitedForNothing, "callers record events before they wait for them"),
    (Mark::MadeRoom, "arenas are drawn without float bands"),
    (Mark::Shared, NOT_DRAWN),
    (Mark::ReferenceGivenBack, NOT_DRAWN),
    (Mark::Cached, NOT_DRAWN),
    (Mark::Evicted, NOT_DRAWN),
    (Mark::DonorEvicted, NOT_DRAWN),
    (Mark::PassedOver, NOT_DRAWN),
    (Mark::BindRefused, NOT_DRAWN),
    (Mark::Unmapped, NOT_DRAWN),
    (Mark::Remapped, NOT_DRAWN),
    (Mark::Met, NOT_DRAWN),
    (Mark::ReadDiscarded, NOT_DRAWN),
    (Mark::ReadAccepted, NOT_DRAWN),
    (Mark::Took, NOT_DRAWN),
    (Mark::ConditionHeld, NOT_DRAWN),
    (Mark::PendingOnSeveral, NOT_DRAWN),
    (Mark::WrittenInPart, NOT_DRAWN),
    (Mark::ReadBeyondValid, NOT_DRAWN),
    (Mark::LeaseRenewed, NOT_DRAWN),
];

const NOT_DRAWN: &str = "the generator draws no step that could show it";

/// Marks that the default configuration can reach and that the campaign did not.
#[must_use]
pub fn gaps(tally: &Tally) -> Vec<Mark> {
    let reached = |mark: Mark| tally.marks.get(mark as usize).is_some_and(|count| *count > 0);
    let excused = |mark: Mark| UNREACHED.iter().any(|(other, _)| *other == mark);
    Mark::ALL.iter().copied().filter(|mark| !reached(*mark) && !excused(*mark)).collect()
}
