//! Two allocations need pages to move, and a lease makes both of them wait.

use super::stage::Stage;
use crate::loom_platform::spawn;
use crate::subject::{Actor, HostArena, SWA};

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let lease = stage.actor.lease().expect("nobody moves pages");
    let allocate = |name| {
        let allocator = stage.arena.actor();
        spawn(name, move || allocator.allocate(SWA, 1).map(|pages| pages.len()))
    };
    let (first, second) = (allocate("first"), allocate("second"));
    stage.actor.release(lease).expect("the lease is held");
    assert_eq!(first.join(), Ok(1), "two pages fit after a move");
    assert_eq!(second.join(), Ok(1), "two pages fit after a move");
    stage.check();
}
