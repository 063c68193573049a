//! What bytes are there at all: pages that are unmapped for a while, and pages that are written in part.

use super::{given, step};
use crate::hunt::draft::Stmt;
use crate::hunt::workload::Workload;

/// Host pages whose bytes are unmapped and mapped again, at once or in two goes, while something keeps them in place.
pub(super) fn map(work: &mut Workload) -> Vec<Stmt> {
    let (h, pages) = (work.name("h"), work.draws.between(1, 2));
    let (hold, let_go) = match work.draws.below(2) {
        0 => (step!("lease acquire host"), step!("lease release host")),
        _ => (step!("pin {h}"), step!("unpin {h}")),
    };
    let mut inner = vec![step!("write {h}"), hold, step!("unmap {h}")];
    if work.draws.chance(40) {
        // A mapping that fails half-way is made again.
        inner.push(step!("map {h} only {}", work.draws.below(pages)));
    }
    inner.extend([step!("map {h}"), step!("write {h}"), step!("read {h}"), let_go]);
    let mut steps = vec![step!("try alloc host.full {pages} -> {h}")];
    steps.extend(given(&[&h], inner));
    steps.push(step!("free {h}"));
    steps
}

/// Host pages of which only the first tokens are written, and which are read as a whole. The arena zeroes pages when it
/// hands them out, and they have several tokens.
pub(super) fn partial(work: &mut Workload) -> Vec<Stmt> {
    let h = work.name("h");
    let band = *work.draws.pick(&["full", "full", "swa"]);
    let (pages, tokens) = (work.draws.between(1, 2), work.draws.between(1, work.swarm.page_tokens - 1));
    let mut inner = vec![step!("write {h} {tokens} tokens")];
    for _ in 0..work.draws.between(1, 2) {
        inner.push(match work.draws.below(4) {
            0 => step!("read {h} {tokens} tokens"),
            _ => step!("read {h}"),
        });
    }
    if work.draws.chance(30) {
        inner.extend([step!("write {h}"), step!("read {h}")]);
    }
    let mut steps = vec![step!("try alloc host.{band} {pages} -> {h}")];
    steps.extend(given(&[&h], inner));
    steps.push(step!("free {h}"));
    steps
}
