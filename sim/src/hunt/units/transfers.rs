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
    fault: &str,
) -> Vec<Stmt> {
    let (from, to) = ends;
    let (index, read) = (work.name("i"), work.name("x"));
    let record = step!("compute: record {ready}");
    match work.draws.below(5) {
        0 => vec![record, step!("{stream}: {verb} {from} -> {to} after {ready}")],
        1 => vec![
            step!("compute: produce {index} from {device}"),
            record,
            step!("{stream}: {verb} {from} -> {to} at {index} after {ready}{fault}"),
            // The index holds what the table says when it is produced: until then, the pages must stay allocated.
            step!("sync {ready}"),
        ],
        2 => vec![
            step!("compute: produce {index} from {device}"),
            record,
            step!("{stream}: wait {ready}"),
            step!("{stream}: read {index} -> {read}"),
            step!("{stream}: {verb} {from} -> {to} at {read}{fault}"),
        ],
        _ => vec![record, step!("{stream}: wait {ready}"), step!("{stream}: {verb} {from} -> {to}{fault}")],
    }
}

/// Faults of a completion event: what hold pages still must survive them.
fn fault(work: &mut Workload, done: &str, out: &mut Vec<Stmt>) {
    if work.swarm.has(Feature::Faults) && work.draws.chance(60) {
        out.push(match work.draws.below(3) {
            0 => step!("fail query {done}"),
            _ => step!("fail wait {done}"),
        });
    }
}

