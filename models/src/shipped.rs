//! The monitor of SGLang 0.5.23's host arena as it ships, in our own words, for comparison.
//!
//! One re-entrant lock and one condition guard the arena, a flag *compacting*, the number of threads that hold
//! leases, and a table of events. A lease belongs to a thread, which counts its depth for itself. A compaction sets
//! the flag, waits until no thread holds a lease, takes all events out of the table and waits for each of them with
//! the lock held, moves everything, clears the flag and wakes everybody. What an allocation plans on is decided
//! before that wait. Placement is the core's, with the planner that keeps the order of pages.
//!
//! Only what matters between threads is modelled: no token arithmetic, no sizing, one event per transfer. Where the
//! original raises an exception that no caller expects, this answers [`No::Raised`].

use crate::bytes::Bytes;
use crate::ledger::Deed;
use crate::ours::uniform;
use crate::subject::{Actor, Event, HostArena, No, Place};
use leasecheck_core::shell::{Denied, Did, Extent, Monitor, Note, Platform, Sleeper, Standing, Wait};
use leasecheck_core::{
    Admission, Arena, ArenaConfig, BandId, EventKey, HolderId, LeaseError, LogicalPage, PageError, Planner, Request,
};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// What the device knows about a transfer.
#[derive(Default)]
struct DeviceState {
    over: bool,
    failed: bool,
    query_fails: bool,
}

type Device<P> = Arc<<P as Platform>::Monitor<DeviceState>>;

struct State<P: Platform, B> {
    arena: Arena,
    bytes: Option<B>,
    compacting: bool,
    /// Threads with a lease.
    users: Vec<(HolderId, u32)>,
    events: Vec<(EventKey, Device<P>)>,
    sleepers: Vec<Sleeper>,
    rank: u32,
    next: u32,
}

impl<P: Platform, B: Bytes> State<P, B> {
    fn depth(&self, thread: HolderId) -> u32 {
        self.users.iter().find(|(user, _)| *user == thread).map_or(0, |(_, depth)| *depth)
    }

    /// Drops the events that say that they are over. A query that fails keeps its event.
    fn prune(&mut self) {
        self.events.retain(|(_, device)| {
            let device = device.enter();
            device.query_fails || !device.over
        });
    }

    fn changed(&mut self) {
        self.sleepers.iter_mut().for_each(|sleeper| sleeper.missed = true);
    }

    fn extent(&self, band: BandId, id: LogicalPage) -> Result<Extent, No> {
        let page = self.arena.translate(band, id).ok_or(Denied::Page(PageError::NotLive(band, id)))?;
        let bytes = self.arena.config().bands[usize::from(band.0)].envelope;
        Ok(Extent { start: u64::from(page.0) * bytes, bytes })
    }

    fn report(&self, synchronizing: Option<EventKey>) {
        let holders: Vec<HolderId> = self.users.iter().map(|(user, _)| *user).collect();
        let events: Vec<EventKey> = self.events.iter().map(|(key, _)| *key).chain(synchronizing).collect();
        P::observe(Note::Stands(Standing {
            rank: self.rank,
            sleepers: &self.sleepers,
            holders: &holders,
            events: &events,
        }));
    }

    /// Waits for the events that were in the table, lock held.
    fn synchronize(&mut self, thread: HolderId, wait: Wait) -> Result<(), No> {
        for (key, device) in std::mem::take(&mut self.events) {
            // Seen from outside, whoever is in here sleeps: it cannot go on before the event is over.
            self.sleepers.push(Sleeper { holder: thread, wait, missed: false });
            P::observe(Note::Did(Some(thread), Did::Slept(wait)));
            self.report(Some(key));
            let failed = device.enter_when(|device| device.over).failed;
            self.sleepers.retain(|sleeper| sleeper.holder != thread);
            if failed {
                return Err(No::Denied(Denied::EventFailed(key)));
            }
        }
        Ok(())
    }

