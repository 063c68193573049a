//! Destroying an arena whose layout is covered: by a lease that is handed off, and then by its event.

use super::stage::{MOVING, Stage};
use crate::loom_platform::spawn;
use crate::subject::{Actor, Event, FULL, HostArena};

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let lease = stage.actor.lease().expect("nobody moves pages");
    let place = stage.actor.locate(&lease, FULL, stage.moving).expect("the page is live");
    let event = stage.arena.event();
    let key = event.key();
    let device = stage.arena.actor();
    let copying = spawn("device", move || {
        assert_eq!(device.read_at(&place), MOVING, "the memory is there until the event completes");
        event.complete();
    });
    let owner = stage.arena.actor();
    let destroying = spawn("owner", move || owner.destroy());
    stage.actor.hand_off(lease, key).expect("the lease is held");
    copying.join();
    assert_eq!(destroying.join(), Ok(()));
}
