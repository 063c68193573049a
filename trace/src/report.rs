//! What a trace was found to be: findings, and which checks its content allowed.

use crate::format::Recorded;
use leasecheck_core::Rule;
use leasecheck_sim::invariants::Code;
use serde::Serialize;

/// Findings that are kept in full; all are counted.
pub const KEPT: usize = 100;

/// An event that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The line, from 1.
    pub line: u64,
    /// The invariant.
    #[serde(serialize_with = "code")]
    pub invariant: Code,
    /// What is wrong: pages, threads, streams.
    pub message: String,
    /// What the design would have allowed there.
    pub allowed: String,
    /// The rule whose guard was false.
    #[serde(serialize_with = "rule", skip_serializing_if = "Option::is_none")]
    pub guard: Option<Rule>,
    /// The line itself, or its beginning.
    pub event: String,
    /// The earlier line on the other side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier: Option<u64>,
    /// What a litmus file about it needs to know.
    #[serde(skip)]
    pub sketch: Option<Sketch>,
}

/// The page of a finding about an address, for [`crate::litmus`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch {
    /// The arena, by position in the header.
    pub arena: usize,
    /// The band, by position in the arena.
    pub band: usize,
    /// How the two sides of the finding came about.
    pub scene: Scene,
}

/// The shape of a finding that fits into a few lines of litmus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scene {
    /// A page moved while a lease was held.
    MoveUnderLease,
    /// A page moved while an event that a lease was handed off to had not completed.
    MoveUnderEvent,
    /// An address was used after its page had moved.
    AddressAfterMove,
    /// An id was used after its page had been given back.
    UseAfterFree,
    /// Two accesses of a page on different agents, nothing in between; whether each writes.
    Unordered {
        /// The earlier access writes.
        earlier: bool,
        /// The later access writes.
        later: bool,
    },
}

fn code<S: serde::Serializer>(code: &Code, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(code.name())
}

fn rule<S: serde::Serializer>(rule: &Option<Rule>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(rule.map_or("", Rule::name))
}

/// An invariant that was checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// The invariant.
    #[serde(serialize_with = "code")]
    pub invariant: Code,
    /// How many times.
    pub times: u64,
}

/// An invariant that could not be checked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unchecked {
    /// The invariant.
    #[serde(serialize_with = "code")]
    pub invariant: Code,
    /// Why.
    pub why: String,
}

/// A line that cannot be read, or a trace that was cut off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Broken {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it, and what was expected.
    pub message: String,
}

/// A trace that was read to its end, or as far as it could be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The file.
    pub file: String,
    /// What wrote the trace.
    pub producer: String,
    /// Events that were read.
    pub events: u64,
    /// Events, from the first, that fit the design: all before the first finding.
    pub fitting: u64,
    /// Findings in all; the first [`KEPT`] are in `findings`.
    pub found: u64,
    /// The findings, in the order of lines.
    pub findings: Vec<Finding>,
    /// Invariants that were checked, and how many times.
    pub checked: Vec<Checked>,
    /// Invariants that could not be checked.
    pub unchecked: Vec<Unchecked>,
    /// What a reader should know about how far the answer goes.
    pub notes: Vec<String>,
    /// Where reading ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub broken: Option<Broken>,
}

impl Report {
    /// Whether everything that could be checked holds, of a trace that could be read to its end.
    #[must_use]
    pub fn accepted(&self) -> bool {
        self.found == 0 && self.broken.is_none()
    }
}

/// What an invariant needs to be recorded without exception, and what lines it is about.
pub(crate) struct Needs {
    pub(crate) code: Code,
    pub(crate) recorded: &'static [Recorded],
    pub(crate) lines: &'static str,
}

/// Every invariant that a trace can be held against.
pub(crate) const NEEDS: &[Needs] = {
    use Recorded::{Leases, Order, Pages, Writes};
    const fn needs(code: Code, recorded: &'static [Recorded], lines: &'static str) -> Needs {
        Needs { code, recorded, lines }
    }
    &[
        needs(Code::Overlap, &[Pages], "`alloc`, `bind` or `move` with physical pages"),
        needs(Code::Mapping, &[Pages], "`translate` or `move`"),
        needs(Code::Conservation, &[Pages], "`state` or `free_bytes`"),
        needs(Code::Content, &[Pages], "`read` with checksums"),
        needs(Code::MovedUnderLease, &[Leases], "`move`"),
        needs(Code::StaleAddress, &[Pages], "accesses with both `ids` and `at`"),
        needs(Code::StaleIndex, &[Order], "reads of memory whose role is `index`"),
        needs(Code::Uninitialized, &[Pages, Writes], "reads"),
        needs(Code::Race, &[Order], "accesses by more than one agent"),
        needs(Code::EarlyReuse, &[Pages, Order], "accesses to pages or memory that were handed out again"),
        needs(Code::PartialPage, &[], "transfers, or accesses by token"),
        needs(Code::MisKeyed, &[], "`store` or `fetch`"),
        needs(Code::WrongSpace, &[], "accesses to bands"),
        needs(Code::NotAtomic, &[Pages], "`state` after a call that failed"),
        needs(Code::Admission, &[Pages], "`alloc`, `admit` or `available` in an arena with a `design`"),
        needs(Code::LostBytes, &[], "`copy` or `transfer_end`"),
        needs(Code::DoubleFree, &[Pages], "`free`, `tombstone`, `mem_free` or `release`"),
        needs(Code::UseAfterFree, &[Pages], "`translate` or accesses by id"),
        needs(Code::Leak, &[Pages], "`empty`"),
        needs(Code::Deadlock, &[Leases], "`lease_ask` or `compact_ask` while others wait"),
        needs(Code::LostWakeup, &[Leases], "`end` with somebody waiting"),
        needs(Code::Starvation, &[Leases], "`lease` while a compaction waits"),
    ]
};

impl Recorded {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Recorded::Pages => "pages",
            Recorded::Leases => "leases",
            Recorded::Order => "order",
            Recorded::Writes => "writes",
            Recorded::Copies => "copies",
        }
    }
}
