//! shuttle: the monitor, the threads and the pace of the bytes.

use crate::ledger::{self, Deed};
use crate::paged_bytes::{Pace, PagedBytes};
use leasecheck_core::shell::{Fault, Monitor, Note, Platform};
use shuttle::sync::{Condvar, Mutex, MutexGuard};
use std::cell::Cell;
use std::sync::PoisonError;

shuttle::thread_local! {
    static LANE: Cell<usize> = Cell::new(0);
}

/// Under shuttle.
#[derive(Clone, Copy, Debug)]
pub struct Shuttle;

impl Platform for Shuttle {
    type Monitor<T: 'static> = ShuttleMonitor<T>;
    const OBSERVED: bool = true;

    fn faulty(fault: Fault) -> bool {
        ledger::faulty(fault)
    }

    fn halted() -> bool {
        ledger::halted()
    }

    fn observe(note: Note<'_>) {
        if !ledger::halted() {
            ledger::note(LANE.with(Cell::get), note);
        }
    }
}

/// The monitor of [`Shuttle`].
pub struct ShuttleMonitor<T> {
    state: Mutex<T>,
    changed: Condvar,
}

impl<T: 'static> Monitor<T> for ShuttleMonitor<T> {
    type Guard<'a> = MutexGuard<'a, T>;

    fn new(state: T) -> ShuttleMonitor<T> {
        ShuttleMonitor { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn enter(&self) -> MutexGuard<'_, T> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter_when(&self, mut ready: impl FnMut(&mut T) -> bool) -> MutexGuard<'_, T> {
        self.changed.wait_while(self.enter(), |state| !ready(state)).unwrap_or_else(PoisonError::into_inner)
    }

    fn notify_all(&self) {
        if !ledger::halted() {
            self.changed.notify_all();
        }
    }
}

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
