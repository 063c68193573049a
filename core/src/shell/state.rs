//! What the monitor guards: the core's arena and lease table, and who sleeps.
//!
//! Everything here runs inside the monitor, decides, and never blocks.

use super::denied::Denied;
use super::fault::Fault;
use super::note::{Did, Note, Sleeper, Standing};
use super::platform::Platform;
use super::storage::{Extent, Storage};
use crate::arena::{Admission, Arena, Request};
use crate::compaction::{Move, Plan};
use crate::ids::{BandId, EventKey, HolderId, LogicalPage, PhysicalPage};
use crate::lease::{LeaseTable, Outcome};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A panic of foreign code, on its way out of the monitor.
pub(super) type Payload = Box<dyn Any + Send>;

/// Why an operation that may move pages was not done.
pub(super) enum Failure {
    Denied(Denied),
    /// The storage panicked. The state is consistent again; unwinding goes on outside the monitor.
    Panicked(Payload),
}

impl From<Denied> for Failure {
    fn from(denied: Denied) -> Failure {
        Failure::Denied(denied)
    }
}

/// Whether somebody who asked to move pages may do so.
pub(super) enum Turn {
    Now,
    Later,
    Never(Denied),
}

/// What changed, as far as sleepers care.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Release,
    Completion,
    CompactionEnd,
    Free,
    Closing,
}

impl Change {
    fn silenced_by(self) -> Fault {
        match self {
            Change::Release => Fault::ReleaseIsSilent,
            Change::Completion => Fault::CompletionIsSilent,
            Change::CompactionEnd => Fault::CompactionEndIsSilent,
            Change::Free => Fault::FreeIsSilent,
            Change::Closing => Fault::DestroyIsSilent,
        }
    }
}

/// An event that has not completed.
struct OpenEvent {
    key: EventKey,
    /// Its completion was dropped: it will not complete.
    lost: bool,
}

pub(super) struct State<S> {
    pub(super) arena: Arena,
    pub(super) table: LeaseTable,
    /// `None` once the arena is destroyed. Leases have their own reference.
    pub(super) storage: Option<Arc<S>>,
    /// Somebody destroys the arena, or has.
    pub(super) closing: bool,
    events: Vec<OpenEvent>,
    /// Compactions that gave up because an event failed, and do not know it yet.
    failed: Vec<(HolderId, EventKey)>,
    pub(super) sleepers: Vec<Sleeper>,
    /// Whether the critical section has changed something that sleepers should look at.
    pub(super) wake: bool,
    rank: u32,
    next_holder: u32,
    next_event: u32,
}

impl<S: Storage> State<S> {
    pub(super) fn new(arena: Arena, table: LeaseTable, storage: S, rank: u32) -> State<S> {
        State {
            arena,
            table,
            storage: Some(Arc::new(storage)),
            closing: false,
            events: Vec::new(),
            failed: Vec::new(),
            sleepers: Vec::new(),
            wake: false,
            rank,
            // Arenas of different ranks number their holders differently, so that reports can tell them apart.
            next_holder: rank << 16,
            next_event: 0,
        }
    }

    pub(super) fn new_holder(&mut self) -> HolderId {
        self.next_holder += 1;
        HolderId(self.next_holder)
    }

    pub(super) fn open_event(&mut self) -> EventKey {
        self.next_event += 1;
        let key = EventKey(self.next_event);
        self.events.push(OpenEvent { key, lost: false });
        key
    }

    pub(super) fn is_open(&self, event: EventKey) -> bool {
        self.events.iter().any(|open| open.key == event)
    }

    /// Sleepers should look again.
    pub(super) fn changed<P: Platform>(&mut self, change: Change) {
        for sleeper in &mut self.sleepers {
            sleeper.missed = true;
        }
        self.wake |= !P::faulty(change.silenced_by());
    }

    /// Tells the platform how things stand at the end of a critical section.
    pub(super) fn report<P: Platform>(&self) {
        if P::OBSERVED {
            let holders: Vec<HolderId> = self.table.holders().collect();
            P::observe(Note::Stands(Standing {
                rank: self.rank,
                sleepers: &self.sleepers,
                holders: &holders,
                events: self.table.events(),
            }));
        }
    }

    fn lost_event(&self) -> Option<EventKey> {
        let covering = |open: &&OpenEvent| open.lost && self.table.events().contains(&open.key);
        self.events.iter().find(covering).map(|open| open.key)
    }

    /// Asks, or asks again, to move pages on behalf of `holder`. `Never` leaves nothing of the request behind.
    pub(super) fn turn<P: Platform>(&mut self, holder: HolderId) -> Turn {
        if let Some(at) = self.failed.iter().position(|(failed, _)| *failed == holder) {
            return Turn::Never(Denied::EventFailed(self.failed.remove(at).1));
        }
        let never = if self.closing { Some(Denied::Destroyed) } else { self.lost_event().map(Denied::EventLost) };
        if let Some(denied) = never {
            self.end_waiting::<P>(holder);
            return Turn::Never(denied);
        }
        match self.table.request_compaction(holder) {
            Outcome::Refused(error) => Turn::Never(Denied::Lease(error)),
            Outcome::Granted if self.table.may_compact_in_turn(holder) => Turn::Now,
            Outcome::Granted | Outcome::MustWait => Turn::Later,
        }
    }

    /// `holder` does not ask to move pages any more.
    pub(super) fn end_waiting<P: Platform>(&mut self, holder: HolderId) {
        self.failed.retain(|(failed, _)| *failed != holder);
        if self.table.waiting().contains(&holder) {
            self.table.end_compaction(holder);
            self.changed::<P>(Change::CompactionEnd);
        }
    }

