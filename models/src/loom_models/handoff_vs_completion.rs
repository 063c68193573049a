//! A transfer: a lease is handed off to a completion event, a device reads the captured address and completes the
//! event, on its own time, before or after the hand-off; an allocation needs the page to move.

use super::stage::{MOVING, Stage};
use crate::loom_platform::spawn;
use crate::subject::{Actor, Event, FULL, HostArena, SWA};

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let lease = stage.actor.lease().expect("nobody moves pages");
    let place = stage.actor.locate(&lease, FULL, stage.moving).expect("the page is live");
    let event = stage.arena.event();
    let key = event.key();
    let device = stage.arena.actor();
    let copying = spawn("device", move || {
        assert_eq!(device.read_at(&place), MOVING, "content until the event completes");
        event.complete();
    });
    let allocator = stage.arena.actor();
    let allocating = spawn("allocator", move || allocator.allocate(SWA, 1).map(|pages| pages.len()));
    stage.actor.hand_off(lease, key).expect("the lease is held");
    copying.join();
    assert_eq!(allocating.join(), Ok(1), "one page fits after a move");
    stage.check();
}
