//! A reader looks an address up and reads it, while an allocation needs the page to move.

use super::stage::{MOVING, Stage};
use crate::loom_platform::spawn;
use crate::subject::{Actor, FULL, HostArena, SWA};

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let (reader, page) = (stage.arena.actor(), stage.moving);
    let reading = spawn("reader", move || {
        let lease = reader.lease().expect("compactions end");
        assert_eq!(reader.read(&lease, FULL, page), Ok(MOVING), "content under a lease");
        reader.release(lease).expect("the lease is held");
    });
    assert_eq!(stage.actor.allocate(SWA, 1).map(|pages| pages.len()), Ok(1), "one page fits after a move");
    reading.join();
    stage.check();
}
