//! Destroying an arena while an allocation waits to move pages and a reader may be waiting for a lease.
//!
//! Whoever waits must be woken and told; nobody may get a lease on an arena without memory.

use super::stage::{MOVING, Stage};
use crate::loom_platform::spawn;
use crate::subject::{Actor, FULL, HostArena, No, SWA};
use leasecheck_core::shell::Denied;

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let lease = stage.actor.lease().expect("nobody moves pages");
    let allocator = stage.arena.actor();
    let allocating = spawn("allocator", move || allocator.allocate(SWA, 1).map(|pages| pages.len()));
    let (reader, page) = (stage.arena.actor(), stage.moving);
    let reading = spawn("reader", move || {
        let lease = reader.lease()?;
        let value = reader.read(&lease, FULL, page);
        reader.release(lease)?;
        value
    });
    stage.actor.release(lease).expect("the lease is held");
    assert_eq!(stage.actor.destroy(), Ok(()));
    let destroyed = No::Denied(Denied::Destroyed);
    let allocated = allocating.join();
    assert!([Ok(1), Err(destroyed.clone())].contains(&allocated), "the allocation: {allocated:?}");
    let read = reading.join();
    assert!([Ok(MOVING), Err(destroyed)].contains(&read), "the reader: {read:?}");
}
