//! The second oracle of the lease table: a list of who holds what, a list of events, a list of who waits.

use leasecheck_core::{EventKey, HolderId, LeaseError, Outcome};

/// A lease: holder, depth, ticks left.
type Lease = (u32, u32, Option<u32>);

/// The table.
#[derive(Clone, Debug, Default)]
pub struct LeaseModel {
    /// By holder.
    pub leases: Vec<Lease>,
    /// Events that cover the layout, in order.
    pub events: Vec<u32>,
    /// Who waits to move pages, in the order in which they asked.
    pub waiting: Vec<u32>,
    /// Who waits for a lease in turn, and the compactions that come first.
    pub queue: Vec<(u32, Vec<u32>)>,
}

impl LeaseModel {
    /// How many leases the holder has.
    #[must_use]
    pub fn depth(&self, holder: u32) -> u32 {
        self.leases.iter().find(|lease| lease.0 == holder).map_or(0, |lease| lease.1)
    }

    /// Whether nothing covers the layout.
    #[must_use]
    pub fn idle(&self) -> bool {
        self.leases.is_empty() && self.events.is_empty()
    }

    fn grant(&mut self, holder: u32, ttl: Option<u32>) {
        match self.leases.iter_mut().find(|lease| lease.0 == holder) {
            Some((_, depth, left)) => {
                *depth += 1;
                // The longer promise holds, and one without an end longest.
                *left = left.zip(ttl).map(|(left, ttl)| left.max(ttl));
            }
            None => {
                self.leases.push((holder, 1, ttl));
                self.leases.sort_unstable();
            }
        }
    }

    /// Asks for a lease: granted to holders always, to others unless a compaction waits.
    pub fn acquire(&mut self, holder: u32, ttl: Option<u32>) -> Outcome {
        if self.depth(holder) == 0 && !self.waiting.is_empty() {
            return Outcome::MustWait;
        }
        self.grant(holder, ttl);
        Outcome::Granted
    }

    /// Asks for a lease; if it must wait, behind the compactions that wait now.
    pub fn acquire_in_turn(&mut self, holder: u32) -> Outcome {
        let outcome = self.acquire(holder, None);
        if outcome == Outcome::MustWait {
            self.queue.push((holder, self.waiting.clone()));
        }
        outcome
    }

    /// Gives one lease back.
    ///
    /// # Errors
    /// When there is none.
    pub fn release(&mut self, holder: u32) -> Result<(), LeaseError> {
        if self.depth(holder) == 0 {
            return Err(LeaseError::NotHeld(HolderId(holder)));
        }
        self.leases.iter_mut().filter(|lease| lease.0 == holder).for_each(|lease| lease.1 -= 1);
        self.leases.retain(|lease| lease.1 > 0);
        Ok(())
    }

    /// Gives one lease back; the event covers the layout.
    ///
    /// # Errors
    /// When there is none.
    pub fn hand_off(&mut self, holder: u32, event: u32) -> Result<(), LeaseError> {
        self.release(holder)?;
        self.events.push(event);
        self.events.sort_unstable();
        self.events.dedup();
        Ok(())
    }

    /// Asks to move pages.
    pub fn request_compaction(&mut self, holder: u32) -> Outcome {
        if self.depth(holder) > 0 {
            return Outcome::Refused(LeaseError::OwnLease(HolderId(holder)));
        }
        if !self.waiting.contains(&holder) {
            self.waiting.push(holder);
        }
        if self.idle() { Outcome::Granted } else { Outcome::MustWait }
    }

    /// The holder waits to move pages no more; who waited for a lease only behind it gets one.
    pub fn end_compaction(&mut self, holder: u32) {
        self.waiting.retain(|other| *other != holder);
        for (_, ahead) in &mut self.queue {
            ahead.retain(|other| *other != holder);
        }
        for (waiter, ahead) in std::mem::take(&mut self.queue) {
            if ahead.is_empty() {
                self.grant(waiter, None);
            } else {
                self.queue.push((waiter, ahead));
            }
        }
    }

    /// Time passes.
    pub fn tick(&mut self) {
        for (_, _, left) in &mut self.leases {
            *left = left.map(|left| left.saturating_sub(1));
        }
        self.leases.retain(|lease| lease.2 != Some(0));
    }

    /// The events, as the core has them.
    pub fn event_keys(&self) -> impl Iterator<Item = EventKey> + '_ {
        self.events.iter().copied().map(EventKey)
    }
}
