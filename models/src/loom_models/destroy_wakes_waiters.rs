//! Destroying an arena wakes an allocation that waits for a lease, while that lease is still held.

use super::stage::Stage;
use crate::loom_platform::spawn;
use crate::subject::{Actor, HostArena, No, SWA};
use leasecheck_core::shell::Denied;

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let lease = stage.actor.lease().expect("nobody moves pages");
    let allocator = stage.arena.actor();
    let allocating = spawn("allocator", move || allocator.allocate(SWA, 1).map(|pages| pages.len()));
    let owner = stage.arena.actor();
    let destroying = spawn("owner", move || owner.destroy());
    // The lease outlives the allocation: only the destruction can end its wait.
    assert_eq!(allocating.join(), Err(No::Denied(Denied::Destroyed)));
    stage.actor.release(lease).expect("the lease is held");
    assert_eq!(destroying.join(), Ok(()));
}
