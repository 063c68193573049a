//! What an instruction does, and to what.

use super::{Pc, Space};
use crate::invariants::Code;

/// Owner classes of pages, for counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Live and not cached.
    Live,
    /// Live, and the cache's: given back on demand.
    Cached,
    /// Pinned, whatever else.
    Pinned,
    /// Waiting for an event.
    Pending,
    /// Holes.
    Holes,
}

/// What a group of threads makes of the values that they bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// They must be equal.
    Same,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// All together.
    Sum,
}

/// Where the ids of an operand come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// A variable.
    Var(u8),
    /// An index buffer.
    Buffer(u8),
}

/// Where the addresses of an operand come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Translated now.
    Now,
    /// Captured earlier.
    Var(u8),
    /// In an index buffer, read when the operation runs.
    Buffer(u8),
}

/// Pages that a step names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Which pages are meant.
    pub ids: Ids,
    /// The first of them.
    pub from: u8,
    /// One past the last.
    pub to: u8,
    /// The arena in which they are accessed.
    pub arena: u8,
    /// The band in which they are accessed.
    pub band: u8,
    /// Where their addresses come from.
    pub at: At,
}

/// A value in a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A literal.
    Number(i16),
    /// A number, or the pages of a variable.
    Var(u8),
}

/// How two values compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// A condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cond {
    /// Left side.
    pub left: Value,
    /// Comparison.
    pub compare: Compare,
    /// Right side.
    pub right: Value,
}

/// What a step does. Fields are indices into the tables of [`Program`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Op {
    Alloc {
        arena: u8,
        requests: Vec<(u8, u32)>,
        into: Vec<u8>,
        tried: bool,
        /// Whether it waits for room instead of being refused.
        waits: bool,
    },
    Free {
        pages: Vec<Operand>,
        on: Vec<u8>,
    },
    Clear {
        arena: u8,
        band: u8,
    },
    Compact {
        arena: u8,
    },
    Flush {
        arena: u8,
        band: u8,
        urgent: bool,
        on: Vec<u8>,
    },
    Bind {
        arena: u8,
        band: u8,
        pages: Vec<Operand>,
        /// Tried: gets 1 or 0.
        into: Option<u8>,
    },
    Tombstone {
        arena: u8,
        band: u8,
        pages: Vec<Operand>,
        tokens: Option<u16>,
        on: Vec<u8>,
    },
    Share {
        pages: Vec<Operand>,
    },
    Cache {
        pages: Vec<Operand>,
    },
    Evict {
        arena: u8,
        band: u8,
        pages: u8,
        into: u8,
    },
    Count {
        class: Class,
        arena: u8,
        band: u8,
        into: u8,
    },
    Map {
        pages: Vec<Operand>,
        only: Option<u8>,
    },
    Unmap {
        pages: Vec<Operand>,
    },
    Admit {
        arena: u8,
        requests: Vec<(u8, u32)>,
        into: u8,
    },
    Available {
        arena: u8,
        band: u8,
        into: u8,
    },
    Translate {
        pages: Operand,
        space: Space,
        into: u8,
    },
    Valid {
        var: u8,
        into: u8,
    },
    Select {
        pages: Operand,
        tokens: Option<(u16, u16)>,
        into: u8,
    },
    LeaseAcquire {
        arenas: Vec<u8>,
        ttl: Option<u8>,
    },
    LeaseRelease {
        arena: u8,
    },
    LeaseRenew {
        arena: u8,
        ttl: u8,
    },
    LeaseHeld {
        arena: u8,
        into: u8,
    },
    LeaseHandOff {
        arena: u8,
        event: u8,
    },
    Tick,
    Pin {
        pages: Vec<Operand>,
        up: bool,
    },
    /// Kernels, host accesses and RDMA.
    Write {
        pages: Vec<Operand>,
        value: u16,
        /// The first so many tokens of each page; all, if 0.
        tokens: u8,
    },
    Read {
        pages: Vec<Operand>,
        tokens: u8,
    },
    /// A read that says whether it found what it meant, instead of being a violation if not.
    TryRead {
        pages: Vec<Operand>,
        into: u8,
    },
    Produce {
        buffer: u8,
        pages: Vec<Operand>,
    },
    CopyBuffer {
        from: u8,
        to: u8,
    },
    ReadBuffer {
        buffer: u8,
        into: u8,
    },
    Wait {
        event: u8,
    },
    Record {
        event: u8,
    },
    SyncEvent {
        event: u8,
    },
    SyncStream {
        stream: u8,
    },
    /// A wait that may fail, and says so.
    TrySync {
        event: u8,
        into: u8,
    },
    Query {
        event: u8,
        into: u8,
    },
    /// A fault: from now on, queries (or the next wait) of the event fail.
    FailQuery {
        event: u8,
    },
    FailWait {
        event: u8,
    },
    Transfer {
        from: Vec<Operand>,
        to: Vec<Operand>,
        after: Option<u8>,
        only: Option<u8>,
        /// Whether it reports that it moved fewer pages than it was given.
        fails: bool,
    },
    Key {
        key: u8,
        pages: Vec<Operand>,
    },
    Store {
        pages: Vec<Operand>,
        key: u8,
        from: u8,
        tail: bool,
    },
    Fetch {
        key: u8,
        from: u8,
        pages: Vec<Operand>,
        tail: bool,
    },
    Lookup {
        keys: Vec<u8>,
        into: u8,
        tail: bool,
    },
    Drop {
        key: u8,
    },
    Set {
        flag: u8,
        up: bool,
    },
    Await {
        flag: u8,
    },
    AwaitCond {
        cond: Cond,
    },
    /// Takes from (or gives to) a bounded resource, whose rest a variable counts.
    Take {
        var: u8,
        count: i16,
    },
    Give {
        var: u8,
        count: i16,
    },
    /// All threads that name the group meet and make one value of theirs.
    Meet {
        group: u8,
        value: Value,
        fold: Fold,
        into: Option<u8>,
    },
    Lock {
        lock: u8,
    },
    Unlock {
        lock: u8,
    },
    Barrier {
        barrier: u8,
    },
    Let {
        var: u8,
        value: Value,
        plus: i16,
    },
    Check {
        cond: Cond,
        code: Code,
    },
    CheckEmpty {
        arena: u8,
        band: Option<u8>,
    },
    /// Goes on at `otherwise` when the condition does not hold.
    Branch {
        cond: Cond,
        otherwise: Pc,
        loops: bool,
    },
    /// Never a step of its own: followed at once.
    Jump {
        to: Pc,
    },
}

