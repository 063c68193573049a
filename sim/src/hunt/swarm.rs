//! What one program is made of: a random subset of everything that programs can do, with random weights and sizes.
//!
//! Swarm testing (Groce et al., ISSTA 2012): a run that can do everything does nothing often enough. A program that
//! leaves most features out reaches the rest far more often.

use super::draws::Draws;
use super::settings::Settings;
use crate::assumptions::Assumption;

/// What a unit of a program can be; [`super::workload`] writes the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Feature {
    /// Prefill and decode on the compute stream.
    Compute,
    /// Device pages copied to host pages.
    Backup,
    /// Host pages copied to device pages.
    LoadBack,
    /// Sliding-window pages released behind a window, and what is left selected for a transfer.
    Window,
    /// Host pages written, read and freed.
    HostPages,
    /// Allocations that need a compaction.
    Pressure,
    /// Explicit compactions and flushes.
    Compact,
    /// Host pages stored, looked up and fetched by a storage thread.
    Storage,
    /// RDMA reads and writes of host pages.
    Rdma,
    /// Addresses captured and used under a lease.
    Captured,
    /// Leases taken inside leases, of several arenas, with a time to live.
    Nesting,
    /// An allocation under a lease of one's own, which must be refused.
    OwnLease,
    /// Capacity questions.
    Capacity,
    /// Host pages sent to the pages of a peer, which one thread owns and clears.
    Peer,
    /// Pages that one thread hands to another by an event.
    Relay,
    /// Pages of an arena that has a float band between its ends.
    Float,
    /// Pages that two streams touch, given back on the events of both.
    Several,
    /// Pages with a reference for each of two threads.
    Share,
    /// Pages left to the cache, which allocations and bindings evict.
    Cache,
    /// Sliding-window pages bound to ids that exist already.
    Bind,
    /// Pages whose bytes are unmapped and mapped again.
    Map,
    /// Pages of which only the first tokens are written.
    Partial,
    /// Storage keys made of attributes, and of several components.
    Keys,
    /// Threads that meet and bring values, or wait for a condition.
    Meet,
    /// Places of which there are only a few.
    Bounded,
    /// Reads that hold nothing still and are checked afterwards.
    Recheck,
    /// Compactions whose wait for one of several events fails.
    Interrupted,
    /// Queries and waits of completion events that fail, copies that fail half-way, requests that are freed twice or
    /// do not fit their transfer, a thread that dies holding a lease.
    Faults,
}

/// Every feature with its usual weight.
const FEATURES: [(Feature, usize); 28] = [
    (Feature::Compute, 4),
    (Feature::Backup, 6),
    (Feature::LoadBack, 5),
    (Feature::Window, 4),
    (Feature::HostPages, 5),
    (Feature::Pressure, 6),
    (Feature::Compact, 4),
    (Feature::Storage, 4),
    (Feature::Rdma, 3),
    (Feature::Captured, 4),
    (Feature::Nesting, 3),
    (Feature::OwnLease, 2),
    (Feature::Capacity, 3),
    (Feature::Peer, 3),
    (Feature::Relay, 4),
    (Feature::Float, 4),
    (Feature::Several, 3),
    (Feature::Share, 3),
    (Feature::Cache, 4),
    (Feature::Bind, 3),
    (Feature::Map, 2),
    (Feature::Partial, 3),
    (Feature::Keys, 3),
    (Feature::Meet, 2),
    (Feature::Bounded, 2),
    (Feature::Recheck, 2),
    (Feature::Interrupted, 2),
    (Feature::Faults, 3),
];

/// Percentage of programs that are about a few features only.
const FOCUSED: usize = 50;

/// The choices that shape one program.
#[derive(Clone, Debug)]
pub(crate) struct Swarm {
    pub(crate) features: Vec<(Feature, usize)>,
    pub(crate) threads: usize,
    pub(crate) units: usize,
    pub(crate) reuse: Option<&'static str>,
    pub(crate) permuted: bool,
    pub(crate) slide: [bool; 2],
    pub(crate) sink: bool,
    /// Envelopes of the full and the sliding-window band.
    pub(crate) envelopes: (usize, usize),
    pub(crate) page_tokens: usize,
    /// Whether host pages are zeroed when they are handed out.
    pub(crate) zeroed: bool,
    /// Whether there is an arena with a float band.
    pub(crate) float: bool,
    /// Whether storage keys have attributes.
    pub(crate) keys: bool,
    /// How wide a page number is that kernels take, in a design that does not care.
    pub(crate) index_bits: Option<usize>,
    /// Whether wide host pages are accessed with kernel-facing indices where an address is captured.
    pub(crate) kernels: bool,
    /// Whether the device's gate was wired to the wide band only, in a design that does not care.
    pub(crate) gate_reaches_full: bool,
    /// Pages of each kind that the arenas have room for.
    pub(crate) device_pages: (usize, usize),
    pub(crate) host_pages: (usize, usize),
    /// Bytes beyond whole pages.
    pub(crate) ragged: usize,
    /// Percentage of pages that start live, with holes between them.
    pub(crate) filled: usize,
    /// Whether several threads may be inside an allocation at once. The design does not depend on that assumption, so
    /// that programs with and without it are part of the default configuration; an allocation under a lease of one's
    /// own is only sound without it, because another allocation may be waiting for that lease.
    pub(crate) many_allocators: bool,
    /// Whether callers select token ranges that are not on page boundaries, which the design must refuse.
    pub(crate) ragged_ranges: bool,
    /// Whether windows slide by tokens that are not whole pages, which leaves pages bound in part.
    pub(crate) ragged_windows: bool,
    /// Whether there are two copy streams for each direction.
    pub(crate) two_streams: bool,
    /// The thread that has the peer's pages.
    pub(crate) peer: Option<usize>,
    /// Percentage of waits on the host, against waits that are left to events.
    pub(crate) patience: usize,
}

