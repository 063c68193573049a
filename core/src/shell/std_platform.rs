//! Real threads: a mutex and a condition variable of the standard library.

use super::platform::{Monitor, Platform};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Real threads.
#[derive(Clone, Copy, Debug)]
pub struct Std;

impl Platform for Std {
    type Monitor<T: 'static> = StdMonitor<T>;
}

/// The monitor of [`Std`].
///
/// A poisoned mutex is entered like any other: the shell never unwinds while its state is inconsistent (see
/// [`super::Storage::copy`] for the only foreign code that it calls inside the monitor).
#[derive(Debug)]
pub struct StdMonitor<T> {
    state: Mutex<T>,
    changed: Condvar,
}

impl<T: 'static> Monitor<T> for StdMonitor<T> {
    type Guard<'a> = MutexGuard<'a, T>;

    fn new(state: T) -> StdMonitor<T> {
        StdMonitor { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn enter(&self) -> MutexGuard<'_, T> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter_when(&self, mut ready: impl FnMut(&mut T) -> bool) -> MutexGuard<'_, T> {
        self.changed.wait_while(self.enter(), |state| !ready(state)).unwrap_or_else(PoisonError::into_inner)
    }

    fn notify_all(&self) {
        self.changed.notify_all();
    }
}
