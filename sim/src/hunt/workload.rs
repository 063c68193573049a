//! The workload generator: from a seed to a litmus case whose threads honour the contract of the allocator.
//!
//! The contract, which every unit below keeps (a campaign that drops an assumption or adds the canary breaks it where
//! it says so):
//!
//! - `compute` is the home stream of device pages, and device moves run on it. Before another stream touches device
//!   pages, it waits for an event recorded on `compute`; before `compute` writes them again, or they are freed, that
//!   stream's own event has completed, or the pages are freed *on* it.
//! - Whoever queues an access that is not on `compute`, or uses a captured address, holds the pages still from before
//!   the address is taken until the access has completed: by a layout lease (also handed off to the completion
//!   event), a pin, or a flag that closes the device's move gate.
//! - The event that a stream waits for is recorded after the hold began, so that moves planned before it have run.
//! - Nobody waits for another thread, and nobody allocates for good, while holding a lease.
//! - Allocations that may be refused are tried, and every page is freed by the thread that allocated it, once.
//! - One thread has the peer's pages, so that it may clear them when its transfers are over.
//! - Pages that two threads share have a reference for each; what is left to the cache is touched only while held.
//! - Who reads without holding anything still checks afterwards, and discards what it read if the check fails.
//! - Keys name everything that determines their bytes, and a page is fetched only if all its components are there.
//! - A thread that dies holds timed leases, and a clock goes on; or a lease without limit, of an arena that is large
//!   enough that nobody ever needs to move its pages.
//! - Who waits for room does so last and holds nothing.
//!
//! Threads wait for each other only in the order in which units were drawn: no deadlock is of the callers' making.

use super::draft::{ArenaDraft, BandDraft, Draft, Stmt};
use super::draws::Draws;
use super::swarm::{Feature, Swarm};
use super::{Settings, units};
use crate::assumptions::Assumption;

/// Purpose of the draws that make a program.
const PROGRAM: u64 = 1;

/// A program being drawn.
pub(crate) struct Workload {
    pub(crate) draws: Draws,
    pub(crate) swarm: Swarm,
    pub(crate) threads: Vec<(String, Vec<Stmt>)>,
    pub(crate) setup: Vec<Stmt>,
    names: usize,
}

/// Names after which no unit is begun: a litmus file takes 60 of a kind.
const NAMES: usize = 48;

impl Workload {
    /// A name that no one else has.
    pub(crate) fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    /// A copy stream of this direction.
    pub(crate) fn stream(&mut self, direction: &str) -> String {
        let second = self.swarm.two_streams && self.draws.chance(50);
        format!("{direction}{}", if second { "2" } else { "" })
    }

    /// The flag by which a thread closes the device's gate.
    pub(crate) fn flag(thread: usize) -> String {
        format!("busy{thread}")
    }

    /// The flag by which a thread closes the gate of the arena with a float band.
    pub(crate) fn still(thread: usize) -> String {
        format!("still{thread}")
    }

    /// Envelope units: the wide band, then the narrow one, in bytes.
    fn arena(&self, name: &'static str, at: usize, pages: (usize, usize), device: bool) -> ArenaDraft {
        let scale = 4;
        let (full, swa) = (self.swarm.envelopes.0 * scale, self.swarm.envelopes.1 * scale);
        let sink = if device && self.swarm.sink { full.max(swa).div_ceil(full.min(swa)) * full.max(swa) } else { 0 };
        let bits = self.swarm.index_bits;
        let band = |name, envelope, grow, ids_of| BandDraft {
            name,
            envelope,
            page_tokens: self.swarm.page_tokens,
            grow,
            ids_of,
            index_bits: bits,
            takes_kernel: name == "full" && !device && self.swarm.kernels,
        };
        let bands = if device {
            vec![band("full", full, "up", None), band("swa", swa, "down", Some("full"))]
        } else {
            vec![band("swa", swa, "up", None), band("full", full, "down", None)]
        };
        ArenaDraft {
            name,
            bytes: sink + full * pages.0 + swa * pages.1 + self.swarm.ragged * scale,
            sink: sink > 0,
            slide: self.swarm.slide[at],
            moves_on: device.then_some("compute"),
            gate: if device { (0..self.swarm.threads).map(Workload::flag).collect() } else { Vec::new() },
            gate_reaches: (device && self.swarm.gate_reaches_full).then_some("full"),
            zeroed: !device && self.swarm.zeroed,
            bands,
        }
    }

