//! An arena with a float band between its ends, whose pages make room for their neighbours unless something holds them.

use super::{given, step};
use crate::hunt::draft::Stmt;
use crate::hunt::workload::Workload;

/// Pages of one band, read where they are while something holds them still; and requests that need the float's room.
pub(super) fn float(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    if work.draws.chance(25) {
        return questions(work);
    }
    let band = *work.draws.pick(&["mid", "mid", "low", "top"]);
    let pages = work.draws.between(1, 3);
    let p = work.name("p");
    let mut inner = vec![step!("write {p}")];
    if work.draws.chance(60) {
        let (v, done, flag) = (work.name("v"), work.name("d"), Workload::still(thread));
        let (hold, let_go) = match work.draws.below(4) {
            0 => (step!("lease acquire pool"), step!("lease release pool")),
            1 => (step!("pin {p}"), step!("unpin {p}")),
            _ => (step!("set {flag}"), step!("unset {flag}")),
        };
        inner.extend([hold, step!("translate {p} -> {v}")]);
        if work.draws.chance(60) {
            inner.extend([step!("nic: read {p} at {v}"), step!("nic: record {done}"), step!("sync {done}")]);
        } else {
            inner.push(step!("read {p} at {v}"));
        }
        inner.push(let_go);
    }
    inner.push(step!("read {p}"));
    let mut steps = vec![step!("try alloc pool.{band} {pages} -> {p}")];
    steps.extend(given(&[&p], inner));
    if pages > 1 && work.draws.chance(40) {
        // Page by page: what the float gives back is absorbed at the side where it lay.
        steps.extend((0..pages).map(|page| step!("free {p}[{page}]")));
    } else {
        steps.push(step!("free {p}"));
    }
    steps
}

fn questions(work: &mut Workload) -> Vec<Stmt> {
    let q = work.name("q");
    match work.draws.below(4) {
        0 => vec![step!("compact pool")],
        1 => vec![step!("available pool.{} -> {q}", work.draws.pick(&["low", "mid", "top"]))],
        2 => vec![step!("admit pool.low {}, pool.top 1 -> {q}", work.draws.between(1, 3))],
        _ => vec![step!("admit pool.mid {}, pool.low 1 -> {q}", work.draws.between(1, 2))],
    }
}
