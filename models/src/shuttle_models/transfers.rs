//! Five threads allocate, write, read and free, and hand leases off to the events of transfers; two devices read the
//! captured addresses, complete the events and free the pages.

use crate::ledger;
use crate::shuttle_platform::spawn;
use crate::subject::{HostArena, No};
use crate::workload::{self, Worker};
use leasecheck_core::Planner;
use shuttle::sync::mpsc::channel;

const WORKERS: [&str; 5] = ["one", "two", "three", "four", "five"];
const DEVICES: [&str; 2] = ["device", "other device"];

/// The model.
pub fn run<A: HostArena<Actor: Send, Event: Send> + Send>() {
    let arena = A::build(workload::arena(Planner::Minimal), 0);
    let mut threads = Vec::new();
    let mut queues = Vec::new();
    for name in DEVICES {
        let (queue, jobs) = channel();
        queues.push(queue);
        let actor = arena.actor();
        threads.push(spawn(name, move || {
            while let Ok(job) = jobs.recv() {
                workload::serve::<A>(&actor, job)?;
            }
            Ok(())
        }));
    }
    for (seed, name) in (1..).zip(WORKERS) {
        let mut worker = Worker::new(&arena, seed, 5);
        let queue = queues[seed as usize % DEVICES.len()].clone();
        threads.push(spawn(name, move || {
            for _ in 0..30 {
                worker.step(Some(&|job| queue.send(job).expect("devices outlive their queues")))?;
            }
            worker.finish()
        }));
    }
    drop(queues);
    for thread in threads {
        assert_eq!(thread.join().expect("panics end the execution"), Ok::<(), No>(()));
    }
    assert!(ledger::nobody_sleeps(), "everything has returned, and somebody is still registered as asleep");
}
