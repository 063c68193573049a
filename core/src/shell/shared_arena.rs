//! An arena that threads share.

use super::completion::Completion;
use super::denied::Denied;
use super::fault::Fault;
use super::holder::Holder;
use super::note::{Did, Note, Sleeper, Wait};
use super::platform::{Monitor, Platform};
use super::state::{Change, State, Turn};
use super::storage::Storage;
use crate::arena::{Admission, Arena, Request};
use crate::config::{ArenaConfig, ConfigError};
use crate::ids::{BandId, EventKey, HolderId};
use crate::lease::{LeaseError, LeaseTable};
use crate::rules::Rule;
use std::sync::Arc;

/// The monitor, and what never changes.
pub(super) struct Shared<P: Platform, S: Storage> {
    monitor: P::Monitor<State<S>>,
    pub(super) rank: u32,
}

impl<P: Platform, S: Storage> Shared<P, S> {
    /// One critical section.
    pub(super) fn section<R>(&self, work: impl FnOnce(&mut State<S>) -> R) -> R {
        let mut state = self.monitor.enter();
        let result = work(&mut state);
        self.leave(state);
        result
    }

    /// One critical section, as soon as `work` has a result. While it has none, `holder` sleeps; `work` is asked
    /// again whenever something has changed.
    pub(super) fn section_when<R>(
        &self,
        holder: HolderId,
        wait: Wait,
        mut work: impl FnMut(&mut State<S>) -> Option<R>,
    ) -> R {
        let mut result = None;
        let state = self.monitor.enter_when(|state| {
            result = work(state);
            let asleep = state.sleepers.iter().position(|sleeper| sleeper.holder == holder);
            match (asleep, &result) {
                (None, None) => {
                    state.sleepers.push(Sleeper { holder, wait, missed: false });
                    P::observe(Note::Did(Some(holder), Did::Slept(wait)));
                    state.report::<P>();
                }
                (Some(at), None) => state.sleepers[at].missed = false,
                (Some(at), Some(_)) => {
                    state.sleepers.remove(at);
                }
                (None, Some(_)) => {}
            }
            result.is_some()
        });
        self.leave(state);
        result.expect("a monitor is entered when it is ready")
    }

    /// Leaves first and notifies then: who is woken finds the monitor free.
    fn leave(&self, mut state: <P::Monitor<State<S>> as Monitor<State<S>>>::Guard<'_>) {
        let wake = std::mem::take(&mut state.wake) && !state.sleepers.is_empty();
        state.report::<P>();
        drop(state);
        if wake {
            self.monitor.notify_all();
        }
    }

    /// For [`Fault::WakesBeforeRelease`] only.
    pub(super) fn notify_early(&self) {
        self.monitor.notify_all();
    }
}

/// An arena that threads share: see the [module](super) for what it promises.
///
/// Clones are the same arena.
pub struct SharedArena<P: Platform, S: Storage> {
    pub(super) shared: Arc<Shared<P, S>>,
}

impl<P: Platform, S: Storage> Clone for SharedArena<P, S> {
    fn clone(&self) -> SharedArena<P, S> {
        SharedArena { shared: Arc::clone(&self.shared) }
    }
}

impl<P: Platform, S: Storage> SharedArena<P, S> {
    /// An empty arena over `storage`.
    ///
    /// # Errors
    /// When the layout is impossible.
    pub fn new(config: ArenaConfig, storage: S) -> Result<SharedArena<P, S>, ConfigError> {
        SharedArena::ranked(config, storage, 0)
    }

    /// An empty arena with a place in the order in which several layouts are leased together
    /// ([`super::lease_all`]).
    ///
    /// # Errors
    /// When the layout is impossible.
    pub fn ranked(mut config: ArenaConfig, storage: S, rank: u32) -> Result<SharedArena<P, S>, ConfigError> {
        for (fault, rule) in [
            (Fault::NewLeasesOvertake, Rule::CompactionHoldsBackLeases),
            (Fault::FlagInsteadOfQueue, Rule::CompactionOneAtATime),
        ] {
            if P::faulty(fault) {
                config.rules = config.rules.without(rule);
            }
        }
        let table = LeaseTable::new(config.rules);
        let state = State::new(Arena::new(config)?, table, storage, rank);
        Ok(SharedArena { shared: Arc::new(Shared { monitor: P::Monitor::new(state), rank }) })
    }

    /// Somebody new who can hold leases and ask for compactions: one for each thread, or for each request that
    /// threads hand on.
    #[must_use]
    pub fn holder(&self) -> Holder<P, S> {
        let id = self.shared.section(State::new_holder);
        Holder::new(Arc::clone(&self.shared), id)
    }

    /// A new event that leases can be handed off to, and the right to say that it has completed.
    pub fn completion(&self) -> Completion<P, S> {
        let key = self.shared.section(State::open_event);
        Completion::new(Arc::clone(&self.shared), key)
    }

    /// Ends the cover of an event whose completion was dropped: the caller knows that its work does not touch the
    /// layout any more. Does nothing for other events.
    pub fn write_off(&self, event: EventKey) {
        self.shared.section(|state| {
            state.complete::<P>(event);
            P::observe(Note::Did(None, Did::Completed(event)));
        });
    }

    /// Whether the request would fit now, after a compaction, or not at all.
    #[must_use]
    pub fn admission(&self, requests: &[Request]) -> Admission {
        self.shared.section(|state| state.admission(requests))
    }

    /// Pages of the band that could be allocated, by moving pages if need be.
    #[must_use]
    pub fn available(&self, band: BandId) -> u32 {
        self.shared.section(|state| state.arena.available(band, |_, _| true))
    }

    /// A copy of the arena's bookkeeping, for checks.
    #[must_use]
    pub fn snapshot(&self) -> Arena {
        self.shared.section(|state| state.arena.clone())
    }

    /// Whether nobody holds or awaits anything: no lease, no covering event, nobody asleep.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.shared
            .section(|state| !state.table.covered() && state.table.waiting().is_empty() && state.sleepers.is_empty())
    }

    /// Destroys the arena on behalf of `holder`. Two critical sections: the first one wakes whoever waits, the
    /// second one waits for whoever still holds the layout.
    pub(super) fn close(&self, holder: HolderId) -> Result<Option<S>, Denied> {
        self.shared.section(|state| {
            if state.closing {
                return Err(Denied::Destroyed);
            }
            if state.table.depth(holder) > 0 {
                return Err(LeaseError::OwnLease(holder).into());
            }
            state.closing = true;
            P::observe(Note::Did(Some(holder), Did::Closing));
            state.changed::<P>(Change::Closing);
            Ok(())
        })?;
        let storage = self.shared.section_when(holder, Wait::Destroy, |state| match state.drained::<P>() {
            Turn::Later => None,
            Turn::Never(denied) => {
                state.closing = false;
                Some(Err(denied))
            }
            Turn::Now => {
                P::observe(Note::Did(Some(holder), Did::Destroyed));
                Some(Ok(state.storage.take()))
            }
        })?;
        Ok(storage.and_then(Arc::into_inner))
    }
}
