//! An execution as text: one column for each thread, one row for each operation.

use crate::ledger::{Deed, Execution};
use leasecheck_core::shell::{Did, Wait};
use std::fmt::Write as _;

/// What happened, in the order in which it took effect.
#[must_use]
pub fn render(execution: &Execution) -> String {
    let cells: Vec<(usize, String)> =
        execution.entries[execution.setup..].iter().map(|entry| (entry.lane, words(entry.deed))).collect();
    let width = |lane: usize, name: &str| {
        let widest = cells.iter().filter(|(at, _)| *at == lane).map(|(_, text)| text.chars().count()).max();
        widest.unwrap_or(0).max(name.len()) + 2
    };
    let widths: Vec<usize> = execution.lanes.iter().enumerate().map(|(at, lane)| width(at, lane.name)).collect();
    let mut out = String::from("  step");
    for (lane, width) in execution.lanes.iter().zip(&widths) {
        let _ = write!(out, "  {:<width$}", lane.name);
    }
    for (step, (lane, text)) in cells.iter().enumerate() {
        let before: usize = widths[..*lane].iter().map(|width| width + 2).sum();
        out.truncate(out.trim_end().len());
        let _ = write!(out, "\n  {:>4}  {:before$}{text}", step + 1, "");
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// A deed in a few words.
fn words(deed: Deed) -> String {
    match deed {
        Deed::Shell(_, did) => did_words(did),
        Deed::Read(page) => format!("read page {page}"),
        Deed::Write(page) => format!("write page {page}"),
        Deed::Says(what) => what.to_owned(),
    }
}

fn did_words(did: Did) -> String {
    match did {
        Did::Slept(Wait::Lease) => "lease: waits".to_owned(),
        Did::Slept(Wait::Move) => "move pages: waits".to_owned(),
        Did::Slept(Wait::Destroy) => "destroy: waits".to_owned(),
        Did::Leased(1) => "lease".to_owned(),
        Did::Leased(depth) => format!("lease, depth {depth}"),
        Did::Released(0) => "release".to_owned(),
        Did::Released(depth) => format!("release, depth {depth}"),
        Did::HandedOff(event) => format!("hand off to event {event}"),
        Did::Allocated(pages) => format!("allocate {pages}"),
        Did::Denied => "denied".to_owned(),
        Did::Freed(pages) => format!("free {pages}"),
        Did::Moved(pages) => format!("move {pages} pages"),
        Did::BrokeOff(pages) => format!("break off after {pages} moves"),
        Did::Cleared => "clear".to_owned(),
        Did::Closing => "destroy: asks".to_owned(),
        Did::Destroyed => "destroy".to_owned(),
        Did::Completed(event) => format!("event {event} completes"),
        Did::EventFailed(event) => format!("event {event} fails"),
        Did::EventLost(event) => format!("event {event} is lost"),
        Did::QueryFailed(event) => format!("query of event {event} fails"),
    }
}
