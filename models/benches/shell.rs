//! What the shell costs when nobody is in the way: operations per second.
//!
//! ```text
//! cargo bench -p leasecheck-models --bench shell
//! ```
//!
//! *translate*: lease the layout, translate one page, give the lease back. *allocate and free*: one page of the
//! sliding-window band. In an arena of 512 full and 2,048 sliding-window pages, half full, with no compaction. Two
//! threads share one arena. `models/sglang_arena.py` measures the same on the arena of SGLang 0.5.23, if it is
//! installed. Under `cargo test` it runs once, tiny.

use leasecheck_core::shell::{Holder, SharedArena, Std};
use leasecheck_core::{LogicalPage, Planner, Request};
use leasecheck_models::subject::{FULL, SWA, layout};
use std::time::{Duration, Instant};

type Arena = SharedArena<Std, ()>;

fn main() {
    // `cargo bench` says so; anything else is a test of the bench.
    let time = Duration::from_millis(if std::env::args().any(|argument| argument == "--bench") { 1_000 } else { 10 });
    for threads in [1, 2] {
        let arena =
            Arena::new(layout(1 << 30, [512 << 10, 2 << 20], Planner::Minimal), ()).expect("the layout is possible");
        let owner = arena.holder();
        let held = [Request { band: FULL, pages: 128 }, Request { band: SWA, pages: 512 }];
        let pages = owner.allocate(&held).expect("an empty arena has room");
        let page = pages[1][0];
        report("translate under a lease", threads, measure(&arena, threads, time, |holder| translate(holder, page)));
        report("allocate and free one page", threads, measure(&arena, threads, time, allocate_and_free));
    }
}

fn translate(holder: &Holder<Std, ()>, page: LogicalPage) {
    let lease = holder.lease().expect("nobody destroys the arena");
    std::hint::black_box(lease.translate(SWA, page)).expect("the page is live");
}

fn allocate_and_free(holder: &Holder<Std, ()>) {
    let pages = holder.allocate(&[Request { band: SWA, pages: 1 }]).expect("half of the arena is free");
    holder.free(SWA, &pages[0], None).expect("the page is live");
}

/// Operations per second, all threads together.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures time")]
fn measure(arena: &Arena, threads: usize, time: Duration, work: impl Fn(&Holder<Std, ()>) + Sync) -> u128 {
    let done: u128 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|_| {
                let (holder, work) = (arena.holder(), &work);
                scope.spawn(move || {
                    let (start, mut done) = (Instant::now(), 0_u128);
                    while start.elapsed() < time {
                        for _ in 0..100 {
                            work(&holder);
                        }
                        done += 100;
                    }
                    done * 1_000_000_000 / start.elapsed().as_nanos()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("nothing panics")).sum()
    });
    done
}

fn report(what: &str, threads: usize, per_second: u128) {
    println!("{what:<28} {threads} threads {per_second:>12} per second");
}
