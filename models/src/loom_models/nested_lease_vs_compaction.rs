//! A reader nests a second lease while a compaction may be waiting for its first one.
//!
//! Held back like a new one, the second lease would wait for the compaction, which waits for the first lease.

use super::stage::{MOVING, Stage};
use crate::loom_platform::spawn;
use crate::subject::{Actor, FULL, HostArena, SWA};

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let (reader, page) = (stage.arena.actor(), stage.moving);
    let reading = spawn("reader", move || {
        let outer = reader.lease().expect("compactions end");
        let place = reader.locate(&outer, FULL, page).expect("the page is live");
        let inner = reader.lease().expect("holders may nest");
        reader.release(inner).expect("the lease is held");
        assert_eq!(reader.read_at(&place), MOVING, "the outer lease still holds");
        reader.release(outer).expect("the lease is held");
    });
    assert_eq!(stage.actor.allocate(SWA, 1).map(|pages| pages.len()), Ok(1), "one page fits after a move");
    reading.join();
    stage.check();
}
