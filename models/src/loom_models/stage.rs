//! The situation in which most models begin.

use crate::ledger;
use crate::subject::{Actor, FULL, HostArena, layout};
use leasecheck_core::{LogicalPage, Planner};

/// An arena of four one-byte pages, all of them once full; two interior ones have been freed. There is no gap, so
/// that one page of the other band fits only after a move.
pub struct Stage<A: HostArena> {
    /// The arena.
    pub arena: A,
    /// The actor of the model's own thread.
    pub actor: A::Actor,
    /// The page at the top, which never has to move.
    pub still: LogicalPage,
    /// The page that a compaction moves.
    pub moving: LogicalPage,
}

/// What the pages of a [`Stage`] contain.
pub const STILL: u8 = 10;
/// What the page that moves contains.
pub const MOVING: u8 = 13;

impl<A: HostArena> Stage<A> {
    /// Sets the stage.
    ///
    /// # Panics
    /// When the implementation cannot do that much.
    #[must_use]
    pub fn set() -> Stage<A> {
        Stage::set_ranked(0)
    }

    /// Sets a stage for an arena of that rank.
    ///
    /// # Panics
    /// As above.
    #[must_use]
    pub fn set_ranked(rank: u32) -> Stage<A> {
        let arena = A::build(layout(4, [1, 1], Planner::Minimal), rank);
        let actor = arena.actor();
        let pages = actor.allocate(FULL, 4).expect("an empty arena has room");
        let lease = actor.lease().expect("nobody moves pages");
        for (page, value) in [(pages[0], STILL), (pages[3], MOVING)] {
            actor.write(&lease, FULL, page, value).expect("the page is live");
        }
        actor.release(lease).expect("the lease is held");
        actor.free(FULL, &pages[1..3]).expect("the pages are live");
        ledger::stage_is_set();
        Stage { arena, actor, still: pages[0], moving: pages[3] }
    }

    /// Checks that the pages still contain what they did, and that nobody waits.
    ///
    /// # Panics
    /// When they do not.
    pub fn check(&self) {
        let lease = self.actor.lease().expect("nobody moves pages any more");
        assert_eq!(self.actor.read(&lease, FULL, self.still), Ok(STILL), "content of the page that stays");
        assert_eq!(self.actor.read(&lease, FULL, self.moving), Ok(MOVING), "content of the page that moves");
        self.actor.release(lease).expect("the lease is held");
        assert!(ledger::nobody_sleeps(), "everything has returned, and somebody is still registered as asleep");
    }
}
