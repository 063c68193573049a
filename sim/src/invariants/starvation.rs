//! No new lease is granted after a waiting compaction has asked: it would never get its turn.

use super::{Code, Violation};
use crate::program::Program;
use leasecheck_core::HolderId;

pub(crate) fn granted(program: &Program, holder: HolderId) -> Violation {
    let name = &program.agents[holder.0 as usize].name;
    let message = format!("a lease is granted to {name}, who held none, while a compaction waits for leases to end");
    Violation::new(Code::Starvation, message)
}
