//! The device pool against the naive arena: binding, tombstones, frees and moves that pend on events, flushes that
//! respect gates, a sink.

use crate::call::{FLAGS, Kind, call, layout};
use crate::pair::Pair;
use arbitrary::Unstructured;

/// The most calls of a run.
const CALLS: usize = 8;

/// Runs the calls that the bytes stand for.
pub fn run(data: &[u8]) {
    // The bytes ran out: there is nothing more to do.
    let _ = calls(&mut Unstructured::new(data));
}

fn calls(bytes: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let config = layout(bytes, Kind::Pool)?;
    // Two gates, each closed by some of the flags.
    let masks: u8 = bytes.arbitrary()?;
    let masks = vec![u64::from(masks) % (1 << FLAGS), u64::from(masks >> 4) % (1 << FLAGS)];
    let Some(mut pair) = Pair::new(&config, masks) else { return Ok(()) };
    for _ in 0..CALLS {
        let Ok(next) = call(bytes, &pair.model, Kind::Pool) else { break };
        pair.make(next);
    }
    pair.finish();
    Ok(())
}
