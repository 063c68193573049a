//! Two transfers lease the same two layouts, named in opposite orders, while a compaction waits for each layout.

use super::stage::Stage;
use crate::loom_platform::spawn;
use crate::subject::{Actor, HostArena, SWA};

/// The model.
pub fn run<A: HostArena>() {
    let (one, other) = (Stage::<A>::set_ranked(1), Stage::<A>::set_ranked(2));
    let transfer = |name, first: &Stage<A>, second: &Stage<A>| {
        let (first, second) = (first.arena.actor(), second.arena.actor());
        spawn(name, move || {
            let leases = A::lease_all(&[&first, &second]).expect("compactions end");
            // Actors are interchangeable for giving back what they took: both layouts are named in this thread.
            give_back::<A>(leases, &[&first, &second]);
        })
    };
    let there = transfer("there", &one, &other);
    let back = transfer("back", &other, &one);
    let compactor = other.arena.actor();
    let compacting = spawn("compactor", move || compactor.clear(SWA));
    assert_eq!(one.actor.clear(SWA), Ok(()));
    assert_eq!(compacting.join(), Ok(()));
    there.join();
    back.join();
}

fn give_back<A: HostArena>(leases: Vec<<A::Actor as Actor>::Lease>, actors: &[&A::Actor]) {
    for (lease, actor) in leases.into_iter().zip(actors) {
        actor.release(lease).expect("the lease is held");
    }
}
