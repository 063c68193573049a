//! The trace format: one JSON object a line. `docs/trace-format.md` is its documentation for people, the JSON Schema
//! that [`schema`] generates from these types is the one for programs.
//!
//! A line's kind is its key `k`. It stands first, so that a reader knows what follows; a line in which it does not is
//! read all the same, more slowly. Kinds are grouped by topic, one file each. Everything optional is *unknown* when it is left out, never wrong.

mod header;
mod holds;
mod line;
mod memory;
mod order;
mod pages;
mod plain;
mod words;

pub use header::{ArenaDef, BandDef, Design, Grow, Header, Recorded};
pub use holds::{CompactEnd, Gate, HandOff, Lease, Move, Release, Turn};
pub use memory::{Complete, Copy, HostRead, MemAlloc, MemFree, Post, ReadWrite, StoreFetch, Transfer, TransferEnd};
pub use order::{
    Done, End, Fresh, Observe, Query, Record, Run, Signal, Stream, Sync, SyncDevice, SyncStream, Thread, Wait,
};
pub use pages::{Admit, Alloc, Available, Clear, Empty, FreeBytes, GiveBack, Pinned, Placed, State};
pub use plain::event;
pub use words::{Access, Direction, Out, Role, Space};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::fmt;
use words::is_false;

/// The version that this program reads.
pub const VERSION: u32 = 1;

/// A name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Name(#[schemars(with = "String")] pub SmolStr);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<&str> for Name {
    fn from(name: &str) -> Name {
        Name(name.into())
    }
}

/// Page ids or page numbers.
pub type Pages = SmallVec<[u32; 8]>;

/// Places in memory: pages, or pairs of a first byte and one past the last.
pub type Places = SmallVec<[u64; 4]>;

/// Bands, one for each request of a call.
pub type Bands = SmallVec<[Name; 2]>;

/// Kinds of lines: each is a type with the keys that it has beside its thread and its time.
macro_rules! lines {
    ($(
        $(#[doc = $doc:literal])+
        $kind:ident {
            $($(#[$attribute:meta])+ $field:ident: $type:ty,)*
        }
    )+) => {
        $(
            $(#[doc = $doc])+
            #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
            #[serde(deny_unknown_fields)]
            pub struct $kind {
                /// The thread that did it.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub th: Option<u64>,
                /// When, in nanoseconds since any fixed moment. For reports only: the order of lines is what counts.
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub t: Option<u64>,
                $(
                    $(#[$attribute])+
                    pub $field: $type,
                )*
            }
        )+
    };
}
use lines;

/// The type of a kind: the one of the same name, unless several kinds have the same keys.
macro_rules! type_of {
    ($kind:ident) => {
        $kind
    };
    ($kind:ident $type:ident) => {
        $type
    };
}

/// Every kind with its name, and its type in parentheses where that has another name.
macro_rules! kinds {
    ($($kind:ident $(($type:ident))? = $name:literal,)+) => {
        /// One line after the header.
        #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
        #[serde(tag = "k")]
        #[schemars(title = "a line after the first")]
        #[expect(missing_docs, reason = "the types say what they are")]
        pub enum Event {
            $(#[serde(rename = $name)] $kind(type_of!($kind $($type)?)),)+
        }

        impl Event {
            /// The names of all kinds.
            pub const KINDS: &'static [&'static str] = &[$($name,)+];

            /// The name of this line's kind.
            #[must_use]
            pub fn kind(&self) -> &'static str {
                match self { $(Event::$kind(_) => $name,)+ }
            }

            /// The thread that did it, if known.
            #[must_use]
            pub fn thread(&self) -> Option<u64> {
                match self { $(Event::$kind(event) => event.th,)+ }
            }

            fn read<'de, D: Deserializer<'de>>(kind: &str, fields: D) -> Result<Event, D::Error> {
                match kind {
                    $($name => <type_of!($kind $($type)?)>::deserialize(fields).map(Event::$kind),)+
                    other => Err(serde::de::Error::custom(line::unknown(other))),
                }
            }
        }
    };
}

kinds! {
    Thread = "thread",
    Stream = "stream",
    Alloc = "alloc",
    Free(GiveBack) = "free",
    Clear = "clear",
    Bind(Placed) = "bind",
    Tombstone(GiveBack) = "tombstone",
    Admit = "admit",
    Available = "available",
    FreeBytes = "free_bytes",
    State = "state",
    Empty = "empty",
    Translate(Placed) = "translate",
    LeaseAsk(Turn) = "lease_ask",
    Lease = "lease",
    Release = "release",
    HandOff = "hand_off",
    CompactAsk(Turn) = "compact_ask",
    CompactBegin(Turn) = "compact_begin",
    Move = "move",
    CompactEnd = "compact_end",
    GateClose(Gate) = "gate_close",
    GateOpen(Gate) = "gate_open",
    Pin(Pinned) = "pin",
    Unpin(Pinned) = "unpin",
    MemAlloc = "mem_alloc",
    MemFree = "mem_free",
    Read(ReadWrite) = "read",
    Write(ReadWrite) = "write",
    Copy = "copy",
    HostRead = "host_read",
    Run = "run",
    Record = "record",
    Fresh = "fresh",
    Wait = "wait",
    Query = "query",
    Sync = "sync",
    SyncStream = "sync_stream",
    SyncDevice = "sync_device",
    Done = "done",
    Signal = "signal",
    Observe = "observe",
    Transfer = "transfer",
    TransferEnd = "transfer_end",
    Store(StoreFetch) = "store",
    Fetch(StoreFetch) = "fetch",
    Post = "post",
    Complete = "complete",
    End = "end",
}

/// The JSON Schema of a line: the first one is a [`Header`], all others are [`Event`]s.
#[must_use]
pub fn schema() -> serde_json::Value {
    #[derive(JsonSchema)]
    #[schemars(title = "a line of a leasecheck trace", untagged)]
    #[expect(dead_code, clippy::large_enum_variant, reason = "only its schema is used")]
    enum Line {
        Header(Header),
        Event(Event),
    }
    schemars::schema_for!(Line).to_value()
}
