//! A thread panics while it holds two leases. They are given back while it unwinds, and nobody is kept waiting.

use super::stage::Stage;
use crate::loom_platform::{Loom, LoomBytes, says, spawn};
use crate::ours::Ours;
use crate::subject::{Actor, HostArena, SWA};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The model; leases of other implementations are not guards.
pub fn run() {
    let stage = Stage::<Ours<Loom, LoomBytes>>::set();
    let reader = stage.arena.actor();
    let reading = spawn("reader", move || {
        let panicking = AssertUnwindSafe(|| {
            let _outer = reader.lease().expect("compactions end");
            let _inner = reader.lease().expect("holders may nest");
            says("panic");
            resume_unwind(Box::new("a panic that the model wants"));
        });
        assert!(catch_unwind(panicking).is_err());
    });
    assert_eq!(stage.actor.allocate(SWA, 1).map(|pages| pages.len()), Ok(1), "one page fits after a move");
    reading.join();
    stage.check();
}
