//! A lease is taken by one thread and handed off to its event by another one, as a transfer engine's worker does.

use super::stage::{MOVING, Stage};
use crate::loom_platform::spawn;
use crate::subject::{Actor, Event, FULL, HostArena, No, SWA};

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let lease = stage.actor.lease().expect("nobody moves pages");
    let place = stage.actor.locate(&lease, FULL, stage.moving).expect("the page is live");
    let event = stage.arena.event();
    let worker = stage.arena.actor();
    let working = spawn("worker", move || {
        let key = event.key();
        worker.hand_off(lease, key)?;
        assert_eq!(worker.read_at(&place), MOVING, "content until the event completes");
        event.complete();
        Ok::<(), No>(())
    });
    let allocator = stage.arena.actor();
    let allocating = spawn("allocator", move || allocator.allocate(SWA, 1).map(|pages| pages.len()));
    assert_eq!(working.join(), Ok(()), "a lease belongs to its holder, not to a thread");
    assert_eq!(allocating.join(), Ok(1), "one page fits after a move");
    stage.check();
}
