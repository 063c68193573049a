//! The first line: arenas, bands, and what is recorded without exception.

use super::{Name, Role, is_false};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}
