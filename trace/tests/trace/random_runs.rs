//! Random runs of core, written down as traces: the correct design is accepted, and with a rule off, or a caller that
//! keeps an address too long, the violation is reported.

use crate::common::Trace;
use leasecheck_core::*;
use serde_json::json;
use std::collections::BTreeSet;

/// What is wrong with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    /// The arena has a rule off.
    Arena(Rule),
    /// Compactions do not wait for leases.
    IgnoresLeases,
    /// Compactions do not wait for handed-off events.
    IgnoresEvents,
    /// An address is used after the lease that it was looked up under.
    KeepsAddress,
    /// Pages are given back and reused while a stream may still read them.
    FreesInFlight,
    /// Ids are used after they were given back.
    KeepsId,
    /// A compaction that waits does not hold back new leases.
    AdmitsLeases,
    /// An allocation is refused without trying to pack.
    NeverPacks,
}

struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) % bound.max(1) as u64) as usize
    }
}

const MAIN: u64 = 1;
const READERS: [u64; 3] = [2, 3, 4];

struct Run {
    draws: Draws,
    fault: Fault,
    arena: Arena,
    trace: Trace,
    live: Vec<(BandId, LogicalPage)>,
    /// Readers with a lease.
    held: BTreeSet<u64>,
    /// Events of copies that have not been waited for.
    events: Vec<u64>,
    next_event: u64,
    /// Addresses that were looked up under a lease that has ended.
    kept: Vec<(u64, BandId, LogicalPage, PhysicalPage)>,
    freed: Vec<(BandId, LogicalPage)>,
}

impl Run {
    fn new(seed: u64, planner: Planner, fault: Fault) -> Run {
        let band = |name: &str, envelope, grow| BandConfig {
            name: name.into(),
            envelope,
            page_tokens: 4,
            layers: 1,
            grow,
            ids: Ids::Own,
        };
        let rules = match fault {
            Fault::Arena(rule) => Rules::all().without(rule),
            _ => Rules::all(),
        };
        let arena = Arena::new(ArenaConfig {
            bytes: 160,
            bands: vec![band("swa", 4, Grow::Up), band("full", 12, Grow::Down)],
            sink: false,
            reuse: Reuse::AsDesigned,
            permuted: false,
            planner,
            rules,
        });
        let design = if planner == Planner::Slide { "sglang-0.5.23" } else { "leasecheck" };
        let header = json!({
            "leasecheck_trace": 1, "producer": "a random run of core", "complete": ["pages", "leases", "order", "writes"],
            "arenas": [{ "name": "host", "bytes": 160, "design": design, "bands": [
                { "name": "swa", "envelope": 4, "page_tokens": 4, "grow": "up" },
                { "name": "full", "envelope": 12, "page_tokens": 4, "grow": "down" },
            ] }],
        });
        Run {
            draws: Draws(seed),
            fault,
            arena: arena.expect("a possible layout"),
            trace: Trace::new(header),
            live: Vec::new(),
            held: BTreeSet::new(),
            events: Vec::new(),
            next_event: 1,
            kept: Vec::new(),
            freed: Vec::new(),
        }
    }

