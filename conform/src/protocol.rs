//! What is said to a driver and what it answers, one JSON object a line. `docs/conform.md` is the same in words.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The version of the protocol, and of the files that replay.
pub const PROTOCOL: u32 = 1;

/// Which end a band grows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// From byte 0 upwards.
    Up,
    /// From the top downwards.
    Down,
}

/// One band of a layout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Band {
    /// Its name in requests.
    pub name: String,
    /// Bytes of one page.
    pub envelope: u64,
    /// Tokens of one page.
    pub page_tokens: u32,
    /// The end from which it grows.
    pub grow: End,
}

/// One arena.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// Bytes shared by the bands.
    pub bytes: u64,
    /// The bands.
    pub bands: Vec<Band>,
    /// Whether it is a device pool: page 0 of every band is the sink, and every band but the first binds pages for the
    /// ids of the first.
    #[serde(default, skip_serializing_if = "is_false")]
    pub device: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// What a driver says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// What it drives, with its version.
    pub name: String,
    /// The only layout that it has; otherwise every layout is drawn.
    #[serde(default)]
    pub layout: Option<Layout>,
    /// Whether it drives a device pool.
    #[serde(default)]
    pub device: bool,
    /// Whether operations run in named threads and may wait for each other; otherwise there is one thread, without
    /// leases.
    #[serde(default)]
    pub threads: bool,
    /// Whether leases can be handed off to events.
    #[serde(default)]
    pub events: bool,
    /// Whether it is a device pool that moves pages when room is needed: it has flushes, a move gate, and forwards.
    #[serde(default)]
    pub flushes: bool,
    /// Whether the implementation trusts its callers: wrong sizes, ids and bands are not drawn.
    #[serde(default)]
    pub trusting: bool,
    /// Whether the implementation chooses ids by its own order: any free id is right.
    #[serde(default)]
    pub own_ids: bool,
    /// Whether the implementation chooses physical pages by its own order: any place that overlaps nothing is right.
    #[serde(default)]
    pub own_places: bool,
}

/// What is asked: an operation of one thread, or something that happens to an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Call {
    /// Throw everything away and start with an empty arena.
    Reset {
        /// Its layout.
        layout: Layout,
    },
    /// Allocate for all requests or for none.
    Alloc {
        /// Band and tokens of each.
        requests: Vec<(String, i64)>,
        /// The byte that the driver writes all over every page that it gets, as content to be recognised later.
        stamp: u8,
    },
    /// Give pages back.
    Free {
        /// The band.
        band: String,
        /// Their tokens.
        tokens: Vec<i64>,
    },
    /// Release the pages that a band has bound for these ids; ids and other bands' pages stay.
    Unbind {
        /// The band.
        band: String,
        /// Tokens of the ids.
        tokens: Vec<i64>,
    },
    /// Give every page of a band back.
    Clear {
        /// The band.
        band: String,
    },
    /// Ask whether requests would fit, and others after them.
    Fits {
        /// The first requests.
        first: Vec<(String, i64)>,
        /// Those that follow.
        then: Vec<(String, i64)>,
        /// Ask about an empty arena of the same layout instead.
        empty: bool,
    },
    /// Ask where tokens are now.
    Translate {
        /// The band.
        band: String,
        /// The tokens.
        tokens: Vec<i64>,
    },
    /// Move pages together where that is possible without waiting, as between two forwards.
    Flush,
    /// The move gate closes or opens: while it is closed, no page moves.
    Gate {
        /// Whether it is closed.
        closed: bool,
    },
    /// A forward is launched. Until its event completes it reads every page that is live, and writes some.
    Forward {
        /// Its event.
        event: u32,
        /// Tokens that it writes, in the first band and those that bind its ids.
        tokens: Vec<i64>,
    },
    /// Take a lease.
    Acquire,
    /// Give a lease back.
    Release {
        /// The event that it is handed off to.
        event: Option<u32>,
        /// The queue that the event belongs to: a later event of the same queue stands for the earlier ones.
        key: Option<String>,
    },
    /// The event completes.
    Complete {
        /// The event.
        event: u32,
    },
    /// Asking whether the event has completed fails from now on, or works again.
    QueryFails {
        /// The event.
        event: u32,
        /// Whether it fails.
        on: bool,
    },
    /// Waiting for the event fails from now on, or works again.
    SyncFails {
        /// The event.
        event: u32,
        /// Whether it fails.
        on: bool,
    },
}

