//! Pages that two streams touch at once, given back on the events of both.

use super::{device, given, step};
use crate::hunt::draft::Stmt;
use crate::hunt::workload::Workload;

/// A request that two streams read: it is freed, or its window slides, when the work of both has ended. Host pages are
/// read by two copy streams in the same way.
pub(super) fn several(work: &mut Workload) -> Vec<Stmt> {
    let (p, first, second) = (work.name("a"), work.name("d"), work.name("d"));
    let on = if work.draws.chance(50) { format!("{first}, {second}") } else { format!("{second}, {first}") };
    let device = work.draws.chance(60);
    let bound = device && work.draws.chance(50);
    let pages = work.draws.between(1, if device { work.swarm.device_pages.0 } else { work.swarm.host_pages.0 }.min(2));
    let arena = if device { "device" } else { "host" };
    let mut inner = Vec::new();
    if device {
        device::prefill(&p, bound, &mut inner);
    } else {
        inner.push(step!("write {p}"));
    }
    inner.push(step!("lease acquire {arena}"));
    inner.push(step!("lease acquire {arena}"));
    let ready = work.name("r");
    if device {
        inner.push(step!("compute: record {ready}"));
    }
    for (stream, done) in [("d2h", &first), ("h2d", &second)] {
        if device {
            inner.push(step!("{stream}: wait {ready}"));
        }
        let of = if bound && work.draws.chance(50) { "swa " } else { "" };
        inner.push(step!("{stream}: read {of}{p}"));
        inner.push(step!("{stream}: record {done}"));
    }
    if work.draws.chance(30) {
        // Only one of the two is waited for on the host.
        inner.push(step!("sync {}", work.draws.pick(&[&first, &second])));
    }
    inner.push(step!("lease hand off {first} of {arena}"));
    inner.push(step!("lease hand off {second} of {arena}"));
    if bound && work.draws.chance(50) {
        inner.push(step!("tombstone swa {p} on {on}"));
    }
    if device && work.draws.chance(30) {
        let band = *work.draws.pick(&["full", "swa"]);
        inner.push(step!("compute: flush device.{band} on {on}"));
    }
    let mut steps =
        vec![if device { device::alloc(&p, (pages, bound)) } else { step!("try alloc host.full {pages} -> {p}") }];
    steps.extend(given(&[&p], inner));
    steps.push(step!("free {p} on {on}"));
    steps
}