    fn name(band: BandId) -> &'static str {
        ["swa", "full"][band.0 as usize]
    }

    fn at(&self, band: BandId, id: LogicalPage) -> u32 {
        self.arena.translate(band, id).map_or(0, |at| at.0)
    }

    fn wait_for_events(&mut self) {
        for event in std::mem::take(&mut self.events) {
            self.trace.push(json!({ "k": "sync", "th": MAIN, "ev": event }));
        }
    }

    fn compact(&mut self) {
        if self.fault != Fault::IgnoresLeases {
            for reader in std::mem::take(&mut self.held) {
                self.trace.push(json!({ "k": "release", "th": reader, "a": "host" }));
            }
        }
        self.trace.push(json!({ "k": "compact_ask", "th": MAIN, "a": "host" }));
        if self.fault == Fault::AdmitsLeases {
            self.trace.push(json!({ "k": "lease", "th": READERS[0], "a": "host" }));
            self.trace.push(json!({ "k": "release", "th": READERS[0], "a": "host" }));
        }
        if self.fault != Fault::IgnoresEvents {
            self.wait_for_events();
        }
        self.trace.push(json!({ "k": "compact_begin", "th": MAIN, "a": "host" }));
        let plan = self.arena.plan(&|_, _| true);
        for step in plan.moves() {
            let (band, id) = (Run::name(step.band), step.id.0);
            let (from, to) = (step.from.0, step.to.0);
            self.trace.push(json!({ "k": "move", "th": MAIN, "b": band, "ids": [id], "from": [from], "to": [to] }));
        }
        self.arena.commit(&plan, None);
        self.trace.push(json!({ "k": "compact_end", "th": MAIN, "a": "host" }));
    }

    fn allocate(&mut self) {
        let first = self.draws.below(2) as u8;
        let bands = if self.draws.below(4) == 0 { vec![first, 1 - first] } else { vec![first] };
        let requests: Vec<Request> = bands
            .into_iter()
            .map(|band| Request { band: BandId(band), pages: 1 + self.draws.below(4) as u32 })
            .collect();
        let names: Vec<&str> = requests.iter().map(|request| Run::name(request.band)).collect();
        let pages: Vec<u32> = requests.iter().map(|request| request.pages).collect();
        let mut line = json!({ "k": "alloc", "th": MAIN, "b": names, "n": pages });
        match self.arena.admission(&requests, |_, _| true) {
            Admission::FitsPacked if self.fault != Fault::NeverPacks => self.compact(),
            Admission::FitsNow => {}
            _ => {
                line["out"] = json!("refused");
                self.trace.push(line);
                return;
            }
        }
        let Ok(granted) = self.arena.allocate(&requests) else { return };
        let placed: Vec<(BandId, LogicalPage, u32)> = (requests.iter().zip(&granted))
            .flat_map(|(request, ids)| ids.iter().map(|id| (request.band, *id)))
            .map(|(band, id)| (band, id, self.at(band, id)))
            .collect();
        line["ids"] = json!(placed.iter().map(|(_, id, _)| id.0).collect::<Vec<u32>>());
        line["at"] = json!(placed.iter().map(|(_, _, at)| *at).collect::<Vec<u32>>());
        self.trace.push(line);
        for (band, id, at) in placed {
            self.trace.push(json!({ "k": "write", "th": MAIN, "in": Run::name(band), "ids": [id.0], "at": [at] }));
            self.live.push((band, id));
        }
        for request in requests {
            self.state(request.band);
        }
    }

    fn state(&mut self, band: BandId) {
        let (live, holes, wm) = (self.arena.live(band), self.arena.holes(band), self.arena.watermark(band));
        self.trace
            .push(json!({ "k": "state", "th": MAIN, "b": Run::name(band), "live": live, "holes": holes, "wm": wm }));
    }

    fn free(&mut self) {
        if self.live.is_empty() || !self.held.is_empty() {
            return;
        }
        if self.fault != Fault::FreesInFlight {
            self.wait_for_events();
        }
        let at = self.draws.below(self.live.len());
        let (band, id) = self.live.swap_remove(at);
        if self.arena.free(band, &[id], None).is_ok() {
            self.trace.push(json!({ "k": "free", "th": MAIN, "b": Run::name(band), "ids": [id.0] }));
            self.freed.push((band, id));
        }
    }

    /// A reader looks a page up under its lease and reads it: at once, or by work that its lease is handed off to.
    fn read(&mut self) {
        let reader = READERS[self.draws.below(READERS.len())];
        if self.held.insert(reader) {
            self.trace.push(json!({ "k": "lease_ask", "th": reader, "a": "host" }));
            self.trace.push(json!({ "k": "lease", "th": reader, "a": "host", "depth": 1 }));
        }
        if self.live.is_empty() {
            return;
        }
        let (band, id) = self.live[self.draws.below(self.live.len())];
        let (name, at) = (Run::name(band), self.at(band, id));
        self.trace.push(json!({ "k": "translate", "th": reader, "b": name, "ids": [id.0], "at": [at] }));
        if self.draws.below(2) == 0 {
            self.trace.push(json!({ "k": "read", "th": reader, "in": name, "ids": [id.0], "at": [at] }));
        } else {
            let (event, stream) = (self.next_event, reader);
            self.next_event += 1;
            self.trace.push(json!({ "k": "read", "th": reader, "s": stream, "in": name, "ids": [id.0], "at": [at] }));
            self.trace.push(json!({ "k": "record", "th": reader, "s": stream, "ev": event }));
            self.trace.push(json!({ "k": "hand_off", "th": reader, "a": "host", "ev": event, "depth": 0 }));
            self.held.remove(&reader);
            self.events.push(event);
        }
        self.kept.push((reader, band, id, PhysicalPage(at)));
    }

    fn release(&mut self) {
        if let Some(reader) = self.held.pop_first() {
            self.trace.push(json!({ "k": "release", "th": reader, "a": "host", "depth": 0 }));
        }
    }

    fn misbehave(&mut self) {
        match self.fault {
            Fault::KeepsAddress => {
                if let Some((reader, band, id, at)) = self.kept.pop()
                    && self.live.contains(&(band, id))
                {
                    self.trace
                        .push(json!({ "k": "read", "th": reader, "in": Run::name(band), "ids": [id.0], "at": [at.0] }));
                }
            }
            Fault::KeepsId => {
                if let Some((band, id)) = self.freed.pop()
                    && !self.live.contains(&(band, id))
                {
                    self.trace
                        .push(json!({ "k": "translate", "th": MAIN, "b": Run::name(band), "ids": [id.0], "at": [0] }));
                }
            }
            _ => {}
        }
    }

    fn ask(&mut self) {
        let band = BandId(self.draws.below(2) as u8);
        let pages = self.draws.below(9) as u32;
        let fits = self.arena.admission(&[Request { band, pages }], |_, _| true).admitted();
        let available = self.arena.available(band, |_, _| true);
        self.trace.push(json!({ "k": "admit", "th": MAIN, "b": [Run::name(band)], "n": [pages], "res": fits }));
        self.trace.push(json!({ "k": "available", "th": MAIN, "b": Run::name(band), "res": available }));
    }

    fn go(mut self, steps: usize) -> Trace {
        for _ in 0..steps {
            match self.draws.below(10) {
                0..=2 => self.allocate(),
                3 | 4 => self.free(),
                5..=7 => self.read(),
                8 => self.release(),
                _ => self.ask(),
            }
            self.misbehave();
        }
        self.trace.push(json!({ "k": "end" }));
        self.trace
    }
}

