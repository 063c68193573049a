//! A page is read by its id, the lease being the implementation's business, while an allocation needs it to move.
//!
//! A lease that ends when the address has been looked up does not cover the use of the address.

use super::stage::{MOVING, Stage};
use crate::loom_platform::spawn;
use crate::subject::{Actor, FULL, HostArena, SWA};

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let (reader, page) = (stage.arena.actor(), stage.moving);
    let reading = spawn("reader", move || reader.read_by_id(FULL, page));
    assert_eq!(stage.actor.allocate(SWA, 1).map(|pages| pages.len()), Ok(1), "one page fits after a move");
    assert_eq!(reading.join(), Ok(MOVING), "content by id");
    stage.check();
}
