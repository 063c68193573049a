//! The right to say that an event has completed.

use super::note::{Did, Note};
use super::platform::Platform;
use super::shared_arena::Shared;
use super::storage::Storage;
use crate::ids::EventKey;
use std::sync::Arc;

/// One completion event, seen from the work that it completes. Belongs to whoever learns that the work is done:
/// usually another thread.
///
/// Dropping it without an answer *loses* the event: nobody can say any more whether the work still touches the
/// layout. The layout stays covered, and compactions are denied instead of waiting
/// ([`super::SharedArena::write_off`] ends this).
#[must_use = "dropping a completion loses its event"]
pub struct Completion<P: Platform, S: Storage> {
    shared: Arc<Shared<P, S>>,
    key: EventKey,
    answered: bool,
}

impl<P: Platform, S: Storage> Completion<P, S> {
    pub(super) fn new(shared: Arc<Shared<P, S>>, key: EventKey) -> Completion<P, S> {
        Completion { shared, key, answered: false }
    }

    /// The event, to hand leases off to.
    #[must_use]
    pub fn key(&self) -> EventKey {
        self.key
    }

    /// The work is done, and does not touch the layout any more.
    pub fn complete(mut self) {
        self.answer_done();
    }

    /// The work is over and has failed; it does not touch the layout any more. Compactions that wait for it right
    /// now are denied, other events are kept.
    pub fn fail(mut self) {
        self.answered = true;
        let key = self.key;
        self.shared.section(|state| {
            P::observe(Note::Did(None, Did::EventFailed(key)));
            state.fail::<P>(key);
        });
    }

    /// Asks the device. A query that fails says nothing about the work: the event stays as it is, and covers the
    /// layout. Returns whether the work is done.
    ///
    /// # Errors
    /// The query's own.
    pub fn poll<E>(&mut self, query: impl FnOnce() -> Result<bool, E>) -> Result<bool, E> {
        if self.answered {
            return Ok(true);
        }
        match query() {
            Ok(true) => {
                self.answer_done();
                Ok(true)
            }
            Ok(false) => Ok(false),
            Err(error) => {
                let key = self.key;
                self.shared.section(|state| {
                    P::observe(Note::Did(None, Did::QueryFailed(key)));
                    state.table.query_failed(key);
                });
                Err(error)
            }
        }
    }

    fn answer_done(&mut self) {
        self.answered = true;
        let key = self.key;
        self.shared.section(|state| {
            P::observe(Note::Did(None, Did::Completed(key)));
            state.complete::<P>(key);
        });
    }
}

impl<P: Platform, S: Storage> Drop for Completion<P, S> {
    fn drop(&mut self) {
        if self.answered || P::halted() {
            return;
        }
        let key = self.key;
        self.shared.section(|state| {
            P::observe(Note::Did(None, Did::EventLost(key)));
            state.lose::<P>(key);
        });
    }
}