/// The codes that runs with a fault are refused with, over so many seeds.
fn refused(planner: Planner, fault: Fault, seeds: u64) -> BTreeSet<&'static str> {
    let mut codes = BTreeSet::new();
    for seed in 0..seeds {
        let report = Run::new(seed, planner, fault).go(150).check();
        assert_eq!(report.broken, None, "{planner:?}, {fault:?}, seed {seed}");
        let first = report.findings.first();
        assert!(fault != Fault::None || first.is_none(), "{planner:?}, seed {seed}: {first:?}");
        codes.extend(first.map(|finding| finding.invariant.name()));
    }
    codes
}

#[test]
fn runs_of_the_design_are_accepted() {
    for planner in [Planner::Slide, Planner::Minimal] {
        assert!(refused(planner, Fault::None, 150).is_empty());
    }
}

#[test]
fn a_fault_is_reported_as_what_it_is() {
    let faults: [(Fault, &[&str]); 11] = [
        (Fault::IgnoresLeases, &["moved-under-lease"]),
        (Fault::IgnoresEvents, &["moved-under-lease"]),
        (Fault::KeepsAddress, &["stale-address", "race", "early-reuse", "wrong-space"]),
        (Fault::FreesInFlight, &["early-reuse"]),
        (Fault::KeepsId, &["use-after-free"]),
        (Fault::AdmitsLeases, &["starvation"]),
        (Fault::NeverPacks, &["admission"]),
        (Fault::Arena(Rule::HolesBeforeMoves), &["mapping", "admission"]),
        (Fault::Arena(Rule::JointBytes), &["overlap", "admission"]),
        (Fault::Arena(Rule::RefusalMeansInfeasible), &["admission"]),
        (Fault::Arena(Rule::MovesInSafeOrder), &["overlap", "mapping"]),
    ];
    let mut wrong = Vec::new();
    for (fault, expected) in faults {
        let codes = refused(Planner::Slide, fault, 40);
        if !codes.contains(expected[0]) || !codes.iter().all(|code| expected.contains(code)) {
            wrong.push(format!("{fault:?} was reported as {codes:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
