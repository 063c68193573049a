//! The thread that completes an event looks at the arena first, while an allocation waits for the event.
//!
//! Whoever waits for an event with the arena's lock in hand keeps that thread from completing it.

use super::stage::Stage;
use crate::loom_platform::spawn;
use crate::subject::{Actor, Event, FULL, HostArena, SWA};

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let lease = stage.actor.lease().expect("nobody moves pages");
    let event = stage.arena.event();
    stage.actor.hand_off(lease, event.key()).expect("the lease is held");
    let device = stage.arena.actor();
    let copying = spawn("device", move || {
        device.free(FULL, &[]).expect("nothing is always live");
        event.complete();
    });
    assert_eq!(stage.actor.allocate(SWA, 1).map(|pages| pages.len()), Ok(1), "one page fits after a move");
    copying.join();
    stage.check();
}
