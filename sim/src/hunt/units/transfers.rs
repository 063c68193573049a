//! Pages that travel: backups, load-backs, RDMA.

use super::hold::Hold;
use super::{device, given, step};
use crate::hunt::draft::Stmt;
use crate::hunt::swarm::Feature;
use crate::hunt::workload::Workload;

/// How the copy stream is told to wait for `ready`, and how it gets the device addresses.
fn submit(
    work: &mut Workload,
    (stream, verb): (&str, &str),
    ends: (&str, &str),
    device: &str,
    ready: &str,
) -> Vec<Stmt> {
    let (from, to) = ends;
    let (index, read) = (work.name("i"), work.name("x"));
    let record = step!("compute: record {ready}");
    match work.draws.below(5) {
        0 => vec![record, step!("{stream}: {verb} {from} -> {to} after {ready}")],
        1 => vec![
            step!("compute: produce {index} from {device}"),
            record,
            step!("{stream}: {verb} {from} -> {to} at {index} after {ready}"),
            // The index holds what the table says when it is produced: until then, the pages must stay allocated.
            step!("sync {ready}"),
        ],
        2 => vec![
            step!("compute: produce {index} from {device}"),
            record,
            step!("{stream}: wait {ready}"),
            step!("{stream}: read {index} -> {read}"),
            step!("{stream}: {verb} {from} -> {to} at {read}"),
        ],
        _ => vec![record, step!("{stream}: wait {ready}"), step!("{stream}: {verb} {from} -> {to}")],
    }
}

/// Faults of a completion event: what hold pages still must survive them.
fn fault(work: &mut Workload, done: &str, out: &mut Vec<Stmt>) {
    if work.swarm.features.iter().any(|(feature, _)| *feature == Feature::Faults) && work.draws.chance(40) {
        out.push(match work.draws.below(2) {
            0 => step!("fail query {done}"),
            _ => step!("fail wait {done}"),
        });
    }
}

/// A request that is backed up to the host, and sometimes loaded back.
pub(super) fn backup(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let (pages, bound) = device::request(work);
    let (a, h) = (work.name("a"), work.name("h"));
    let (ready, done) = (work.name("r"), work.name("d"));
    let narrow = bound && work.draws.chance(40);
    let mut inner = Vec::new();
    device::prefill(&a, bound, &mut inner);
    let hold = Hold::draw(work, thread, Some(&a), Some(&h));
    hold.begin(work, &mut inner);
    let swa = format!("swa {a}");
    let from = if narrow { &swa } else { &a };
    inner.extend(submit(work, ("d2h", "backup"), (from, &h), from, &ready));
    inner.push(step!("d2h: record {done}"));
    fault(work, &done, &mut inner);
    let mut synced = hold.end(work, &done, &mut inner);
    if synced && work.draws.chance(60) {
        inner.push(step!("read {h}"));
    }
    if !synced && work.draws.chance(50) {
        // The next kernel that writes the pages is ordered behind the copy.
        inner.push(step!("compute: wait {done}"));
        inner.push(step!("compute: write {a}"));
    }
    if !narrow && work.draws.chance(40) {
        synced &= back(work, thread, (&h, pages, &done), &mut inner);
    }
    let band = if narrow { "swa" } else { "full" };
    let mut steps = vec![device::alloc(&a, (pages, bound)), step!("try alloc host.{band} {pages} -> {h}")];
    if work.draws.chance(30) {
        steps.swap(0, 1);
    }
    steps.extend(given(&[&a, &h], inner));
    let on = if synced { String::new() } else { format!(" on {done}") };
    steps.push(step!("free {a}{on}"));
    steps.push(step!("free {h}{on}"));
    steps
}

/// Loads host pages back into pages of a second request. Whether the host knows that it is over; it must, because the
/// host pages are freed on the first transfer's event otherwise.
fn back(work: &mut Workload, thread: usize, (h, pages, filled): (&str, usize, &str), out: &mut Vec<Stmt>) -> bool {
    let b = work.name("b");
    let (ready, done) = (work.name("r"), work.name("d"));
    let mut inner = Vec::new();
    let hold = Hold::draw(work, thread, Some(&b), Some(h));
    hold.begin(work, &mut inner);
    inner.push(step!("h2d: wait {filled}"));
    inner.extend(submit(work, ("h2d", "load"), (h, &b), &b, &ready));
    inner.push(step!("h2d: record {done}"));
    if !hold.end(work, &done, &mut inner) {
        inner.push(step!("sync {done}"));
    }
    inner.push(step!("compute: read {b}"));
    out.push(device::alloc(&b, (pages, false)));
    out.extend(given(&[&b], inner));
    out.push(step!("free {b}"));
    true
}

/// Host pages that are written by the host and loaded into a new request.
pub(super) fn load_back(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let (pages, bound) = device::request(work);
    let (h, b) = (work.name("h"), work.name("b"));
    let (ready, done) = (work.name("r"), work.name("d"));
    let narrow = bound && work.draws.chance(40);
    let mut inner = vec![step!("write {h}")];
    let hold = Hold::draw(work, thread, Some(&b), Some(&h));
    hold.begin(work, &mut inner);
    let swa = format!("swa {b}");
    let to = if narrow { &swa } else { &b };
    inner.extend(submit(work, ("h2d", "load"), (&h, to), to, &ready));
    inner.push(step!("h2d: record {done}"));
    fault(work, &done, &mut inner);
    let synced = hold.end(work, &done, &mut inner);
    if !synced || work.draws.chance(30) {
        inner.push(step!("compute: wait {done}"));
    }
    inner.push(step!("compute: read {to}"));
    if work.draws.chance(40) {
        inner.push(step!("compute: write {b}"));
    }
    let band = if narrow { "swa" } else { "full" };
    let mut steps = vec![step!("try alloc host.{band} {pages} -> {h}"), device::alloc(&b, (pages, bound))];
    if work.draws.chance(30) {
        steps.swap(0, 1);
    }
    steps.extend(given(&[&h, &b], inner));
    let on = if synced { String::new() } else { format!(" on {done}") };
    steps.push(step!("free {h}{on}"));
    // `compute` has waited for the copy, and the next owner's kernels run behind that.
    steps.push(step!("free {b}"));
    steps
}

/// RDMA between host pages and a peer that the model does not show.
pub(super) fn rdma(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let pages = work.draws.between(1, 2);
    let (h, done) = (work.name("h"), work.name("d"));
    let mut inner = vec![step!("write {h}")];
    let hold = Hold::draw(work, thread, None, Some(&h));
    hold.begin(work, &mut inner);
    for _ in 0..work.draws.between(1, 2) {
        inner.push(match work.draws.below(2) {
            0 => step!("nic: read {h}"),
            _ => step!("nic: write {h}"),
        });
    }
    inner.push(step!("nic: record {done}"));
    fault(work, &done, &mut inner);
    if !hold.end(work, &done, &mut inner) {
        // Nothing orders an RDMA agent behind a free.
        inner.push(step!("sync {done}"));
    }
    if work.draws.chance(50) {
        inner.push(step!("read {h}"));
    }
    let mut steps = vec![step!("try alloc host.full {pages} -> {h}")];
    steps.extend(given(&[&h], inner));
    steps.push(step!("free {h}"));
    steps
}
