//! Layout leases as a state machine: who holds the layout still, and who waits to move pages.
//!
//! A holder acquires and releases leases, re-entrantly, or hands its lease off to a completion event. Who wants to
//! move pages asks with [`LeaseTable::request_compaction`]; the answer is `Granted` only when no lease is held and
//! no handed-off event is outstanding. Nothing here blocks: `MustWait` is an answer, and waiting is the caller's
//! business.
//!
//! The design's answers to what the shipped host arena of SGLang 0.5.23 leaves open: waiting compactions are
//! counted, not flagged; new leases are held back while one waits, and the holders of leases may still nest; a
//! failed wait for an event keeps the events that it did not wait for.

use crate::ids::{EventKey, HolderId};
use crate::rules::{Rule, Rules};
use std::fmt;

/// The answer to a request that may have to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Granted,
    /// Ask again when something has changed: a lease was released, an event completed, a compaction ended.
    MustWait,
    /// Waiting would never end, or the call makes no sense.
    Refused(LeaseError),
}

/// Why a lease operation is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseError {
    /// The holder holds no lease.
    NotHeld(HolderId),
    /// The holder asked to move pages while it holds a lease itself.
    OwnLease(HolderId),
}

impl fmt::Display for LeaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LeaseError::NotHeld(holder) => write!(f, "holder {holder} holds no lease"),
            LeaseError::OwnLease(holder) => {
                write!(f, "holder {holder} holds a lease itself, so a compaction would wait for it forever")
            }
        }
    }
}

impl std::error::Error for LeaseError {}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lease {
    holder: HolderId,
    depth: u32,
    /// Ticks left, for a timed lease.
    ttl: Option<u32>,
}

/// A request for a lease that waits for the compactions that asked before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct HeldBack {
    holder: HolderId,
    /// Of the waiting compactions, the first so many come before it.
    ahead: usize,
}

/// The leases of one layout.
#[derive(Debug, PartialEq, Eq)]
pub struct LeaseTable {
    rules: Rules,
    leases: Vec<Lease>,
    events: Vec<EventKey>,
    waiting: Vec<HolderId>,
    /// Requests for leases that wait for their turn, in the order in which they asked.
    held_back: Vec<HeldBack>,
    /// Whether new leases are held back. With `compaction-one-at-a-time` this follows from `waiting`; without it,
    /// it is the flag that the first compaction to end clears for all.
    holding_back: bool,
}

impl Clone for LeaseTable {
    fn clone(&self) -> LeaseTable {
        let (leases, events, waiting) = (self.leases.clone(), self.events.clone(), self.waiting.clone());
        let held_back = self.held_back.clone();
        LeaseTable { rules: self.rules, leases, events, waiting, held_back, holding_back: self.holding_back }
    }

    fn clone_from(&mut self, source: &LeaseTable) {
        self.rules = source.rules;
        self.leases.clone_from(&source.leases);
        self.events.clone_from(&source.events);
        self.waiting.clone_from(&source.waiting);
        self.held_back.clone_from(&source.held_back);
        self.holding_back = source.holding_back;
    }
}

impl LeaseTable {
    /// No lease, nobody waiting.
    #[must_use]
    pub fn new(rules: Rules) -> LeaseTable {
        LeaseTable {
            rules,
            leases: Vec::new(),
            events: Vec::new(),
            waiting: Vec::new(),
            held_back: Vec::new(),
            holding_back: false,
        }
    }

    fn position(&self, holder: HolderId) -> Result<usize, usize> {
        self.leases.binary_search_by_key(&holder, |lease| lease.holder)
    }

    /// How many leases `holder` holds, nested ones included.
    #[must_use]
    pub fn depth(&self, holder: HolderId) -> u32 {
        self.position(holder).map_or(0, |at| self.leases[at].depth)
    }

