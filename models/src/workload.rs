//! What threads do with an arena all day, with the content of every page checked: under shuttle and on real threads.

use crate::draws::Draws;
use crate::subject::{Actor, Event, FULL, HostArena, No, Place, SWA, layout};
use leasecheck_core::shell::Denied;
use leasecheck_core::{ArenaConfig, BandId, LogicalPage, Planner};

/// Sixteen full pages of three units, or forty-eight sliding-window pages of one, or something between.
#[must_use]
pub fn arena(planner: Planner) -> ArenaConfig {
    layout(384, [8, 24], planner)
}

/// A transfer that has been submitted: the lease is handed off, the page belongs to the device until it frees it.
pub struct Job<A: HostArena> {
    band: BandId,
    place: Place,
    stamp: u8,
    event: A::Event,
}

/// A page that a thread owns.
struct Page {
    band: BandId,
    id: LogicalPage,
    stamp: u8,
}

/// A thread with pages of its own.
pub struct Worker<A: HostArena> {
    arena: A,
    actor: A::Actor,
    draws: Draws,
    pages: Vec<Page>,
    /// The most pages to keep.
    most: usize,
}

impl<A: HostArena> Worker<A> {
    /// A worker whose day is drawn from `seed`.
    #[must_use]
    pub fn new(arena: &A, seed: u64, most: usize) -> Worker<A> {
        let actor = arena.actor();
        Worker { arena: arena.clone(), actor, draws: Draws::new(seed), pages: Vec::new(), most }
    }

    /// One thing to do.
    ///
    /// # Errors
    /// When the arena answers with anything but success or "full".
    ///
    /// # Panics
    /// When a page does not contain what was written to it.
    pub fn step(&mut self, submit: Option<&dyn Fn(Job<A>)>) -> Result<(), No> {
        match (self.draws.below(10), submit) {
            (0..=3, _) if self.pages.len() < self.most => self.allocate(),
            (0..=5, _) => self.free(),
            (6, Some(submit)) => self.transfer(submit),
            (7, _) => {
                let Some(page) = self.pages.first() else { return Ok(()) };
                let value = self.actor.read_by_id(page.band, page.id)?;
                assert_eq!(value, page.stamp, "content: page {} by its id", page.id);
                Ok(())
            }
            _ => self.look(),
        }
    }

    /// Frees everything.
    ///
    /// # Errors
    /// When the arena does not take it.
    pub fn finish(mut self) -> Result<(), No> {
        while !self.pages.is_empty() {
            self.free()?;
        }
        Ok(())
    }

    fn allocate(&mut self) -> Result<(), No> {
        let band = if self.draws.below(2) == 0 { SWA } else { FULL };
        let count = 1 + self.draws.below(3) as u32;
        let ids = match self.actor.allocate(band, count) {
            Ok(ids) => ids,
            Err(No::Denied(Denied::Full(_))) => return self.free(),
            Err(other) => return Err(other),
        };
        let lease = self.actor.lease()?;
        for id in ids {
            let stamp = self.draws.next() as u8;
            self.actor.write(&lease, band, id, stamp)?;
            self.pages.push(Page { band, id, stamp });
        }
        self.actor.release(lease)
    }

    fn free(&mut self) -> Result<(), No> {
        if self.pages.is_empty() {
            return Ok(());
        }
        let at = self.draws.below(self.pages.len() as u64) as usize;
        let page = self.pages.swap_remove(at);
        self.actor.free(page.band, &[page.id])
    }

    /// Reads up to three pages under a lease, with a nested one in the middle.
    fn look(&mut self) -> Result<(), No> {
        let lease = self.actor.lease()?;
        for _ in 0..self.pages.len().min(3) {
            let page = &self.pages[self.draws.below(self.pages.len() as u64) as usize];
            let place = self.actor.locate(&lease, page.band, page.id)?;
            let nested = self.actor.lease()?;
            self.actor.release(nested)?;
            assert_eq!(self.actor.read_at(&place), page.stamp, "content: page {} under a lease", page.id);
        }
        self.actor.release(lease)
    }

    fn transfer(&mut self, submit: &dyn Fn(Job<A>)) -> Result<(), No> {
        let Some(page) = self.pages.pop() else { return Ok(()) };
        let lease = self.actor.lease()?;
        let place = self.actor.locate(&lease, page.band, page.id)?;
        let event = self.arena.event();
        let key = event.key();
        submit(Job { band: page.band, place, stamp: page.stamp, event });
        self.actor.hand_off(lease, key)
    }
}

/// What a device does with a job: reads the captured address, says that it has, and gives the page back.
///
/// # Errors
/// When the arena does not take the page.
///
/// # Panics
/// When the address does not contain what the page did.
pub fn serve<A: HostArena>(actor: &A::Actor, job: Job<A>) -> Result<(), No> {
    let value = actor.read_at(&job.place);
    assert_eq!(value, job.stamp, "content: page {} at a captured address", job.place.id);
    job.event.complete();
    actor.free(job.band, &[job.place.id])
}
