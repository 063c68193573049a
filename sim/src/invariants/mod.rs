//! The invariants: one module each, each with a stable code that every report uses.
//!
//! A module holds what the invariant says, the check where it is a check of its own, and the sentences that explain
//! a violation. Where an access is judged, [`crate::world`] finds the fact and the module here names it.

pub mod admission;
pub mod check;
pub mod conservation;
pub mod content;
pub mod deadlock;
pub mod divergence;
pub mod double_free;
pub mod early_reuse;
pub mod leak;
pub mod lost_bytes;
pub mod lost_wakeup;
pub mod mapping;
pub mod mis_keyed;
pub mod moved_under_lease;
pub mod not_atomic;
pub mod overlap;
pub mod partial_page;
pub mod race;
pub mod stale_address;
pub mod stale_index;
pub mod starvation;
pub mod uninitialized;
pub mod unmapped;
pub mod use_after_free;
pub mod wrong_space;

use crate::program::{Operand, Program};
use crate::world::World;

macro_rules! codes {
    ($($variant:ident = $name:literal, $doc:literal;)+) => {
        /// The stable code of an invariant.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Code {
            $(#[doc = $doc] $variant,)+
        }

        impl Code {
            /// Every code, in listing order.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)+];

            /// The code as written in litmus files and reports.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Code::$variant => $name,)+ }
            }

            /// What the invariant says.
            #[must_use]
            pub const fn doc(self) -> &'static str {
                match self { $(Code::$variant => $doc,)+ }
            }
        }
    };
}

codes! {
    Overlap = "overlap", "live pages never share bytes; every page lies in its band, aligned to its envelope";
    Mapping = "mapping", "logical to physical is a bijection onto live pages";
    Conservation = "conservation", "live + holes + pending + outside the watermark = all pages, per band";
    Content = "content", "a page's content survives every move; its logical id never changes";
    MovedUnderLease = "moved-under-lease", "no move while a lease, a handed-off event, a pin or a closed gate covers the page";
    StaleAddress = "stale-address", "an access uses an address that still belongs to the id it was derived from";
    StaleIndex = "stale-index", "an index buffer is read only after the producer that the caller meant, and before the next";
    Uninitialized = "uninitialized", "bytes are read only after something was written to them since they were handed out";
    Race = "race", "conflicting accesses are ordered by happens-before";
    EarlyReuse = "early-reuse", "a page is not handed out while earlier work can still touch it";
    PartialPage = "partial-page", "transfers carry whole, aligned pages; never the sink";
    MisKeyed = "mis-keyed", "the pages of a transfer and its keys match one to one; a key's bytes are those it stands for";
    WrongSpace = "wrong-space", "an id is used only in the space that its consumer declares";
    NotAtomic = "not-atomic", "an operation that fails or aborts leaves no trace";
    Admission = "admission", "admitted means allocatable; refused means infeasible; a cached capacity equals a fresh one";
    LostBytes = "lost-bytes", "a transfer that reports success moved exactly the bytes it described";
    DoubleFree = "double-free", "a page is freed, and a pin taken off, at most once";
    UseAfterFree = "use-after-free", "nothing is looked up or accessed through an id that was freed or never bound";
    Leak = "leak", "what the case says is given back has been given back";
    Deadlock = "deadlock", "not everyone waits for what nobody will do";
    LostWakeup = "lost-wakeup", "nobody sleeps although what it waits for has come";
    Starvation = "starvation", "no new lease is granted after a waiting compaction has asked";
    Unmapped = "unmapped", "bytes are touched only while they are mapped, and unmapped once";
    Divergence = "divergence", "replicas that decide together decide the same";
    Check = "check", "what the litmus file itself states: conditions, and allocations that must fit";
}

impl Code {
    /// The invariant with that code.
    #[must_use]
    pub fn named(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.name() == name)
    }
}

/// An invariant does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub code: Code,
    /// One sentence that names the pages and steps involved.
    pub message: String,
    /// The page that it is about: arena, band and id.
    pub page: Option<(u8, u8, u8)>,
    /// The agent on the other side, if the two sides are symmetric.
    pub other: Option<u8>,
}

impl Violation {
    pub(crate) fn new(code: Code, message: String) -> Violation {
        Violation { code, message, page: None, other: None }
    }

    /// The same, about a page.
    pub(crate) fn about(mut self, operand: &Operand, id: u8) -> Violation {
        self.page = Some((operand.arena, operand.band, id));
        self
    }
}

/// `page 3 of device.full`.
pub(crate) fn page_name(program: &Program, operand: &Operand, id: u8) -> String {
    format!("page {id} of {}", program.band_name(operand.arena, operand.band))
}

/// The structure of an arena after it has changed.
pub(crate) fn structure(world: &World, program: &Program, arena: u8) -> Result<(), Violation> {
    if let Err(shared) = overlap::check(world, program, arena) {
        // Two ids that lead to one page share all of its bytes, and only that says why.
        mapping::check(world, program, arena)?;
        return Err(shared);
    }
    conservation::check(world, program, arena)
}
