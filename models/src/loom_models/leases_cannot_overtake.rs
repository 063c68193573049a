//! Two threads wait for a lease to end so that pages may move; its holder then asks for another one.
//!
//! If the end of one compaction opens the door while another one still waits, overlapping leases keep that one
//! waiting for as long as they like. In the other direction, allocations that keep coming must not keep a lease
//! waiting either. The ledger watches over both.

use super::stage::Stage;
use crate::loom_platform::spawn;
use crate::subject::{Actor, HostArena, SWA};

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let lease = stage.actor.lease().expect("nobody moves pages");
    let drain = |name| {
        let clearer = stage.arena.actor();
        // Emptying a band drains like a compaction, whatever another one has done before.
        spawn(name, move || clearer.clear(SWA))
    };
    let (first, second) = (drain("first"), drain("second"));
    stage.actor.release(lease).expect("the lease is held");
    let lease = stage.actor.lease().expect("compactions end");
    stage.actor.release(lease).expect("the lease is held");
    assert_eq!(first.join(), Ok(()));
    assert_eq!(second.join(), Ok(()));
}
