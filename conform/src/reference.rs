//! Core as the implementation that drivers are compared with: its arena and its lease table, and the operations of named
//! threads that may wait.
//!
//! Nothing is decided here that core does not decide, except the order in which those who wait are asked again: in the
//! order in which they began to wait, each until it is done or waits again, before the next.

use crate::protocol::{BandState, Call, End, Finished, Layout, Outcome, State, Step};
use leasecheck_core::{
    Admission, Arena, ArenaConfig, BandConfig, BandId, ConfigError, EventKey, Grow, HolderId, Ids, LeaseTable,
    LogicalPage, Outcome as Granting, Planner, Request, Reuse, Rules,
};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Whatever can move may move.
fn everything(_: BandId, _: LogicalPage) -> bool {
    true
}

#[derive(Clone, Copy, Debug, Default)]
struct Event {
    done: bool,
    query_fails: bool,
    sync_fails: bool,
}

/// An event that a lease was handed off to, under the queue that it belongs to.
#[derive(Clone, Debug)]
struct Pending {
    key: String,
    event: u32,
}

#[derive(Clone, Debug)]
struct Blocked {
    thread: String,
    call: Call,
}

/// What has been true of a step, for tables of known differences.
pub(crate) type Tags = BTreeSet<&'static str>;

/// What core does.
#[derive(Clone, Debug)]
pub(crate) struct Reference {
    layout: Layout,
    arena: Arena,
    table: LeaseTable,
    holders: Vec<String>,
    events: BTreeMap<u32, Event>,
    pending: Vec<Pending>,
    blocked: Vec<Blocked>,
    stamps: BTreeMap<(u8, u32), u8>,
    gate_closed: bool,
}

