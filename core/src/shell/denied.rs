//! Why the shell says no.

use crate::arena::{PageError, Refusal};
use crate::ids::EventKey;
use crate::lease::LeaseError;
use std::fmt;

/// Why an operation of the shell was not done. The arena is as it was before, except that a compaction which failed
/// half-way has moved the pages that it moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// The request does not fit, whatever is moved.
    Full(Refusal),
    /// The pages named cannot be freed or found.
    Page(PageError),
    /// The lease table refuses.
    Lease(LeaseError),
    /// The arena has been destroyed, or is being destroyed.
    Destroyed,
    /// While the compaction waited for this event, the event failed.
    EventFailed(EventKey),
    /// The compaction would wait for this event, and nobody will ever say that it completed: its completion was
    /// dropped. [`super::SharedArena::write_off`] ends this.
    EventLost(EventKey),
    /// The storage could not copy a page.
    CopyFailed,
    /// Layouts to be leased together have the same rank, so that there is no order to take them in.
    SameRank(u32),
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Denied::Full(refusal) => refusal.fmt(f),
            Denied::Page(error) => error.fmt(f),
            Denied::Lease(error) => error.fmt(f),
            Denied::Destroyed => write!(f, "the arena is destroyed"),
            Denied::EventFailed(event) => write!(f, "event {event}, for which the compaction waited, has failed"),
            Denied::EventLost(event) => {
                write!(f, "event {event} covers the layout and will never complete: its completion was dropped")
            }
            Denied::CopyFailed => write!(f, "a page could not be copied, so the compaction broke off"),
            Denied::SameRank(rank) => write!(f, "two different layouts have rank {rank}, so neither comes first"),
        }
    }
}

impl std::error::Error for Denied {}

impl From<PageError> for Denied {
    fn from(error: PageError) -> Denied {
        Denied::Page(error)
    }
}

impl From<LeaseError> for Denied {
    fn from(error: LeaseError) -> Denied {
        Denied::Lease(error)
    }
}
