//! Threads that wait for each other's numbers: ranks that decide together, conditions, places of which there are few.

use super::{block, given, other, step};
use crate::hunt::draft::Stmt;
use crate::hunt::workload::Workload;

/// Two threads meet with values and decide the same, or one waits until the other has counted far enough.
pub(super) fn meet(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let second = other(work, thread);
    if second == thread {
        return Vec::new();
    }
    if work.draws.chance(40) {
        let (n, goal) = (number(work, 0), work.draws.between(1, 2));
        work.threads[second].1.extend(vec![step!("let {n} = {n} + 1"); goal]);
        return vec![step!("await {n} >= {goal}")];
    }
    let (acks, agreed) = (work.name("meet"), work.name("meet"));
    let fold = *work.draws.pick(&["min", "max", "sum"]);
    let mut ends = [thread, second].map(|rank| {
        let (n, all) = (number(work, 0), work.name("n"));
        let steps = vec![
            step!("let {n} = {}", work.draws.between(1, 3)),
            step!("gather {acks} {fold} {n} -> {all}"),
            step!("agree {agreed} on {all}"),
        ];
        (rank, steps)
    });
    work.threads[second].1.append(&mut ends[1].1);
    std::mem::take(&mut ends[0].1)
}

/// Host pages that only so many may have at a time.
pub(super) fn bounded(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let places = number(work, 1);
    let user = |work: &mut Workload| {
        let (p, band) = (work.name("p"), *work.draws.pick(&["full", "swa"]));
        let mut steps = vec![step!("take {places}"), step!("try alloc host.{band} 1 -> {p}")];
        steps.extend(given(&[&p], vec![step!("write {p}"), step!("read {p}")]));
        steps.extend([step!("free {p}"), step!("give {places}")]);
        steps
    };
    let (second, theirs) = (other(work, thread), user(work));
    work.threads[second].1.extend(theirs);
    user(work)
}

/// A number that exists from the start.
fn number(work: &mut Workload, value: usize) -> String {
    let n = work.name("n");
    work.setup.push(step!("let {n} = {value}"));
    n
}

/// A read that holds nothing still and is checked afterwards: what it found counts only if the address was still good.
pub(super) fn recheck(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let (h, v, good, ok) = (work.name("h"), work.name("v"), work.name("q"), work.name("ok"));
    // The hole below makes the page move when somebody compacts.
    let mut inner = vec![step!("write {h}[1]"), step!("translate {h}[1] -> {v}"), step!("free {h}[0]")];
    if work.draws.chance(60) {
        let mover = other(work, thread);
        work.threads[mover].1.push(step!("compact host"));
    }
    if work.draws.chance(60) {
        let done = work.name("d");
        let read = step!("nic: try read {h}[1] at {v} -> {good}");
        inner.extend([read, step!("nic: record {done}"), step!("sync {done}")]);
    } else {
        inner.push(step!("try read {h}[1] at {v} -> {good}"));
    }
    inner.push(step!("valid {v} -> {ok}"));
    inner.push(block(format!("if {ok}"), vec![step!("check {good} == 1 else stale-address")]));
    let mut steps = vec![step!("try alloc host.swa 2 -> {h}")];
    steps.extend(given(&[&h], inner));
    steps.push(step!("free {h}[1]"));
    steps
}
