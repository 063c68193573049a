//! Named behaviours that runs count. A case names at least one as its *witness*: what it must have reached for its
//! verdict to mean anything.

macro_rules! marks {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+) => {
        /// A named behaviour.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Mark {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Mark {
            /// Every mark, in listing order.
            pub const ALL: &'static [Mark] = &[$(Mark::$variant,)+];

            /// The name under which litmus files require it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Mark::$variant => $name,)+ }
            }

            /// What happened when the mark is set.
            #[must_use]
            pub fn doc(self) -> &'static str {
                match self { $(Mark::$variant => concat!($($doc,)+).trim_ascii(),)+ }
            }
        }
    };
}

marks! {
    /// An allocation was served.
    Allocated = "allocated";
    /// An allocation was served from a hole.
    HoleReused = "hole-reused";
    /// Two bands were allocated from in one call, from both ends.
    BothEnds = "both-ends";
    /// An allocation was refused.
    AllocRefused = "alloc-refused";
    /// An allocation over several bands was refused because of one that is not the first.
    SecondBandRefused = "second-band-refused";
    /// An allocation was refused because the caller holds a lease itself.
    RefusedOwnLease = "refused-own-lease";
    /// An allocation needed a compaction.
    NeededCompaction = "needed-compaction";
    /// A compaction moved at least one page.
    Compacted = "compacted";
    /// A compaction waited for a lease.
    WaitedForLease = "compaction-waited-for-lease";
    /// A compaction waited for an event that a lease was handed off to.
    WaitedForEvent = "compaction-waited-for-event";
    /// Two compactions waited at the same time.
    TwoCompactionsWaited = "two-compactions-waited";
    /// An allocation that had waited found that something else had changed meanwhile.
    WokeToChange = "woke-to-change";
    /// An allocation that had waited found its capacity gone.
    WokeToNoRoom = "woke-to-no-room";
    /// A wait for a completion event failed.
    WaitFailed = "wait-failed";
    /// A query of a completion event failed.
    QueryFailed = "query-failed";
    /// A lease was granted.
    Leased = "leased";
    /// A lease was granted to a holder of one.
    LeasedAgain = "leased-again";
    /// A lease had to wait for a compaction.
    LeaseHeldBack = "lease-held-back";
    /// A lease was handed off to an event that had not completed.
    HandedOff = "handed-off";
    /// A timed lease ran out.
    LeaseExpired = "lease-expired";
    /// One call leased several layouts.
    LeasedSeveral = "leased-several";
    /// A closed gate kept pages from moving.
    GateHeld = "gate-held";
    /// Pages moved while no gate was closed and some flag was raised.
    MovedPastOpenGate = "moved-past-open-gate";
    /// A float band moved pages to make room for another band.
    MadeRoom = "made-room";
    /// A pin kept a page from moving.
    PinHeld = "pin-held";
    /// A page was freed.
    Freed = "freed";
    /// A free was refused.
    FreeRefused = "free-refused";
    /// A page became pending on an event.
    Pending = "pending";
    /// Two batches became pending on one event.
    SharedEvent = "shared-event";
    /// A pending page became free again.
    PendingReturned = "pending-returned";
    /// A page was freed while queued work could still touch it.
    FreedInFlight = "freed-in-flight";
    /// Queued work read a page after it had been freed.
    ReadAfterFree = "read-after-free";
    /// A page of an id that had been freed before was handed out again.
    Reused = "reused";
    /// A sliding-window page was bound.
    Bound = "bound";
    /// A sliding-window page was tombstoned.
    Tombstoned = "tombstoned";
    /// A window slid while queued work could still touch what it released.
    SlidInFlight = "slid-in-flight";
    /// All sliding-window pages of a window were tombstoned.
    AllTombstoned = "all-tombstoned";
    /// A selection gave at least one page.
    Selected = "selected";
    /// A selection gave no page.
    SelectedNone = "selected-none";
    /// A selection was refused because a page was bound in part.
    SelectRefused = "select-refused";
    /// An unbound page was translated, to the sink.
    TranslatedToSink = "translated-to-sink";
    /// An address was captured for later.
    Captured = "captured";
    /// A captured address no longer matched when it was checked.
    FoundInvalid = "found-invalid";
    /// A transfer ran.
    Transferred = "transferred";
    /// A transfer was refused because its ends do not match.
    TransferRefused = "transfer-refused";
    /// A transfer failed half-way, and said so.
    CopyFailed = "copy-failed";
    /// A transfer left the sink out.
    SinkLeftOut = "sink-left-out";
    /// A transfer overtook another on its stream.
    Overtook = "overtook";
    /// An index buffer was read after its producer.
    IndexRead = "index-read";
    /// A stream waited for an event.
    StreamWaited = "stream-waited";
    /// A wait for an event that was never recorded did nothing.
    WaitedForNothing = "waited-for-nothing";
    /// A host thread waited for an event or a stream.
    HostWaited = "host-waited";
    /// A page was stored under a key.
    Stored = "stored";
    /// Zero pages were stored.
    StoredNone = "stored-none";
    /// A page was fetched from storage.
    Fetched = "fetched";
    /// A key was looked up and found.
    Hit = "hit";
    /// A key was looked up and not found.
    Miss = "miss";
    /// An RDMA agent touched a page.
    RdmaAccess = "rdma-access";
    /// A capacity question was answered yes.
    Admitted = "admitted";
    /// A capacity question was answered no.
    NotAdmitted = "not-admitted";
    /// Two bands together were refused what each alone could have.
    JointlyRefused = "jointly-refused";
    /// A capacity was read while a gate was closed.
    CapacityUnderGate = "capacity-under-gate";
    /// Another reference to a page was taken.
    Shared = "shared";
    /// A free gave one reference back, and the page stayed.
    ReferenceGivenBack = "reference-given-back";
    /// A page was given to the cache.
    Cached = "cached";
    /// A cached page was evicted.
    Evicted = "evicted";
    /// A cached page of a band that was not asked for was evicted.
    DonorEvicted = "donor-evicted";
    /// An eviction passed over a page that was held.
    PassedOver = "passed-over";
    /// A binding was refused.
    BindRefused = "bind-refused";
    /// A page's bytes were unmapped.
    Unmapped = "unmapped";
    /// A page's bytes were mapped again.
    Remapped = "remapped";
    /// All threads of a group met and agreed, or got their common result.
    Met = "met";
    /// An attempt to read found other bytes than it meant.
    ReadDiscarded = "read-discarded";
    /// An attempt to read found the bytes that it meant.
    ReadAccepted = "read-accepted";
    /// A thread or stream took from a bounded resource.
    Took = "took";
    /// A thread waited until a condition held.
    ConditionHeld = "condition-held";
    /// A page became pending on several events.
    PendingOnSeveral = "pending-on-several";
    /// A part of a page was written.
    WrittenInPart = "written-in-part";
    /// A page was read beyond its valid length.
    ReadBeyondValid = "read-beyond-valid";
    /// A timed lease was renewed.
    LeaseRenewed = "lease-renewed";
    /// A gate was closed or opened between a thread's capacity question and its allocation.
    GateFlipped = "gate-flipped";
    /// Every thread ended and every queue ran empty.
    Finished = "finished";
}

impl Mark {
    /// The mark of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Mark> {
        Mark::ALL.iter().copied().find(|mark| mark.name() == name)
    }
}

/// A set of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u128);

impl Marks {
    /// Adds one.
    pub fn set(&mut self, mark: Mark) {
        self.0 |= 1 << mark as u8;
    }

    /// Adds all of `other`.
    pub fn add(&mut self, other: Marks) {
        self.0 |= other.0;
    }

    /// Whether `mark` is in the set.
    #[must_use]
    pub fn has(self, mark: Mark) -> bool {
        self.0 & (1 << mark as u8) != 0
    }

    /// The marks in the set, in listing order.
    pub fn iter(self) -> impl Iterator<Item = Mark> {
        Mark::ALL.iter().copied().filter(move |mark| self.has(*mark))
    }
}

const _: () = assert!(Mark::ALL.len() <= 128, "marks are kept in 128 bits");
