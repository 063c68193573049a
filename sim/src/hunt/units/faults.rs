//! Requests that must be refused, and the canary.

use super::{device, given, step};
use crate::hunt::draft::Stmt;
use crate::hunt::workload::Workload;

/// An allocation under one's own lease: it must be refused where it would have to move pages.
pub(super) fn own_lease(work: &mut Workload) -> Vec<Stmt> {
    let p = work.name("p");
    let band = *work.draws.pick(&["full", "swa"]);
    let room = if band == "full" { work.swarm.host_pages.0 } else { work.swarm.host_pages.1 };
    let pages = work.draws.between(room.div_ceil(2), room);
    let mut steps =
        vec![step!("lease acquire host"), step!("try alloc host.{band} {pages} -> {p}"), step!("lease release host")];
    steps.extend(given(&[&p], vec![step!("write {p}"), step!("read {p}")]));
    steps.push(step!("free {p}"));
    steps
}

/// A free that comes twice, or a transfer whose ends do not match: both must be refused and leave no trace.
pub(super) fn refused(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    if work.draws.chance(50) {
        let p = work.name("p");
        let mut steps = vec![step!("try alloc host.full 1 -> {p}")];
        steps.extend(given(&[&p], vec![step!("write {p}"), step!("free {p}"), step!("free {p}")]));
        return steps;
    }
    let (a, h, ready, done) = (work.name("a"), work.name("h"), work.name("r"), work.name("d"));
    let hold = super::hold::Hold::draw(work, thread, Some(&a), Some(&h));
    let mut inner = Vec::new();
    device::prefill(&a, false, &mut inner);
    hold.begin(work, &mut inner);
    inner.push(step!("compute: record {ready}"));
    inner.push(step!("d2h: backup {a} -> {h} after {ready}"));
    inner.push(step!("d2h: record {done}"));
    let synced = hold.end(work, &done, &mut inner);
    let mut steps = vec![device::alloc(&a, (1, false)), step!("try alloc host.full 2 -> {h}")];
    steps.extend(given(&[&a, &h], inner));
    let on = if synced { String::new() } else { format!(" on {done}") };
    steps.push(step!("free {a}{on}"));
    steps.push(step!("free {h}{on}"));
    steps
}

/// A thread takes a timed lease and dies: it takes no step any more, and the lease stays until it runs out. Time passes
/// on a clock of its own, which waits for nobody else: a thread that may have to wait for the lease cannot end it.
pub(super) fn death(work: &mut Workload) {
    let dying = work.draws.below(work.threads.len());
    let died = work.name("died");
    let leases = *work.draws.pick(&["host", "device", "device, host"]);
    let ticks = work.draws.between(1, 3);
    let steps = &mut work.threads[dying].1;
    steps.push(step!("lease acquire {leases} ttl {ticks}"));
    steps.push(step!("set {died}"));
    let mut clock = vec![step!("await {died}")];
    clock.extend((0..ticks).map(|_| step!("tick")));
    work.threads.push(("clock".to_owned(), clock));
}

/// Steps of the canary's reader that a copy has time for.
const CANARY_PATIENCE: usize = 2;

/// The broken unit of the canary: the host reads what a backup has not brought yet, unless the schedule is lucky.
pub(super) fn canary(work: &mut Workload) -> Vec<Stmt> {
    let (a, h, ready, done) = (work.name("a"), work.name("h"), work.name("r"), work.name("d"));
    let mut inner = vec![step!("write {h}")];
    device::prefill(&a, false, &mut inner);
    inner.push(step!("lease acquire device, host"));
    inner.push(step!("compute: record {ready}"));
    inner.push(step!("d2h: backup {a} -> {h} after {ready}"));
    inner.push(step!("d2h: record {done}"));
    inner.push(step!("lease hand off {done} of device"));
    inner.push(step!("lease hand off {done} of host"));
    inner.push(step!("sync {ready}"));
    // Time enough for the copy, nearly always.
    inner.extend((0..CANARY_PATIENCE).map(|_| step!("tick")));
    inner.push(step!("read {h}"));
    inner.push(step!("sync {done}"));
    let mut steps = vec![device::alloc(&a, (1, false)), step!("try alloc host.full 1 -> {h}")];
    steps.extend(given(&[&a, &h], inner));
    steps.push(step!("free {a} on {done}"));
    steps.push(step!("free {h} on {done}"));
    steps
}
