//! Lines about the bytes of memory: accesses, transfers, storage, RDMA.

use super::{Access, Direction, Name, Out, Pages, Places, Role, Space, lines};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

lines! {
    /// Memory without bands was handed out.
    MemAlloc {
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
    MemFree {
        /// The arena.
        a: Name,
        /// First byte.
        lo: u64,
        /// One past the last byte.
        hi: u64,
    }
    /// Memory is read or written: by work queued on a stream, or by the thread itself at once.
    ReadWrite {
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
        /// Checksums of what was found or written, one for each page.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sum: Option<Places>,
    }
    /// Bytes are copied: by work queued on a stream, or by the thread itself at once.
    Copy {
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
    HostRead {
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
    /// A transfer was submitted.
    Transfer {
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
    TransferEnd {
        /// The transfer.
        x: u64,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
    }
    /// A storage thread writes pages under keys (`store`), or reads the content of keys into pages (`fetch`).
    StoreFetch {
        /// The band.
        b: Name,
        /// The keys.
        keys: Vec<Name>,
        /// The pages that are meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ids: Option<Pages>,
        /// Where it reads or writes. Left out: where `ids` are now.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at: Option<Places>,
        /// Checksums of what the keys stand for, one for each page: from here on, or as it arrived.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sum: Option<Places>,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
    }
    /// An RDMA operation was posted to a queue: no stream wait orders it.
    Post {
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
    Complete {
        /// The operation.
        x: u64,
    }
}
