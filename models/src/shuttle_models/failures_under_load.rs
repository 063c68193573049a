//! Four threads work while copies fail, holders panic and completions get lost; none of it stops anybody else.

use super::Shell;
use crate::draws::Draws;
use crate::ledger;
use crate::shuttle_platform::spawn;
use crate::subject::{Actor, Event, HostArena, No};
use crate::workload::{self, Worker};
use leasecheck_core::Planner;
use leasecheck_core::shell::Denied;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

const NAMES: [&str; 4] = ["one", "two", "three", "four"];

/// The model.
pub fn run() {
    let arena = Shell::build(workload::arena(Planner::Slide), 0);
    let threads: Vec<_> = (NAMES.into_iter().zip(1..))
        .map(|(name, seed)| {
            let mut worker = Worker::new(&arena, seed, 6);
            spawn(name, move || {
                for _ in 0..30 {
                    tolerate(worker.step(None));
                }
                worker.finish()
            })
        })
        .collect();
    let troubled = arena.clone();
    let trouble = spawn("trouble", move || {
        let actor = troubled.actor();
        let mut draws = Draws::new(5);
        for _ in 0..12 {
            match draws.below(3) {
                0 => troubled.fail_copy(draws.below(3) as u32),
                1 => {
                    let panicking = AssertUnwindSafe(|| {
                        let _lease = actor.lease();
                        resume_unwind(Box::new("a panic that the model wants"));
                    });
                    assert!(catch_unwind(panicking).is_err());
                }
                _ => {
                    let lease = actor.lease().expect("compactions end");
                    let event = troubled.event();
                    let key = Event::key(&event);
                    actor.hand_off(lease, key).expect("the lease is held");
                    drop(event);
                    shuttle::thread::yield_now();
                    troubled.arena.write_off(key);
                }
            }
        }
        Ok::<(), No>(())
    });
    for thread in threads.into_iter().chain([trouble]) {
        assert_eq!(thread.join().expect("panics end the execution"), Ok(()));
    }
    assert!(arena.arena.is_idle(), "everything has returned, and the arena still waits or is waited for");
    assert!(ledger::nobody_sleeps(), "everything has returned, and somebody is still registered as asleep");
}

/// A compaction that meets trouble is denied, and its thread goes on.
fn tolerate(result: Result<(), No>) {
    match result {
        Ok(()) | Err(No::Denied(Denied::CopyFailed | Denied::EventLost(_))) => {}
        Err(other) => panic!("a worker: {other}"),
    }
}
