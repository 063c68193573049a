//! The thread that should tell of a completion dies without telling, while an allocation waits for it.
//!
//! Nobody knows whether the transfer still reads, so the layout stays covered; and nobody waits for what cannot come.

use super::stage::Stage;
use crate::loom_platform::{Loom, LoomBytes, says, spawn};
use crate::ours::Ours;
use crate::subject::{Actor, Event, HostArena, No, SWA};
use leasecheck_core::shell::Denied;

/// The model; other implementations cannot tell that an event is lost.
pub fn run() {
    let stage = Stage::<Ours<Loom, LoomBytes>>::set();
    let lease = stage.actor.lease().expect("nobody moves pages");
    let event = stage.arena.event();
    let key = Event::key(&event);
    let dying = spawn("watcher", move || {
        says("dies");
        drop(event);
    });
    let allocator = stage.arena.actor();
    let allocating = spawn("allocator", move || allocator.allocate(SWA, 1).map(|pages| pages.len()));
    stage.actor.hand_off(lease, key).expect("the lease is held");
    let allocated = allocating.join();
    assert_eq!(allocated, Err(No::Denied(Denied::EventLost(key))), "the layout is covered for good");
    dying.join();
    assert_eq!(stage.actor.allocate(SWA, 1), Err(No::Denied(Denied::EventLost(key))), "at once, from now on");
    stage.arena.arena.write_off(key);
    assert_eq!(stage.actor.allocate(SWA, 1).map(|pages| pages.len()), Ok(1), "written off");
    stage.check();
}
