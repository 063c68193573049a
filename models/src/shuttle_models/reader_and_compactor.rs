//! One reader, one allocation that needs its page to move: small enough for every schedule that shuttle has, with
//! bytes that notice overlapping uses instead of missing happens-before. A cross-check of the loom model.

use crate::shuttle_platform::spawn;
use crate::subject::{Actor, FULL, HostArena, SWA, layout};
use leasecheck_core::Planner;

/// The model.
pub fn run<A: HostArena<Actor: Send> + Send>() {
    let arena = A::build(layout(32, [8, 8], Planner::Minimal), 0);
    let actor = arena.actor();
    let pages = actor.allocate(FULL, 4).expect("an empty arena has room");
    let lease = actor.lease().expect("nobody moves pages");
    actor.write(&lease, FULL, pages[3], 13).expect("the page is live");
    actor.release(lease).expect("the lease is held");
    actor.free(FULL, &pages[1..3]).expect("the pages are live");
    let reader = arena.actor();
    let page = pages[3];
    let reading = spawn("reader", move || {
        let lease = reader.lease().expect("compactions end");
        assert_eq!(reader.read(&lease, FULL, page), Ok(13), "content under a lease");
        reader.release(lease).expect("the lease is held");
    });
    assert_eq!(actor.allocate(SWA, 1).map(|pages| pages.len()), Ok(1), "one page fits after a move");
    reading.join().expect("panics end the execution");
}
