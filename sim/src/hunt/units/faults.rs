//! Requests that must be refused, and the canary.

use super::{device, given, step};
use crate::hunt::draft::{ArenaDraft, Stmt};
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

/// A thread takes a lease and dies: it takes no step any more. A timed lease stays until it runs out, on a clock of its own
/// that waits for nobody else: a thread that may have to wait for the lease cannot end it. A lease without limit stays for
/// ever; the arena, which is named then, must be one whose pages nobody needs to move ([`bury`]).
pub(crate) fn death(work: &mut Workload) -> Option<&'static str> {
    let dying = work.draws.below(work.threads.len());
    if work.draws.chance(40) {
        let arena = *work.draws.pick(&["host", "device"]);
        work.threads[dying].1.extend([step!("lease acquire {arena}"), step!("stop")]);
        return Some(arena);
    }
    let died = work.name("died");
    let leases = *work.draws.pick(&["host", "device", "device, host"]);
    let ticks = work.draws.between(1, 3);
    let steps = &mut work.threads[dying].1;
    steps.push(step!("lease acquire {leases} ttl {ticks}"));
    steps.push(step!("set {died}"));
    let mut clock = vec![step!("await {died}")];
    clock.extend((0..ticks).map(|_| step!("tick")));
    work.threads.push(("clock".to_owned(), clock));
    None
}

/// Makes an arena so large that every request finds room beside all others, and asks for no compaction of it.
pub(crate) fn bury(work: &mut Workload, arena: Option<&mut ArenaDraft>) {
    let Some(arena) = arena else { return };
    let (mut wanted, moving) = (0, format!("compact {}", arena.name));
    let lists = work.threads.iter_mut().map(|(_, steps)| steps).chain([&mut work.setup]);
    for steps in lists {
        steps.retain(|stmt| stmt.text != moving);
        wanted += bytes_wanted(steps, arena);
    }
    arena.bytes += wanted;
}

fn bytes_wanted(steps: &[Stmt], arena: &ArenaDraft) -> usize {
    let one = |stmt: &Stmt| {
        let requests = stmt.text.split_once("alloc ").and_then(|(_, rest)| rest.split_once(" -> "));
        let requests = requests.map_or("", |(requests, _)| requests).split(", ");
        let bytes = |request: &str| {
            let (band, pages) = request.strip_prefix(arena.name)?.strip_prefix('.')?.split_once(' ')?;
            let band = arena.bands.iter().find(|other| other.name == band)?;
            Some(band.envelope * pages.parse::<usize>().ok()?)
        };
        requests.filter_map(bytes).sum::<usize>() + bytes_wanted(&stmt.block, arena)
    };
    steps.iter().map(one).sum()
}

/// A thread that waits for room, as the last thing that it does.
pub(crate) fn patience(work: &mut Workload) {
    let (thread, p) = (work.draws.below(work.threads.len()), work.name("p"));
    let band = *work.draws.pick(&["full", "swa"]);
    let room = if band == "full" { work.swarm.host_pages.0 } else { work.swarm.host_pages.1 };
    let steps = &mut work.threads[thread].1;
    if steps.last().is_some_and(|last| last.text.starts_with("set died")) {
        // The dead wait for nothing.
        return;
    }
    steps.push(step!("wait alloc host.{band} {room} -> {p}"));
    steps.extend([step!("write {p}"), step!("read {p}"), step!("free {p}")]);
}

/// Host pages that a stream writes, under leases that are handed off to an event each. A compaction's wait for the first
/// event fails, and whoever gave up compacts again; or the query of it fails.
pub(super) fn interrupted(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let waiting = super::other(work, thread);
    let (h, go) = (work.name("h"), work.name("go"));
    let (band, stream) = (*work.draws.pick(&["full", "swa"]), work.stream("d2h"));
    // What lies behind the hole moves, unless something holds it.
    let (mut inner, mut events) = (vec![step!("free {h}[0]")], Vec::new());
    let query = work.draws.chance(40);
    for page in 1..if query { 2 } else { 3 } {
        let done = work.name("d");
        inner.push(step!("lease acquire host"));
        inner.push(step!("{stream}: write {h}[{page}]"));
        inner.push(step!("{stream}: record {done}"));
        if query {
            // Whoever hands off asks which events have completed.
            inner.push(step!("fail query {done}"));
        }
        inner.push(step!("lease hand off {done} of host"));
        events.push(done);
    }
    if !query {
        inner.push(step!("fail wait {}", events[0]));
    }
    let theirs = &mut work.threads[waiting].1;
    theirs.push(step!("await {go}"));
    theirs.extend(vec![step!("compact host"); 2]);
    let mut steps = vec![step!("try alloc host.{band} 3 -> {h}")];
    steps.extend(given(&[&h], inner));
    steps.push(step!("set {go}"));
    steps.push(step!("free {h}[1..3] on {}", events.join(", ")));
    steps
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
