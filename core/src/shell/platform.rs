//! The primitives that the shell is generic over.

use super::fault::Fault;
use super::note::Note;
use std::ops::DerefMut;

/// A state that one thread at a time may see, and a way to wait until it has changed.
pub trait Monitor<T> {
    /// Access to the state; leaving is dropping it.
    type Guard<'a>: DerefMut<Target = T>
    where
        Self: 'a,
        T: 'a;

    /// A monitor that nobody is in.
    fn new(state: T) -> Self;

    /// Enters as soon as nobody else is in.
    fn enter(&self) -> Self::Guard<'_>;

    /// Enters as soon as nobody else is in and `ready` says yes. While it says no, the caller sleeps outside; it
    /// asks again after every [`Monitor::notify_all`]. The question may leave its mark in the state: that is how
    /// whoever waits registers as waiting, in the same critical section in which it learned that it must.
    fn enter_when(&self, ready: impl FnMut(&mut T) -> bool) -> Self::Guard<'_>;

    /// Makes everyone who sleeps ask again.
    fn notify_all(&self);
}

/// Where the shell runs: on real threads, or under a tool that explores their interleavings.
///
/// Everything but the monitor has a default that compiles to nothing, so that real threads pay for no tool.
pub trait Platform: 'static {
    /// The platform's monitor.
    type Monitor<T: 'static>: Monitor<T>;

    /// Whether [`Platform::observe`] looks at what it is given.
    const OBSERVED: bool = false;

    /// Whether a fault is switched on. For tests of the tests only.
    #[inline(always)]
    fn faulty(_fault: Fault) -> bool {
        false
    }

    /// Whether this execution has failed already and is only being torn down, so that nothing may wait any more.
    #[inline(always)]
    fn halted() -> bool {
        false
    }

    /// Something has happened. Called inside the monitor, so that the order of calls is the order of events.
    #[inline(always)]
    fn observe(_note: Note<'_>) {}
}