impl Reference {
    /// An empty arena in the configuration that predicts SGLang 0.5.23: whole pages, both bands packed completely.
    pub(crate) fn new(layout: &Layout) -> Result<Reference, ConfigError> {
        let band = |(at, band): (usize, &crate::protocol::Band)| BandConfig {
            name: band.name.clone(),
            envelope: band.envelope,
            page_tokens: band.page_tokens,
            layers: 1,
            grow: match band.grow {
                End::Up => Grow::Up,
                End::Down => Grow::Down,
            },
            ids: if layout.device && at > 0 { Ids::Of(BandId(0)) } else { Ids::Own },
        };
        let arena = Arena::new(ArenaConfig {
            bytes: layout.bytes,
            bands: layout.bands.iter().enumerate().map(band).collect(),
            sink: layout.device,
            reuse: Reuse::AsDesigned,
            permuted: false,
            planner: Planner::Slide,
            rules: Rules::all(),
        })?;
        Ok(Reference {
            layout: layout.clone(),
            arena,
            table: LeaseTable::new(Rules::all()),
            holders: Vec::new(),
            events: BTreeMap::new(),
            pending: Vec::new(),
            blocked: Vec::new(),
            stamps: BTreeMap::new(),
            gate_closed: false,
        })
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    /// Whether the thread waits, so that it cannot do anything.
    pub(crate) fn is_blocked(&self, thread: &str) -> bool {
        self.blocked.iter().any(|blocked| blocked.thread == thread)
    }

    pub(crate) fn depth(&self, thread: &str) -> u32 {
        let holder = self.holders.iter().position(|name| name == thread);
        holder.map_or(0, |at| self.table.depth(HolderId(at as u32)))
    }

    /// Events that have been named and are not complete.
    pub(crate) fn open_events(&self) -> Vec<u32> {
        self.events.iter().filter(|(_, event)| !event.done).map(|(key, _)| *key).collect()
    }

    /// Whether the move gate is closed.
    pub(crate) fn gate_closed(&self) -> bool {
        self.gate_closed
    }

    fn holder(&mut self, thread: &str) -> HolderId {
        let at = self.holders.iter().position(|name| name == thread).unwrap_or_else(|| {
            self.holders.push(thread.to_owned());
            self.holders.len() - 1
        });
        HolderId(at as u32)
    }

    /// What is true now and can explain why somebody else does something else.
    pub(crate) fn tags(&self, step: &Step) -> Tags {
        let mut tags = Tags::new();
        let mut tag = |name, holds: bool| {
            if holds {
                tags.insert(name);
            }
        };
        tag("compaction-waits", !self.table.waiting().is_empty());
        tag("two-compactions-wait", self.table.waiting().len() > 1);
        let leased = self.table.holders().next().is_some();
        tag("waits-for-event", !self.table.waiting().is_empty() && !leased);
        tag("own-lease", step.thread.as_ref().is_some_and(|thread| self.depth(thread) > 0));
        let (bands, tokens): (Vec<&String>, Vec<i64>) = match &step.call {
            Call::Alloc { requests, .. } => requests.iter().map(|(band, tokens)| (band, *tokens)).unzip(),
            Call::Fits { first, then, .. } => first.iter().chain(then).map(|(band, tokens)| (band, *tokens)).unzip(),
            Call::Free { band, tokens } | Call::Unbind { band, tokens } | Call::Translate { band, tokens } => {
                (vec![band], tokens.clone())
            }
            Call::Clear { band } => (vec![band], Vec::new()),
            _ => (Vec::new(), Vec::new()),
        };
        tag("unknown-band", bands.iter().any(|band| self.arena.band_named(band).is_none()));
        tag("negative", tokens.iter().any(|tokens| *tokens < 0));
        tag("sink", self.layout.device && tokens.iter().any(|token| (0..self.first_token()).contains(token)));
        tags
    }

    /// The first token of a device pool that can be live.
    fn first_token(&self) -> i64 {
        let band = BandId(0);
        i64::from(self.arena.first_page(band).0) * i64::from(self.arena.config().bands[0].page_tokens)
    }

    /// Does the step; `None` if its thread waits, so that there is nothing to do.
    pub(crate) fn step(&mut self, step: &Step) -> Option<(Outcome, Vec<Finished>)> {
        let outcome = match (&step.thread, &step.call) {
            (Some(thread), call) => {
                if self.is_blocked(thread) {
                    return None;
                }
                let holder = self.holder(thread);
                match self.attempt(holder, call, false) {
                    Some(outcome) => outcome,
                    None => {
                        self.blocked.push(Blocked { thread: thread.clone(), call: call.clone() });
                        Outcome::Waits
                    }
                }
            }
            (None, call) => {
                self.happen(call);
                Outcome::Ok(Value::Null)
            }
        };
        let mut finished = Vec::new();
        let mut at = 0;
        while let Some(blocked) = self.blocked.get(at).cloned() {
            let holder = self.holder(&blocked.thread);
            match self.attempt(holder, &blocked.call, true) {
                Some(result) => {
                    self.blocked.remove(at);
                    finished.push(Finished { thread: blocked.thread, result });
                    at = 0;
                }
                None => at += 1,
            }
        }
        Some((outcome, finished))
    }

    fn happen(&mut self, call: &Call) {
        match call {
            Call::Complete { event } => {
                self.events.entry(*event).or_default().done = true;
                self.table.event_completed(EventKey(*event));
            }
            Call::QueryFails { event, on } => {
                self.events.entry(*event).or_default().query_fails = *on;
                self.table.query_failed(EventKey(*event));
            }
            Call::Gate { closed } => self.gate_closed = *closed,
            Call::Forward { event, .. } => {
                self.events.entry(*event).or_default();
            }
            Call::SyncFails { event, on } => self.events.entry(*event).or_default().sync_fails = *on,
            _ => {}
        }
    }

    /// Tries an operation; `None` if it has to wait. `again`: it waited before.
    fn attempt(&mut self, holder: HolderId, call: &Call, again: bool) -> Option<Outcome> {
        Some(match call {
            Call::Alloc { requests, stamp } => match self.requests(requests) {
                Ok(requests) => return self.alloc(holder, &requests, *stamp),
                Err(error) => error,
            },
            Call::Free { band, tokens } => self.on_pages(band, tokens, |reference, band, pages| {
                reference.arena.free(band, &pages, None).ok()?;
                Some(json!(tokens.len()))
            }),
            Call::Unbind { band, tokens } => self.on_pages(band, tokens, |reference, band, pages| {
                reference.arena.tombstone(band, &pages, None).ok()?;
                Some(json!(tokens.len()))
            }),
            Call::Translate { band, tokens } => self.on_pages(band, tokens, |reference, band, pages| {
                let size = i64::from(reference.arena.config().bands[band.0 as usize].page_tokens);
                let places = pages.iter().map(|page| reference.arena.translate(band, *page));
                let places = places.map(|place| place.map(|place| i64::from(place.0)));
                let places: Option<Vec<i64>> = places.collect();
                let tokens = places?.into_iter().flat_map(|page| (0..size).map(move |offset| page * size + offset));
                Some(json!(tokens.collect::<Vec<i64>>()))
            }),
            Call::Clear { band } => {
                let Some(band) = self.arena.band_named(band) else { return Some(Outcome::error("no-such-band")) };
                match self.turn(holder)? {
                    Err(error) => error,
                    Ok(()) => {
                        self.arena.clear(band);
                        self.table.end_compaction(holder);
                        Outcome::Ok(Value::Null)
                    }
                }
            }
            Call::Fits { first, then, empty } => match (self.requests(first), self.requests(then)) {
                (Err(error), _) | (_, Err(error)) => error,
                (Ok(first), Ok(then)) => {
                    let arena = if *empty { &self.arena.emptied() } else { &self.arena };
                    Outcome::Ok(json!(arena.fits_then(&first, &then, everything)))
                }
            },
            Call::Flush => {
                if !self.gate_closed {
                    let plan = self.arena.plan(&everything);
                    self.arena.commit(&plan, None);
                }
                Outcome::Ok(Value::Null)
            }
            Call::Acquire if again => {
                if self.table.is_held_back(holder) {
                    return None;
                }
                Outcome::Ok(Value::Null)
            }
            Call::Acquire => {
                if self.table.depth(holder) == 0 {
                    self.prune();
                }
                match self.table.acquire_in_turn(holder) {
                    Granting::Granted => Outcome::Ok(Value::Null),
                    _ => return None,
                }
            }
            Call::Release { event, key } => self.release(holder, *event, key.as_deref()),
            _ => Outcome::Ok(Value::Null),
        })
    }

    fn alloc(&mut self, holder: HolderId, requests: &[Request], stamp: u8) -> Option<Outcome> {
        if let Ok(granted) = self.arena.allocate(requests) {
            self.end_waiting(holder);
            return Some(self.grant(requests, granted, stamp));
        }
        if let Admission::Refused(_) = self.arena.admission(requests, everything) {
            self.end_waiting(holder);
            return Some(Outcome::Refused);
        }
        if let Err(error) = self.turn(holder)? {
            return Some(error);
        }
        let plan = self.arena.plan(&everything);
        self.arena.commit(&plan, None);
        let granted = self.arena.allocate(requests);
        self.end_waiting(holder);
        Some(granted.map_or(Outcome::Refused, |granted| self.grant(requests, granted, stamp)))
    }

    fn end_waiting(&mut self, holder: HolderId) {
        if self.table.waiting().contains(&holder) {
            self.table.end_compaction(holder);
        }
    }

    fn grant(&mut self, requests: &[Request], granted: Vec<Vec<LogicalPage>>, stamp: u8) -> Outcome {
        let mut tokens: Vec<Vec<u64>> = Vec::with_capacity(granted.len());
        for (request, pages) in requests.iter().zip(granted) {
            let size = u64::from(self.arena.config().bands[request.band.0 as usize].page_tokens);
            self.stamps.extend(pages.iter().map(|page| ((request.band.0, page.0), stamp)));
            let of_page = |page: &LogicalPage| u64::from(page.0) * size..(u64::from(page.0) + 1) * size;
            tokens.push(pages.iter().flat_map(of_page).collect());
        }
        Outcome::Ok(json!(tokens))
    }

    /// Whether `holder` may move pages now: `None` if it has to wait.
    fn turn(&mut self, holder: HolderId) -> Option<Result<(), Outcome>> {
        if let Granting::Refused(_) = self.table.request_compaction(holder) {
            return Some(Err(Outcome::error("own-lease")));
        }
        if self.table.waiting().first() != Some(&holder) || self.table.holders().next().is_some() {
            return None;
        }
        // Events are waited for one after the other, in the order in which their queues came up.
        for pending in &self.pending {
            let event = self.events.get(&pending.event).copied().unwrap_or_default();
            if event.done {
                continue;
            }
            if event.sync_fails {
                self.table.wait_failed(holder);
                return Some(Err(Outcome::error("event-failed")));
            }
            return None;
        }
        Some(Ok(()))
    }

    fn release(&mut self, holder: HolderId, event: Option<u32>, key: Option<&str>) -> Outcome {
        if self.table.depth(holder) == 0 {
            return Outcome::error("not-held");
        }
        self.prune();
        let open = event.filter(|event| !self.events.entry(*event).or_default().done);
        let released = match open {
            Some(event) => self.table.hand_off(holder, EventKey(event)),
            None => self.table.release(holder),
        };
        if let Err(error) = released {
            return Outcome::error(&error.to_string());
        }
        if let Some(event) = event {
            let key = key.map_or_else(|| format!("event {event}"), |key| format!("queue {key}"));
            match self.pending.iter().position(|pending| pending.key == key) {
                None => self.pending.push(Pending { key, event }),
                Some(at) => {
                    let earlier = std::mem::replace(&mut self.pending[at].event, event);
                    if self.pending.iter().all(|pending| pending.event != earlier) {
                        self.table.event_completed(EventKey(earlier));
                    }
                }
            }
        }
        Outcome::Ok(Value::Null)
    }

    /// Forgets events that are known to be complete. (One whose query fails is not known to be.)
    fn prune(&mut self) {
        let events = &self.events;
        let gone = |event: &Event| event.done && !event.query_fails;
        self.pending.retain(|pending| !events.get(&pending.event).is_some_and(gone));
    }

    /// Pages from tokens; the error of the first request that is wrong.
    fn requests(&self, requests: &[(String, i64)]) -> Result<Vec<Request>, Outcome> {
        let one = |(band, tokens): &(String, i64)| {
            let band = self.arena.band_named(band).ok_or_else(|| Outcome::error("no-such-band"))?;
            let size = i64::from(self.arena.config().bands[band.0 as usize].page_tokens);
            if *tokens < 0 || tokens % size != 0 {
                return Err(Outcome::error("bad-size"));
            }
            Ok(Request { band, pages: u32::try_from(tokens / size).unwrap_or(u32::MAX) })
        };
        requests.iter().map(one).collect()
    }

    fn on_pages(
        &mut self,
        band: &str,
        tokens: &[i64],
        work: impl FnOnce(&mut Reference, BandId, Vec<LogicalPage>) -> Option<Value>,
    ) -> Outcome {
        let Some(band) = self.arena.band_named(band) else { return Outcome::error("no-such-band") };
        let size = self.arena.config().bands[band.0 as usize].page_tokens as usize;
        let page = |group: &[i64]| {
            let whole = group.len() == size && group[0] % size as i64 == 0;
            let contiguous = group.iter().enumerate().all(|(at, token)| *token == group[0] + at as i64);
            u32::try_from(group[0] / size as i64).ok().filter(|_| whole && contiguous && group[0] >= 0)
        };
        let pages: Option<Vec<u32>> = tokens.chunks(size).map(page).collect();
        let pages = pages.map(|pages| pages.into_iter().map(LogicalPage).collect());
        match pages.and_then(|pages| work(self, band, pages)) {
            Some(result) => Outcome::Ok(result),
            None => Outcome::error("bad-pages"),
        }
    }

    /// What can be observed now.
    pub(crate) fn state(&self) -> State {
        let band = |(id, band): (BandId, &BandConfig)| {
            let size = i64::from(band.page_tokens);
            let pages = self.arena.placements(id).map(|(page, place)| {
                let stamp = self.stamps.get(&(id.0, page.0)).copied().unwrap_or(0);
                (i64::from(page.0), i64::from(place.0), i32::from(stamp))
            });
            let pages: Vec<(i64, i64, i32)> = pages.collect();
            let mut free: Vec<(i64, i64)> = Vec::new();
            for page in self.arena.free_ids(id).map(|page| i64::from(page.0)) {
                match free.last_mut() {
                    Some((_, end)) if *end == page => *end += 1,
                    _ => free.push((page, page + 1)),
                }
            }
            let state = BandState {
                holes: Some(self.holes(id, &pages)),
                pending: None,
                pages,
                free: (band.ids == Ids::Own).then_some(free),
                watermark: Some(self.arena.watermark(id)),
                available: Some(i64::from(self.available(id)) * size),
            };
            (band.name.clone(), state)
        };
        let holes = |(id, band): (BandId, &BandConfig)| u64::from(self.arena.holes(id)) * band.envelope;
        let holding = |(at, name): (usize, &String)| {
            let depth = self.table.depth(HolderId(at as u32));
            (depth > 0).then(|| (name.clone(), i64::from(depth)))
        };
        State {
            bands: self.arena.bands().map(band).collect(),
            free_bytes: Some((self.arena.gap() + self.arena.bands().map(holes).sum::<u64>()) as i64),
            leases: Some(self.holders.iter().enumerate().filter_map(holding).collect()),
            events: Some(self.table.events().iter().map(|event| event.0).collect()),
            waiting: Some(self.blocked.iter().map(|blocked| blocked.thread.clone()).collect()),
        }
    }

    /// Pages that could be allocated, moving others if need be. Ids of a device pool have a page in every band.
    pub(crate) fn available(&self, band: BandId) -> u32 {
        if !self.layout.device {
            return self.arena.available(band, everything);
        }
        let request = |pages| self.arena.bands().map(|(band, _)| Request { band, pages }).collect::<Vec<_>>();
        let most = self.arena.available(BandId(0), everything);
        (0..=most).rev().find(|pages| self.arena.admission(&request(*pages), everything).admitted()).unwrap_or(0)
    }

    /// Free pages inside the watermark, in ascending order.
    fn holes(&self, band: BandId, pages: &[(i64, i64, i32)]) -> Vec<i64> {
        let live: BTreeSet<i64> = pages.iter().map(|(_, place, _)| *place).collect();
        self.arena.extent(band).map(i64::from).filter(|page| !live.contains(page)).collect()
    }
}
