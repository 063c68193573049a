//! Four threads work until they are told that the arena is destroyed, which happens in the middle.

use crate::shuttle_platform::spawn;
use crate::subject::{Actor, HostArena, No};
use crate::workload::{self, Worker};
use leasecheck_core::Planner;
use leasecheck_core::shell::Denied;

const NAMES: [&str; 4] = ["one", "two", "three", "four"];

/// The model.
pub fn run<A: HostArena<Actor: Send> + Send>() {
    let arena = A::build(workload::arena(Planner::Minimal), 0);
    let threads: Vec<_> = (NAMES.into_iter().zip(1..))
        .map(|(name, seed)| {
            let mut worker = Worker::new(&arena, seed, 7);
            spawn(name, move || (0..40).try_for_each(|_| worker.step(None)))
        })
        .collect();
    let owner = arena.actor();
    let destroying = spawn("owner", move || {
        for _ in 0..60 {
            shuttle::thread::yield_now();
        }
        owner.destroy()
    });
    assert_eq!(destroying.join().expect("panics end the execution"), Ok(()));
    for thread in threads {
        let result = thread.join().expect("panics end the execution");
        assert!([Ok(()), Err(No::Denied(Denied::Destroyed))].contains(&result), "a worker: {result:?}");
    }
}
