//! The checker: one pass over the lines, holding each against what the lines before it say.
//!
//! It keeps what is live: which page is where, who holds what, what each agent knows, who touched which bytes last. An
//! invariant is checked only if the header promises what its verdict rests on ([`NEEDS`]); what was not recorded makes
//! no finding.

mod access;
mod arena;
mod design;
mod leases;
#[cfg(test)]
mod memory;
mod order;
mod pages;
mod transfers;

use crate::clocks::{Agent, Clocks, Kind};
use crate::format::{Event, Header, Name, Recorded, Space, VERSION};
use crate::report::{Checked, Finding, KEPT, NEEDS, Sketch, Unchecked};
use access::{Target, Touching};
use arena::{Arena, Who};
use leasecheck_core::Rule;
use leasecheck_sim::invariants::Code;
use order::{Queued, Remembered};
use std::collections::BTreeMap;
use transfers::{Stored, Transfer};

/// Characters of a line that a finding shows.
const QUOTED: usize = 200;

/// What a name in the header stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    arena: usize,
    band: Option<usize>,
}

/// The words of a finding.
struct Say {
    message: String,
    allowed: String,
    guard: Option<Rule>,
    earlier: Option<u64>,
    sketch: Option<Sketch>,
}

fn say(message: String, allowed: impl Into<String>) -> Say {
    Say { message, allowed: allowed.into(), guard: None, earlier: None, sketch: None }
}

impl Say {
    fn guard(self, rule: Rule) -> Say {
        Say { guard: Some(rule), ..self }
    }

    fn earlier(self, line: u64) -> Say {
        Say { earlier: (line > 0).then_some(line), ..self }
    }

    fn sketch(self, sketch: Sketch) -> Say {
        Say { sketch: Some(sketch), ..self }
    }
}

/// A checker in the middle of a trace.
pub struct Checker {
    recorded: Vec<Recorded>,
    enabled: [bool; Code::ALL.len()],
    times: [u64; Code::ALL.len()],
    names: Vec<(String, Place)>,
    arenas: Vec<Arena>,
    clocks: Clocks,
    /// Records of events.
    events: Remembered,
    /// What was signalled.
    signals: Remembered,
    /// RDMA operations that no completion was seen of.
    posts: Remembered,
    queued: Queued,
    transfers: BTreeMap<u64, Transfer>,
    stored: Stored,
    /// Holders that wait for a lease or a compaction.
    waits: BTreeMap<Who, leases::Wait>,
    /// The generation that was handed out last.
    generation: u32,
    line: u64,
    first: Option<u64>,
    found: u64,
    findings: Vec<Finding>,
}

impl Checker {
    /// A checker for traces with this first line.
    ///
    /// # Errors
    /// When the header is of another version or makes no sense.
    pub fn new(header: &Header) -> Result<Checker, String> {
        if header.leasecheck_trace != VERSION {
            let version = header.leasecheck_trace;
            return Err(format!("the trace has version {version} of the format; this program reads version {VERSION}"));
        }
        let mut enabled = [false; Code::ALL.len()];
        for needs in NEEDS {
            enabled[needs.code as usize] = needs.recorded.iter().all(|needed| header.complete.contains(needed));
        }
        let mut checker = Checker {
            recorded: header.complete.clone(),
            enabled,
            times: [0; Code::ALL.len()],
            names: Vec::new(),
            arenas: Vec::new(),
            clocks: Clocks::default(),
            events: Remembered::default(),
            signals: Remembered::default(),
            posts: Remembered::default(),
            queued: Queued::default(),
            transfers: BTreeMap::new(),
            stored: Stored::default(),
            waits: BTreeMap::new(),
            generation: 0,
            line: 1,
            first: None,
            found: 0,
            findings: Vec::new(),
        };
        for def in &header.arenas {
            checker.arenas.push(Arena::new(def, header.complete.contains(&Recorded::Pages))?);
        }
        checker.name_places(header)?;
        Ok(checker)
    }

    fn name_places(&mut self, header: &Header) -> Result<(), String> {
        let mut short: BTreeMap<String, Vec<Place>> = BTreeMap::new();
        for (arena, def) in header.arenas.iter().enumerate() {
            short.entry(def.name.to_string()).or_default().push(Place { arena, band: None });
            for (band, band_def) in def.bands.iter().enumerate() {
                let place = Place { arena, band: Some(band) };
                short.entry(band_def.name.to_string()).or_default().push(place);
                self.names.push((format!("{}.{}", def.name, band_def.name), place));
            }
        }
        for (name, places) in short {
            let arenas = places.iter().filter(|place| place.band.is_none()).count();
            let same_arena = places.windows(2).any(|pair| pair[0].arena == pair[1].arena);
            if arenas > 1 || (arenas == 1 && places.len() > 1) || same_arena {
                return Err(format!("the name `{name}` stands for more than one arena or band"));
            }
            if let [place] = places[..] {
                self.names.insert(0, (name, place));
            }
        }
        Ok(())
    }

