//! The trace format: one JSON object a line. `docs/trace-format.md` is its documentation for people, the JSON Schema
//! that [`schema`] generates from these types is the one for programs.
//!
//! A line's kind is its key `k`. It stands first, so that a reader knows what follows; a line in which it does not is
//! read all the same, more slowly. Everything optional is *unknown* when it is left out, never wrong.

use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;
use smol_str::SmolStr;
use std::fmt;

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

/// One byte range, with or without bands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArenaDef {
    /// Its name in this trace.
    pub name: Name,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its bands. Memory without bands is accessed by byte ranges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<BandDef>,
    /// Whether physical page 0 of every band is the sink: reserved, never live.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sink: bool,
    /// The design that its results are compared with, step by step. Left out: only the invariants are checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub design: Option<Design>,
    /// What its bytes are.
    #[serde(default, skip_serializing_if = "Role::is_data")]
    pub role: Role,
}

/// A design that core knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Design {
    /// The shared host arena of SGLang 0.5.23 (`_SharedPageEnvelopeHostBacking`): compactions keep the order of pages.
    #[serde(rename = "sglang-0.5.23")]
    Sglang0523,
    /// The design of leasecheck: compactions move as few pages as possible.
    #[serde(rename = "leasecheck")]
    Leasecheck,
}

/// What the bytes of an arena are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Payload.
    #[default]
    Data,
    /// Indices that a producer computes and consumers read: a read that comes too early is a `stale-index`.
    Index,
}

impl Role {
    fn is_data(&self) -> bool {
        *self == Role::Data
    }
}

/// One kind of page of an arena.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BandDef {
    /// Its name in this trace.
    pub name: Name,
    /// Bytes of one page, all layers together.
    pub envelope: u64,
    /// Tokens of one page.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub page_tokens: u32,
    /// The end from which it grows. Left out: unknown, or a float band.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grow: Option<Grow>,
    /// The band whose ids it binds. Left out: it has its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ids_of: Option<Name>,
    /// The kernel multiplier: kernel-facing index = physical page × multiplier.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub multiplier: u32,
}

/// The end from which a band grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Grow {
    /// From byte 0 upwards.
    Up,
    /// From the top downwards.
    Down,
}

/// What a producer records without exception, from the first line on. Absence of these lines means that nothing
/// happened; absence of others means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Recorded {
    /// Everything that changes which page is where: `alloc`, `free`, `clear`, `bind`, `tombstone`, `move`. All arenas
    /// were empty at the first line.
    Pages,
    /// Everything that holds pages still: leases, hand-overs and their events' completion, gates, pins, and who
    /// compacts.
    Leases,
    /// Everything that orders: `record`, `wait`, `query`, `sync*`, `host_read`, `signal`, `observe`, `complete`, and
    /// on which stream work was queued.
    Order,
    /// All writes to the memory that the trace reads.
    Writes,
    /// The copies of each transfer.
    Copies,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Out {
    /// As asked.
    #[default]
    Ok,
    /// It was refused, as the interface foresees.
    Refused,
    /// It raised an exception.
    Raised,
}

impl Out {
    fn is_ok(&self) -> bool {
        *self == Out::Ok
    }
}

/// What a transfer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Device to host.
    Backup,
    /// Host to device.
    Load,
    /// Host to storage.
    Store,
    /// Storage to host.
    Fetch,
    /// To a peer.
    Send,
}

/// The id space of the numbers in `at`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Space {
    /// Physical pages.
    #[default]
    Page,
    /// Kernel-facing indices: physical page × kernel multiplier.
    Kernel,
    /// Token indices: physical page × page tokens + offset; every token of a page is named.
    Token,
}

impl Space {
    fn is_page(&self) -> bool {
        *self == Space::Page
    }
}

/// Whether an RDMA operation reads or writes our memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// It reads.
    #[default]
    Read,
    /// It writes.
    Write,
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

