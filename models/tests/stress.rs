//! The shell on real threads: six workers and two devices share one arena that compacts all the time, and every byte
//! is checked.
//!
//! Runs for three seconds, or for as long as it is told to:
//!
//! ```text
//! cargo test --release -p leasecheck-models --test stress -- --seconds 60
//! ```
//!
//! A conflict of two uses of the same bytes is noticed by the bytes themselves: their units are locked while they
//! are used, and a unit that is locked already is a failure. What is noticed depends on real time; what counts as a
//! failure does not.

use leasecheck_core::shell::Std;
use leasecheck_core::{Planner, Request};
use leasecheck_models::ledger::Deed;
use leasecheck_models::ours::Ours;
use leasecheck_models::paged_bytes::{Pace, PagedBytes};
use leasecheck_models::subject::{FULL, HostArena, SWA};
use leasecheck_models::workload::{self, Worker};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// Real threads need no help with taking turns, except for a rare nudge in the middle of a use.
struct Real;

impl Pace for Real {
    fn pause() {
        std::thread::yield_now();
    }

    fn note(_deed: Deed) {}
}

type Arena = Ours<Std, PagedBytes<Real>>;

const WORKERS: u64 = 6;
const DEVICES: u64 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        println!("stress: test");
        return ExitCode::SUCCESS;
    }
    let seconds = match arguments.iter().position(|argument| argument == "--seconds") {
        None => 3,
        Some(at) => match arguments.get(at + 1).and_then(|seconds| seconds.parse().ok()) {
            Some(seconds) => seconds,
            None => {
                eprintln!("`--seconds` wants a number of seconds behind it");
                return ExitCode::from(2);
            }
        },
    };
    for planner in [Planner::Slide, Planner::Minimal] {
        let steps = stress(planner, Duration::from_secs(seconds) / 2);
        println!("stress: {} threads, {planner:?}, {steps} steps, every byte as it should be", WORKERS + DEVICES);
    }
    ExitCode::SUCCESS
}

#[expect(clippy::disallowed_methods, reason = "how long a stress test lasts is the one thing that it may ask a clock")]
fn stress(planner: Planner, time: Duration) -> u64 {
    let arena = Arena::build(workload::arena(planner), 0);
    let (go_on, steps) = (AtomicBool::new(true), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let mut queues = Vec::new();
        for _ in 0..DEVICES {
            let (queue, jobs) = channel();
            queues.push(queue);
            let actor = arena.actor();
            scope.spawn(move || {
                while let Ok(job) = jobs.recv() {
                    workload::serve::<Arena>(&actor, job).expect("the page is the device's");
                }
            });
        }
        for seed in 0..WORKERS {
            let mut worker = Worker::new(&arena, seed, 5);
            let queue = queues[(seed % DEVICES) as usize].clone();
            let (go_on, steps) = (&go_on, &steps);
            scope.spawn(move || {
                let submit = |job| queue.send(job).expect("devices outlive their queues");
                let mut done = 0;
                while go_on.load(Ordering::Relaxed) {
                    worker.step(Some(&submit)).expect("a worker does nothing that can be denied");
                    done += 1;
                }
                worker.finish().expect("the pages are the worker's");
                steps.fetch_add(done, Ordering::Relaxed);
            });
        }
        drop(queues);
        let start = Instant::now();
        while start.elapsed() < time {
            // Questions from outside are answered at any time.
            let _ = arena.arena.admission(&[Request { band: SWA, pages: 1 }, Request { band: FULL, pages: 1 }]);
            std::thread::sleep(Duration::from_millis(1));
        }
        go_on.store(false, Ordering::Relaxed);
    });
    assert!(arena.arena.is_idle(), "everybody has returned, and the arena still waits or is waited for");
    let left = arena.arena.snapshot();
    assert_eq!((left.live(SWA), left.live(FULL)), (0, 0), "everybody has freed everything");
    steps.into_inner()
}
