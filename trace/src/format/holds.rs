//! Lines about holding pages still, and about moving them.

use super::{Name, Out, Pages, lines};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

lines! {
    /// A lease was asked for, and may have to wait (`lease_ask`); a compaction was asked for, and waits for leases and
    /// events (`compact_ask`); they have ended and completed, and pages move from here on (`compact_begin`).
    Turn {
        /// The arena.
        a: Name,
        /// The holder; the thread, if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        h: Option<u64>,
    }
    /// A lease was granted.
    Lease {
        /// The arena.
        a: Name,
        /// The holder; the thread, if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        h: Option<u64>,
        /// How many leases the holder now holds, nested ones included.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        depth: Option<u32>,
    }
    /// A lease was given back.
    Release {
        /// The arena.
        a: Name,
        /// The holder; the thread, if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        h: Option<u64>,
        /// How many leases the holder still holds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        depth: Option<u32>,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
    }
    /// A lease was given back; the layout stays covered until an event completes.
    HandOff {
        /// The arena.
        a: Name,
        /// The holder; the thread, if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        h: Option<u64>,
        /// The event.
        ev: u64,
        /// One FIFO queue of work: a later event under the same key stands for the earlier ones too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<Name>,
        /// How many leases the holder still holds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        depth: Option<u32>,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
    }
    /// Pages moved, in this order.
    Move {
        /// The band.
        b: Name,
        /// The pages.
        ids: Pages,
        /// Where they were.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Pages>,
        /// Where they are now.
        to: Pages,
        /// The stream that copies the bytes; at once, if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        s: Option<u64>,
        /// The event before whose completion the places that they left must not be reused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ev: Option<u64>,
    }
    /// A compaction ended, or was given up.
    CompactEnd {
        /// The arena.
        a: Name,
        /// The holder; the thread, if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        h: Option<u64>,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
    }
    /// A move gate was closed (`gate_close`) or opened (`gate_open`).
    Gate {
        /// The arena.
        a: Name,
        /// The gate.
        g: Name,
    }
}
