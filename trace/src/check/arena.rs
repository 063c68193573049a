//! What is known of one arena: which page is where, what holds pages still, who touched which bytes.

use super::design::Beside;
use crate::clocks::Clock;
use crate::format::{ArenaDef, Grow};
use crate::history::History;
use leasecheck_core::{EventKey, HolderId, LeaseTable, MAX_PAGES, Rule, Rules};
use std::collections::{BTreeMap, BTreeSet};

/// A physical page that is not known.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// In the table of occupants: never handed out, given back.
const FREE: u32 = 0;
const GIVEN_BACK: u32 = u32::MAX;

/// A page by id.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Page {
    /// Where it is, or [`NOWHERE`].
    pub(crate) at: u32,
    /// A new number whenever the id is handed out; 0: the id is free.
    pub(crate) generation: u32,
    pub(crate) pins: u32,
    /// Where it was before it moved last.
    pub(crate) from: u32,
    /// Whether something was written to it since it was handed out.
    pub(crate) written: bool,
    /// The checksum of its content, if known.
    pub(crate) sum: Option<u64>,
    /// The line that handed the id out or, if it is free, took it back. 0: never.
    pub(crate) line: u64,
    /// The line in which it moved last. 0: never.
    pub(crate) moved: u64,
}

const UNSEEN: Page =
    Page { at: NOWHERE, generation: 0, pins: 0, from: NOWHERE, written: false, sum: None, line: 0, moved: 0 };

/// One band.
#[derive(Debug)]
pub(crate) struct Band {
    pub(crate) name: String,
    pub(crate) envelope: u64,
    pub(crate) page_tokens: u64,
    pub(crate) multiplier: u64,
    /// Pages on its grid, the sink included.
    pub(crate) pages: u32,
    /// The first page that is not part of the sink.
    pub(crate) first: u32,
    pub(crate) owner: Option<usize>,
    pub(crate) live: u32,
    /// Ids that it can have.
    pub(crate) ids: u32,
    by_id: Vec<Page>,
    occupants: Vec<u32>,
    /// Pages that must not be reused before an event completes.
    pub(crate) pending: BTreeMap<u32, u64>,
    /// The line of the last call about pages, if it failed.
    pub(crate) failed: Option<u64>,
}

impl Band {
    pub(crate) fn page(&self, id: u32) -> &Page {
        self.by_id.get(id as usize).unwrap_or(&UNSEEN)
    }

    /// The page, if the id is live.
    pub(crate) fn live(&self, id: u32) -> Option<&Page> {
        self.by_id.get(id as usize).filter(|page| page.generation != 0)
    }

    pub(crate) fn live_mut(&mut self, id: u32) -> Option<&mut Page> {
        self.by_id.get_mut(id as usize).filter(|page| page.generation != 0)
    }

    /// Whether the number can be an id of the band.
    pub(crate) fn is_id(&self, id: u32) -> bool {
        id < self.ids
    }

    /// The id whose page is there.
    pub(crate) fn occupant(&self, at: u32) -> Option<u32> {
        self.occupants.get(at as usize).filter(|who| **who != FREE && **who != GIVEN_BACK).map(|who| who - 1)
    }

    /// Whether the page was handed out once and is nobody's now.
    pub(crate) fn is_given_back(&self, at: u32) -> bool {
        self.occupants.get(at as usize) == Some(&GIVEN_BACK)
    }

    fn occupy(&mut self, at: u32, who: u32) {
        if at >= self.pages {
            return;
        }
        if self.occupants.len() <= at as usize {
            self.occupants.resize(at as usize + 1, FREE);
        }
        self.occupants[at as usize] = who;
    }

    /// The id gets a page.
    pub(crate) fn bring(&mut self, id: u32, at: u32, generation: u32, line: u64) {
        if !self.is_id(id) {
            return;
        }
        if self.by_id.len() <= id as usize {
            self.by_id.resize(id as usize + 1, UNSEEN);
        }
        self.live += u32::from(self.by_id[id as usize].generation == 0);
        self.by_id[id as usize] = Page { at, generation, line, ..UNSEEN };
        self.occupy(at, id + 1);
        self.pending.remove(&at);
    }

    /// Where a live page is becomes known.
    pub(crate) fn found(&mut self, id: u32, at: u32) {
        if let Some(page) = self.live_mut(id) {
            page.at = at;
            self.occupy(at, id + 1);
        }
    }

    /// The id gives its page back; with `event`, the bytes wait for it.
    pub(crate) fn take(&mut self, id: u32, event: Option<u64>, line: u64) {
        let Some(page) = self.live_mut(id) else { return };
        let at = page.at;
        *page = Page { line, ..UNSEEN };
        self.live -= 1;
        self.leave(id, at, event);
    }

