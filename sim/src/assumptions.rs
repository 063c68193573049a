//! What a verdict depends on that is not the arena's own doing, each with a name, each of which can be dropped.
//!
//! Two findings of the review that this project began with were answered with "not reachable on the valid path". An
//! assumption is what "valid" means there: with it the case must be unreachable, exhaustively; without it, there is a
//! shortest counterexample.

macro_rules! assumptions {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+) => {
        /// Something that callers or the platform are trusted to do.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Assumption {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Assumption {
            /// Every assumption, in the order in which they are listed.
            pub const ALL: &'static [Assumption] = &[$(Assumption::$variant,)+];

            /// The name under which litmus files drop the assumption.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Assumption::$variant => $name,)+ }
            }

            /// What is assumed, in one paragraph.
            #[must_use]
            pub fn doc(self) -> &'static str {
                match self { $(Assumption::$variant => concat!($($doc,)+).trim_ascii(),)+ }
            }
        }
    };
}

assumptions! {
    /// Callers pass token ranges that start and end on page boundaries. Without it, `select … tokens a..b` takes the range as it stands.
    CallersPassWholePages = "callers-pass-whole-pages";
    /// Sliding-window bindings and tombstones are per page. Without it, `tombstone … N tokens` unbinds single tokens.
    BindingsArePerPage = "bindings-are-per-page";
    /// Transfers that are queued on one stream run in the order in which they were queued. Without it, a transfer may overtake transfers queued before it (several streams per direction).
    OneFifoStreamPerDirection = "one-fifo-stream-per-direction";
    /// One thread at a time is inside an allocation of an arena, waiting included. Without it, others allocate while one waits for a compaction.
    OneAllocatingThread = "one-allocating-thread";
    /// Nobody waits for, queries or synchronises an event before it has been recorded. Without it, such a wait does nothing, as CUDA defines.
    EventsRecordedBeforeWaited = "events-recorded-before-waited";
    /// A transfer is reported complete after its bytes have landed. Without it, the operations behind a transfer may run before its bytes arrive.
    CompletionAfterLanding = "completion-after-landing";
}

impl Assumption {
    /// The assumption of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Assumption> {
        Assumption::ALL.iter().copied().find(|assumption| assumption.name() == name)
    }
}

/// The set of assumptions in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assumptions(u32);

impl Assumptions {
    /// Every assumption holds.
    #[must_use]
    pub const fn all() -> Assumptions {
        Assumptions(u32::MAX)
    }

    /// The same without `assumption`.
    #[must_use]
    pub const fn without(self, assumption: Assumption) -> Assumptions {
        Assumptions(self.0 & !(1 << assumption as u8))
    }

    /// Whether `assumption` is in force.
    #[must_use]
    pub const fn on(self, assumption: Assumption) -> bool {
        self.0 & (1 << assumption as u8) != 0
    }

    /// The assumptions that were dropped, in listing order.
    pub fn off(self) -> impl Iterator<Item = Assumption> {
        Assumption::ALL.iter().copied().filter(move |assumption| !self.on(*assumption))
    }
}

impl Default for Assumptions {
    fn default() -> Assumptions {
        Assumptions::all()
    }
}
