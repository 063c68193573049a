//! While an allocation waits for a lease to end, another one that needs no move is served at once.

use super::stage::Stage;
use crate::loom_platform::spawn;
use crate::subject::{Actor, FULL, HostArena, No, SWA};
use leasecheck_core::shell::Denied;

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let lease = stage.actor.lease().expect("nobody moves pages");
    let mover = stage.arena.actor();
    let moving = spawn("mover", move || mover.allocate(SWA, 2));
    // The lease is still held: if this waited for the compaction, nobody could end the wait.
    let taken = stage.actor.allocate(FULL, 1).expect("a hole is free, and nobody else may use it now");
    stage.actor.free(FULL, &taken).expect("the page is live");
    let taken = stage.actor.allocate(FULL, 1).expect("a hole is free, and nobody else may use it now");
    assert_eq!(taken.len(), 1);
    stage.actor.release(lease).expect("the lease is held");
    let moved = moving.join();
    assert!(matches!(moved, Err(No::Denied(Denied::Full(_)))), "two pages out of one: {moved:?}");
    stage.check();
}