    /// The page at `at`, of `id`, is nobody's from here on.
    fn leave(&mut self, id: u32, at: u32, event: Option<u64>) {
        if self.occupant(at) == Some(id) {
            self.occupy(at, GIVEN_BACK);
        }
        if let Some(event) = event
            && at != NOWHERE
        {
            self.pending.insert(at, event);
        }
    }

    pub(crate) fn move_to(&mut self, id: u32, to: u32, event: Option<u64>, line: u64) {
        let Some(page) = self.live_mut(id) else { return };
        let from = page.at;
        (page.from, page.at, page.moved) = (from, to, line);
        self.leave(id, from, event);
        self.occupy(to, id + 1);
        self.pending.remove(&to);
    }

    /// Every id that is live.
    pub(crate) fn live_ids(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.by_id.len() as u32).filter(|id| self.by_id[*id as usize].generation != 0)
    }

    /// The bytes of a page.
    pub(crate) fn bytes(&self, at: u32) -> (u64, u64) {
        (u64::from(at) * self.envelope, (u64::from(at) + 1) * self.envelope)
    }
}

/// Who holds a lease: a number of the trace's choice, or the thread that has none.
pub(crate) type Who = Option<u64>;

/// One arena.
#[derive(Debug)]
pub(crate) struct Arena {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) bands: Vec<Band>,
    pub(crate) history: History,
    /// What those know who had its lock.
    pub(crate) lock: Clock,
    pub(crate) leases: LeaseTable,
    /// The lines in which holders were granted their outermost leases.
    pub(crate) granted: BTreeMap<HolderId, u64>,
    holders: BTreeMap<Who, HolderId>,
    keys: BTreeMap<u64, EventKey>,
    /// Handed-off events by the FIFO queue that they stand for.
    pub(crate) queues: BTreeMap<String, u64>,
    pub(crate) gates: BTreeSet<String>,
    /// Core, doing the same, until it does not.
    pub(crate) beside: Option<Beside>,
    /// The line from which on core could not follow.
    pub(crate) parted: Option<u64>,
}

impl Arena {
    pub(crate) fn new(def: &ArenaDef, complete: bool) -> Result<Arena, String> {
        let in_arena = |what: String| format!("arena `{}`: {what}", def.name);
        let wrong = |what: String| Err(in_arena(what));
        let sink = if def.sink { def.bands.iter().map(|band| band.envelope).max().unwrap_or(0) } else { 0 };
        let mut bands: Vec<Band> = Vec::new();
        for band in &def.bands {
            let name = band.name.to_string();
            if band.envelope == 0 || band.page_tokens == 0 || band.multiplier == 0 {
                return wrong(format!("band `{name}` needs an envelope, page tokens and a multiplier of at least 1"));
            }
            let pages = def.bytes / band.envelope;
            if pages > MAX_PAGES {
                return wrong(format!("band `{name}` would have {pages} pages; the limit is {MAX_PAGES}"));
            }
            let owner = match &band.ids_of {
                None => None,
                Some(owner) => {
                    match def.bands.iter().position(|other| other.name == *owner && other.ids_of.is_none()) {
                        Some(owner) => Some(owner),
                        None => {
                            return wrong(format!(
                                "band `{name}` binds ids of `{owner}`, which is no band with own ids"
                            ));
                        }
                    }
                }
            };
            bands.push(Band {
                name,
                envelope: band.envelope,
                page_tokens: band.page_tokens.into(),
                multiplier: band.multiplier.into(),
                pages: pages as u32,
                first: sink.div_ceil(band.envelope) as u32,
                owner,
                live: 0,
                ids: 0,
                by_id: Vec::new(),
                occupants: Vec::new(),
                pending: BTreeMap::new(),
                failed: None,
            });
        }
        for at in 0..bands.len() {
            bands[at].ids = bands[bands[at].owner.unwrap_or(at)].pages;
        }
        let beside = match def.design {
            Some(design) if complete => Some(Beside::new(def, design).map_err(in_arena)?),
            Some(_) => return wrong("a design can be compared with only if `complete` has \"pages\"".into()),
            None => None,
        };
        Ok(Arena {
            name: def.name.to_string(),
            bytes: def.bytes,
            bands,
            history: History::new(def.role),
            lock: Clock::new(),
            // Whether a lease may be granted is asked before it is entered: the trace says that it was.
            leases: LeaseTable::new(Rules::all().without(Rule::CompactionHoldsBackLeases)),
            granted: BTreeMap::new(),
            holders: BTreeMap::new(),
            keys: BTreeMap::new(),
            queues: BTreeMap::new(),
            gates: BTreeSet::new(),
            beside,
            parted: None,
        })
    }

