//! Device pages on their home stream: prefill, decode, the sliding window.

use super::hold::Hold;
use super::{given, step};
use crate::hunt::draft::Stmt;
use crate::hunt::workload::Workload;

/// How many device pages a request takes, and whether their sliding-window pages are bound.
pub(super) fn request(work: &mut Workload) -> (usize, bool) {
    (work.draws.between(1, work.swarm.device_pages.0.min(3)), work.draws.chance(60))
}

/// `try alloc` of a device request.
pub(super) fn alloc(name: &str, (pages, bound): (usize, bool)) -> Stmt {
    let swa = if bound { format!(", device.swa {pages}") } else { String::new() };
    step!("try alloc device.full {pages}{swa} -> {name}")
}

/// The kernels that fill a request.
pub(super) fn prefill(name: &str, bound: bool, out: &mut Vec<Stmt>) {
    out.push(step!("compute: write {name}"));
    if bound {
        out.push(step!("compute: write swa {name}"));
    }
}

/// A request that prefills, decodes and ends, on `compute` only.
pub(super) fn compute(work: &mut Workload) -> Vec<Stmt> {
    let (pages, bound) = request(work);
    let a = work.name("a");
    let mut inner = Vec::new();
    prefill(&a, bound, &mut inner);
    for _ in 0..work.draws.between(0, 3) {
        let page = work.draws.below(pages);
        inner.push(match work.draws.below(3) {
            0 => step!("compute: write {a}[{page}]"),
            1 if bound => step!("compute: read swa {a}[{page}]"),
            _ => step!("compute: read {a}"),
        });
    }
    let mut steps = vec![alloc(&a, (pages, bound))];
    let event = work.name("e");
    let ending = work.draws.below(3);
    match ending {
        0 => inner.push(step!("compute: record {event}")),
        1 => inner.push(step!("sync compute")),
        _ => {}
    }
    steps.extend(given(&[&a], inner));
    if pages > 1 && work.draws.chance(40) {
        // The request shrinks page by page, and what follows its pages closes the gaps under the same event.
        let on = if ending == 0 && work.draws.chance(50) { format!(" on {event}") } else { String::new() };
        for page in 0..pages {
            steps.push(step!("free {a}[{page}]{on}"));
            if ending == 0 && work.draws.chance(60) {
                let urgent = if work.draws.chance(30) { " urgent" } else { "" };
                steps.push(step!("compute: flush device.full{urgent} on {event}"));
            }
        }
    } else if ending == 0 {
        steps.push(step!("free {a} on {event}"));
    } else {
        steps.push(step!("free {a}"));
    }
    steps
}

/// A window that slides: some sliding-window pages are released, the rest is selected and backed up.
pub(super) fn window(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let pages = work.draws.between(1, work.swarm.device_pages.0.min(work.swarm.device_pages.1).min(3));
    let gone = work.draws.between(0, pages);
    let (a, w, h) = (work.name("a"), work.name("w"), work.name("h"));
    let (ready, done) = (work.name("r"), work.name("d"));
    let mut inner = Vec::new();
    prefill(&a, true, &mut inner);
    let slid = |on: &str| (gone > 0).then(|| step!("tombstone swa {a}[0..{gone}]{on}"));
    // The window may slide before the backup is submitted, or under it.
    let under = work.draws.chance(40);
    if !under {
        inner.extend(slid(""));
    }
    let hold = Hold::draw(work, thread, Some(&a), Some(&h));
    hold.begin(work, &mut inner);
    // Callers pass whole pages: a range that is not on page boundaries is rounded, and refused where nobody rounds.
    let ragged = work.swarm.ragged_ranges && work.swarm.page_tokens > 1;
    let tokens = if ragged { format!(" tokens 1 .. {}", pages * work.swarm.page_tokens) } else { String::new() };
    inner.push(step!("select swa {a}{tokens} -> {w}"));
    inner.push(step!("compute: record {ready}"));
    inner.push(step!("d2h: wait {ready}"));
    let taken = if under { pages } else { pages - gone };
    if taken > 0 {
        // A selection that is refused or falls short gives a transfer whose ends do not match, which is refused in turn.
        inner.push(super::block(format!("if {h}"), vec![step!("d2h: backup {w} -> {h}")]));
    }
    inner.push(step!("d2h: record {done}"));
    if under {
        inner.extend(slid(&format!(" on {done}")));
    }
    let synced = hold.end(work, &done, &mut inner);
    if !synced && work.draws.chance(50) {
        inner.push(step!("compute: wait {done}"));
        inner.push(step!("compute: write {a}"));
    }
    let mut steps = vec![alloc(&a, (pages, true)), step!("try alloc host.swa {taken} -> {h}")];
    steps.extend(given(&[&a], inner));
    steps.push(step!("free {a} on {done}"));
    steps.push(step!("free {h} on {done}"));
    steps
}
