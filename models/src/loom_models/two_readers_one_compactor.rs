//! Two readers come and go while an allocation needs their page to move: the last one out must wake it, and a reader
//! that comes late must wait its turn.

use super::stage::{MOVING, Stage};
use crate::loom_platform::spawn;
use crate::subject::{Actor, FULL, HostArena, SWA};

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let first = stage.actor.lease().expect("nobody moves pages");
    let allocator = stage.arena.actor();
    let allocating = spawn("allocator", move || allocator.allocate(SWA, 1).map(|pages| pages.len()));
    let (reader, page) = (stage.arena.actor(), stage.moving);
    let reading = spawn("reader", move || {
        let lease = reader.lease().expect("compactions end");
        assert_eq!(reader.read(&lease, FULL, page), Ok(MOVING), "content under a lease");
        reader.release(lease).expect("the lease is held");
    });
    stage.actor.release(first).expect("the lease is held");
    assert_eq!(allocating.join(), Ok(1), "one page fits after a move");
    reading.join();
    stage.check();
}
