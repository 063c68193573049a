//! A lease as a guard.

use super::denied::Denied;
use super::fault::Fault;
use super::note::{Did, Note};
use super::platform::Platform;
use super::shared_arena::Shared;
use super::state::Change;
use super::storage::{Extent, Storage};
use crate::ids::{BandId, EventKey, HolderId, LogicalPage, PhysicalPage};
use crate::lease::Outcome;
use std::sync::Arc;

/// The layout holds still while this exists. Dropping it gives the lease back, on whichever thread, unwinding or
/// not: a lease belongs to its holder, not to a thread.
#[must_use = "the layout holds still only while the lease exists"]
pub struct Lease<P: Platform, S: Storage> {
    shared: Arc<Shared<P, S>>,
    holder: HolderId,
    /// `None` once the lease has been given back.
    storage: Option<Arc<S>>,
}

impl<P: Platform, S: Storage> Lease<P, S> {
    pub(super) fn new(shared: Arc<Shared<P, S>>, holder: HolderId, storage: Arc<S>) -> Lease<P, S> {
        Lease { shared, holder, storage: Some(storage) }
    }

    /// Whose lease it is.
    #[must_use]
    pub fn holder(&self) -> HolderId {
        self.holder
    }

    /// The page's place; valid as long as this lease.
    ///
    /// # Errors
    /// When the page is not live.
    pub fn translate(&self, band: BandId, id: LogicalPage) -> Result<PhysicalPage, Denied> {
        self.shared.section(|state| state.find(band, id).map(|(page, _)| page))
    }

    /// The page's bytes; valid as long as this lease.
    ///
    /// # Errors
    /// When the page is not live.
    pub fn locate(&self, band: BandId, id: LogicalPage) -> Result<Extent, Denied> {
        self.shared.section(|state| state.find(band, id).map(|(_, extent)| extent))
    }

    /// Runs `work` on the storage and the page's bytes, outside the monitor.
    ///
    /// # Errors
    /// When the page is not live.
    pub fn access<R>(&self, band: BandId, id: LogicalPage, work: impl FnOnce(&S, Extent) -> R) -> Result<R, Denied> {
        let extent = self.locate(band, id)?;
        let storage = self.storage.as_ref().ok_or(Denied::Destroyed)?;
        Ok(work(storage, extent))
    }

    /// The storage itself, for work that outlives the lease under a hand-off.
    ///
    /// # Panics
    /// Never: a lease that has been given back cannot be named any more.
    #[must_use]
    pub fn storage(&self) -> Arc<S> {
        Arc::clone(self.storage.as_ref().expect("a lease has the storage until it is given back"))
    }

    /// Gives the lease back; the layout stays covered until `event` completes. If it has completed already, nothing
    /// is left to cover.
    pub fn hand_off(mut self, event: EventKey) {
        self.give_back(Some(event));
    }

    fn give_back(&mut self, event: Option<EventKey>) {
        // The reference goes first: whoever finds no lease left may expect to have the storage for itself.
        if self.storage.take().is_none() || P::halted() {
            return;
        }
        if P::faulty(Fault::PanicKeepsLease) && std::thread::panicking() {
            return;
        }
        let early = P::faulty(Fault::WakesBeforeRelease);
        if early {
            self.shared.notify_early();
        }
        let two_steps = P::faulty(Fault::HandOffInTwoSteps);
        let holder = self.holder;
        self.shared.section(|state| {
            let open = |event: &EventKey| state.is_open(*event) || P::faulty(Fault::LateHandOffIsRecorded);
            let released = match event.filter(open).filter(|_| !two_steps) {
                Some(event) => state.table.hand_off(holder, event),
                None => state.table.release(holder),
            };
            if released.is_err() {
                // Only with a fault: a lease that exists is in the table.
                return;
            }
            P::observe(Note::Did(Some(holder), event.map_or(Did::Released(state.table.depth(holder)), Did::HandedOff)));
            if state.table.holders().next().is_none() {
                state.changed::<P>(Change::Release);
                state.wake &= !early;
            }
        });
        if let Some(event) = event.filter(|_| two_steps) {
            self.shared.section(|state| {
                if state.is_open(event) && state.table.acquire(holder, None) == Outcome::Granted {
                    let handed_off = state.table.hand_off(holder, event);
                    assert!(handed_off.is_ok(), "a lease that was just taken can be handed off");
                }
            });
        }
    }
}

impl<P: Platform, S: Storage> Drop for Lease<P, S> {
    fn drop(&mut self) {
        self.give_back(None);
    }
}