/// Envelopes whose sizes do and do not divide each other.
const ENVELOPES: [(usize, usize); 9] = [(2, 1), (1, 1), (3, 2), (2, 3), (3, 1), (5, 2), (4, 3), (1, 2), (5, 3)];

impl Swarm {
    pub(crate) fn draw(draws: &mut Draws, settings: &Settings) -> Swarm {
        let mut features: Vec<(Feature, usize)> = if draws.chance(FOCUSED) {
            (0..draws.between(1, 3)).map(|_| *draws.pick(&FEATURES)).collect()
        } else {
            let keep = draws.between(10, 60);
            FEATURES.into_iter().filter(|_| draws.chance(keep)).collect()
        };
        // Compactions and what they can hurt find most: without both, a program is harmless.
        for needed in [Feature::Pressure, Feature::Backup] {
            if draws.chance(50) && !features.iter().any(|(feature, _)| *feature == needed) {
                features.push((needed, 4));
            }
        }
        for (_, weight) in &mut features {
            *weight = draws.between(1, *weight * 2);
        }
        let threads = draws.between(2, 4);
        // A campaign that drops an assumption has callers that make use of it.
        let without = |assumption| settings.assume_off.contains(&assumption);
        let many_allocators = draws.chance(40) || without(Assumption::OneAllocatingThread);
        if !many_allocators {
            features.retain(|(feature, _)| *feature != Feature::OwnLease);
        }
        if features.is_empty() {
            features.push((Feature::Pressure, 4));
        }
        let has = |wanted| features.iter().any(|(feature, _)| *feature == wanted);
        let peer = has(Feature::Peer).then(|| draws.below(threads));
        let (float, keys) = (has(Feature::Float), has(Feature::Keys));
        let page_tokens = if has(Feature::Partial) { *draws.pick(&[2, 4]) } else { *draws.pick(&[1, 2, 4]) };
        let zeroed = has(Feature::Partial) || draws.chance(15);
        Swarm {
            features,
            many_allocators,
            ragged_ranges: draws.chance(30) || without(Assumption::CallersPassWholePages),
            ragged_windows: draws.chance(30) || without(Assumption::BindingsArePerPage),
            two_streams: draws.chance(30),
            peer,
            threads,
            units: draws.between(threads, threads * 3),
            reuse: *draws.pick(&[None, None, None, Some("at once"), Some("never")]),
            permuted: draws.chance(50),
            slide: [draws.chance(50), draws.chance(50)],
            sink: draws.chance(70),
            envelopes: *draws.pick(&ENVELOPES),
            page_tokens,
            zeroed,
            float,
            keys,
            index_bits: draws.chance(30).then(|| draws.between(1, 2)),
            kernels: draws.chance(25),
            gate_reaches_full: draws.chance(40),
            device_pages: (draws.between(2, 5), draws.between(1, 4)),
            host_pages: (draws.between(2, 5), draws.between(1, 4)),
            ragged: draws.between(0, 2),
            filled: *draws.pick(&[0, 30, 60, 100]),
            patience: *draws.pick(&[20, 50, 90]),
        }
    }

    /// Whether the program has a feature.
    pub(crate) fn has(&self, feature: Feature) -> bool {
        self.features.iter().any(|(other, _)| *other == feature)
    }

    /// One of the enabled features, by weight.
    pub(crate) fn feature(&self, draws: &mut Draws) -> Feature {
        let total: usize = self.features.iter().map(|(_, weight)| weight).sum();
        let mut at = draws.below(total);
        for (feature, weight) in &self.features {
            if at < *weight {
                return *feature;
            }
            at -= weight;
        }
        Feature::Compute
    }
}
