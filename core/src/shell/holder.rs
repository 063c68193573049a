//! Whoever holds leases and asks for compactions.

use super::denied::Denied;
use super::fault::Fault;
use super::lease::Lease;
use super::note::{Did, Note, Wait};
use super::platform::Platform;
use super::shared_arena::{Shared, SharedArena};
use super::state::{Change, Failure, Turn};
use super::storage::{Extent, Storage};
use crate::arena::Request;
use crate::ids::{BandId, EventKey, HolderId, LogicalPage};
use crate::lease::Outcome;
use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::sync::Arc;

/// Whoever holds leases and asks for compactions: a thread, a request, a transfer engine.
///
/// It can be handed on to another thread, but is not shared: two threads that nest leases of one holder could hold
/// the layout between them forever, and no compaction would ever get its turn.
pub struct Holder<P: Platform, S: Storage> {
    pub(super) shared: Arc<Shared<P, S>>,
    id: HolderId,
    not_shared: PhantomData<Cell<()>>,
}

impl<P: Platform, S: Storage> Holder<P, S> {
    pub(super) fn new(shared: Arc<Shared<P, S>>, id: HolderId) -> Holder<P, S> {
        Holder { shared, id, not_shared: PhantomData }
    }

    /// Its id in errors and reports.
    #[must_use]
    pub fn id(&self) -> HolderId {
        self.id
    }

    /// The arena.
    #[must_use]
    pub fn arena(&self) -> SharedArena<P, S> {
        SharedArena { shared: Arc::clone(&self.shared) }
    }

    /// Holds the layout still. Waits for the compactions that asked before; who holds a lease already gets another
    /// one at once.
    ///
    /// # Errors
    /// When the arena is being destroyed, unless this holder holds a lease already.
    pub fn lease(&self) -> Result<Lease<P, S>, Denied> {
        if P::faulty(Fault::LeaseInTwoSteps) {
            return self.lease_in_two_steps();
        }
        let mut asked = false;
        let storage = self.shared.section_when(self.id, Wait::Lease, |state| {
            if asked && state.table.is_held_back(self.id) {
                if !state.closing {
                    return None;
                }
                state.table.withdraw(self.id);
                return Some(Err(Denied::Destroyed));
            }
            if !asked {
                if state.closing && state.table.depth(self.id) == 0 {
                    return Some(Err(Denied::Destroyed));
                }
                asked = true;
                if state.table.acquire_in_turn(self.id) == Outcome::MustWait {
                    return None;
                }
            }
            P::observe(Note::Did(Some(self.id), Did::Leased(state.table.depth(self.id))));
            Some(state.storage.clone().ok_or(Denied::Destroyed))
        })?;
        Ok(Lease::new(Arc::clone(&self.shared), self.id, storage))
    }

    fn lease_in_two_steps(&self) -> Result<Lease<P, S>, Denied> {
        let storage = self.shared.section_when(self.id, Wait::Lease, |state| {
            let storage = state.table.may_acquire(self.id).then(|| state.storage.clone());
            storage.map(|storage| storage.ok_or(Denied::Destroyed))
        })?;
        // Whatever the table answers now, the caller believes that it has a lease.
        self.shared.section(|state| state.table.acquire(self.id, None));
        Ok(Lease::new(Arc::clone(&self.shared), self.id, storage))
    }

    /// Allocates for all requests or for none, moving pages if need be. Waits until they may move. Returns the
    /// logical pages of each request.
    ///
    /// # Errors
    /// When the requests do not fit even if everything is moved; when pages would have to move and this holder holds
    /// a lease itself; when the compaction fails; when the arena is destroyed.
    pub fn allocate(&self, requests: &[Request]) -> Result<Vec<Vec<LogicalPage>>, Denied> {
        let (mut waited, mut old_plan) = (false, None);
        let pages = self.shared.section_when(self.id, Wait::Move, |state| {
            let pages = state.allocate::<P>(self.id, requests, waited, &mut old_plan);
            waited = true;
            match &pages {
                Some(Ok(_)) => {
                    let pages = requests.iter().map(|request| request.pages).sum();
                    P::observe(Note::Did(Some(self.id), Did::Allocated(pages)));
                }
                Some(Err(_)) => P::observe(Note::Did(Some(self.id), Did::Denied)),
                None => {}
            }
            pages
        });
        pages.map_err(unwind)
    }

    /// Gives pages back. Their bytes can be handed out again at once, or when the event `after` has completed. No
    /// lease keeps a page alive: who uses a page must keep its id.
    ///
    /// # Errors
    /// When an id is not live or named twice, or the arena is destroyed.
    pub fn free(&self, band: BandId, ids: &[LogicalPage], after: Option<EventKey>) -> Result<(), Denied> {
        self.shared.section(|state| {
            if state.storage.is_none() {
                return Err(Denied::Destroyed);
            }
            let after = after.filter(|event| state.is_open(*event));
            state.arena.free(band, ids, after)?;
            P::observe(Note::Did(Some(self.id), Did::Freed(ids.len() as u32)));
            state.changed::<P>(Change::Free);
            Ok(())
        })
    }

    /// Gives every page of the band back. Waits until pages may move: whoever uses an address of the band has a
    /// lease.
    ///
    /// # Errors
    /// As for a compaction: see [`Holder::allocate`].
    pub fn clear(&self, band: BandId) -> Result<(), Denied> {
        self.shared.section_when(self.id, Wait::Move, |state| match state.turn::<P>(self.id) {
            Turn::Later => None,
            Turn::Never(denied) => {
                P::observe(Note::Did(Some(self.id), Did::Denied));
                Some(Err(denied))
            }
            Turn::Now => {
                state.arena.clear(band);
                P::observe(Note::Did(Some(self.id), Did::Cleared));
                state.end_waiting::<P>(self.id);
                state.changed::<P>(Change::Free);
                Some(Ok(()))
            }
        })
    }

    /// Leases the layout for one access: `work` gets the storage and the page's bytes, which stay where they are
    /// until it returns.
    ///
    /// # Errors
    /// When the page is not live, or the arena is destroyed.
    pub fn with_page<R>(&self, band: BandId, id: LogicalPage, work: impl FnOnce(&S, Extent) -> R) -> Result<R, Denied> {
        let lease = self.lease()?;
        if P::faulty(Fault::ReleasesBeforeUse) {
            let (storage, extent) = (lease.storage(), lease.locate(band, id)?);
            drop(lease);
            return Ok(work(&storage, extent));
        }
        lease.access(band, id, work)
    }

    /// Destroys the arena: refuses whatever is asked from now on, wakes and refuses whoever waits, waits for the
    /// leases and events that still cover the layout, and returns the storage (`None` if a caller of
    /// [`Lease::storage`] still has it).
    ///
    /// # Errors
    /// When somebody else destroys the arena already, this holder has a lease, or an event is lost. The arena is
    /// usable again in the last two cases.
    pub fn destroy(&self) -> Result<Option<S>, Denied> {
        self.arena().close(self.id)
    }
}

/// What foreign code threw inside the monitor goes on unwinding outside of it.
fn unwind(failure: Failure) -> Denied {
    match failure {
        Failure::Denied(denied) => denied,
        Failure::Panicked(payload) => resume_unwind(payload),
    }
}
