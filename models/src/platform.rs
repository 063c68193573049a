//! What the platforms of loom and shuttle have in common: both tools have the standard library's names.

/// A platform, its monitor, and the lane that a thread is in. Wants `ledger` and the traits of the shell in scope.
macro_rules! platform {
    ($tool:ident, $platform:ident, $monitor:ident) => {
        $tool::thread_local! {
            static LANE: std::cell::Cell<usize> = std::cell::Cell::new(0);
        }

        #[doc = concat!("Under ", stringify!($tool), ".")]
        #[derive(Clone, Copy, Debug)]
        pub struct $platform;

        impl Platform for $platform {
            type Monitor<T: 'static> = $monitor<T>;
            const OBSERVED: bool = true;

            fn faulty(fault: Fault) -> bool {
                ledger::faulty(fault)
            }

            fn halted() -> bool {
                ledger::halted()
            }

            fn observe(note: Note<'_>) {
                if !ledger::halted() {
                    ledger::note(LANE.with(std::cell::Cell::get), note);
                }
            }
        }

        #[doc = concat!("The monitor of [`", stringify!($platform), "`].")]
        pub struct $monitor<T> {
            state: $tool::sync::Mutex<T>,
            changed: $tool::sync::Condvar,
        }

        impl<T: 'static> Monitor<T> for $monitor<T> {
            type Guard<'a> = $tool::sync::MutexGuard<'a, T>;

            fn new(state: T) -> $monitor<T> {
                $monitor { state: $tool::sync::Mutex::new(state), changed: $tool::sync::Condvar::new() }
            }

            fn enter(&self) -> $tool::sync::MutexGuard<'_, T> {
                self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
            }

            fn enter_when(&self, mut ready: impl FnMut(&mut T) -> bool) -> $tool::sync::MutexGuard<'_, T> {
                let mut state = self.enter();
                while !ready(&mut state) {
                    state = self.changed.wait(state).unwrap_or_else(std::sync::PoisonError::into_inner);
                }
                state
            }

            fn notify_all(&self) {
                if !ledger::halted() {
                    self.changed.notify_all();
                }
            }
        }
    };
}

pub(crate) use platform;
