//! shuttle: the monitor, the threads and the pace of the bytes.

use crate::ledger::{self, Deed};
use crate::paged_bytes::{Pace, PagedBytes};
use crate::platform::platform;
use leasecheck_core::shell::{Fault, Monitor, Note, Platform};
use std::cell::Cell;

platform!(shuttle, Shuttle, ShuttleMonitor);

/// Bytes under shuttle: every use may be interrupted.
pub type ShuttleBytes = PagedBytes<Shuttle>;

impl Pace for Shuttle {
    fn pause() {
        shuttle::thread::yield_now();
    }

    fn note(deed: Deed) {
        ledger::deed(LANE.with(Cell::get), deed);
    }
}

/// Starts a thread with a lane of that name.
pub fn spawn<T: Send + 'static>(
    name: &'static str,
    body: impl FnOnce() -> T + Send + 'static,
) -> shuttle::thread::JoinHandle<T> {
    let lane = ledger::lane(name);
    shuttle::thread::spawn(move || {
        LANE.with(|current| current.set(lane));
        let result = body();
        ledger::ended(lane);
        result
    })
}