    fn place(&self, name: &Name) -> Result<Place, String> {
        if let Some((_, place)) = self.names.iter().find(|(known, _)| *known == name.0) {
            return Ok(*place);
        }
        let near = self.names.iter().map(|(known, _)| (strsim::damerau_levenshtein(known, &name.0), known)).min();
        let hint = near.filter(|(distance, _)| *distance <= 2).map(|(_, known)| format!("; did you mean `{known}`?"));
        Err(format!("the first line names no arena or band `{name}`{}", hint.unwrap_or_default()))
    }

    fn band(&self, name: &Name) -> Result<(usize, usize), String> {
        match self.place(name)? {
            Place { arena, band: Some(band) } => Ok((arena, band)),
            Place { .. } => Err(format!("`{name}` is an arena; a band is expected here")),
        }
    }

    fn arena(&self, name: &Name) -> Result<usize, String> {
        match self.place(name)? {
            Place { arena, band: None } => Ok(arena),
            Place { .. } => Err(format!("`{name}` is a band; an arena is expected here")),
        }
    }

    fn thread(&mut self, number: Option<u64>) -> Agent {
        match number {
            Some(number) => self.clocks.agent(Kind::Thread, number),
            None => self.clocks.agent(Kind::Nameless, 0),
        }
    }

    fn stream(&mut self, number: u64) -> Agent {
        self.clocks.agent(Kind::Stream, number)
    }

    /// The agent that runs work: a stream that the thread queues it on, or the thread itself.
    fn worker(&mut self, thread: Option<u64>, stream: Option<u64>) -> Agent {
        let thread = self.thread(thread);
        match stream {
            None => thread,
            Some(stream) => {
                let stream = self.stream(stream);
                self.clocks.pass(thread, stream);
                stream
            }
        }
    }

    /// The thread does something to the arena, under the arena's lock.
    fn enter(&mut self, arena: usize, thread: Option<u64>) -> Agent {
        let thread = self.thread(thread);
        self.clocks.through(thread, &mut self.arenas[arena].lock);
        thread
    }

    fn recorded(&self, what: Recorded) -> bool {
        self.recorded.contains(&what)
    }

    /// `page 3 of swa`.
    fn page_name(&self, arena: usize, band: usize, id: u32) -> String {
        format!("page {id} of {}", self.band_name(arena, band))
    }

    fn band_name(&self, arena: usize, band: usize) -> String {
        let arena = &self.arenas[arena];
        if self.arenas.len() == 1 {
            arena.bands[band].name.clone()
        } else {
            format!("{}.{}", arena.name, arena.bands[band].name)
        }
    }

    /// Holds a fact against an invariant.
    fn check(&mut self, code: Code, holds: bool, words: impl FnOnce(&Checker) -> Say) {
        if !self.enabled[code as usize] {
            return;
        }
        self.times[code as usize] += 1;
        if holds {
            return;
        }
        if self.findings.last().is_some_and(|last| last.line == self.line && last.invariant == code) {
            return;
        }
        self.found += 1;
        self.first.get_or_insert(self.line);
        if self.findings.len() == KEPT {
            return;
        }
        let Say { message, allowed, guard, earlier, sketch } = words(self);
        let line = self.line;
        let event = String::new();
        self.findings.push(Finding { line, invariant: code, message, allowed, guard, event, earlier, sketch });
    }

