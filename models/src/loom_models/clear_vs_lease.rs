//! A reader uses a page while somebody empties its band and fills it anew.

use super::stage::{MOVING, Stage};
use crate::loom_platform::spawn;
use crate::subject::{Actor, FULL, HostArena};

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let lease = stage.actor.lease().expect("nobody moves pages");
    let clearer = stage.arena.actor();
    let clearing = spawn("clearer", move || {
        clearer.clear(FULL).expect("leases end");
        let pages = clearer.allocate(FULL, 4).expect("the arena is empty");
        let lease = clearer.lease().expect("nobody moves pages");
        for page in &pages {
            clearer.write(&lease, FULL, *page, 77).expect("the page is live");
        }
        clearer.release(lease).expect("the lease is held");
    });
    assert_eq!(stage.actor.read(&lease, FULL, stage.moving), Ok(MOVING), "content under a lease");
    stage.actor.release(lease).expect("the lease is held");
    clearing.join();
}
