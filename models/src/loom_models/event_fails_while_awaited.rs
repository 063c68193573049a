//! Two transfers cover the layout. One of them fails while an allocation waits for both.
//!
//! The allocation may be told so, but the other transfer still reads: asking again must wait for it.

use super::stage::{MOVING, Stage};
use crate::loom_platform::spawn;
use crate::subject::{Actor, Event, FULL, HostArena, No, SWA};
use leasecheck_core::shell::Denied;

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let failing = stage.arena.event();
    let lease = stage.actor.lease().expect("nobody moves pages");
    stage.actor.hand_off(lease, failing.key()).expect("the lease is held");
    let lease = stage.actor.lease().expect("nobody moves pages");
    let place = stage.actor.locate(&lease, FULL, stage.moving).expect("the page is live");
    let reading = stage.arena.event();
    stage.actor.hand_off(lease, reading.key()).expect("the lease is held");
    let failing = spawn("broken device", move || failing.fail());
    let device = stage.arena.actor();
    let copying = spawn("device", move || {
        assert_eq!(device.read_at(&place), MOVING, "content until the event completes");
        reading.complete();
    });
    let first = stage.actor.allocate(SWA, 1).map(|pages| pages.len());
    match first {
        Ok(1) => {}
        Err(No::Denied(Denied::EventFailed(_))) => {
            assert_eq!(stage.actor.allocate(SWA, 1).map(|pages| pages.len()), Ok(1), "it has been told once");
        }
        other => panic!("an allocation of one page: {other:?}"),
    }
    failing.join();
    copying.join();
    stage.check();
}
