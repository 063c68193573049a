//! Bytes that models write, read, and let compactions move.

use crate::ledger::Deed;
use leasecheck_core::shell::{Extent, Storage};

/// Storage whose conflicting accesses are noticed. Clones are the same bytes: one for the arena, one for every copy
/// engine that has captured an address.
pub trait Bytes: Storage + Clone {
    /// So many bytes, all zero.
    fn new(bytes: u64) -> Self;

    /// The bytes of the extent.
    fn read(&self, extent: Extent) -> Vec<u8>;

    /// Overwrites every byte of the extent.
    fn write(&self, extent: Extent, value: u8);

    /// The memory goes away: conflicts with every access that is not ordered before, and with every later one.
    fn unmap(&self);

    /// Lets so many copies succeed, the next one fail, and later ones succeed.
    fn fail_copy(&self, after: u32);

    /// Writes down what a model does with bytes.
    fn note(deed: Deed);
}
