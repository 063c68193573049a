//! Lines about what orders agents, their names, and the end.

use super::{Name, Out, lines};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

lines! {
    /// Names a thread, for reports.
    Thread {
        /// Its name.
        name: Name,
    }
    /// Names a stream or an RDMA queue, for reports.
    Stream {
        /// The stream.
        s: u64,
        /// Its name.
        name: Name,
    }
    /// A queued operation ran.
    Run {
        /// The operation.
        x: u64,
    }
    /// An event was recorded on a stream.
    Record {
        /// The event.
        ev: u64,
        /// The stream.
        s: u64,
    }
    /// The number of an event stands for a new event from here on: records under it are forgotten.
    Fresh {
        /// The event.
        ev: u64,
    }
    /// A stream was made to wait for the event's last record.
    Wait {
        /// The event.
        ev: u64,
        /// The stream that waits.
        s: u64,
    }
    /// Somebody asked whether an event has completed.
    Query {
        /// The event.
        ev: u64,
        /// The answer. Left out: it raised.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        res: Option<bool>,
    }
    /// A thread has waited until an event completed.
    Sync {
        /// The event.
        ev: u64,
        /// How it ended.
        #[serde(default, skip_serializing_if = "Out::is_ok")]
        out: Out,
    }
    /// A thread has waited until a stream had done all that it was given.
    SyncStream {
        /// The stream.
        s: u64,
    }
    /// A thread has waited until all streams had done all that they were given.
    SyncDevice {}
    /// An event completed, as the producer of the trace noticed; no thread learned of it by this.
    Done {
        /// The event.
        ev: u64,
    }
    /// What the thread (or the stream, when it gets there) did before comes before what follows an `observe` of it: a
    /// lock given back, an item put into a queue, a flag raised, a thread started.
    Signal {
        /// What is signalled.
        o: u64,
        /// The stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        s: Option<u64>,
    }
    /// The other end of `signal`: a lock taken, an item taken from a queue, a flag seen, a thread joined.
    Observe {
        /// What is observed.
        o: u64,
        /// The stream.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        s: Option<u64>,
    }
    /// The trace ends here. A trace without it was cut off.
    End {}
}
