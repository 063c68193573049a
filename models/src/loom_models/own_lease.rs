//! A holder of a lease allocates: served where nothing has to move, denied where it would wait for itself; another
//! thread's allocation is not disturbed by the denial.

use super::stage::Stage;
use crate::loom_platform::spawn;
use crate::subject::{Actor, HostArena, No, SWA};
use leasecheck_core::shell::Denied;

/// The model.
pub fn run<A: HostArena>() {
    let stage = Stage::<A>::set();
    let allocator = stage.arena.actor();
    let allocating = spawn("allocator", move || allocator.allocate(SWA, 1).map(|pages| pages.len()));
    let lease = stage.actor.lease().expect("compactions end");
    let own = stage.actor.allocate(SWA, 1);
    assert!(
        own.as_ref().map_or_else(|no| matches!(no, No::Denied(Denied::Lease(_))), |pages| pages.len() == 1),
        "an allocation under an own lease: {own:?}"
    );
    stage.actor.release(lease).expect("the lease is held");
    assert_eq!(allocating.join(), Ok(1), "one page fits after a move");
    stage.check();
}
