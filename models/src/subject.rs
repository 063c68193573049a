//! What a model asks of a thread-safe host arena, so that one model runs on two implementations of it.

use leasecheck_core::shell::{Denied, Extent};
use leasecheck_core::{ArenaConfig, BandConfig, BandId, Grow, Ids, LogicalPage, Planner, Reuse, Rules};
use std::fmt;

/// The band of sliding-window pages, which grows up from byte 0.
pub const SWA: BandId = BandId(0);
/// The band of full-attention pages, which grows down from the top.
pub const FULL: BandId = BandId(1);

/// Two bands over so many bytes, with pages of `envelope` bytes (sliding window, full).
#[must_use]
pub fn layout(bytes: u64, envelope: [u64; 2], planner: Planner) -> ArenaConfig {
    let band = |name: &str, envelope, grow| BandConfig {
        name: name.into(),
        envelope,
        page_tokens: 1,
        layers: 1,
        grow,
        ids: Ids::Own,
    };
    ArenaConfig {
        bytes,
        bands: vec![band("swa", envelope[0], Grow::Up), band("full", envelope[1], Grow::Down)],
        sink: false,
        reuse: Reuse::AsDesigned,
        permuted: false,
        planner,
        rules: Rules::all(),
    }
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum No {
    /// An answer that the design has.
    Denied(Denied),
    /// An exception that no caller expects.
    Raised(&'static str),
}

impl fmt::Display for No {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            No::Denied(denied) => denied.fmt(f),
            No::Raised(what) => write!(f, "raised: {what}"),
        }
    }
}

impl From<Denied> for No {
    fn from(denied: Denied) -> No {
        No::Denied(denied)
    }
}

/// An implementation.
pub trait HostArena: Clone + 'static {
    /// What one thread does with it.
    type Actor: Actor<Event = Self::Event>;
    /// The work behind a completion event, as the thread that ends it sees it.
    type Event: Event;

    /// A new arena. Layouts that are leased together have different ranks.
    fn build(config: ArenaConfig, rank: u32) -> Self;

    /// A new thread's view.
    fn actor(&self) -> Self::Actor;

    /// A new completion event.
    fn event(&self) -> Self::Event;

    /// Lets so many copies succeed and the next one fail.
    fn fail_copy(&self, after: u32);

    /// Leases several layouts for one transfer, in whatever order the implementation prefers.
    ///
    /// # Errors
    /// When one of them cannot be leased.
    fn lease_all(actors: &[&Self::Actor]) -> Result<Vec<<Self::Actor as Actor>::Lease>, No>;
}

/// The work behind a completion event.
pub trait Event: 'static {
    /// What leases are handed off to.
    type Key: Clone + 'static;

    /// For hand-offs.
    fn key(&self) -> Self::Key;

    /// The work is done.
    fn complete(self);

    /// The work is over and has failed.
    fn fail(self);

    /// Asks whether the work is done, and the question fails.
    fn fail_query(&mut self);
}

/// One thread at an arena.
pub trait Actor: 'static {
    /// A lease.
    type Lease: 'static;
    /// Events of this arena.
    type Event: Event;

    /// Allocates pages of one band, all or none.
    ///
    /// # Errors
    /// As the implementation sees fit.
    fn allocate(&self, band: BandId, pages: u32) -> Result<Vec<LogicalPage>, No>;

    /// Gives pages back.
    ///
    /// # Errors
    /// When they are not live.
    fn free(&self, band: BandId, ids: &[LogicalPage]) -> Result<(), No>;

    /// Empties a band.
    ///
    /// # Errors
    /// When that would wait forever.
    fn clear(&self, band: BandId) -> Result<(), No>;

    /// Destroys the arena; the storage is gone afterwards.
    ///
    /// # Errors
    /// When it cannot be.
    fn destroy(&self) -> Result<(), No>;

    /// Holds the layout still.
    ///
    /// # Errors
    /// When the arena is destroyed.
    fn lease(&self) -> Result<Self::Lease, No>;

    /// Gives a lease back, on this thread.
    ///
    /// # Errors
    /// When the implementation thinks that this thread has none.
    fn release(&self, lease: Self::Lease) -> Result<(), No>;

    /// Gives a lease back; the event covers the layout from now on.
    ///
    /// # Errors
    /// As for [`Actor::release`].
    fn hand_off(&self, lease: Self::Lease, event: <Self::Event as Event>::Key) -> Result<(), No>;

    /// Where a page's bytes are.
    ///
    /// # Errors
    /// When the page is not live.
    fn locate(&self, lease: &Self::Lease, band: BandId, id: LogicalPage) -> Result<Place, No>;

    /// Reads a page at an address that was looked up before, as a copy engine does.
    fn read_at(&self, place: &Place) -> u8;

    /// Overwrites a page.
    ///
    /// # Errors
    /// When it is not live.
    fn write(&self, lease: &Self::Lease, band: BandId, id: LogicalPage, value: u8) -> Result<(), No>;

    /// Reads a page by its id, the lease being the implementation's business.
    ///
    /// # Errors
    /// When it is not live.
    fn read_by_id(&self, band: BandId, id: LogicalPage) -> Result<u8, No>;

    /// Reads a page under a lease.
    ///
    /// # Errors
    /// When it is not live.
    fn read(&self, lease: &Self::Lease, band: BandId, id: LogicalPage) -> Result<u8, No> {
        Ok(self.read_at(&self.locate(lease, band, id)?))
    }
}

/// An address, and whose page it was when it was looked up.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The page.
    pub id: LogicalPage,
    /// Its bytes.
    pub extent: Extent,
}