    /// The arena with a float band between its ends, moved by the host.
    fn pool(&self) -> ArenaDraft {
        let scale = 4;
        let (wide, narrow) = (self.swarm.envelopes.0 * scale, self.swarm.envelopes.1 * scale);
        let band = |name, envelope, grow| BandDraft {
            name,
            envelope,
            page_tokens: self.swarm.page_tokens,
            grow,
            ids_of: None,
            index_bits: None,
            takes_kernel: false,
        };
        let (wides, narrows) = self.swarm.host_pages;
        ArenaDraft {
            name: "pool",
            bytes: wide * wides + narrow * (narrows + 1) + self.swarm.ragged * scale,
            sink: false,
            slide: false,
            moves_on: None,
            gate: (0..self.swarm.threads).map(Workload::still).collect(),
            gate_reaches: None,
            zeroed: false,
            bands: vec![band("low", narrow, "up"), band("mid", wide, "float"), band("top", narrow, "down")],
        }
    }
}

/// Draws the program of a seed.
pub(crate) fn draw(seed: u64, settings: &Settings) -> Draft {
    draw_from(Draws::new(seed, PROGRAM), settings)
}

/// Draws a program from choices that come from wherever.
pub(crate) fn draw_from(mut draws: Draws, settings: &Settings) -> Draft {
    let swarm = Swarm::draw(&mut draws, settings);
    let threads = (0..swarm.threads).map(|at| (format!("t{at}"), Vec::new())).collect();
    let mut work = Workload { draws, swarm, threads, setup: Vec::new(), names: 0 };
    // `compute` exists in every program, because device moves run on it.
    work.setup.push(Stmt::new("compute: record boot"));
    let mut left = units::start::fill(&mut work);
    for _ in 0..work.swarm.units {
        if work.names > NAMES {
            break;
        }
        let feature = work.swarm.feature(&mut work.draws);
        let thread = match (feature, work.swarm.peer) {
            (Feature::Peer, Some(owner)) => owner,
            _ => work.draws.below(work.threads.len()),
        };
        units::write(&mut work, feature, thread);
        // What the set-up allocated goes at some time.
        if work.draws.chance(50)
            && let Some(pages) = left.pop()
        {
            units::start::release(&mut work, thread, &pages);
        }
    }
    while let Some(pages) = left.pop() {
        let thread = work.draws.below(work.threads.len());
        units::start::release(&mut work, thread, &pages);
    }
    if settings.canary && work.draws.chance(units::CANARY_PERCENT) {
        let thread = work.draws.below(work.threads.len());
        units::canary(&mut work, thread);
    }
    let mut dead = None;
    if work.swarm.has(Feature::Faults) && work.draws.chance(30) {
        dead = units::death(&mut work);
    }
    if work.swarm.reuse != Some("never") && work.draws.chance(15) {
        units::patience(&mut work);
    }
    let mut arenas = vec![
        work.arena("device", 0, work.swarm.device_pages, true),
        work.arena("host", 1, work.swarm.host_pages, false),
    ];
    if work.swarm.peer.is_some() {
        arenas.push(work.arena("peer", 1, work.swarm.host_pages, false));
    }
    if work.swarm.float {
        arenas.push(work.pool());
    }
    if let Some(name) = dead {
        units::bury(&mut work, arenas.iter_mut().find(|arena| arena.name == name));
    }
    let mut finally = if work.swarm.has(Feature::Cache) { units::emptied() } else { Vec::new() };
    finally.extend(arenas.iter().map(|arena| Stmt::new(format!("check empty {}", arena.name))));
    if dead != Some("host") && work.swarm.reuse != Some("never") && work.draws.chance(50) {
        // All memory can be had again, in one piece.
        finally.push(Stmt::new(format!(
            "alloc host.full {} -> everything",
            arenas[1].bytes / arenas[1].bands[1].envelope
        )));
        finally.push(Stmt::new(*work.draws.pick(&["free everything", "clear host.full"])));
    }
    let mut assume_off = settings.assume_off.clone();
    let swarm = [
        (work.swarm.many_allocators, Assumption::OneAllocatingThread),
        (work.swarm.ragged_ranges, Assumption::CallersPassWholePages),
        (work.swarm.ragged_windows, Assumption::BindingsArePerPage),
    ];
    for (dropped, assumption) in swarm {
        if dropped && !assume_off.contains(&assumption) {
            assume_off.push(assumption);
        }
    }
    work.threads.retain(|(_, steps)| !steps.is_empty());
    Draft {
        arenas,
        setup: work.setup,
        finally,
        threads: work.threads,
        rules_off: settings.rules_off.clone(),
        assume_off,
        reuse: work.swarm.reuse,
        permuted: work.swarm.permuted,
        stored_under: work.swarm.keys.then_some(units::STORED_UNDER),
    }
}
