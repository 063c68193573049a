//! Host pages: the host's own accesses, storage threads, pressure, captured addresses, leases and capacity questions.

use super::{block, given, other, step};
use crate::hunt::draft::Stmt;
use crate::hunt::swarm::Feature;
use crate::hunt::workload::Workload;

/// Pages that the host writes and reads, sometimes with another thread, and frees one after the other.
pub(super) fn pages(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let count = work.draws.between(1, work.swarm.host_pages.0.min(3));
    let band = *work.draws.pick(&["full", "swa"]);
    let joint = work.draws.chance(40);
    let (h, s) = (work.name("h"), work.name("s"));
    let beside = if band == "full" { "swa" } else { "full" };
    let mut steps = vec![if joint {
        step!("try alloc host.{band} {count}, host.{beside} 1 -> {h}, {s}")
    } else {
        step!("try alloc host.{band} {count} -> {h}")
    }];
    let mut inner = vec![step!("write {h}")];
    if joint {
        inner.push(step!("write {s}"));
        inner.push(step!("read {s}"));
    }
    inner.push(step!("read {h}"));
    steps.extend(given(&[&h], inner));
    if work.draws.chance(40) && work.threads.len() > 1 {
        let reader = other(work, thread);
        let (ready, read) = (work.name("go"), work.name("ok"));
        let shared = given(&[&h], vec![step!("read {h}")]);
        let theirs = &mut work.threads[reader].1;
        theirs.push(step!("await {ready}"));
        theirs.extend(shared);
        theirs.push(step!("set {read}"));
        steps.push(step!("set {ready}"));
        steps.push(step!("await {read}"));
    }
    for at in 0..count {
        steps.push(step!("free {h}[{at}]"));
        if at + 1 < count && work.draws.chance(50) {
            steps.extend(given(&[&h], vec![step!("read {h}[{}..{count}]", at + 1)]));
        }
    }
    if joint {
        steps.push(step!("free {s}"));
    }
    steps
}

/// An allocation that is large enough to need what holes hold.
pub(super) fn pressure(work: &mut Workload) -> Vec<Stmt> {
    let p = work.name("p");
    if work.draws.chance(30) {
        let pages = work.draws.between(1, work.swarm.device_pages.0);
        let bound = work.draws.between(0, pages.min(work.swarm.device_pages.1));
        let swa = if bound > 0 { format!(", device.swa {bound}") } else { String::new() };
        let mut steps = tried(work, &format!("device.full {pages}{swa}"), &p);
        steps.extend(given(&[&p], vec![step!("compute: write {p}"), step!("compute: read {p}")]));
        steps.push(step!("free {p}"));
        return steps;
    }
    let band = *work.draws.pick(&["full", "swa"]);
    let room = if band == "full" { work.swarm.host_pages.0 } else { work.swarm.host_pages.1 };
    let pages = work.draws.between(1, room + 1);
    let mut steps = tried(work, &format!("host.{band} {pages}"), &p);
    let mut inner = vec![step!("write {p}")];
    if work.draws.chance(50) {
        inner.push(step!("read {p}"));
    }
    steps.extend(given(&[&p], inner));
    steps.push(step!("free {p}"));
    steps
}

/// An allocation that asks first, or tries again when it is refused: something may have been given back meanwhile.
fn tried(work: &mut Workload, requests: &str, into: &str) -> Vec<Stmt> {
    let alloc = step!("try alloc {requests} -> {into}");
    if work.swarm.has(Feature::Capacity) && work.draws.chance(30) {
        let q = work.name("q");
        // Whatever the answer: others may be faster, and a refusal must be right as well.
        return vec![step!("admit {requests} -> {q}"), alloc];
    }
    let again = if work.draws.chance(75) { work.draws.between(1, 2) } else { 0 };
    let mut steps = vec![alloc.clone()];
    steps.extend((0..again).map(|_| block(format!("if not {into}"), vec![alloc.clone()])));
    steps
}