    /// The live page of another band that shares bytes with page `at` of `band`.
    pub(crate) fn overlapping(&self, band: usize, at: u32) -> Option<(usize, u32)> {
        let (low, high) = self.bands[band].bytes(at);
        for (nth, other) in self.bands.iter().enumerate() {
            if nth == band || other.live == 0 {
                continue;
            }
            let (first, end) = (low / other.envelope, high.div_ceil(other.envelope));
            let end = end.min(other.occupants.len() as u64);
            if let Some(id) = (first..end).find_map(|at| other.occupant(at as u32)) {
                return Some((nth, id));
            }
        }
        None
    }

    /// The live page whose bytes include the byte.
    pub(crate) fn owner_of(&self, byte: u64) -> Option<(usize, u32)> {
        let found = |(nth, band): (usize, &Band)| {
            let at = u32::try_from(byte / band.envelope).ok()?;
            band.occupant(at).map(|id| (nth, id))
        };
        self.bands.iter().enumerate().find_map(found)
    }

    /// The number under which the lease table knows a holder.
    pub(crate) fn holder(&mut self, number: Who) -> HolderId {
        if let Some(holder) = self.holders.get(&number) {
            return *holder;
        }
        let taken: BTreeSet<HolderId> = self.holders.values().copied().collect();
        let free = (0..).map(HolderId).find(|holder| !taken.contains(holder)).unwrap_or_default();
        self.holders.insert(number, free);
        free
    }

    /// The trace's number of a holder.
    pub(crate) fn number_of(&self, holder: HolderId) -> Who {
        self.holders.iter().find(|(_, other)| **other == holder).and_then(|(number, _)| *number)
    }

    /// Drops the number of a holder that holds nothing and waits for nothing.
    pub(crate) fn drop_idle(&mut self, number: Who) {
        if let Some(holder) = self.holders.get(&number).copied()
            && self.leases.depth(holder) == 0
        {
            self.granted.remove(&holder);
            if !self.leases.waiting().contains(&holder) && self.holders.len() > 64 {
                self.holders.remove(&number);
            }
        }
    }

    /// The number under which the lease table knows an event.
    pub(crate) fn key(&mut self, event: u64) -> EventKey {
        if let Some(key) = self.keys.get(&event) {
            return *key;
        }
        let taken: BTreeSet<EventKey> = self.keys.values().copied().collect();
        let free = (0..).map(EventKey).find(|key| !taken.contains(key)).unwrap_or_default();
        self.keys.insert(event, free);
        free
    }

    /// An event that a lease was handed off to and that has not completed.
    pub(crate) fn handed_off(&self) -> Option<u64> {
        self.keys.keys().next().copied()
    }

    /// Events that hold pages or bytes.
    pub(crate) fn awaited(&self) -> Vec<u64> {
        let pending = self.bands.iter().flat_map(|band| band.pending.values().copied());
        self.keys.keys().copied().chain(pending).collect()
    }

    pub(crate) fn event_completed(&mut self, event: u64) {
        self.uncover(event);
        for band in &mut self.bands {
            if !band.pending.is_empty() {
                band.pending.retain(|_, other| *other != event);
            }
        }
    }

    /// No lease is handed off to the event any more.
    pub(crate) fn uncover(&mut self, event: u64) {
        if let Some(key) = self.keys.remove(&event) {
            self.leases.event_completed(key);
            self.queues.retain(|_, other| *other != event);
        }
    }

    /// The line of a lease that is held now, with its holder.
    pub(crate) fn lease(&self) -> Option<(Who, u64)> {
        let holder = self.leases.holders().next()?;
        Some((self.number_of(holder), self.granted.get(&holder).copied().unwrap_or(0)))
    }

    /// Entries that are held of it.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        let bands = self.bands.iter().map(|band| band.by_id.len() + band.occupants.len() + band.pending.len());
        let (ranges, reads) = self.history.len();
        let held = self.granted.len() + self.holders.len() + self.keys.len() + self.queues.len() + self.gates.len();
        bands.sum::<usize>() + ranges + reads + held
    }

    pub(crate) fn note(&self) -> Option<String> {
        let line = self.parted?;
        Some(format!(
            "arena `{}`: results after line {line} were not compared with the design any more; the invariants were checked to the end",
            self.name
        ))
    }
}

/// As core counts it.
pub(crate) fn grow(grow: Grow) -> leasecheck_core::Grow {
    match grow {
        Grow::Up => leasecheck_core::Grow::Up,
        Grow::Down => leasecheck_core::Grow::Down,
    }
}
