//! Sequences of calls against the naive arena: every layout, both planners, every reuse policy, real bytes.

use crate::call::{Kind, call, layout};
use crate::pair::Pair;
use arbitrary::Unstructured;

/// The most calls of a run.
const CALLS: usize = 6;

/// Runs the calls that the bytes stand for.
pub fn run(data: &[u8]) {
    // The bytes ran out: there is nothing more to do.
    let _ = calls(&mut Unstructured::new(data));
}

fn calls(bytes: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let Some(mut pair) = Pair::new(&layout(bytes, Kind::Arena)?, Vec::new()) else { return Ok(()) };
    for _ in 0..CALLS {
        let Ok(next) = call(bytes, &pair.model, Kind::Arena) else { break };
        pair.make(next);
    }
    pair.finish();
    Ok(())
}
