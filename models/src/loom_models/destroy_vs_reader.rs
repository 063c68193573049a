//! Destroying an arena while a lease is held and a reader asks for another one.
//!
//! The reader gets its lease before, or is told: nobody may get a lease on an arena without memory.

use super::stage::{MOVING, STILL, Stage};
use crate::loom_platform::spawn;
use crate::subject::{Actor, FULL, HostArena, No};
use leasecheck_core::shell::Denied;

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let lease = stage.actor.lease().expect("nobody moves pages");
    let owner = stage.arena.actor();
    let destroying = spawn("owner", move || owner.destroy());
    let (reader, page) = (stage.arena.actor(), stage.moving);
    let reading = spawn("reader", move || {
        let lease = reader.lease()?;
        let value = reader.read(&lease, FULL, page);
        reader.release(lease)?;
        value
    });
    assert_eq!(stage.actor.read(&lease, FULL, stage.still), Ok(STILL), "content under a lease");
    stage.actor.release(lease).expect("the lease is held");
    assert_eq!(destroying.join(), Ok(()));
    let read = reading.join();
    assert!([Ok(MOVING), Err(No::Denied(Denied::Destroyed))].contains(&read), "the reader: {read:?}");
}
