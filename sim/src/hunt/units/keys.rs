//! Storage keys that are made of attributes, and pages that consist of several components.

use super::{block, given, other, step};
use crate::hunt::draft::Stmt;
use crate::hunt::workload::Workload;

/// The attribute that a design stores pages under if it does not name everything.
pub(crate) const STORED_UNDER: &str = "tokens";

/// Two pages whose keys differ in an attribute that is easily forgotten, or only in its name; or a page of two
/// components, which another thread fetches as soon as both are there.
pub(super) fn keys(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    if work.draws.chance(40) {
        return components(work, thread);
    }
    let (h, g, hit) = (work.name("h"), work.name("g"), work.name("q"));
    let (one, two, tokens) = (work.name("k"), work.name("k"), work.name("t"));
    let (first, second) = *work.draws.pick(&[
        ("adapter x", "salt x"),
        ("dtype bf16", "dtype fp8"),
        ("rank 0", "rank 1"),
        ("salt y", "adapter y"),
    ]);
    let mut inner = vec![
        step!("write {h}"),
        step!("key {one} of {h}[0] with tokens {tokens}, {first}"),
        step!("key {two} of {h}[1] with tokens {tokens}, {second}"),
        step!("store {h}[0] as {one}"),
    ];
    if work.draws.chance(50) {
        inner.push(step!("store {h}[1] as {two}"));
    }
    inner.push(step!("lookup {two} -> {hit}"));
    inner.push(step!("try alloc host.full 1 -> {g}"));
    let fetched = vec![step!("fetch {two} -> {g}"), step!("read {g}")];
    inner.extend(given(&[&g], vec![block(format!("if {hit}"), fetched)]));
    inner.push(step!("free {g}"));
    let mut steps = vec![step!("try alloc host.full 2 -> {h}")];
    steps.extend(given(&[&h], inner));
    steps.push(step!("free {h}"));
    steps
}

fn components(work: &mut Workload, thread: usize) -> Vec<Stmt> {
    let reader = other(work, thread);
    let (h, i, b, j) = (work.name("h"), work.name("i"), work.name("b"), work.name("j"));
    let (key, index, hit, go) = (work.name("k"), work.name("k"), work.name("q"), work.name("go"));
    let inner =
        vec![step!("write {h}"), step!("write {i}"), step!("store {h} as {key}"), step!("store {i} as {index}")];
    let mut steps = vec![step!("set {go}"), step!("try alloc host.full 1, host.swa 1 -> {h}, {i}")];
    steps.extend(given(&[&h], inner));
    steps.extend([step!("free {h}"), step!("free {i}")]);
    let fetched =
        vec![step!("fetch {key} -> {b}"), step!("fetch {index} -> {j}"), step!("read {b}"), step!("read {j}")];
    let theirs = &mut work.threads[reader].1;
    theirs.extend([step!("await {go}"), step!("try alloc host.full 1, host.swa 1 -> {b}, {j}")]);
    let looked = vec![step!("lookup {key}, {index} -> {hit}"), block(format!("if {hit}"), fetched)];
    theirs.extend(given(&[&b], looked));
    theirs.extend([step!("free {b}"), step!("free {j}")]);
    steps
}