impl Op {
    /// Operands of the step: what it reads or names, and what it writes.
    pub fn operands(&self) -> impl Iterator<Item = &Operand> {
        let (one, first, second): (Option<&Operand>, &[Operand], &[Operand]) = match self {
            Op::Free { pages, .. }
            | Op::Bind { pages, .. }
            | Op::Tombstone { pages, .. }
            | Op::Pin { pages, .. }
            | Op::Write { pages, .. }
            | Op::Read { pages, .. }
            | Op::TryRead { pages, .. }
            | Op::Share { pages }
            | Op::Cache { pages }
            | Op::Map { pages, .. }
            | Op::Unmap { pages }
            | Op::Produce { pages, .. }
            | Op::Key { pages, .. }
            | Op::Store { pages, .. }
            | Op::Fetch { pages, .. } => (None, pages, &[]),
            Op::Translate { pages, .. } | Op::Select { pages, .. } => (Some(pages), &[], &[]),
            Op::Transfer { from, to, .. } => (None, from, to),
            _ => (None, &[], &[]),
        };
        one.into_iter().chain(first).chain(second)
    }

    /// Variables that the step reads.
    #[must_use]
    pub fn needs(&self) -> Vec<u8> {
        let mut needs = Vec::new();
        for operand in self.operands() {
            if let Ids::Var(var) = operand.ids {
                needs.push(var);
            }
            if let At::Var(var) = operand.at {
                needs.push(var);
            }
        }
        let mut value = |value: &Value| {
            if let Value::Var(var) = value {
                needs.push(*var);
            }
        };
        match self {
            Op::Check { cond, .. } | Op::Branch { cond, .. } | Op::AwaitCond { cond } => {
                value(&cond.left);
                value(&cond.right);
            }
            Op::Let { value: from, .. } => value(from),
            Op::Valid { var, .. } | Op::Take { var, .. } | Op::Give { var, .. } => value(&Value::Var(*var)),
            Op::Meet { value: brought, .. } => value(brought),
            _ => {}
        }
        needs.sort_unstable();
        needs.dedup();
        needs
    }

    /// The variables that the step gives a value.
    #[must_use]
    pub fn gives(&self) -> Vec<u8> {
        match self {
            Op::Alloc { into, .. } => into.clone(),
            Op::Admit { into, .. }
            | Op::Available { into, .. }
            | Op::Translate { into, .. }
            | Op::Valid { into, .. }
            | Op::Select { into, .. }
            | Op::ReadBuffer { into, .. }
            | Op::Query { into, .. }
            | Op::TrySync { into, .. }
            | Op::Lookup { into, .. }
            | Op::TryRead { into, .. }
            | Op::Evict { into, .. }
            | Op::Count { into, .. }
            | Op::LeaseHeld { into, .. }
            | Op::Bind { into: Some(into), .. }
            | Op::Meet { into: Some(into), .. }
            | Op::Take { var: into, .. }
            | Op::Give { var: into, .. }
            | Op::Let { var: into, .. } => vec![*into],
            _ => Vec::new(),
        }
    }
}
