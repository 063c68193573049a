//! The lease table against the naive one.

use crate::lease_call::{Pair, call};
use arbitrary::Unstructured;

/// The most calls of a run.
const CALLS: usize = 96;

/// Runs the calls that the bytes stand for.
pub fn run(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    let mut pair = Pair::default();
    for _ in 0..CALLS {
        let Ok(next) = call(&mut bytes) else { break };
        pair.make(&next);
    }
}
