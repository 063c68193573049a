//! Events, waits and what was queued: the lines that order agents.

use super::access::Target;
use super::{Checker, Code, say};
use crate::clocks::{Agent, Clock, join};
use crate::format::{Out, Query, Record, Sync, Wait};
use leasecheck_core::Rule;
use smallvec::SmallVec;
use std::collections::{BTreeMap, VecDeque};

/// Records, signals, operations and keys that are remembered, each.
pub(super) const REMEMBERED: usize = 1 << 14;

#[derive(Debug)]
struct Entry {
    clock: Clock,
    nth: u64,
    stream: Option<Agent>,
    done: bool,
}

/// The clocks of things that somebody may wait for. The oldest are forgotten when there are too many: from then on, a
/// wait for something that is not remembered counts as a wait for all that is forgotten.
#[derive(Debug, Default)]
pub(crate) struct Remembered {
    entries: BTreeMap<u64, Entry>,
    oldest: VecDeque<(u64, u64)>,
    next: u64,
    /// Per stream: everything up to this one has completed.
    done_upto: BTreeMap<Agent, u64>,
    forgotten: Clock,
    dropped: u64,
}

impl Remembered {
    fn put(&mut self, id: u64, clock: Clock, stream: Option<Agent>) {
        self.next += 1;
        self.entries.insert(id, Entry { clock, nth: self.next, stream, done: false });
        self.oldest.push_back((id, self.next));
        if self.oldest.len() > 2 * REMEMBERED {
            let entries = &self.entries;
            self.oldest.retain(|(id, nth)| entries.get(id).is_some_and(|entry| entry.nth == *nth));
        }
        while self.entries.len() > REMEMBERED {
            let Some((id, nth)) = self.oldest.pop_front() else { break };
            if self.entries.get(&id).is_some_and(|entry| entry.nth == nth)
                && let Some(entry) = self.entries.remove(&id)
            {
                join(&mut self.forgotten, &entry.clock);
                self.dropped += 1;
            }
        }
    }

    /// Adds to what observing `id` tells.
    pub(crate) fn add(&mut self, id: u64, clock: &Clock) {
        match self.entries.get_mut(&id) {
            Some(entry) => {
                join(&mut entry.clock, clock);
            }
            None => self.put(id, clock.clone(), None),
        }
    }

    /// What waiting for `id` tells.
    pub(crate) fn get(&self, id: u64) -> Option<&Clock> {
        match self.entries.get(&id) {
            Some(entry) => Some(&entry.clock),
            None if self.dropped > 0 => Some(&self.forgotten),
            None => None,
        }
    }

    pub(crate) fn remove(&mut self, id: u64) {
        self.entries.remove(&id);
    }

    /// The number stands for something new, which tells nothing yet.
    pub(crate) fn forget(&mut self, id: u64) {
        self.put(id, Clock::new(), None);
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Entries that are held, notes about their age among them.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.entries.len() + self.oldest.len() + self.done_upto.len()
    }

    /// Whether `id` is known to have completed.
    fn done(&self, id: u64) -> bool {
        let upto = |stream| self.done_upto.get(&stream).copied().unwrap_or(0);
        self.entries
            .get(&id)
            .is_some_and(|entry| entry.done || entry.stream.is_some_and(|stream| entry.nth <= upto(stream)))
    }
}

/// Work that was queued by number and has not run, as far as is known.
#[derive(Debug, Default)]
pub(crate) struct Queued {
    work: BTreeMap<u64, SmallVec<[Work; 1]>>,
    oldest: VecDeque<u64>,
    pub(crate) dropped: u64,
}

impl Queued {
    /// Entries that are held, notes about their age among them.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.work.len() + self.oldest.len()
    }
}

#[derive(Clone, Copy, Debug)]
struct Work {
    line: u64,
    arena: usize,
    band: usize,
    id: u32,
    generation: u32,
    at: u32,
}

