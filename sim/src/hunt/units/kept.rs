//! Pages that outlive the one who allocated them: shared by reference, left to the cache, bound later.

use super::{block, device, given, other, step};
use crate::hunt::draft::Stmt;
use crate::hunt::workload::Workload;

/// Pages with a reference for each of two threads, which read them and give them back independently of each other.
pub(super) fn share(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let reader = other(work, thread);
    let pages = work.draws.between(1, 2);
    let band = *work.draws.pick(&["full", "swa"]);
    let (h, go) = (work.name("h"), work.name("go"));
    let mut steps = vec![step!("try alloc host.{band} {pages} -> {h}")];
    steps.extend(given(&[&h], vec![step!("write {h}"), step!("share {h}")]));
    steps.push(step!("set {go}"));
    let ending = |reads: usize| {
        let mut steps = vec![step!("read {h}"); reads];
        steps.push(step!("free {h}"));
        steps
    };
    work.threads[reader].1.push(step!("await {go}"));
    work.threads[reader].1.extend(given(&[&h], ending(2)));
    steps.extend(given(&[&h], ending(1)));
    steps
}

/// Pages that are left to the cache. What is still read is pinned, or has a reference, until then.
pub(super) fn cache(work: &mut Workload) -> Vec<Stmt> {
    if work.draws.chance(30) {
        let (pages, bound) = device::request(work);
        let a = work.name("a");
        let mut inner = Vec::new();
        device::prefill(&a, bound, &mut inner);
        if work.draws.chance(50) {
            inner.push(step!("sync compute"));
        }
        let mut steps = vec![device::alloc(&a, (pages, bound))];
        if bound && work.draws.chance(50) {
            // The window's pages may go, the request stays.
            inner.extend([step!("cache swa {a}"), step!("compute: read {a}")]);
            steps.extend(given(&[&a], inner));
            steps.push(step!("free {a}"));
        } else {
            inner.push(step!("cache {a}"));
            steps.extend(given(&[&a], inner));
        }
        return steps;
    }
    let band = *work.draws.pick(&["full", "swa"]);
    let room = if band == "full" { work.swarm.host_pages.0 } else { work.swarm.host_pages.1 };
    let (h, pages) = (work.name("h"), work.draws.between(1, room));
    let mut inner = vec![step!("write {h}")];
    match work.draws.below(3) {
        0 => inner.extend([step!("pin {h}[0]"), step!("cache {h}"), step!("read {h}[0]"), step!("unpin {h}[0]")]),
        1 => inner.extend([step!("share {h}[0]"), step!("cache {h}"), step!("read {h}[0]"), step!("free {h}[0]")]),
        _ => inner.push(step!("cache {h}")),
    }
    // Someone may ask for room by hand meanwhile, between any two of these.
    if work.draws.chance(50) {
        let (at, n) = (work.draws.between(1, inner.len()), work.name("n"));
        inner.insert(at, step!("evict host.{band} {} -> {n}", work.draws.between(1, room)));
    }
    if work.draws.chance(20) {
        let (class, n) = (*work.draws.pick(&["live", "cached", "pinned", "pending", "holes"]), work.name("n"));
        inner.push(step!("count {class} host.{band} -> {n}"));
    }
    let mut steps = vec![step!("try alloc host.{band} {pages} -> {h}")];
    steps.extend(given(&[&h], inner));
    steps
}

/// Takes everything back that was left to the cache.
pub(crate) fn emptied() -> Vec<Stmt> {
    let bands = ["host.full", "host.swa", "device.swa", "device.full"];
    bands.iter().enumerate().map(|(nth, band)| step!("evict {band} 99 -> left{nth}")).collect()
}

/// Sliding-window pages bound to the ids of a request that exists already, if there is room.
pub(super) fn bind(work: &mut Workload) -> Vec<Stmt> {
    let (a, ok) = (work.name("a"), work.name("ok"));
    let pages = work.draws.between(1, work.swarm.device_pages.0.min(3));
    let mut bound = vec![step!("compute: write swa {a}"), step!("compute: read swa {a}")];
    if work.draws.chance(40) {
        bound.push(step!("tombstone swa {a}"));
    }
    let inner = vec![step!("compute: write {a}"), step!("try bind swa {a} -> {ok}"), block(format!("if {ok}"), bound)];
    let mut steps = vec![device::alloc(&a, (pages, false))];
    steps.extend(given(&[&a], inner));
    steps.push(step!("free {a}"));
    steps
}