    /// Takes in the event on line number `line`, from 1 for the header.
    ///
    /// # Errors
    /// When it names what does not exist or contradicts itself. Nothing after it can be trusted.
    pub fn line(&mut self, line: u64, event: &Event) -> Result<(), String> {
        self.line = line;
        match event {
            Event::Thread(e) => {
                let thread = self.thread(e.th);
                self.clocks.rename(thread, &e.name);
            }
            Event::Stream(e) => self.clocks.rename_stream(e.s, &e.name),
            Event::Alloc(e) => self.alloc(e)?,
            Event::Free(e) => self.free(e)?,
            Event::Clear(e) => self.clear(e)?,
            Event::Bind(e) => self.bind(e)?,
            Event::Tombstone(e) => self.tombstone(e)?,
            Event::Admit(e) => self.admit(e)?,
            Event::Available(e) => self.available(e)?,
            Event::FreeBytes(e) => self.free_bytes(e)?,
            Event::State(e) => self.state(e)?,
            Event::Empty(e) => self.empty(e)?,
            Event::Translate(e) => self.translate(e)?,
            Event::LeaseAsk(e) => self.lease_ask(e)?,
            Event::Lease(e) => self.lease(e)?,
            Event::Release(e) => self.release(e)?,
            Event::HandOff(e) => self.hand_off(e)?,
            Event::CompactAsk(e) => self.compact_ask(e)?,
            Event::CompactBegin(e) => self.compact_begin(e)?,
            Event::Move(e) => self.moves(e)?,
            Event::CompactEnd(e) => self.compact_end(e)?,
            Event::GateClose(e) => self.gate(e, true)?,
            Event::GateOpen(e) => self.gate(e, false)?,
            Event::Pin(e) => self.pin(e, true)?,
            Event::Unpin(e) => self.pin(e, false)?,
            Event::MemAlloc(e) => self.mem_alloc(e)?,
            Event::MemFree(e) => self.mem_free(e)?,
            Event::Read(e) => self.read_write(e, false)?,
            Event::Write(e) => self.read_write(e, true)?,
            Event::Copy(e) => self.copy(e)?,
            Event::HostRead(e) => {
                let (thread, stream) = (self.thread(e.th), self.stream(e.s));
                self.clocks.pass(thread, stream);
                let target =
                    Target { place: self.place(&e.r#in)?, at: e.at.as_ref(), ids: e.ids.as_ref(), space: Space::Page };
                let touching = Touching { agent: stream, write: false, whole: false, sums: None };
                self.access(&target, &touching)?;
                self.clocks.pass(stream, thread);
                self.stream_done(stream);
            }
            Event::Run(e) => self.run(e.x),
            Event::Record(e) => self.record(e),
            Event::Fresh(e) => self.events.forget(e.ev),
            Event::Wait(e) => self.wait(e),
            Event::Query(e) => self.query(e),
            Event::Sync(e) => self.sync(e),
            Event::SyncStream(e) => {
                let (thread, stream) = (self.thread(e.th), self.stream(e.s));
                self.clocks.pass(stream, thread);
                self.stream_done(stream);
            }
            Event::SyncDevice(e) => {
                let thread = self.thread(e.th);
                for stream in self.clocks.streams() {
                    self.clocks.pass(stream, thread);
                    self.stream_done(stream);
                }
            }
            Event::Done(e) => self.event_completed(e.ev),
            Event::Signal(e) => {
                let agent = self.worker(e.th, e.s);
                let clock = self.clocks.tell(agent);
                self.signals.add(e.o, clock);
            }
            Event::Observe(e) => {
                let agent = self.worker(e.th, e.s);
                if let Some(clock) = self.signals.get(e.o) {
                    self.clocks.learn(agent, clock);
                }
            }
            Event::Transfer(e) => self.transfer(e)?,
            Event::TransferEnd(e) => self.transfer_end(e),
            Event::Store(e) => self.storage(e, false)?,
            Event::Fetch(e) => self.storage(e, true)?,
            Event::Post(e) => self.post(e)?,
            Event::Complete(e) => {
                let thread = self.thread(e.th);
                if let Some(clock) = self.posts.get(e.x) {
                    self.clocks.learn(thread, clock);
                }
                self.posts.remove(e.x);
            }
            Event::End(_) => self.end(),
        }
        Ok(())
    }

    /// The findings so far.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Adds the text of the line to the findings about it.
    pub(crate) fn quote(&mut self, line: u64, text: &[u8]) {
        let findings = self.findings.iter_mut().rev().take_while(|finding| finding.line == line);
        for finding in findings {
            let text = String::from_utf8_lossy(text);
            let mut shown: String = text.trim_end().chars().take(QUOTED).collect();
            if shown.len() < text.trim_end().len() {
                shown.push('…');
            }
            finding.event = shown;
        }
    }

    /// All findings, those that were not kept too.
    #[must_use]
    pub fn found(&self) -> u64 {
        self.found
    }

    /// The line of the first finding.
    #[must_use]
    pub fn first(&self) -> Option<u64> {
        self.first
    }

    /// What was checked, and what could not be, and why.
    #[must_use]
    pub fn coverage(&self) -> (Vec<Checked>, Vec<Unchecked>) {
        let (mut checked, mut unchecked) = (Vec::new(), Vec::new());
        for needs in NEEDS {
            let (invariant, times) = (needs.code, self.times[needs.code as usize]);
            let missing: Vec<String> = (needs.recorded.iter().filter(|needed| !self.recorded(**needed)))
                .map(|needed| format!("`{}`", needed.name()))
                .collect();
            if !missing.is_empty() {
                let why = format!("the first line does not promise that {} is complete", missing.join(" and "));
                unchecked.push(Unchecked { invariant, why });
            } else if times == 0 {
                unchecked.push(Unchecked { invariant, why: format!("the trace has no {}", needs.lines) });
            } else {
                checked.push(Checked { invariant, times });
            }
        }
        (checked, unchecked)
    }

    /// How far the answer goes.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.arenas.iter().filter_map(Arena::note).collect();
        for (what, remembered) in
            [("event records", &self.events), ("signals", &self.signals), ("RDMA operations", &self.posts)]
        {
            if remembered.dropped() > 0 {
                notes.push(format!(
                    "the oldest {} {what} were forgotten to bound memory; waits for them count as waits for all of them, so races may be missed",
                    remembered.dropped()
                ));
            }
        }
        if self.queued.dropped > 0 {
            notes.push(format!("{} queued operations were forgotten before they ran", self.queued.dropped));
        }
        if self.stored.dropped > 0 {
            notes.push(format!("the oldest {} keys were forgotten to bound memory", self.stored.dropped));
        }
        notes
    }
}