impl Checker {
    /// Notes where queued work will look for its pages.
    pub(super) fn queue(&mut self, x: Option<u64>, stream: Option<u64>, target: &Target<'_>) {
        let (Some(x), Some(_), Some(ids), Some(band)) = (x, stream, target.ids, target.place.band) else { return };
        let state = &self.arenas[target.place.arena].bands[band];
        let mut work: SmallVec<[Work; 1]> = SmallVec::new();
        for (nth, id) in ids.iter().enumerate() {
            let Some(page) = state.live(*id) else { continue };
            let at = match target.at {
                None => page.at,
                Some(at) => at.get(nth).map_or(u32::MAX, |at| *at as u32),
            };
            work.push(Work {
                line: self.line,
                arena: target.place.arena,
                band,
                id: *id,
                generation: page.generation,
                at,
            });
        }
        self.queued.oldest.push_back(x);
        self.queued.work.entry(x).or_default().extend(work);
        while self.queued.oldest.len() > REMEMBERED {
            if let Some(old) = self.queued.oldest.pop_front() {
                self.queued.dropped += u64::from(self.queued.work.remove(&old).is_some());
            }
        }
    }

    /// Queued work has run: its pages must still be where it looked.
    pub(super) fn run(&mut self, x: u64) {
        for work in self.queued.work.remove(&x).unwrap_or_default() {
            let page = self.arenas[work.arena].bands[work.band].live(work.id);
            let Some(page) = page.filter(|page| page.generation == work.generation).copied() else { continue };
            self.check(Code::StaleAddress, page.at == work.at || page.moved < work.line, |checker| {
                let name = checker.page_name(work.arena, work.band, work.id);
                say(
                    format!("operation {x}, queued in line {}, ran at physical page {} for {name}, which had moved to physical page {} in line {}", work.line, work.at, page.at, page.moved),
                    format!("{name} moves after the operation has run"),
                )
                .guard(Rule::CompactionWaitsForEvents)
                .earlier(page.moved)
            });
        }
    }

    pub(super) fn record(&mut self, e: &Record) {
        let stream = self.worker(e.th, Some(e.s));
        let clock = self.clocks.tell(stream).clone();
        self.events.put(e.ev, clock, Some(stream));
    }

    pub(super) fn wait(&mut self, e: &Wait) {
        let stream = self.worker(e.th, Some(e.s));
        if let Some(clock) = self.events.get(e.ev) {
            self.clocks.learn(stream, clock);
        }
    }

    pub(super) fn query(&mut self, e: &Query) {
        if e.res == Some(true) {
            self.learn_of_event(e.th, e.ev);
        }
    }

    pub(super) fn sync(&mut self, e: &Sync) {
        if e.out == Out::Ok {
            self.learn_of_event(e.th, e.ev);
        }
    }

    fn learn_of_event(&mut self, thread: Option<u64>, event: u64) {
        let thread = self.thread(thread);
        if let Some(clock) = self.events.get(event) {
            self.clocks.learn(thread, clock);
        }
        self.event_completed(event);
    }

    /// The event has completed, and with it everything that was recorded on its stream before.
    pub(super) fn event_completed(&mut self, event: u64) {
        if let Some(entry) = self.events.entries.get_mut(&event) {
            entry.done = true;
            if let Some(stream) = entry.stream {
                let nth = entry.nth;
                self.complete_upto(stream, nth);
            }
        }
        for arena in &mut self.arenas {
            arena.event_completed(event);
        }
    }

    /// The stream has done all that it was given.
    pub(super) fn stream_done(&mut self, stream: Agent) {
        self.complete_upto(stream, self.events.next);
    }

    fn complete_upto(&mut self, stream: Agent, nth: u64) {
        let upto = self.events.done_upto.entry(stream).or_default();
        *upto = (*upto).max(nth);
        for arena in &mut self.arenas {
            for event in arena.awaited() {
                if self.events.done(event) {
                    arena.event_completed(event);
                }
            }
        }
    }

    /// Whether work that the event stands for may still be going on.
    pub(super) fn outstanding(&self, event: u64) -> bool {
        !self.events.done(event)
    }

    pub(super) fn remember_post(&mut self, x: u64, queue: Agent) {
        let clock = self.clocks.tell(queue).clone();
        self.posts.put(x, clock, Some(queue));
    }
}
