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
//! - A thread that dies holds nothing but timed leases; a clock goes on.
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

    /// Envelope units: the wide band, then the narrow one, in bytes.
    fn arena(&self, name: &'static str, at: usize, pages: (usize, usize), device: bool) -> ArenaDraft {
        let scale = 4;
        let (full, swa) = (self.swarm.envelopes.0 * scale, self.swarm.envelopes.1 * scale);
        let sink = if device && self.swarm.sink { full.max(swa).div_ceil(full.min(swa)) * full.max(swa) } else { 0 };
        let band =
            |name, envelope, up, ids_of| BandDraft { name, envelope, page_tokens: self.swarm.page_tokens, up, ids_of };
        let bands = if device {
            vec![band("full", full, true, None), band("swa", swa, false, Some("full"))]
        } else {
            vec![band("swa", swa, true, None), band("full", full, false, None)]
        };
        ArenaDraft {
            name,
            bytes: sink + full * pages.0 + swa * pages.1 + self.swarm.ragged * scale,
            sink: sink > 0,
            slide: self.swarm.slide[at],
            moves_on: device.then_some("compute"),
            gate: if device { (0..self.swarm.threads).map(Workload::flag).collect() } else { Vec::new() },
            bands,
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
    if work.swarm.has(Feature::Faults) && work.draws.chance(30) {
        units::death(&mut work);
    }
    let mut arenas = vec![
        work.arena("device", 0, work.swarm.device_pages, true),
        work.arena("host", 1, work.swarm.host_pages, false),
    ];
    if work.swarm.peer.is_some() {
        arenas.push(work.arena("peer", 1, work.swarm.host_pages, false));
    }
    let mut finally: Vec<Stmt> = arenas.iter().map(|arena| Stmt::new(format!("check empty {}", arena.name))).collect();
    if work.swarm.reuse != Some("never") && work.draws.chance(50) {
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
    }
}
