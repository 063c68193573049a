//! The protocol rules of the design, each with a name and a reason, each of which can be switched off to model a
//! design without it.
//!
//! A rule that is off never makes an operation panic: it makes it do what an allocator without the rule would do,
//! and the invariants notice.

/// What a rule is about; `leasecheck list rules` groups by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Closing holes by moving live pages.
    Compaction,
    /// Promises that hold pages still.
    Leases,
    /// Handing pages out and taking them back.
    Allocation,
    /// Copying pages between arenas, storage and peers.
    Transfers,
    /// Questions asked before allocating.
    Capacity,
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal in $topic:ident;)+) => {
        /// One protocol rule of the design.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Rule {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Rule {
            /// Every rule, in the order in which they are listed.
            pub const ALL: &'static [Rule] = &[$(Rule::$variant,)+];

            /// The name under which litmus files switch the rule.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Rule::$variant => $name,)+ }
            }

            /// What the rule says, in one paragraph.
            #[must_use]
            pub fn doc(self) -> &'static str {
                match self { $(Rule::$variant => concat!($($doc,)+).trim_ascii(),)+ }
            }

            /// What the rule is about.
            #[must_use]
            pub const fn topic(self) -> Topic {
                match self { $(Rule::$variant => Topic::$topic,)+ }
            }
        }
    };
}

rules! {
    /// A compaction moves nothing before every lease of its layout has been released.
    CompactionWaitsForLeases = "compaction-waits-for-leases" in Compaction;
    /// A compaction moves nothing before every event that a lease was handed off to has completed.
    CompactionWaitsForEvents = "compaction-waits-for-events" in Compaction;
    /// While a compaction waits, nobody who holds no lease yet is granted one.
    CompactionHoldsBackLeases = "compaction-holds-back-leases" in Compaction;
    /// A compaction is refused to a holder of a lease, instead of waiting for itself.
    CompactionRefusesOwnLease = "compaction-refuses-own-lease" in Compaction;
    /// An allocation that waited for a compaction looks at the arena again before it uses what it planned on.
    CompactionRechecksPlan = "compaction-rechecks-plan" in Compaction;
    /// Several compactions that wait are counted: the end of one does not end the waiting of another.
    CompactionOneAtATime = "compaction-one-at-a-time" in Compaction;
    /// No page moves while a move gate is closed, whichever path asks for the move.
    CompactionRespectsGates = "compaction-respects-gates" in Compaction;
    /// No pinned page moves.
    CompactionRespectsPins = "compaction-respects-pins" in Compaction;
    /// When waiting for one completion event fails, the events not yet waited for are kept.
    CompactionKeepsEvents = "compaction-keeps-events" in Compaction;
    /// Moves are made in an order in which no page is overwritten before it has been copied.
    MovesInSafeOrder = "moves-in-safe-order" in Compaction;
    /// A completion event that ends a wait wakes those who wait for it.
    CompletionWakesWaiters = "completion-wakes-waiters" in Compaction;
    /// A holder that already has a lease is granted another at once.
    LeasesReentrant = "leases-reentrant" in Leases;
    /// An access by id holds its lease until the bytes have been used, not only while the address is looked up.
    LeasesCoverUse = "leases-cover-use" in Leases;
    /// A lease that is handed off holds until its completion event, not only until the call returns.
    LeasesHandedOff = "leases-handed-off" in Leases;
    /// An event whose query fails counts as not completed.
    LeasesSurviveFailingQuery = "leases-survive-failing-query" in Leases;
    /// A transfer that touches several pools leases each shared layout once, in one order for all.
    LeaseEachLayoutOnce = "lease-each-layout-once" in Leases;
    /// An allocation over several bands happens whole or not at all.
    AllocAllOrNothing = "alloc-all-or-nothing" in Allocation;
    /// Holes are used before anything is moved or the frontier advances.
    HolesBeforeMoves = "holes-before-moves" in Allocation;
    /// Demands of several bands are priced together on the bytes that they share.
    JointBytes = "joint-bytes" in Allocation;
    /// A page can be freed only by an id that is live.
    FreesAreChecked = "frees-are-checked" in Allocation;
    /// A page that earlier work can still touch is pending, and not handed out, until the event of its last use.
    ReuseAfterEvents = "reuse-after-events" in Allocation;
    /// Several batches of pending pages under one event accumulate.
    BatchesAccumulate = "batches-accumulate" in Allocation;
    /// Releasing a sliding-window binding clears its entry in the table.
    TombstoneClearsBinding = "tombstone-clears-binding" in Allocation;
    /// Logical ids are resolved when a transfer is submitted, not when its pages were allocated.
    ResolveAtBoundary = "resolve-at-boundary" in Transfers;
    /// A transfer that is given an index buffer reads it after the producer event.
    ResolveAfterProducer = "resolve-after-producer" in Transfers;
    /// Sliding-window pages are selected whole or not at all.
    WholePages = "whole-pages" in Transfers;
    /// The sink is never part of a transfer.
    NeverTheSink = "never-the-sink" in Transfers;
    /// Pages and storage keys match one to one, also when there are zero pages.
    KeysOneToOne = "keys-one-to-one" in Transfers;
    /// Both ends of a transfer have the same number of pages of the same envelope.
    StridesMatch = "strides-match" in Transfers;
    /// A cached capacity is keyed by everything that it depends on, gates included.
    CacheKeyedByEverything = "cache-keyed-by-everything" in Capacity;
    /// A capacity counts only what the allocator could realise now: nothing behind a closed gate or an event.
    CreditOnlyRealisable = "credit-only-realisable" in Capacity;
    /// A request is refused only if no compaction could make it fit.
    RefusalMeansInfeasible = "refusal-means-infeasible" in Capacity;
}

impl Rule {
    /// The rule of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Rule> {
        Rule::ALL.iter().copied().find(|rule| rule.name() == name)
    }
}

/// A set of rules that are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules(u64);

impl Rules {
    /// The design: every rule on.
    #[must_use]
    pub const fn all() -> Rules {
        Rules(u64::MAX)
    }

    /// The same rules without `rule`.
    #[must_use]
    pub const fn without(self, rule: Rule) -> Rules {
        Rules(self.0 & !(1 << rule as u8))
    }

    /// Whether `rule` is on.
    #[must_use]
    pub const fn on(self, rule: Rule) -> bool {
        self.0 & (1 << rule as u8) != 0
    }

    /// The rules that are off, in listing order.
    pub fn off(self) -> impl Iterator<Item = Rule> {
        Rule::ALL.iter().copied().filter(move |rule| !self.on(*rule))
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules::all()
    }
}
