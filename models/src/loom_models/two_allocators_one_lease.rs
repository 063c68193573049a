//! An allocation plans on the bytes that a compaction will free, and waits for a lease; another allocation takes
//! them meanwhile.
//!
//! The first one must see that it does not fit any more and be told so, as if it had come second.

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
    let taker = stage.arena.actor();
    let taking = spawn("taker", move || taker.allocate(FULL, 1));
    stage.actor.release(lease).expect("the lease is held");
    let full = |result: &Result<_, No>| matches!(result, Err(No::Denied(Denied::Full(_))));
    match (moving.join(), taking.join()) {
        (Ok(pages), no) if pages.len() == 2 && full(&no) => {}
        (no, Ok(pages)) if pages.len() == 1 && full(&no) => {}
        (mover, taker) => panic!("two pages and one page out of two: {mover:?}, {taker:?}"),
    }
    stage.check();
}