/// Compactions that someone asks for.
pub(super) fn compact(work: &mut Workload) -> Vec<Stmt> {
    let urgent = if work.draws.chance(30) { " urgent" } else { "" };
    if work.swarm.peer.is_some() && work.draws.chance(25) {
        return vec![step!("compact peer")];
    }
    match work.draws.below(6) {
        0 => vec![step!("compact device")],
        // A compaction that is given up is asked for again.
        1 | 2 => vec![step!("compact host"); work.draws.between(1, 3)],
        3 => {
            let event = work.name("e");
            vec![step!("compute: record {event}"), step!("compute: flush device.full{urgent} on {event}")]
        }
        4 => vec![step!("compute: flush device.swa{urgent}")],
        _ => vec![step!("compute: flush device.full{urgent}")],
    }
}

/// Pages that a storage thread stores, looks up and fetches again.
pub(super) fn storage(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let pages = work.draws.between(1, 2);
    let band = *work.draws.pick(&["full", "full", "swa"]);
    let (h, k, q, g) = (work.name("h"), work.name("k"), work.name("q"), work.name("g"));
    let mut steps = vec![step!("try alloc host.{band} {pages} -> {h}")];
    steps.extend(given(&[&h], vec![step!("write {h}")]));
    let mut theirs = vec![step!("store {h} as {k}")];
    if work.draws.chance(40) {
        // An extra pool's pages go under the last keys of the chunk; zero pages take zero keys.
        let z = work.name("z");
        let extra = work.draws.between(0, pages);
        steps.push(step!("try alloc host.swa {extra} -> {z}"));
        steps.extend(given(&[&z], vec![step!("write {z}")]));
        theirs.push(step!("store {z} as {k} tail"));
        theirs.push(step!("lookup {k} tail -> {q}"));
        theirs.push(step!("free {z}"));
    }
    theirs.push(step!("lookup {k} -> {q}"));
    let fetched = vec![step!("fetch {k} -> {g}"), step!("read {g}")];
    if work.draws.chance(60) {
        theirs.push(step!("try alloc host.{band} {pages} -> {g}"));
        theirs.extend(given(&[&g], vec![block(format!("if {q} == {pages}"), fetched)]));
        theirs.push(step!("free {g}"));
    }
    if work.draws.chance(30) {
        theirs.push(step!("drop {k}"));
        theirs.push(step!("lookup {k} -> {q}"));
    }
    let theirs = given(&[&h], theirs);
    if work.draws.chance(70) && work.threads.len() > 1 && !steps.iter().any(|step| step.text.contains(" -> z")) {
        let storage = other(work, thread);
        let (ready, stored) = (work.name("go"), work.name("ok"));
        let queue = &mut work.threads[storage].1;
        queue.push(step!("await {ready}"));
        queue.extend(theirs);
        queue.push(step!("set {stored}"));
        steps.push(step!("set {ready}"));
        steps.push(step!("await {stored}"));
        steps.push(step!("free {h}"));
        return steps;
    }
    // The extra pool's pages are freed where they were allocated, also if there was nothing to store.
    let extra = steps.iter().find_map(|step| step.text.split_once(" -> z").map(|(_, name)| format!("z{name}")));
    let frees = extra.as_ref().map(|name| format!("free {name}"));
    steps.extend(theirs.map(|stmt| Stmt {
        text: stmt.text,
        block: stmt.block.into_iter().filter(|step| Some(&step.text) != frees.as_ref()).collect(),
    }));
    steps.extend(frees.map(Stmt::new));
    steps.push(step!("free {h}"));
    steps
}