macro_rules! kinds {
    ($(
        $(#[doc = $doc:literal])+
        $kind:ident = $name:literal {
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

        /// One line after the header.
        #[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
        #[serde(tag = "k")]
        #[schemars(title = "a line after the first")]
        pub enum Event {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $kind($kind),)+
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
                    $($name => $kind::deserialize(fields).map(Event::$kind),)+
                    other => Err(D::Error::custom(unknown(other))),
                }
            }
        }
    };
}

kinds! {
    /// Names a thread, for reports.
    Thread = "thread" {
        /// Its name.
        name: Name,
    }
    /// Names a stream or an RDMA queue, for reports.
    Stream = "stream" {
        /// The stream.
        s: u64,
        /// Its name.
        name: Name,
    }
    /// Pages were asked for: of several bands, all or none.
    Alloc = "alloc" {
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
    /// Pages were given back.
    Free = "free" {
        /// The band.
        b: Name,
        /// The pages.
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
    Clear = "clear" {
        /// The band.
        b: Name,
    }
    /// A device band bound pages to ids that another band allocated.
    Bind = "bind" {
        /// The band.
        b: Name,
        /// The ids.
        ids: Pages,
        /// The physical pages of `ids`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Pages>,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
    }
    /// A device band released the pages of ids; the ids stay.
    Tombstone = "tombstone" {
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
    }
    /// Somebody asked whether a request would fit.
    Admit = "admit" {
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
    Available = "available" {
        /// The band.
        b: Name,
        /// The answer, in pages.
        res: u64,
    }
    /// Somebody asked how many bytes are free, holes included.
    FreeBytes = "free_bytes" {
        /// The arena.
        a: Name,
        /// The answer, in bytes.
        res: u64,
    }
    /// The state of a band, as its owner counts it.
    State = "state" {
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
    Empty = "empty" {
        /// The band.
        b: Name,
    }
    /// Ids were looked up.
    Translate = "translate" {
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
    /// A lease was asked for, and may have to wait.
    LeaseAsk = "lease_ask" {
        /// The arena.
        a: Name,
        /// The holder; the thread, if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        h: Option<u64>,
    }
    /// A lease was granted.
    Lease = "lease" {
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
    Release = "release" {
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
    HandOff = "hand_off" {
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
    /// A compaction was asked for: from here on it waits for leases and events.
    CompactAsk = "compact_ask" {
        /// The arena.
        a: Name,
        /// The holder; the thread, if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        h: Option<u64>,
    }
    /// Leases have ended and events have completed: pages move from here on.
    CompactBegin = "compact_begin" {
        /// The arena.
        a: Name,
        /// The holder; the thread, if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        h: Option<u64>,
    }
    /// Pages moved, in this order.
    Move = "move" {
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
    CompactEnd = "compact_end" {
        /// The arena.
        a: Name,
        /// The holder; the thread, if left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        h: Option<u64>,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
    }
    /// A move gate was closed.
    GateClose = "gate_close" {
        /// The arena.
        a: Name,
        /// The gate.
        g: Name,
    }
    /// A move gate was opened.
    GateOpen = "gate_open" {
        /// The arena.
        a: Name,
        /// The gate.
        g: Name,
    }
    /// Pages were pinned: they must not move.
    Pin = "pin" {
        /// The band.
        b: Name,
        /// The pages.
        ids: Pages,
    }
    /// A pin was taken off pages.
    Unpin = "unpin" {
        /// The band.
        b: Name,
        /// The pages.
        ids: Pages,
    }
    /// Memory without bands was handed out.
    MemAlloc = "mem_alloc" {
        /// The arena.
        a: Name,
        /// First byte.
        lo: u64,
        /// One past the last byte.
        hi: u64,
        /// What the bytes are.
        #[serde(default, skip_serializing_if = "Role::is_data")]
        role: Role,
    }
    /// Memory without bands was given back.
    MemFree = "mem_free" {
        /// The arena.
        a: Name,
        /// First byte.
        lo: u64,
        /// One past the last byte.
        hi: u64,
    }
    /// Memory is read: by work queued on a stream, or by the thread itself at once.
    Read = "read" {
        /// The stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        s: Option<u64>,
        /// A band (`at` are pages) or an arena (`at` are pairs of first byte and one past the last).
        #[serde(rename = "in")]
        r#in: Name,
        /// Where. Left out: where `ids` are now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Places>,
        /// The pages that are meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ids: Option<Pages>,
        /// The id space of `at`.
        #[serde(default, skip_serializing_if = "Space::is_page")]
        sp: Space,
        /// The operation, for `run`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        x: Option<u64>,
        /// Checksums of what was found, one for each page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sum: Option<Places>,
    }
    /// Memory is written: by work queued on a stream, or by the thread itself at once.
    Write = "write" {
        /// The stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        s: Option<u64>,
        /// A band (`at` are pages) or an arena (`at` are pairs of first byte and one past the last).
        #[serde(rename = "in")]
        r#in: Name,
        /// Where. Left out: where `ids` are now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Places>,
        /// The pages that are meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ids: Option<Pages>,
        /// The id space of `at`.
        #[serde(default, skip_serializing_if = "Space::is_page")]
        sp: Space,
        /// The operation, for `run`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        x: Option<u64>,
        /// Checksums of what was written, one for each page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sum: Option<Places>,
    }
    /// Bytes are copied: by work queued on a stream, or by the thread itself at once.
    Copy = "copy" {
        /// The stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        s: Option<u64>,
        /// The source: a band or an arena, as in `read`.
        src: Name,
        /// Where in the source. Left out: where `sids` are now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sat: Option<Places>,
        /// The pages that are meant in the source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sids: Option<Pages>,
        /// The destination: a band or an arena, as in `write`.
        dst: Name,
        /// Where in the destination. Left out: where `dids` are now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dat: Option<Places>,
        /// The pages that are meant in the destination.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dids: Option<Pages>,
        /// The transfer or operation that it is part of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        x: Option<u64>,
    }
    /// The thread waits until a stream has read memory: ordered behind that stream only.
    HostRead = "host_read" {
        /// The stream.
        s: u64,
        /// A band or an arena, as in `read`.
        #[serde(rename = "in")]
        r#in: Name,
        /// Where. Left out: where `ids` are now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Places>,
        /// The pages that are meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ids: Option<Pages>,
    }
    /// A queued operation ran.
    Run = "run" {
        /// The operation.
        x: u64,
    }
    /// An event was recorded on a stream.
    Record = "record" {
        /// The event.
        ev: u64,
        /// The stream.
        s: u64,
    }
    /// The number of an event stands for a new event from here on: records under it are forgotten.
    Fresh = "fresh" {
        /// The event.
        ev: u64,
    }
    /// A stream was made to wait for the event's last record.
    Wait = "wait" {
        /// The event.
        ev: u64,
        /// The stream that waits.
        s: u64,
    }
    /// Somebody asked whether an event has completed.
    Query = "query" {
        /// The event.
        ev: u64,
        /// The answer. Left out: it raised.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        res: Option<bool>,
    }
    /// A thread has waited until an event completed.
    Sync = "sync" {
        /// The event.
        ev: u64,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
    }
    /// A thread has waited until a stream had done all that it was given.
    SyncStream = "sync_stream" {
        /// The stream.
        s: u64,
    }
    /// A thread has waited until all streams had done all that they were given.
    SyncDevice = "sync_device" {}
    /// An event completed, as the producer of the trace noticed; no thread learned of it by this.
    Done = "done" {
        /// The event.
        ev: u64,
    }
    /// What the thread (or the stream, when it gets there) did before comes before what follows an `observe` of it: a
    /// lock given back, an item put into a queue, a flag raised, a thread started.
    Signal = "signal" {
        /// What is signalled.
        o: u64,
        /// The stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        s: Option<u64>,
    }
    /// The other end of `signal`: a lock taken, an item taken from a queue, a flag seen, a thread joined.
    Observe = "observe" {
        /// What is observed.
        o: u64,
        /// The stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        s: Option<u64>,
    }
    /// A transfer was submitted.
    Transfer = "transfer" {
        /// The transfer.
        x: u64,
        /// What it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dir: Option<Direction>,
        /// Where from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        src: Option<Name>,
        /// Where to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        dst: Option<Name>,
        /// Bytes that it is to move.
        bytes: u64,
    }
    /// A transfer reported its end.
    TransferEnd = "transfer_end" {
        /// The transfer.
        x: u64,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
    }
    /// A storage thread writes pages under keys.
    Store = "store" {
        /// The band.
        b: Name,
        /// The keys.
        keys: Vec<Name>,
        /// The pages that are meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ids: Option<Pages>,
        /// Where it reads. Left out: where `ids` are now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Places>,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
    }
    /// A storage thread reads the content of keys into pages.
    Fetch = "fetch" {
        /// The band.
        b: Name,
        /// The keys.
        keys: Vec<Name>,
        /// The pages that are meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ids: Option<Pages>,
        /// Where it writes. Left out: where `ids` are now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Places>,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
    }
    /// An RDMA operation was posted to a queue: no stream wait orders it.
    Post = "post" {
        /// The operation.
        x: u64,
        /// The RDMA queue.
        s: u64,
        /// Whether it reads or writes.
        dir: Access,
        /// A band or an arena, as in `read`.
        #[serde(rename = "in")]
        r#in: Name,
        /// Where. Left out: where `ids` are now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Places>,
        /// The pages that are meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ids: Option<Pages>,
    }
    /// A thread saw the completion of an RDMA operation.
    Complete = "complete" {
        /// The operation.
        x: u64,
    }
    /// The trace ends here. A trace without it was cut off.
    End = "end" {}
}

/// The first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "the first line of a leasecheck trace")]
pub struct Header {
    /// The version of the format, which is 1.
    pub leasecheck_trace: u32,
    /// What wrote the trace, with its version.
    pub producer: String,
    /// The memory that it is about.
    pub arenas: Vec<ArenaDef>,
    /// What is recorded without exception.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complete: Vec<Recorded>,
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Event, D::Error> {
        deserializer.deserialize_map(LineVisitor)
    }
}

struct LineVisitor;

/// A short string, without allocating for it.
struct Word(SmolStr);

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Word, D::Error> {
        SmolStr::deserialize(deserializer).map(Word)
    }
}

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the key `k`, the kind of the line")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event, A::Error> {
        let Some(Word(first)) = map.next_key()? else { return Err(A::Error::missing_field("k")) };
        if first == "k" {
            let Word(kind) = map.next_value()?;
            return Event::read(&kind, MapAccessDeserializer::new(map));
        }
        let mut fields = serde_json::Map::new();
        fields.insert(first.as_str().to_owned(), map.next_value()?);
        while let Some((key, value)) = map.next_entry()? {
            fields.insert(key, value);
        }
        match fields.remove("k") {
            Some(serde_json::Value::String(kind)) => {
                Event::read(&kind, serde_json::Value::Object(fields)).map_err(A::Error::custom)
            }
            Some(other) => Err(A::Error::custom(format!("`k` is {other}, expected the name of a kind"))),
            None => Err(A::Error::missing_field("k")),
        }
    }
}

fn unknown(kind: &str) -> String {
    let near = Event::KINDS.iter().map(|name| (strsim::damerau_levenshtein(kind, name), *name)).min();
    match near {
        Some((distance, name)) if distance <= 2 => format!("there is no kind `{kind}`; did you mean `{name}`?"),
        _ => format!("there is no kind `{kind}`; kinds are {}", Event::KINDS.join(", ")),
    }
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
