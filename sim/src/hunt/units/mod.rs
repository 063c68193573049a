//! The units that programs are made of, a file for each kind of page that they are about.
//!
//! A unit is what one caller does with pages of its own, from their allocation to their end, and keeps the contract
//! that [`super::workload`] states. Units that need a second thread add their steps to that thread as well.

mod bytes;
mod device;
mod faults;
mod float;
mod hold;
mod host;
mod kept;
mod keys;
mod meet;
mod several;
pub(crate) mod start;
mod transfers;

pub(crate) use faults::{bury, death, patience};
pub(crate) use kept::emptied;
pub(crate) use keys::STORED_UNDER;

use super::draft::Stmt;
use super::swarm::Feature;
use super::workload::Workload;

/// Percentage of programs that carry the canary's broken unit, in a campaign with the canary.
pub(crate) const CANARY_PERCENT: usize = 6;

/// A step.
macro_rules! step {
    ($($arg:tt)*) => { $crate::hunt::draft::Stmt::new(format!($($arg)*)) };
}
pub(crate) use step;

/// A block of steps.
fn block(head: String, steps: Vec<Stmt>) -> Stmt {
    Stmt { text: head, block: steps }
}

/// `if a`, for pages that an allocation may not have given.
fn given(names: &[&str], steps: Vec<Stmt>) -> Option<Stmt> {
    if steps.is_empty() {
        return None;
    }
    names.iter().rev().fold(None, |inner: Option<Stmt>, name| {
        let steps = inner.map_or_else(|| steps.clone(), |inner| vec![inner]);
        Some(block(format!("if {name}"), steps))
    })
}

/// Adds a unit of this feature to a thread.
pub(crate) fn write(work: &mut Workload, feature: Feature, thread: usize) {
    let steps = match feature {
        Feature::Compute => device::compute(work),
        Feature::Window if work.swarm.sink => device::window(work, thread),
        Feature::Backup | Feature::Window => transfers::backup(work, thread),
        Feature::LoadBack => transfers::load_back(work, thread),
        Feature::HostPages => host::pages(work, thread),
        Feature::Pressure => host::pressure(work),
        Feature::Compact => host::compact(work),
        Feature::Storage => host::storage(work, thread),
        Feature::Rdma => transfers::rdma(work, thread),
        Feature::Captured => host::captured(work),
        Feature::Nesting => host::nesting(work),
        Feature::OwnLease => faults::own_lease(work),
        Feature::Capacity => host::capacity(work, thread),
        Feature::Peer => transfers::peer(work, thread),
        Feature::Relay => transfers::relay(work, thread),
        Feature::Float => float::float(work, thread),
        Feature::Several => several::several(work),
        Feature::Share => kept::share(work, thread),
        Feature::Cache => kept::cache(work),
        Feature::Bind => kept::bind(work),
        Feature::Map => bytes::map(work),
        Feature::Partial => bytes::partial(work),
        Feature::Keys => keys::keys(work, thread),
        Feature::Meet => meet::meet(work, thread),
        Feature::Bounded => meet::bounded(work, thread),
        Feature::Recheck => meet::recheck(work, thread),
        Feature::Interrupted => faults::interrupted(work, thread),
        Feature::Faults => faults::refused(work, thread),
    };
    work.threads[thread].1.extend(steps);
}

/// Another thread than this one, if there is one.
fn other(work: &mut Workload, thread: usize) -> usize {
    (thread + work.draws.between(1, work.threads.len().max(2) - 1)) % work.threads.len()
}

/// A unit that breaks the contract now and then: a read of a host page that does not wait for its backup.
pub(crate) fn canary(work: &mut Workload, thread: usize) {
    let steps = faults::canary(work);
    work.threads[thread].1.extend(steps);
}
