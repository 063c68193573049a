//! The last of four copies of a compaction fails, while a reader may be waiting for a lease.
//!
//! The caller is told; the pages that were copied have moved, and the last one has not; the reader gets its lease and reads what it
//! should; the next compaction succeeds.

use crate::ledger;
use crate::loom_platform::spawn;
use crate::subject::{Actor, FULL, HostArena, No, SWA, layout};
use leasecheck_core::Planner;
use leasecheck_core::shell::Denied;

/// The model.
pub fn run<A: HostArena>() {
    // Seven pages, of which 1 and 2 are holes. Sliding moves four pages: the third one to where the first one was.
    let arena = A::build(layout(7, [1, 1], Planner::Slide), 0);
    let actor = arena.actor();
    let mut pages = actor.allocate(FULL, 7).expect("an empty arena has room");
    let lease = actor.lease().expect("nobody moves pages");
    for page in &pages {
        actor.write(&lease, FULL, *page, page.0 as u8).expect("the page is live");
    }
    actor.release(lease).expect("the lease is held");
    actor.free(FULL, &[pages.remove(1), pages.remove(1)]).expect("the pages are live");
    arena.fail_copy(3);
    ledger::stage_is_set();
    let (reader, read) = (arena.actor(), pages.clone());
    let reading = spawn("reader", move || {
        let lease = reader.lease().expect("failed compactions end, too");
        for page in read {
            assert_eq!(reader.read(&lease, FULL, page), Ok(page.0 as u8), "content of every page");
        }
        reader.release(lease).expect("the lease is held");
    });
    assert_eq!(actor.allocate(SWA, 1), Err(No::Denied(Denied::CopyFailed)));
    assert_eq!(actor.allocate(SWA, 1).map(|pages| pages.len()), Ok(1), "the next compaction succeeds");
    reading.join();
    let lease = actor.lease().expect("nobody moves pages any more");
    for page in pages {
        assert_eq!(actor.read(&lease, FULL, page), Ok(page.0 as u8), "content of every page");
    }
    actor.release(lease).expect("the lease is held");
}