    /// Copies page by page, and replaces the tables afterwards.
    fn pack(&mut self, thread: HolderId) -> Result<(), No> {
        let bytes = self.bytes.clone().ok_or(No::Raised("TypeError: the memory is gone"))?;
        let plan = self.arena.plan(&|_, _| true);
        for step in plan.moves() {
            let envelope = self.arena.config().bands[usize::from(step.band.0)].envelope;
            let at = |page: u32| Extent { start: u64::from(page) * envelope, bytes: envelope };
            bytes.copy(at(step.from.0), at(step.to.0)).map_err(|_| No::Denied(Denied::CopyFailed))?;
        }
        self.arena.commit(&plan, None);
        P::observe(Note::Did(Some(thread), Did::Moved(plan.moves().len() as u32)));
        Ok(())
    }
}

/// The arena as shipped.
pub struct Shipped<P: Platform, B: Bytes> {
    monitor: Arc<P::Monitor<State<P, B>>>,
    bytes: B,
}

impl<P: Platform, B: Bytes> Clone for Shipped<P, B> {
    fn clone(&self) -> Shipped<P, B> {
        Shipped { monitor: Arc::clone(&self.monitor), bytes: self.bytes.clone() }
    }
}

impl<P: Platform, B: Bytes> HostArena for Shipped<P, B> {
    type Actor = ShippedActor<P, B>;
    type Event = ShippedEvent<P>;

    fn build(mut config: ArenaConfig, rank: u32) -> Shipped<P, B> {
        config.planner = Planner::Slide;
        let bytes = B::new(config.bytes);
        let state = State {
            arena: Arena::new(config).expect("the layouts of models are possible"),
            bytes: Some(bytes.clone()),
            compacting: false,
            users: Vec::new(),
            events: Vec::new(),
            sleepers: Vec::new(),
            rank,
            next: rank << 16,
        };
        Shipped { monitor: Arc::new(P::Monitor::new(state)), bytes }
    }

    fn actor(&self) -> ShippedActor<P, B> {
        let mut state = self.monitor.enter();
        state.next += 1;
        ShippedActor { arena: self.clone(), thread: HolderId(state.next) }
    }

    fn event(&self) -> ShippedEvent<P> {
        let mut state = self.monitor.enter();
        state.next += 1;
        ShippedEvent { key: EventKey(state.next), device: Arc::new(P::Monitor::new(DeviceState::default())) }
    }

    fn fail_copy(&self, after: u32) {
        self.bytes.fail_copy(after);
    }

    /// In the order in which a transfer names them.
    fn lease_all(actors: &[&ShippedActor<P, B>]) -> Result<Vec<ShippedLease>, No> {
        actors.iter().map(|actor| actor.lease()).collect()
    }
}

/// An event, seen from the device.
pub struct ShippedEvent<P: Platform> {
    key: EventKey,
    device: Device<P>,
}

/// The same event, seen from whoever hands a lease off to it.
pub struct ShippedKey<P: Platform> {
    key: EventKey,
    device: Device<P>,
}

impl<P: Platform> Clone for ShippedKey<P> {
    fn clone(&self) -> ShippedKey<P> {
        ShippedKey { key: self.key, device: Arc::clone(&self.device) }
    }
}

impl<P: Platform> ShippedEvent<P> {
    fn end(self, failed: bool) {
        let mut device = self.device.enter();
        device.over = true;
        device.failed = failed;
        P::observe(Note::Did(None, if failed { Did::EventFailed(self.key) } else { Did::Completed(self.key) }));
        drop(device);
        self.device.notify_all();
    }
}

impl<P: Platform> Event for ShippedEvent<P> {
    type Key = ShippedKey<P>;

    fn key(&self) -> ShippedKey<P> {
        ShippedKey { key: self.key, device: Arc::clone(&self.device) }
    }

    fn complete(self) {
        self.end(false);
    }

    fn fail(self) {
        self.end(true);
    }

    fn fail_query(&mut self) {
        P::observe(Note::Did(None, Did::QueryFailed(self.key)));
        self.device.enter().query_fails = true;
    }
}

/// One thread at [`Shipped`].
pub struct ShippedActor<P: Platform, B: Bytes> {
    arena: Shipped<P, B>,
    thread: HolderId,
}