    /// Closes all holes. If that fails half-way, the pages that were copied have moved and the others have not.
    pub(super) fn compact<P: Platform>(&mut self, holder: HolderId, plan: &Plan) -> Result<(), Failure> {
        let Some(storage) = self.storage.clone() else { return Err(Denied::Destroyed.into()) };
        let mut copied = 0;
        let copies = AssertUnwindSafe(|| {
            for step in plan.moves() {
                let (from, to) = (self.extent(step.band, step.from), self.extent(step.band, step.to));
                storage.copy(from, to).map_err(|_| Denied::CopyFailed)?;
                copied += 1;
            }
            Ok(())
        });
        let failure = match catch_unwind(copies) {
            Ok(Ok(())) => {
                self.arena.commit(plan, None);
                P::observe(Note::Did(Some(holder), Did::Moved(copied)));
                return Ok(());
            }
            Ok(Err(denied)) => Failure::Denied(denied),
            Err(payload) => Failure::Panicked(payload),
        };
        if !P::faulty(Fault::FailureForgetsMoves) {
            let moved = &plan.moves()[..copied as usize];
            // Planned again with only these pages movable, the plan consists of exactly these moves.
            let part = self.arena.plan(&|band, id| moved.iter().any(|step: &Move| (step.band, step.id) == (band, id)));
            assert_eq!(part.moves(), moved, "the same plan for what has moved");
            self.arena.commit(&part, None);
        }
        P::observe(Note::Did(Some(holder), Did::BrokeOff(copied)));
        if !P::faulty(Fault::FailureKeepsWaiting) {
            self.end_waiting::<P>(holder);
        }
        Err(failure)
    }

    /// Allocates, moving pages if need be; `None` when that has to wait. Asked again after every wake-up, it starts
    /// from the arena as it is then: pages may have been freed, so that nothing has to move any more, or taken, so
    /// that moving does not help any more. `old_plan` is for [`Fault::PlanIsNotRechecked`].
    pub(super) fn allocate<P: Platform>(
        &mut self,
        holder: HolderId,
        requests: &[Request],
        waited: bool,
        old_plan: &mut Option<Plan>,
    ) -> Option<Result<Vec<Vec<LogicalPage>>, Failure>> {
        if self.closing {
            self.end_waiting::<P>(holder);
            return Some(Err(Denied::Destroyed.into()));
        }
        if old_plan.is_none() {
            match self.arena.allocate(requests) {
                Ok(pages) => {
                    self.end_waiting::<P>(holder);
                    return Some(Ok(pages));
                }
                Err(_) => {
                    if let Admission::Refused(refusal) = self.admission(requests) {
                        self.end_waiting::<P>(holder);
                        return Some(Err(Denied::Full(refusal).into()));
                    }
                }
            }
        }
        match self.turn::<P>(holder) {
            Turn::Never(denied) => return Some(Err(denied.into())),
            Turn::Later if waited && P::faulty(Fault::WakeMeansReady) => {}
            Turn::Later => {
                if P::faulty(Fault::PlanIsNotRechecked) && old_plan.is_none() {
                    *old_plan = Some(self.arena.plan(&|_, _| true));
                }
                return None;
            }
            Turn::Now => {}
        }
        let plan = old_plan.take().unwrap_or_else(|| self.arena.plan(&|_, _| true));
        if let Err(failure) = self.compact::<P>(holder, &plan) {
            return Some(Err(failure));
        }
        let pages = self.arena.allocate(requests).map_err(|refusal| Denied::Full(refusal).into());
        self.end_waiting::<P>(holder);
        Some(pages)
    }

    /// Whether no placement helps, or closing holes does.
    pub(super) fn admission(&self, requests: &[Request]) -> Admission {
        self.arena.admission(requests, |_, _| true)
    }

    pub(super) fn extent(&self, band: BandId, page: PhysicalPage) -> Extent {
        let bytes = self.arena.config().bands[band.0 as usize].envelope;
        Extent { start: u64::from(page.0) * bytes, bytes }
    }

    pub(super) fn find(&self, band: BandId, id: LogicalPage) -> Result<(PhysicalPage, Extent), Denied> {
        let page = self.arena.translate(band, id);
        let page = page.ok_or(Denied::Page(crate::PageError::NotLive(band, id)))?;
        Ok((page, self.extent(band, page)))
    }

    /// The event's work is done, or the owner says that it never will touch the layout again.
    pub(super) fn complete<P: Platform>(&mut self, event: EventKey) {
        self.events.retain(|open| open.key != event);
        self.table.event_completed(event);
        self.arena.event_completed(event);
        self.changed::<P>(Change::Completion);
    }

    /// The event's work is over and has failed: the compactions that waited for it give up.
    pub(super) fn fail<P: Platform>(&mut self, event: EventKey) {
        if self.table.events().contains(&event) {
            for holder in self.table.waiting().to_vec() {
                self.table.wait_failed(holder);
                self.failed.push((holder, event));
            }
        }
        self.complete::<P>(event);
    }

    /// Nobody can say any more whether the event's work is done. It covers the layout until it is written off, and
    /// nobody waits for it.
    pub(super) fn lose<P: Platform>(&mut self, event: EventKey) {
        if let Some(open) = self.events.iter_mut().find(|open| open.key == event) {
            open.lost = !P::faulty(Fault::LostEventIsWaitedFor);
        }
        self.changed::<P>(Change::Completion);
    }

    /// Whether `holder`, who destroys the arena, may go on.
    pub(super) fn drained<P: Platform>(&self) -> Turn {
        let events = !self.table.events().is_empty() && !P::faulty(Fault::DestroyIgnoresEvents);
        match self.lost_event() {
            Some(event) => Turn::Never(Denied::EventLost(event)),
            None if events || self.table.holders().next().is_some() => Turn::Later,
            None => Turn::Now,
        }
    }
}
