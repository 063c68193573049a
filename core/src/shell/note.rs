//! What the shell tells an observing platform.

use crate::ids::{EventKey, HolderId};

/// Something that happened, or how things stand.
#[derive(Clone, Copy, Debug)]
pub enum Note<'a> {
    /// A holder did something, or somebody without a holder did (events).
    Did(Option<HolderId>, Did),
    /// A critical section ends with this state.
    Stands(Standing<'a>),
}

/// One operation, at the moment at which it took effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    /// Asked, and went to sleep.
    Slept(Wait),
    /// Was granted a lease; the number of leases it holds now.
    Leased(u32),
    /// Gave a lease back; the number of leases that it still holds.
    Released(u32),
    /// Handed a lease off to an event.
    HandedOff(EventKey),
    /// Got pages.
    Allocated(u32),
    /// Was told that what it asked for is not possible.
    Denied,
    /// Gave pages back.
    Freed(u32),
    /// Moved so many pages.
    Moved(u32),
    /// A compaction broke off after so many moves.
    BrokeOff(u32),
    /// Emptied a band.
    Cleared,
    /// Asked to destroy the arena.
    Closing,
    /// Destroyed the arena.
    Destroyed,
    /// The event's work is done.
    Completed(EventKey),
    /// The event's work is over and has failed.
    EventFailed(EventKey),
    /// Nobody can say any more whether the event's work is done.
    EventLost(EventKey),
    /// Asking the event failed; it counts as not completed.
    QueryFailed(EventKey),
}

/// What a sleeper waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// A lease: compactions that asked earlier come first.
    Lease,
    /// To move pages: leases, and events that leases were handed off to, come first.
    Move,
    /// To destroy the arena: as for moving.
    Destroy,
}

/// Somebody asleep at the monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sleeper {
    /// Who.
    pub holder: HolderId,
    /// For what.
    pub wait: Wait,
    /// Whether something that it should look at has changed since it looked last. Still true when nothing moves any
    /// more, this is a lost wake-up.
    pub missed: bool,
}

/// Who sleeps, and who keeps them waiting.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// Which arena, by its rank.
    pub rank: u32,
    /// Everyone asleep, in the order in which they fell asleep.
    pub sleepers: &'a [Sleeper],
    /// Holders of leases.
    pub holders: &'a [HolderId],
    /// Events that leases were handed off to and that have not completed.
    pub events: &'a [EventKey],
}
