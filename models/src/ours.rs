//! The shell, as models see it.

use crate::bytes::Bytes;
use crate::ledger::Deed;
use crate::subject::{Actor, Event, HostArena, No, Place};
use leasecheck_core::shell::{self, Completion, Holder, Lease, Platform, SharedArena};
use leasecheck_core::{ArenaConfig, BandId, EventKey, LogicalPage, Request};

/// [`SharedArena`] over bytes that models can check.
#[derive(Clone)]
pub struct Ours<P: Platform, B: Bytes> {
    /// The arena itself.
    pub arena: SharedArena<P, B>,
    bytes: B,
}

/// One thread at [`Ours`].
pub struct OurActor<P: Platform, B: Bytes> {
    /// The shell's view of it.
    pub holder: Holder<P, B>,
    bytes: B,
}

impl<P: Platform + Clone, B: Bytes> HostArena for Ours<P, B> {
    type Actor = OurActor<P, B>;
    type Event = Completion<P, B>;

    fn build(config: ArenaConfig, rank: u32) -> Ours<P, B> {
        let bytes = B::new(config.bytes);
        let arena = SharedArena::ranked(config, bytes.clone(), rank).expect("the layouts of models are possible");
        Ours { arena, bytes }
    }

    fn actor(&self) -> OurActor<P, B> {
        OurActor { holder: self.arena.holder(), bytes: self.bytes.clone() }
    }

    fn event(&self) -> Completion<P, B> {
        self.arena.completion()
    }

    fn fail_copy(&self, after: u32) {
        self.bytes.fail_copy(after);
    }

    fn lease_all(actors: &[&OurActor<P, B>]) -> Result<Vec<Lease<P, B>>, No> {
        let holders: Vec<&Holder<P, B>> = actors.iter().map(|actor| &actor.holder).collect();
        Ok(shell::lease_all(&holders)?)
    }
}

impl<P: Platform, B: Bytes> Event for Completion<P, B> {
    type Key = EventKey;

    fn key(&self) -> EventKey {
        Completion::key(self)
    }

    fn complete(self) {
        Completion::complete(self);
    }

    fn fail(self) {
        Completion::fail(self);
    }

    fn fail_query(&mut self) {
        assert_eq!(self.poll(|| Err("the device does not answer")), Err("the device does not answer"));
    }
}

impl<P: Platform, B: Bytes> Actor for OurActor<P, B> {
    type Lease = Lease<P, B>;
    type Event = Completion<P, B>;

    fn allocate(&self, band: BandId, pages: u32) -> Result<Vec<LogicalPage>, No> {
        Ok(self.holder.allocate(&[Request { band, pages }])?.remove(0))
    }

    fn free(&self, band: BandId, ids: &[LogicalPage]) -> Result<(), No> {
        Ok(self.holder.free(band, ids, None)?)
    }

    fn clear(&self, band: BandId) -> Result<(), No> {
        Ok(self.holder.clear(band)?)
    }

    fn destroy(&self) -> Result<(), No> {
        self.holder.destroy()?;
        self.bytes.unmap();
        Ok(())
    }

    fn lease(&self) -> Result<Lease<P, B>, No> {
        Ok(self.holder.lease()?)
    }

    fn release(&self, lease: Lease<P, B>) -> Result<(), No> {
        drop(lease);
        Ok(())
    }

    fn hand_off(&self, lease: Lease<P, B>, event: EventKey) -> Result<(), No> {
        lease.hand_off(event);
        Ok(())
    }

    fn locate(&self, lease: &Lease<P, B>, band: BandId, id: LogicalPage) -> Result<Place, No> {
        Ok(Place { id, extent: lease.locate(band, id)? })
    }

    fn read_at(&self, place: &Place) -> u8 {
        B::note(Deed::Read(place.id));
        uniform(&self.bytes.read(place.extent))
    }

    fn write(&self, lease: &Lease<P, B>, band: BandId, id: LogicalPage, value: u8) -> Result<(), No> {
        lease.access(band, id, |bytes, extent| {
            B::note(Deed::Write(id));
            bytes.write(extent, value);
        })?;
        Ok(())
    }

    fn read_by_id(&self, band: BandId, id: LogicalPage) -> Result<u8, No> {
        Ok(self.holder.with_page(band, id, |bytes, extent| {
            B::note(Deed::Read(id));
            uniform(&bytes.read(extent))
        })?)
    }
}

/// The value of a page whose bytes are all the same.
///
/// # Panics
/// When they are not.
#[must_use]
pub fn uniform(bytes: &[u8]) -> u8 {
    assert!(bytes.windows(2).all(|pair| pair[0] == pair[1]), "content: a page reads {bytes:?}, bytes of several pages");
    bytes[0]
}