/// A lease: nothing but the memory of having called *acquire*.
pub struct ShippedLease;

impl<P: Platform, B: Bytes> ShippedActor<P, B> {
    fn section<R>(&self, work: impl FnOnce(&mut State<P, B>) -> R) -> R {
        let mut state = self.arena.monitor.enter();
        let result = work(&mut state);
        state.report(None);
        result
    }

    /// Sleeps at the condition until `ready`, then does `work` in the same critical section.
    fn section_when<R>(
        &self,
        wait: Wait,
        mut ready: impl FnMut(&mut State<P, B>) -> bool,
        work: impl FnOnce(&mut State<P, B>) -> R,
    ) -> R {
        let thread = self.thread;
        let mut state = self.arena.monitor.enter_when(|state| {
            let asleep = state.sleepers.iter().position(|sleeper| sleeper.holder == thread);
            let ready = ready(state);
            match asleep {
                None if !ready => {
                    state.sleepers.push(Sleeper { holder: thread, wait, missed: false });
                    P::observe(Note::Did(Some(thread), Did::Slept(wait)));
                    state.report(None);
                }
                Some(at) if ready => {
                    state.sleepers.remove(at);
                }
                Some(at) => state.sleepers[at].missed = false,
                None => {}
            }
            ready
        });
        let result = work(&mut state);
        state.report(None);
        result
    }

    /// Unless `decide` has an answer: sets the flag, waits for the threads that hold leases and for the events, does
    /// `work`, clears the flag. One critical section, but for the time in which it sleeps.
    fn compacting<R>(
        &self,
        wait: Wait,
        decide: impl Fn(&mut State<P, B>) -> Result<Option<R>, No>,
        work: impl FnOnce(&mut State<P, B>) -> Result<R, No>,
    ) -> Result<R, No> {
        let decision = RefCell::new(None);
        let begun = Cell::new(false);
        let ready = |state: &mut State<P, B>| {
            decision.borrow_mut().get_or_insert_with(|| match decide(state) {
                Ok(None) if state.depth(self.thread) > 0 => Err(LeaseError::OwnLease(self.thread).into()),
                Ok(None) => {
                    begun.set(true);
                    state.compacting = true;
                    Ok(None)
                }
                decided => decided,
            });
            !begun.get() || state.users.is_empty()
        };
        let result = self.section_when(wait, ready, |state| match decision.take() {
            Some(Ok(Some(answer))) => Ok(answer),
            Some(Err(no)) => Err(no),
            Some(Ok(None)) | None => {
                let result = state.synchronize(self.thread, wait).and_then(|()| work(state));
                state.compacting = false;
                state.changed();
                result
            }
        });
        if begun.get() {
            self.arena.monitor.notify_all();
        }
        result
    }

    fn give_back(&self, event: Option<ShippedKey<P>>) -> Result<(), No> {
        let wake = self.section(|state| {
            let Some(at) = state.users.iter().position(|(user, _)| *user == self.thread) else {
                return Err(No::Raised("RuntimeError: layout lease released without acquire"));
            };
            state.prune();
            let did = event.as_ref().map(|event| Did::HandedOff(event.key));
            if let Some(event) = event {
                state.events.push((event.key, event.device));
            }
            state.users[at].1 -= 1;
            let depth = state.users[at].1;
            if depth == 0 {
                state.users.remove(at);
            }
            P::observe(Note::Did(Some(self.thread), did.unwrap_or(Did::Released(depth))));
            let wake = state.users.is_empty();
            if wake {
                state.changed();
            }
            Ok(wake)
        })?;
        if wake {
            self.arena.monitor.notify_all();
        }
        Ok(())
    }
}

impl From<LeaseError> for No {
    fn from(error: LeaseError) -> No {
        No::Denied(Denied::Lease(error))
    }
}

impl<P: Platform, B: Bytes> Actor for ShippedActor<P, B> {
    type Lease = ShippedLease;
    type Event = ShippedEvent<P>;

