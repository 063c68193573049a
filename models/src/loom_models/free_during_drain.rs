//! While an allocation waits for a lease to end, the lease's holder frees pages, so that nothing has to move any
//! more. It keeps the lease until the allocation has returned.

use super::stage::{STILL, Stage};
use crate::loom_platform::spawn;
use crate::subject::{Actor, FULL, HostArena, SWA};

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let lease = stage.actor.lease().expect("nobody moves pages");
    let allocator = stage.arena.actor();
    let allocating = spawn("allocator", move || allocator.allocate(SWA, 1).map(|pages| pages.len()));
    stage.actor.free(FULL, &[stage.moving]).expect("the page is live");
    assert_eq!(allocating.join(), Ok(1), "there are free bytes at the frontier");
    assert_eq!(stage.actor.read(&lease, FULL, stage.still), Ok(STILL), "content under a lease");
    stage.actor.release(lease).expect("the lease is held");
}
