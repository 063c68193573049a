//! Words that stand for one of a few things.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    pub(super) fn is_data(&self) -> bool {
        *self == Role::Data
    }
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
    pub(super) fn is_ok(&self) -> bool {
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
    pub(super) fn is_page(&self) -> bool {
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

pub(super) fn is_false(flag: &bool) -> bool {
    !*flag
}