/// Every operation, by the `op` of its line.
pub const OPS: [&str; 15] = [
    "reset",
    "alloc",
    "free",
    "unbind",
    "clear",
    "fits",
    "translate",
    "flush",
    "gate",
    "forward",
    "acquire",
    "release",
    "complete",
    "query-fails",
    "sync-fails",
];

impl Call {
    /// The `op` of the line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Call::Reset { .. } => "reset",
            Call::Alloc { .. } => "alloc",
            Call::Free { .. } => "free",
            Call::Unbind { .. } => "unbind",
            Call::Clear { .. } => "clear",
            Call::Fits { .. } => "fits",
            Call::Translate { .. } => "translate",
            Call::Flush => "flush",
            Call::Gate { .. } => "gate",
            Call::Forward { .. } => "forward",
            Call::Acquire => "acquire",
            Call::Release { .. } => "release",
            Call::Complete { .. } => "complete",
            Call::QueryFails { .. } => "query-fails",
            Call::SyncFails { .. } => "sync-fails",
        }
    }
}

/// One line to the driver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The thread that does it; none for what happens to events.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// What is done.
    #[serde(flatten)]
    pub call: Call,
}

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Done, with its result.
    Ok(Value),
    /// The request does not fit.
    Refused,
    /// The thread waits; the outcome comes with a later answer, in `finished`.
    Waits,
    /// An error.
    Error(Fault),
}

/// An error, by a code that both sides know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// `bad-size`, `no-such-band`, `bad-pages`, `own-lease`, `not-held`, `event-failed`, or whatever else the
    /// implementation raised.
    pub code: String,
    /// For people; not compared.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl Outcome {
    pub(crate) fn error(code: &str) -> Outcome {
        Outcome::Error(Fault { code: code.into(), message: String::new() })
    }
}

/// An operation that waited, and ended because of this step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Finished {
    /// Its thread.
    pub thread: String,
    /// How it ended.
    pub result: Outcome,
}

/// One band as it is now. What an implementation cannot tell is left out, and not compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BandState {
    /// Live pages: id, physical page, and the byte that fills it (−1 if it is not filled with one byte).
    pub pages: Vec<(i64, i64, i32)>,
    /// Ids that can be handed out, as ranges `[from, to)`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free: Option<Vec<(i64, i64)>>,
    /// Free physical pages inside the watermark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holes: Option<Vec<i64>>,
    /// Physical pages that moves have left and that wait for an event before they are used again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Vec<i64>>,
    /// First page not consumed of a band that grows up, last page not consumed of one that grows down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watermark: Option<i64>,
    /// Tokens that could be allocated, moving pages if need be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available: Option<i64>,
}

/// Everything that can be observed after a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// By band.
    pub bands: BTreeMap<String, BandState>,
    /// Bytes of no live page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_bytes: Option<i64>,
    /// Thread → leases that it holds, nested ones counted; threads without one are left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leases: Option<BTreeMap<String, i64>>,
    /// Events that cover the layout and have not completed, in ascending order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<u32>>,
    /// Threads whose operation waits, in the order in which they began to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<Vec<String>>,
}

/// One line from the driver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// How the operation ended.
    pub result: Outcome,
    /// Operations that waited and ended now, in the order in which they ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub finished: Vec<Finished>,
    /// What can be observed afterwards.
    pub state: State,
}
