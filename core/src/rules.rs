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
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal in $topic:ident, behind $reports:expr;)+) => {
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

            /// The public reports that the rule is behind, by the names of their litmus files.
            #[must_use]
            pub const fn reports(self) -> &'static [&'static str] {
                match self { $(Rule::$variant => &$reports,)+ }
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
    CompactionWaitsForLeases = "compaction-waits-for-leases" in Compaction, behind ["sgl-lease-ends-before-view-used"];
    /// A compaction moves nothing before every event that a lease was handed off to has completed.
    CompactionWaitsForEvents = "compaction-waits-for-events" in Compaction, behind ["sgl-decode-gate-misses-radix-copies"];
    /// While a compaction waits, nobody who holds no lease yet is granted one.
    CompactionHoldsBackLeases = "compaction-holds-back-leases" in Compaction, behind [];
    /// A compaction is refused to a holder of a lease, instead of waiting for itself.
    CompactionRefusesOwnLease = "compaction-refuses-own-lease" in Compaction, behind [];
    /// An allocation that waited for a compaction looks at the arena again before it uses what it planned on.
    CompactionRechecksPlan = "compaction-rechecks-plan" in Compaction, behind [];
    /// Several compactions that wait are counted: the end of one does not end the waiting of another.
    CompactionOneAtATime = "compaction-one-at-a-time" in Compaction, behind [];
    /// No page moves while a move gate is closed, whichever path asks for the move.
    CompactionRespectsGates = "compaction-respects-gates" in Compaction, behind ["sgl-decode-gate-misses-radix-copies", "sgl-float-compaction-ignores-gate"];
    /// A float band that makes room for its neighbours respects the gate like every other path that moves pages.
    MakeRoomRespectsGates = "make-room-respects-gates" in Compaction, behind ["sgl-float-compaction-ignores-gate"];
    /// No pinned page moves.
    CompactionRespectsPins = "compaction-respects-pins" in Compaction, behind ["tensorcast-pins-bypassed"];
    /// When waiting for one completion event fails, the events not yet waited for are kept.
    CompactionKeepsEvents = "compaction-keeps-events" in Compaction, behind [];
    /// Moves are made in an order in which no page is overwritten before it has been copied.
    MovesInSafeOrder = "moves-in-safe-order" in Compaction, behind [];
    /// A completion event that ends a wait wakes those who wait for it.
    CompletionWakesWaiters = "completion-wakes-waiters" in Compaction, behind [];
    /// A holder that already has a lease is granted another at once.
    LeasesReentrant = "leases-reentrant" in Leases, behind ["sgl-lease-ends-before-view-used"];
    /// An access by id holds its lease until the bytes have been used, not only while the address is looked up.
    LeasesCoverUse = "leases-cover-use" in Leases, behind ["sgl-lease-ends-before-view-used", "trt-stream-wait-cannot-order-rdma"];
    /// A lease that is handed off holds until its completion event, not only until the call returns.
    LeasesHandedOff = "leases-handed-off" in Leases, behind ["sgl-decode-gate-misses-radix-copies"];
    /// An event whose query fails counts as not completed.
    LeasesSurviveFailingQuery = "leases-survive-failing-query" in Leases, behind [];
    /// A transfer that touches several pools leases each shared layout once, in one order for all.
    LeaseEachLayoutOnce = "lease-each-layout-once" in Leases, behind ["sgl-lease-domain-discovery-duplicated"];
    /// An allocation over several bands happens whole or not at all.
    AllocAllOrNothing = "alloc-all-or-nothing" in Allocation, behind ["kvcached-partial-alloc-leak", "torch-partial-map-failure"];
    /// Holes are used before anything is moved or the frontier advances.
    HolesBeforeMoves = "holes-before-moves" in Allocation, behind [];
    /// Demands of several bands are priced together on the bytes that they share.
    JointBytes = "joint-bytes" in Allocation, behind ["sgl-prealloc-skips-joint-budget", "sgl-byte-bookkeeping-drift-unseen"];
    /// A page can be freed only by an id that is live.
    FreesAreChecked = "frees-are-checked" in Allocation, behind ["vllm-same-block-twice-in-free", "vllm-nixl-producer-timeout"];
    /// A page that earlier work can still touch is pending, and not handed out, until the event of its last use.
    ReuseAfterEvents = "reuse-after-events" in Allocation, behind ["vllm-free-before-inflight-step-ends", "hicache-loadback-not-ordered-after-forward"];
    /// Several batches of pending pages under one event accumulate.
    BatchesAccumulate = "batches-accumulate" in Allocation, behind ["sgl-pending-sources-lost-on-shared-event", "sgl-byte-bookkeeping-drift-unseen"];
    /// Releasing a sliding-window binding clears its entry in the table.
    TombstoneClearsBinding = "tombstone-clears-binding" in Allocation, behind ["hicache-stale-map-frees-live-slot", "vllm-swa-stale-table-entries"];
    /// Logical ids are resolved when a transfer is submitted, not when its pages were allocated.
    ResolveAtBoundary = "resolve-at-boundary" in Transfers, behind ["sgl-identity-bind-hides-virtual-ids"];
    /// A transfer that is given an index buffer reads it after the producer event.
    ResolveAfterProducer = "resolve-after-producer" in Transfers, behind ["sgl-index-read-before-producer-wait"];
    /// Sliding-window pages are selected whole or not at all.
    WholePages = "whole-pages" in Transfers, behind [];
    /// The sink is never part of a transfer.
    NeverTheSink = "never-the-sink" in Transfers, behind [];
    /// Pages and storage keys match one to one, also when there are zero pages.
    KeysOneToOne = "keys-one-to-one" in Transfers, behind ["lmcache-wrong-object-on-offset-hit"];
    /// Both ends of a transfer have the same number of pages of the same envelope.
    StridesMatch = "strides-match" in Transfers, behind ["hicache-host-row-narrower-than-device", "sgl-envelope-peer-layout-unchecked", "sgl-process-global-config-gates-wrong-manager"];
    /// A cached capacity is keyed by everything that it depends on, gates included.
    CacheKeyedByEverything = "cache-keyed-by-everything" in Capacity, behind ["sgl-schedulable-memo-ignores-gate"];
    /// A capacity counts only what the allocator could realise now: nothing behind a closed gate or an event.
    CreditOnlyRealisable = "credit-only-realisable" in Capacity, behind ["sgl-gated-holes-still-credited"];
    /// A request is refused only if no compaction could make it fit.
    RefusalMeansInfeasible = "refusal-means-infeasible" in Capacity, behind ["sgl-tail-pricing-rejects-valid-request"];
    /// A page that waits for several events is pending until the last of them has completed.
    ReuseAfterEveryEvent = "reuse-after-every-event" in Allocation, behind ["sgl-transfer-done-event-single-slot", "rmm-merge-drops-donor-dependency"];
    /// A page that several hold is given back when the last of them frees it, not when one does.
    FreesCountReferences = "frees-count-references" in Allocation, behind ["lmcache-free-under-reader", "xllm-cache-then-deallocate"];
    /// An allocation or binding evicts what is cached before it is refused, whichever path it comes on.
    EveryPathEvicts = "every-path-evicts" in Capacity, behind ["sgl-loadback-skips-evict-and-retry", "atlas-path-that-never-evicts"];
    /// A shortage of bytes evicts from whichever band of the arena can give them.
    EvictionFindsDonors = "eviction-finds-donors" in Capacity, behind ["sgl-state-band-starved-by-full"];
    /// An eviction passes over what is held, and goes on to what is not.
    EvictionPassesOverHeld = "eviction-passes-over-held" in Capacity, behind ["sgl-eviction-barrier-overbroad", "hicache-host-pool-fills-with-mirrors"];
    /// A gate holds every band of its arena that can move, not only those that it was wired to first.
    GatesReachEveryBand = "gates-reach-every-band" in Compaction, behind ["sgl-tripool-gate-skips-state-band"];
    /// A storage key names everything that determines the bytes.
    KeysNameEverything = "keys-name-everything" in Transfers, behind ["hicache-storage-key-misses-identity"];
    /// The parts of a storage key are told apart: an adapter and a salt of the same name are not the same key.
    KeysAreFramed = "keys-are-framed" in Transfers, behind ["hicache-storage-key-misses-identity"];
    /// A page is present in storage only if every one of its components is.
    PresenceNeedsEveryPart = "presence-needs-every-part" in Transfers, behind ["hicache-sidecar-not-stored"];
    /// Page numbers and byte addresses are exact over the whole arena, however wide the index is that kernels take.
    IndicesAreExact = "indices-are-exact" in Transfers, behind ["sgl-int32-slot-stride-wrap", "atom-block-id-16-bit"];
    /// A page is zeroed when it is handed out, so that rows beyond its valid length read as zero.
    ZeroedOnHandOut = "zeroed-on-hand-out" in Allocation, behind ["sgl-recycled-bytes-read-as-nan"];
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