/// An address that is captured and used while something holds its page still; or only asked about otherwise.
pub(super) fn captured(work: &mut Workload) -> Vec<Stmt> {
    let (h, v, ok) = (work.name("h"), work.name("v"), work.name("q"));
    let mut steps = vec![step!("try alloc host.full 1 -> {h}")];
    let mut inner = vec![step!("write {h}")];
    // Where the band takes kernel-facing indices, they are what is captured.
    let lookup = if work.swarm.kernels { "kernel" } else { "translate" };
    let access = |work: &mut Workload| match work.draws.below(2) {
        0 => step!("read {h} at {v}"),
        _ => step!("write {h} at {v}"),
    };
    match work.draws.below(3) {
        0 => {
            inner.push(step!("lease acquire host"));
            inner.push(step!("{lookup} {h} -> {v}"));
            inner.push(access(work));
            if !work.swarm.kernels {
                inner.push(step!("valid {v} -> {ok}"));
                inner.push(step!("check {ok} == 1 else stale-address"));
            }
            inner.push(step!("lease release host"));
        }
        1 => {
            inner.push(step!("pin {h}"));
            inner.push(step!("{lookup} {h} -> {v}"));
            inner.push(access(work));
            inner.push(step!("unpin {h}"));
        }
        _ => {
            // Whoever holds nothing asks before the address is used, and something has happened meanwhile.
            let (band, p) = (*work.draws.pick(&["full", "swa"]), work.name("p"));
            inner.push(step!("translate {h} -> {v}"));
            inner.push(step!("try alloc host.{band} {} -> {p}", work.draws.between(1, work.swarm.host_pages.0)));
            inner.push(step!("free {p}"));
            inner.push(step!("valid {v} -> {ok}"));
        }
    }
    steps.extend(given(&[&h], inner));
    steps.push(step!("free {h}"));
    steps
}

/// Leases inside leases, of several arenas, and with a time to live.
pub(super) fn nesting(work: &mut Workload) -> Vec<Stmt> {
    match work.draws.below(3) {
        0 => {
            let arena = *work.draws.pick(&["device", "host"]);
            vec![
                step!("lease acquire {arena}"),
                step!("lease acquire {arena}"),
                step!("lease release {arena}"),
                step!("lease acquire {arena}"),
                step!("lease release {arena}"),
                step!("lease release {arena}"),
            ]
        }
        1 => {
            let second = if work.swarm.peer.is_some() && work.draws.chance(60) { "peer" } else { "device" };
            let order = *work.draws.pick(&["host, {}", "{}, host", "host, {}, host", "{}, host, {}"]);
            let order = order.replace("{}", second);
            vec![step!("lease acquire {order}"), step!("lease release host"), step!("lease release {second}")]
        }
        _ => {
            let held = work.name("q");
            let mut steps = vec![step!("lease acquire host ttl 2"), step!("tick")];
            if work.draws.chance(50) {
                // In time, or too late if others count as well.
                steps.extend([step!("lease renew ttl 2 of host"), step!("lease held host -> {held}"), step!("tick")]);
            }
            steps.push(step!("tick"));
            steps
        }
    }
}

/// Questions whose answers the world holds against the truth.
pub(super) fn capacity(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let mut steps = Vec::new();
    if work.draws.chance(40) {
        // The same question before, under and after a closed gate: an answer must not outlive what it depends on.
        let (flag, band) = (Workload::flag(thread), *work.draws.pick(&["device.full", "device.swa"]));
        for change in [None, Some("set"), Some("unset")] {
            let q = work.name("q");
            steps.extend(change.map(|change| step!("{change} {flag}")));
            steps.push(step!("available {band} -> {q}"));
        }
    }
    for _ in 0..work.draws.between(1, 3) {
        let q = work.name("q");
        let band = *work.draws.pick(&["device.full", "device.swa", "host.full", "host.swa"]);
        let (wide, narrow) = (work.draws.between(1, 4), work.draws.between(1, 3));
        steps.push(match work.draws.below(3) {
            0 if band != "device.swa" => step!("admit {band} {wide} -> {q}"),
            1 if band.starts_with("host") => step!("admit host.full {wide}, host.swa {narrow} -> {q}"),
            1 => step!("admit device.full {wide}, device.swa {} -> {q}", narrow.min(wide)),
            _ => step!("available {band} -> {q}"),
        });
    }
    steps
}
