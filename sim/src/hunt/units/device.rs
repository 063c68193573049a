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
    let ending = work.draws.below(4);
    match ending {
        0 => inner.push(step!("compute: record {event}")),
        1 => inner.push(step!("sync compute")),
        2 => {
            // The request is over; the forward of others is not.
            inner.push(step!("sync compute"));
            inner.push(step!("compute: record {event}"));
        }
        _ => {}
    }
    steps.extend(given(&[&a], inner));
    if pages > 1 && work.draws.chance(60) {
        // The request shrinks page by page, and what follows its pages closes the gaps under the same event.
        let on = if ending == 0 && work.draws.chance(50) { format!(" on {event}") } else { String::new() };
        for page in 0..pages {
            steps.push(step!("free {a}[{page}]{on}"));
            if [0, 2].contains(&ending) && work.draws.chance(70) {
                let urgent = if work.draws.chance(20) { " urgent" } else { "" };
                let band = *work.draws.pick(&["full", "full", "swa"]);
                let flush = step!("compute: flush device.{band}{urgent} on {event}");
                // Nobody has recorded the event if there is no request.
                steps.extend(given(&[&a], vec![flush]));
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
    let loose = if work.swarm.ragged_windows { work.draws.below(work.swarm.page_tokens) } else { 0 };
    let tokens = gone * work.swarm.page_tokens + loose;
    let slid = |on: &str| match (gone, loose) {
        (0, 0) => None,
        (_, 0) => Some(step!("tombstone swa {a}[0..{gone}]{on}")),
        // A window that slides token by token: the page that it is in stays.
        _ => Some(step!("tombstone swa {a} {tokens} tokens{on}")),
    };
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
    // The whole window can be named by id as well; what has slid out of it is left out.
    let by_id = work.draws.chance(30);
    let copy = work.stream("d2h");
    if !by_id {
        inner.push(step!("select swa {a}{tokens} -> {w}"));
    }
    inner.push(step!("compute: record {ready}"));
    inner.push(step!("{copy}: wait {ready}"));
    let taken = if under || by_id || work.draws.chance(30) { pages } else { pages - gone };
    if taken > 0 {
        // A selection that is refused or falls short gives a transfer whose ends do not match, which is refused in turn.
        let from = if by_id { format!("swa {a}") } else { w };
        inner.push(super::block(format!("if {h}"), vec![step!("{copy}: backup {from} -> {h}")]));
    }
    inner.push(step!("{copy}: record {done}"));
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