/// A copy that fails half-way and says so, now and then: as the end of its step, or nothing.
fn failing(work: &mut Workload, pages: usize) -> String {
    let fails = work.swarm.has(Feature::Faults) && work.draws.chance(20);
    if fails { format!(" fails {}", work.draws.below(pages)) } else { String::new() }
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
    let (copy, failing) = (work.stream("d2h"), failing(work, pages));
    inner.extend(submit(work, (&copy, "backup"), (from, &h), from, &ready, &failing));
    inner.push(step!("{copy}: record {done}"));
    fault(work, &done, &mut inner);
    let mut synced = hold.end(work, &done, &mut inner);
    // Who is told that a copy has failed reads nothing of it.
    let whole = failing.is_empty();
    if whole && synced && work.draws.chance(60) {
        inner.push(step!("read {h}"));
    }
    if !synced && work.draws.chance(50) {
        // The next kernel that writes the pages is ordered behind the copy.
        inner.push(step!("compute: wait {done}"));
        inner.push(step!("compute: write {a}"));
    }
    if whole && !narrow && work.draws.chance(40) {
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
    let copy = work.stream("h2d");
    // Another thread may have to record it: nobody waits for that while holding a lease.
    inner.push(step!("{copy}: wait {filled}"));
    let hold = Hold::draw(work, thread, Some(&b), Some(h));
    hold.begin(work, &mut inner);
    inner.extend(submit(work, (&copy, "load"), (h, &b), &b, &ready, ""));
    inner.push(step!("{copy}: record {done}"));
    if !hold.end(work, &done, &mut inner) {
        inner.push(step!("sync {done}"));
    }
    inner.push(step!("compute: read {b}"));
    out.push(device::alloc(&b, (pages, false)));
    out.extend(given(&[&b], inner));
    out.push(step!("free {b}"));
    true
}

/// A request that is copied to the host and on to another request, on one stream that keeps the order.
fn round_trip(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let pages = work.draws.between(1, work.swarm.device_pages.0.min(2));
    let (a, h, b) = (work.name("a"), work.name("h"), work.name("b"));
    let (ready, done) = (work.name("r"), work.name("d"));
    let mut inner = Vec::new();
    device::prefill(&a, false, &mut inner);
    let hold = Hold::draw(work, thread, Some(&format!("{a}, {b}")), Some(&h));
    hold.begin(work, &mut inner);
    inner.push(step!("compute: record {ready}"));
    inner.push(step!("d2h: wait {ready}"));
    inner.push(step!("d2h: backup {a} -> {h}"));
    inner.push(step!("d2h: load {h} -> {b}"));
    inner.push(step!("d2h: record {done}"));
    hold.end(work, &done, &mut inner);
    inner.push(step!("compute: wait {done}"));
    inner.push(step!("compute: read {b}"));
    let mut steps = vec![
        device::alloc(&a, (pages, false)),
        device::alloc(&b, (pages, false)),
        step!("try alloc host.full {pages} -> {h}"),
    ];
    steps.extend(given(&[&a, &b, &h], inner));
    for pages in [&a, &b, &h] {
        steps.push(step!("free {pages} on {done}"));
    }
    steps
}

/// Host pages that are written by the host and loaded into a new request.
pub(super) fn load_back(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    if work.draws.chance(20) {
        return round_trip(work, thread);
    }
    let (pages, bound) = device::request(work);
    let (h, b) = (work.name("h"), work.name("b"));
    let (ready, done) = (work.name("r"), work.name("d"));
    let narrow = bound && work.draws.chance(40);
    let mut inner = vec![step!("write {h}")];
    let hold = Hold::draw(work, thread, Some(&b), Some(&h));
    hold.begin(work, &mut inner);
    let swa = format!("swa {b}");
    let to = if narrow { &swa } else { &b };
    let (copy, failing) = (work.stream("h2d"), failing(work, pages));
    inner.extend(submit(work, (&copy, "load"), (&h, to), to, &ready, &failing));
    inner.push(step!("{copy}: record {done}"));
    fault(work, &done, &mut inner);
    let synced = hold.end(work, &done, &mut inner);
    if !synced || work.draws.chance(30) {
        inner.push(step!("compute: wait {done}"));
    }
    if failing.is_empty() {
        inner.push(step!("compute: read {to}"));
    }
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

/// Pages that one thread hands to another, which waits for the event of the first one's work: host pages that the
/// other thread reads, or a backup that it loads into pages of its own.
pub(super) fn relay(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let taker = super::other(work, thread);
    let pages = work.draws.between(1, work.swarm.device_pages.0.min(2));
    let (a, h, taken) = (work.name("a"), work.name("h"), work.name("ok"));
    let (ready, done) = (work.name("r"), work.name("d"));
    if work.draws.chance(40) {
        // The set-up of a kernel's input, as it were: an event that the host records behind its own writes.
        let mut steps = vec![step!("try alloc host.full {pages} -> {h}")];
        steps.extend(given(&[&h], vec![step!("write {h}"), step!("compute: record {ready}")]));
        work.threads[taker].1.extend(given(&[&h], vec![step!("sync {ready}"), step!("read {h}")]));
        work.threads[taker].1.push(step!("set {taken}"));
        steps.push(step!("await {taken}"));
        steps.push(step!("free {h}"));
        return steps;
    }
    let mut inner = Vec::new();
    device::prefill(&a, false, &mut inner);
    let hold = Hold::draw(work, thread, Some(&a), Some(&h));
    hold.begin(work, &mut inner);
    let copy = work.stream("d2h");
    inner.extend(submit(work, (&copy, "backup"), (&a, &h), &a, &ready, ""));
    inner.push(step!("{copy}: record {done}"));
    fault(work, &done, &mut inner);
    hold.end(work, &done, &mut inner);
    let mut theirs = vec![];
    back(work, taker, (&h, pages, &done), &mut theirs);
    let mut steps = vec![device::alloc(&a, (pages, false)), step!("try alloc host.full {pages} -> {h}")];
    steps.extend(given(&[&a, &h], inner));
    work.threads[taker].1.extend(given(&[&a, &h], theirs));
    work.threads[taker].1.push(step!("set {taken}"));
    steps.push(step!("await {taken}"));
    steps.push(step!("free {a} on {done}"));
    steps.push(step!("free {h} on {done}"));
    steps
}

/// Host pages sent to pages of a peer, which are given back one by one or, by the one thread that has any, all at once.
pub(super) fn peer(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let pages = work.draws.between(1, work.swarm.host_pages.0.min(3));
    let (h, p, done) = (work.name("h"), work.name("p"), work.name("d"));
    let mut inner = vec![step!("write {h}")];
    let hold = Hold::draw(work, thread, None, Some(&h));
    hold.begin(work, &mut inner);
    inner.push(step!("lease acquire peer"));
    inner.push(step!("nic: send {h} -> {p}"));
    inner.push(step!("nic: record {done}"));
    fault(work, &done, &mut inner);
    let hands_off = work.draws.chance(50);
    inner.extend(hands_off.then(|| step!("lease hand off {done} of peer")));
    if !hold.end(work, &done, &mut inner) {
        inner.push(step!("sync {done}"));
    }
    inner.extend((!hands_off).then(|| step!("lease release peer")));
    inner.push(step!("read {p}"));
    let mut steps = vec![step!("try alloc host.full {pages} -> {h}"), step!("try alloc peer.full {pages} -> {p}")];
    steps.extend(given(&[&h, &p], inner));
    if work.draws.chance(50) {
        steps.push(step!("clear peer.full"));
    } else {
        for at in 0..pages {
            steps.push(step!("free {p}[{at}]"));
        }
    }
    steps.push(step!("free {h}"));
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
