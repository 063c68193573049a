//! Lines about pages: allocate, free, bind, look up, ask.

use super::{Bands, Name, Out, Pages, is_false, lines};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

lines! {
    /// Pages were asked for: of several bands, all or none.
    Alloc {
        /// The band of each request.
        b: Bands,
        /// The pages of each request.
        n: Pages,
        /// The ids that were handed out, of all requests, in order.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ids: Option<Pages>,
        /// The physical pages of `ids`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Pages>,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
        /// What was raised.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        err: Option<String>,
    }
    /// Pages were given back: with their ids (`free`), or those that a device band had bound, whose ids stay
    /// (`tombstone`).
    GiveBack {
        /// The band.
        b: Name,
        /// The ids.
        ids: Pages,
        /// The event before whose completion the bytes must not be reused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ev: Option<u64>,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
        /// What was raised.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        err: Option<String>,
    }
    /// All pages of a band were given back.
    Clear {
        /// The band.
        b: Name,
    }
    /// Somebody asked whether a request would fit.
    Admit {
        /// The band of each request.
        b: Bands,
        /// The pages of each request.
        n: Pages,
        /// Whether an empty arena was asked about.
        #[serde(default, skip_serializing_if = "is_false")]
        empty: bool,
        /// The answer.
        res: bool,
    }
    /// Somebody asked how many pages of a band could be had.
    Available {
        /// The band.
        b: Name,
        /// The answer, in pages.
        res: u64,
    }
    /// Somebody asked how many bytes are free, holes included.
    FreeBytes {
        /// The arena.
        a: Name,
        /// The answer, in bytes.
        res: u64,
    }
    /// The state of a band, as its owner counts it.
    State {
        /// The band.
        b: Name,
        /// Live pages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        live: Option<u32>,
        /// Free pages inside the watermark.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holes: Option<u32>,
        /// Pages that wait for an event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pending: Option<u32>,
        /// The watermark: the first page not consumed of a band that grows up, the last page not consumed of one that
        /// grows down (−1 when all are).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wm: Option<i64>,
    }
    /// The producer states that no page of the band is live: those that are have leaked.
    Empty {
        /// The band.
        b: Name,
    }
    /// Ids have physical pages: bound to them by a device band (`bind`), or looked up (`translate`).
    Placed {
        /// The band.
        b: Name,
        /// The ids.
        ids: Pages,
        /// Their physical pages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Pages>,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
        /// What was raised.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        err: Option<String>,
    }
    /// Pages were pinned (`pin`): they must not move until the pin is taken off (`unpin`).
    Pinned {
        /// The band.
        b: Name,
        /// The pages.
        ids: Pages,
    }
}
