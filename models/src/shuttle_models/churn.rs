//! Six threads allocate, write, read and free; the arena is nearly full, so that it compacts all the time.

use crate::ledger;
use crate::shuttle_platform::spawn;
use crate::subject::{HostArena, No};
use crate::workload::{self, Worker};
use leasecheck_core::Planner;

const NAMES: [&str; 6] = ["one", "two", "three", "four", "five", "six"];

/// The model.
pub fn run<A: HostArena<Actor: Send> + Send>() {
    let arena = A::build(workload::arena(Planner::Slide), 0);
    let threads: Vec<_> = (NAMES.into_iter().zip(1..))
        .map(|(name, seed)| {
            let mut worker = Worker::new(&arena, seed, 5);
            spawn(name, move || {
                for _ in 0..40 {
                    worker.step(None)?;
                }
                worker.finish()
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().expect("panics end the execution"), Ok::<(), No>(()));
    }
    assert!(ledger::nobody_sleeps(), "everything has returned, and somebody is still registered as asleep");
}