    /// Holders with at least one lease.
    pub fn holders(&self) -> impl Iterator<Item = HolderId> + '_ {
        self.leases.iter().map(|lease| lease.holder)
    }

    /// Events that leases were handed off to and that have not completed.
    #[must_use]
    #[inline]
    pub fn events(&self) -> &[EventKey] {
        &self.events
    }

    /// Those who wait to move pages, in the order in which they asked.
    #[must_use]
    #[inline]
    pub fn waiting(&self) -> &[HolderId] {
        &self.waiting
    }

    /// Whether anything covers the layout: a lease, or an event that a lease was handed off to.
    #[must_use]
    pub fn covered(&self) -> bool {
        !self.leases.is_empty() || !self.events.is_empty()
    }

    /// Asks for a lease, for `ttl` ticks if given.
    pub fn acquire(&mut self, holder: HolderId, ttl: Option<u32>) -> Outcome {
        match self.position(holder) {
            Ok(at) if self.rules.on(Rule::LeasesReentrant) => {
                let lease = &mut self.leases[at];
                lease.depth += 1;
                lease.ttl = lease.ttl.zip(ttl).map(|(left, more)| left.max(more));
                Outcome::Granted
            }
            at => {
                if self.holding_back && self.rules.on(Rule::CompactionHoldsBackLeases) {
                    return Outcome::MustWait;
                }
                match at {
                    Ok(at) => self.leases[at].depth += 1,
                    Err(at) => self.leases.insert(at, Lease { holder, depth: 1, ttl }),
                }
                Outcome::Granted
            }
        }
    }

    /// Asks for a lease, in turn: a request that must wait stands behind the compactions that wait now, and before
    /// those that ask later. Ask once; the lease is granted when [`LeaseTable::is_held_back`] says no any more.
    pub fn acquire_in_turn(&mut self, holder: HolderId) -> Outcome {
        let outcome = self.acquire(holder, None);
        if outcome == Outcome::MustWait {
            self.held_back.push(HeldBack { holder, ahead: self.waiting.len() });
        }
        outcome
    }

    /// Whether `holder` has asked for a lease in turn, and waits.
    #[must_use]
    pub fn is_held_back(&self, holder: HolderId) -> bool {
        self.held_back.iter().any(|request| request.holder == holder)
    }

    /// Drops the request of `holder` for a lease in turn, if it still waits.
    pub fn withdraw(&mut self, holder: HolderId) {
        self.held_back.retain(|request| request.holder != holder);
    }

    /// Gives one lease back.
    ///
    /// # Errors
    /// When `holder` holds none.
    pub fn release(&mut self, holder: HolderId) -> Result<(), LeaseError> {
        let at = self.position(holder).map_err(|_| LeaseError::NotHeld(holder))?;
        self.leases[at].depth -= 1;
        if self.leases[at].depth == 0 {
            self.leases.remove(at);
        }
        Ok(())
    }

    /// Gives one lease back; the layout stays covered until `event` completes.
    ///
    /// # Errors
    /// When `holder` holds none.
    pub fn hand_off(&mut self, holder: HolderId, event: EventKey) -> Result<(), LeaseError> {
        self.release(holder)?;
        if self.rules.on(Rule::LeasesHandedOff)
            && let Err(at) = self.events.binary_search(&event)
        {
            self.events.insert(at, event);
        }
        Ok(())
    }

    /// The event has completed: it covers nothing any more.
    pub fn event_completed(&mut self, event: EventKey) {
        self.events.retain(|key| *key != event);
    }

    /// Asking whether `event` has completed failed. With the rule, it counts as not completed.
    pub fn query_failed(&mut self, event: EventKey) {
        if !self.rules.on(Rule::LeasesSurviveFailingQuery) {
            self.event_completed(event);
        }
    }

    /// Waiting for an event failed, and the compaction that waited gives up. All events stay, the failing one too:
    /// that the wait failed says nothing about the work behind it. Without the rule, all of them had been taken out
    /// of the table before the wait.
    pub fn wait_failed(&mut self, holder: HolderId) {
        if !self.rules.on(Rule::CompactionKeepsEvents) {
            self.events.clear();
        }
        self.end_compaction(holder);
    }

    /// Time passes: timed leases run down and end.
    pub fn tick(&mut self) {
        for lease in &mut self.leases {
            lease.ttl = lease.ttl.map(|left| left.saturating_sub(1));
        }
        self.leases.retain(|lease| lease.ttl != Some(0));
    }

    /// Asks to move pages; asking again is how a waiting holder polls. `Granted` means: move now, then call
    /// [`LeaseTable::end_compaction`].
    pub fn request_compaction(&mut self, holder: HolderId) -> Outcome {
        if self.depth(holder) > 0 && self.rules.on(Rule::CompactionRefusesOwnLease) {
            return Outcome::Refused(LeaseError::OwnLease(holder));
        }
        if !self.waiting.contains(&holder) {
            self.waiting.push(holder);
            self.holding_back = true;
        }
        if self.may_compact() { Outcome::Granted } else { Outcome::MustWait }
    }

    /// Whether a waiting compaction would be granted now.
    #[must_use]
    #[inline]
    pub fn may_compact(&self) -> bool {
        let leases = self.leases.is_empty() || !self.rules.on(Rule::CompactionWaitsForLeases);
        let events = self.events.is_empty() || !self.rules.on(Rule::CompactionWaitsForEvents);
        leases && events
    }

    /// Whether `holder` may compact now and is the first of those who wait to.
    #[must_use]
    pub fn may_compact_in_turn(&self, holder: HolderId) -> bool {
        self.waiting.first() == Some(&holder) && self.may_compact()
    }

    /// The compaction of `holder` has ended, or is given up. Requests for leases whose turn has come are granted.
    pub fn end_compaction(&mut self, holder: HolderId) {
        let ended = self.waiting.iter().position(|other| *other == holder);
        self.waiting.retain(|other| *other != holder);
        self.holding_back = !self.waiting.is_empty() && self.rules.on(Rule::CompactionOneAtATime);
        for request in &mut self.held_back {
            request.ahead -= usize::from(ended.is_some_and(|ended| ended < request.ahead));
        }
        while let Some(at) = self.held_back.iter().position(|request| request.ahead == 0 || !self.holding_back) {
            let HeldBack { holder, .. } = self.held_back.remove(at);
            match self.position(holder) {
                Ok(at) => self.leases[at].depth += 1,
                Err(at) => self.leases.insert(at, Lease { holder, depth: 1, ttl: None }),
            }
        }
    }

    /// Whether `holder` would be granted a lease now.
    #[must_use]
    #[inline]
    pub fn may_acquire(&self, holder: HolderId) -> bool {
        let nested = self.rules.on(Rule::LeasesReentrant) && self.depth(holder) > 0;
        nested || !self.holding_back || !self.rules.on(Rule::CompactionHoldsBackLeases)
    }

    /// Sets how many ticks a timed lease has left.
    ///
    /// # Errors
    /// When the holder has no lease (any more).
    pub fn renew(&mut self, holder: HolderId, ttl: u32) -> Result<(), LeaseError> {
        let at = self.position(holder).map_err(|_| LeaseError::NotHeld(holder))?;
        self.leases[at].ttl = self.leases[at].ttl.map(|_| ttl);
        Ok(())
    }

    /// Appends the table's state to `out`; equal states give equal bytes. Holders, events, depths and ttls must be
    /// below 255, their numbers below 128.
    pub fn pack(&self, out: &mut Vec<u8>) {
        let queue = u8::from(!self.held_back.is_empty()) << 7;
        out.extend([self.leases.len() as u8 | queue, self.events.len() as u8]);
        out.push(self.waiting.len() as u8 | u8::from(self.holding_back) << 7);
        for lease in &self.leases {
            out.extend([lease.holder.0 as u8, lease.depth as u8, lease.ttl.map_or(u8::MAX, |ttl| ttl as u8)]);
        }
        out.extend(self.events.iter().map(|event| event.0 as u8));
        out.extend(self.waiting.iter().map(|holder| holder.0 as u8));
        if !self.held_back.is_empty() {
            out.push(self.held_back.len() as u8);
            out.extend(self.held_back.iter().flat_map(|request| [request.holder.0 as u8, request.ahead as u8]));
        }
    }

    /// Reads back what [`LeaseTable::pack`] wrote, and returns the rest of the bytes.
    pub fn unpack<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let [leases, events, waiting, rest @ ..] = bytes else { return bytes };
        self.holding_back = waiting >> 7 != 0;
        let (packed, rest) = rest.split_at(usize::from(leases & 0x7f) * 3);
        self.leases.clear();
        self.leases.extend(packed.chunks_exact(3).map(|lease| Lease {
            holder: HolderId(lease[0].into()),
            depth: lease[1].into(),
            ttl: (lease[2] != u8::MAX).then_some(lease[2].into()),
        }));
        let (packed, rest) = rest.split_at(usize::from(*events));
        self.events.clear();
        self.events.extend(packed.iter().map(|event| EventKey((*event).into())));
        let (packed, rest) = rest.split_at(usize::from(waiting & 0x7f));
        self.waiting.clear();
        self.waiting.extend(packed.iter().map(|holder| HolderId((*holder).into())));
        self.held_back.clear();
        if leases >> 7 == 0 {
            return rest;
        }
        let (count, rest) = rest.split_at(1);
        let (packed, rest) = rest.split_at(usize::from(count[0]) * 2);
        self.held_back.extend(
            (packed.chunks_exact(2))
                .map(|request| HeldBack { holder: HolderId(request[0].into()), ahead: request[1].into() }),
        );
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::{LeaseTable, Outcome};
    use crate::ids::HolderId;
    use crate::rules::Rules;

    const READER: HolderId = HolderId(1);
    const FIRST: HolderId = HolderId(2);
    const LATE: HolderId = HolderId(3);
    const LATER: HolderId = HolderId(4);

    /// A reader holds a lease, `FIRST` waits to move pages, `LATE` for a lease, `LATER` to move pages.
    fn queue() -> LeaseTable {
        let mut table = LeaseTable::new(Rules::all());
        assert_eq!(table.acquire_in_turn(READER), Outcome::Granted);
        assert_eq!(table.request_compaction(FIRST), Outcome::MustWait);
        assert_eq!(table.acquire_in_turn(LATE), Outcome::MustWait);
        assert_eq!(table.request_compaction(LATER), Outcome::MustWait);
        table
    }

    #[test]
    fn leases_and_compactions_come_in_the_order_in_which_they_were_asked_for() {
        let mut table = queue();
        table.release(READER).expect("held");
        assert!(table.may_compact_in_turn(FIRST) && !table.may_compact_in_turn(LATER));
        assert!(table.is_held_back(LATE));
        table.end_compaction(FIRST);
        assert!(!table.is_held_back(LATE) && table.depth(LATE) == 1, "before the compaction that asked later");
        assert!(!table.may_compact_in_turn(LATER), "behind the lease that asked earlier");
        assert_eq!(table.acquire_in_turn(READER), Outcome::MustWait);
        table.release(LATE).expect("held");
        assert!(table.may_compact_in_turn(LATER));
        table.end_compaction(LATER);
        assert_eq!(table.depth(READER), 1);
    }

    #[test]
    fn who_gives_up_waiting_lets_the_next_one_pass() {
        let mut table = queue();
        table.end_compaction(LATER);
        assert!(table.is_held_back(LATE), "a compaction that asked later had nothing to do with it");
        table.end_compaction(FIRST);
        assert_eq!(table.depth(LATE), 1);

        let mut table = queue();
        table.withdraw(LATE);
        table.end_compaction(FIRST);
        assert_eq!(table.depth(LATE), 0);
    }

    #[test]
    fn a_queue_survives_packing() {
        let table = queue();
        let mut packed = Vec::new();
        table.pack(&mut packed);
        packed.push(42);
        let mut unpacked = LeaseTable::new(Rules::all());
        assert_eq!(unpacked.unpack(&packed), [42]);
        assert_eq!(unpacked, table);
    }
}