    fn allocate(&self, band: BandId, pages: u32) -> Result<Vec<LogicalPage>, No> {
        let requests = [Request { band, pages }];
        let did = |did| P::observe(Note::Did(Some(self.thread), did));
        let mut granted = self.compacting(
            Wait::Move,
            |state| match state.arena.admission(&requests, |_, _| true) {
                Admission::FitsNow => {
                    did(Did::Allocated(pages));
                    state.arena.allocate(&requests).map(Some).map_err(|refusal| No::Denied(Denied::Full(refusal)))
                }
                Admission::Refused(refusal) => Err(No::Denied(Denied::Full(refusal))),
                Admission::FitsPacked => Ok(None),
            },
            |state| {
                state.pack(self.thread)?;
                let granted = state.arena.allocate(&requests);
                did(if granted.is_ok() { Did::Allocated(pages) } else { Did::Denied });
                granted.map_err(|_| No::Raised("RuntimeError: compaction did not create the planned capacity"))
            },
        )?;
        Ok(granted.remove(0))
    }

    fn free(&self, band: BandId, ids: &[LogicalPage]) -> Result<(), No> {
        self.section(|state| {
            P::observe(Note::Did(Some(self.thread), Did::Freed(ids.len() as u32)));
            state.arena.free(band, ids, None).map_err(|error| No::Denied(Denied::Page(error)))
        })
    }

    fn clear(&self, band: BandId) -> Result<(), No> {
        let clear = |state: &mut State<P, B>| {
            state.arena.clear(band);
            P::observe(Note::Did(Some(self.thread), Did::Cleared));
            Ok(())
        };
        self.compacting(Wait::Move, |_| Ok(None), clear)
    }

    fn destroy(&self) -> Result<(), No> {
        let decide = |_: &mut State<P, B>| {
            P::observe(Note::Did(Some(self.thread), Did::Closing));
            Ok(None)
        };
        self.compacting(Wait::Destroy, decide, |state| {
            state.bytes = None;
            self.arena.bytes.unmap();
            P::observe(Note::Did(Some(self.thread), Did::Destroyed));
            Ok(())
        })
    }

    fn lease(&self) -> Result<ShippedLease, No> {
        let mut pruned = false;
        let ready = |state: &mut State<P, B>| {
            let nested = state.depth(self.thread) > 0;
            if !nested && !pruned {
                pruned = true;
                state.prune();
            }
            nested || !state.compacting
        };
        self.section_when(Wait::Lease, ready, |state| {
            let user = state.users.iter_mut().find(|(user, _)| *user == self.thread);
            let depth = user.map_or(1, |(_, depth)| {
                *depth += 1;
                *depth
            });
            if depth == 1 {
                state.users.push((self.thread, 1));
            }
            P::observe(Note::Did(Some(self.thread), Did::Leased(depth)));
        });
        Ok(ShippedLease)
    }

    fn release(&self, ShippedLease: ShippedLease) -> Result<(), No> {
        self.give_back(None)
    }

    fn hand_off(&self, ShippedLease: ShippedLease, event: ShippedKey<P>) -> Result<(), No> {
        self.give_back(Some(event))
    }

    fn locate(&self, ShippedLease: &ShippedLease, band: BandId, id: LogicalPage) -> Result<Place, No> {
        self.section(|state| {
            if state.bytes.is_none() {
                return Err(No::Raised("TypeError: the memory is gone"));
            }
            Ok(Place { id, extent: state.extent(band, id)? })
        })
    }

    fn read_at(&self, place: &Place) -> u8 {
        B::note(Deed::Read(place.id));
        uniform(&self.arena.bytes.read(place.extent))
    }

    fn write(&self, lease: &ShippedLease, band: BandId, id: LogicalPage, value: u8) -> Result<(), No> {
        let place = self.locate(lease, band, id)?;
        B::note(Deed::Write(id));
        self.arena.bytes.write(place.extent, value);
        Ok(())
    }

    /// The view that is returned outlives the lease.
    fn read_by_id(&self, band: BandId, id: LogicalPage) -> Result<u8, No> {
        let lease = self.lease()?;
        let place = self.locate(&lease, band, id)?;
        self.release(lease)?;
        Ok(self.read_at(&place))
    }
}
