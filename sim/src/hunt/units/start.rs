//! What is live when the threads begin: pages of the set-up, with holes between them.

use super::step;
use crate::hunt::workload::Workload;

/// Pages that the set-up leaves live, to be released by a thread.
pub(crate) struct Left {
    /// What can be freed, as an operand.
    pages: String,
}

/// Fills the arenas as far as the swarm says. Returns what must still be released.
pub(crate) fn fill(work: &mut Workload) -> Vec<Left> {
    // Arenas are not whole pages of every band: what does not fit beside the others is left out.
    let mut left = Vec::new();
    let share = |pages: usize| pages * work.swarm.filled / 100;
    let device = (share(work.swarm.device_pages.0), share(work.swarm.device_pages.1));
    let host = (share(work.swarm.host_pages.0), share(work.swarm.host_pages.1));
    if work.draws.chance(30) {
        // Nothing else is live yet: the binding has room.
        work.setup.push(step!("alloc device.full 1 -> v"));
        work.setup.push(step!("bind swa v"));
        work.setup.push(step!("compute: write swa v"));
        left.push(Left { pages: "v".to_owned() });
    }
    if device.0 > 0 {
        let bound = device.0.min(device.1);
        let swa = if bound > 0 { format!(", device.swa {bound}") } else { String::new() };
        work.setup.push(step!("try alloc device.full {}{swa} -> s", device.0));
        work.setup.push(step!("compute: write s"));
        work.setup.push(step!("sync compute"));
        holes(work, "s", device.0, &mut left);
    }
    if host.0 > 0 {
        work.setup.push(step!("try alloc host.full {} -> f", host.0));
        work.setup.push(step!("write f"));
        holes(work, "f", host.0, &mut left);
    }
    if host.1 > 0 {
        work.setup.push(step!("try alloc host.swa {} -> w", host.1));
        work.setup.push(step!("write w"));
        holes(work, "w", host.1, &mut left);
    }
    left
}

/// Frees some of the pages in the set-up and leaves the others.
fn holes(work: &mut Workload, name: &str, count: usize, left: &mut Vec<Left>) {
    for at in 0..count {
        if work.draws.chance(35) {
            work.setup.push(step!("free {name}[{at}]"));
        } else {
            left.push(Left { pages: format!("{name}[{at}]") });
        }
    }
}

/// A thread lets go of what the set-up allocated.
pub(crate) fn release(work: &mut Workload, thread: usize, left: &Left) {
    work.threads[thread].1.push(step!("free {}", left.pages));
}
