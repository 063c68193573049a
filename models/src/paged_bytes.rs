//! Bytes in units that are locked while they are used: a conflict is two uses that overlap, and nobody ever waits.
//!
//! For real threads and for shuttle. Reading and writing pause half-way, so that a use has a beginning and an end for
//! another thread to fall between.

use crate::bytes::Bytes;
use crate::ledger::Deed;
use leasecheck_core::shell::{Extent, Storage};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, RwLock, TryLockError, TryLockResult};

/// Bytes of a unit; pages consist of whole units.
pub const UNIT: u64 = 8;

type Unit = RwLock<[u8; UNIT as usize]>;

/// How a use of bytes takes time, and who hears of it.
pub trait Pace: 'static {
    /// Gives other threads an opportunity.
    fn pause();

    /// Writes down what was done.
    fn note(deed: Deed);
}

/// The bytes; clones are the same ones.
pub struct PagedBytes<C: Pace> {
    inner: Arc<Inner>,
    pace: PhantomData<fn() -> C>,
}

struct Inner {
    units: Vec<Unit>,
    /// Copies until one fails; `u32::MAX` for never. Like `mapped` not part of what is being tested: it only has to
    /// be seen by whoever comes later in the order that the shell makes.
    copies_left: AtomicU32,
    mapped: AtomicBool,
}

impl<C: Pace> Clone for PagedBytes<C> {
    fn clone(&self) -> PagedBytes<C> {
        PagedBytes { inner: Arc::clone(&self.inner), pace: PhantomData }
    }
}

impl<C: Pace> PagedBytes<C> {
    fn units(&self, extent: Extent) -> &[Unit] {
        assert!(self.inner.mapped.load(Ordering::SeqCst), "bytes {extent} are used after the arena was destroyed");
        assert!(extent.start.is_multiple_of(UNIT) && extent.bytes.is_multiple_of(UNIT), "{extent} is not whole units");
        &self.inner.units[(extent.start / UNIT) as usize..(extent.end() / UNIT) as usize]
    }
}

/// The guard of a unit that nobody else uses in a conflicting way.
///
/// Poison says nothing here: it also comes about when one coroutine of shuttle's writes while another one unwinds.
fn claim<G>(unit: TryLockResult<G>, done: &str, extent: Extent) -> G {
    match unit {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => panic!("race: bytes {extent} are {done} while somebody else uses them"),
    }
}

impl<C: Pace> Bytes for PagedBytes<C> {
    fn new(bytes: u64) -> PagedBytes<C> {
        let units = (0..bytes.div_ceil(UNIT)).map(|_| RwLock::new([0; UNIT as usize])).collect();
        let inner = Inner { units, copies_left: AtomicU32::new(u32::MAX), mapped: AtomicBool::new(true) };
        PagedBytes { inner: Arc::new(inner), pace: PhantomData }
    }

    fn read(&self, extent: Extent) -> Vec<u8> {
        let units: Vec<_> = self.units(extent).iter().map(|unit| claim(unit.try_read(), "read", extent)).collect();
        C::pause();
        units.iter().flat_map(|unit| unit.iter().copied()).collect()
    }

    fn write(&self, extent: Extent, value: u8) {
        let mut units: Vec<_> =
            self.units(extent).iter().map(|unit| claim(unit.try_write(), "written", extent)).collect();
        C::pause();
        units.iter_mut().for_each(|unit| unit.fill(value));
    }

    fn unmap(&self) {
        self.write(Extent { start: 0, bytes: self.inner.units.len() as u64 * UNIT }, 0);
        self.inner.mapped.store(false, Ordering::SeqCst);
    }

    fn fail_copy(&self, after: u32) {
        self.inner.copies_left.store(after, Ordering::SeqCst);
    }

    fn note(deed: Deed) {
        C::note(deed);
    }
}

impl<C: Pace> Storage for PagedBytes<C> {
    type Error = ();

    fn copy(&self, from: Extent, to: Extent) -> Result<(), ()> {
        let left = self.inner.copies_left.load(Ordering::SeqCst);
        if left != u32::MAX {
            self.inner.copies_left.store(left.checked_sub(1).unwrap_or(u32::MAX), Ordering::SeqCst);
            if left == 0 {
                return Err(());
            }
        }
        for (source, target) in self.units(from).iter().zip(self.units(to)) {
            *claim(target.try_write(), "moved to", to) = *claim(source.try_read(), "moved", from);
        }
        Ok(())
    }
}
