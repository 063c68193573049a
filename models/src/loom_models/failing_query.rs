//! Asking whether a transfer is done fails, while the transfer still reads and an allocation waits to move its page.
//!
//! A query that fails proves nothing: the event covers the layout until it completes.

use super::stage::{MOVING, Stage};
use crate::loom_platform::spawn;
use crate::subject::{Actor, Event, FULL, HostArena, SWA};

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let lease = stage.actor.lease().expect("nobody moves pages");
    let place = stage.actor.locate(&lease, FULL, stage.moving).expect("the page is live");
    let mut event = stage.arena.event();
    stage.actor.hand_off(lease, event.key()).expect("the lease is held");
    let device = stage.arena.actor();
    let copying = spawn("device", move || {
        event.fail_query();
        assert_eq!(device.read_at(&place), MOVING, "content until the event completes");
        event.complete();
    });
    assert_eq!(stage.actor.allocate(SWA, 1).map(|pages| pages.len()), Ok(1), "one page fits after a move");
    copying.join();
    stage.check();
}
