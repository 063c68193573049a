//! Mistakes that the shell can be made to make, so that a test can show that its models notice.
//!
//! A platform switches them on ([`super::Platform::faulty`]); on real threads the question is a constant `false`.

macro_rules! faults {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal;)+) => {
        /// One mistake.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Fault {
            /// Every fault.
            pub const ALL: &'static [Fault] = &[$(Fault::$variant,)+];

            /// Its name in reports and tokens.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Fault::$variant => $name,)+ }
            }

            /// What goes wrong.
            #[must_use]
            pub fn doc(self) -> &'static str {
                match self { $(Fault::$variant => concat!($($doc,)+).trim_ascii(),)+ }
            }
        }
    };
}

faults! {
    /// The end of a lease wakes nobody.
    ReleaseIsSilent = "release-is-silent";
    /// The completion of an event wakes nobody.
    CompletionIsSilent = "completion-is-silent";
    /// The end of a compaction wakes nobody.
    CompactionEndIsSilent = "compaction-end-is-silent";
    /// Freed pages wake no allocation that waits for a compaction, though it may not need one any more.
    FreeIsSilent = "free-is-silent";
    /// Asking to destroy the arena wakes nobody.
    DestroyIsSilent = "destroy-is-silent";
    /// A release notifies first and gives the lease back afterwards.
    WakesBeforeRelease = "wakes-before-release";
    /// Whether a lease is possible is asked in one critical section, and it is counted in the next.
    LeaseInTwoSteps = "lease-in-two-steps";
    /// A hand-off gives the lease back in one critical section and records the event in the next.
    HandOffInTwoSteps = "hand-off-in-two-steps";
    /// An allocation that waited uses the plan from before it waited.
    PlanIsNotRechecked = "plan-is-not-rechecked";
    /// Whoever is woken goes on without looking whether what it waited for is true.
    WakeMeansReady = "wake-means-ready";
    /// A lease that is dropped while its thread unwinds is not given back.
    PanicKeepsLease = "panic-keeps-lease";
    /// A compaction that fails does not stop waiting, so that leases are held back for good.
    FailureKeepsWaiting = "failure-keeps-waiting";
    /// A compaction that fails half-way forgets which pages it has moved.
    FailureForgetsMoves = "failure-forgets-moves";
    /// An access by id gives its lease back before it uses the address.
    ReleasesBeforeUse = "releases-before-use";
    /// Destroying waits for leases, not for the events that leases were handed off to.
    DestroyIgnoresEvents = "destroy-ignores-events";
    /// A hand-off to an event that has completed already is recorded, and waited for forever.
    LateHandOffIsRecorded = "late-hand-off-is-recorded";
    /// New leases are granted although a compaction waits.
    NewLeasesOvertake = "new-leases-overtake";
    /// Several compactions wait behind one flag: the end of the first opens the door for leases.
    FlagInsteadOfQueue = "flag-instead-of-queue";
    /// A completion handle that is dropped without an answer is waited for forever.
    LostEventIsWaitedFor = "lost-event-is-waited-for";
    /// A lease on several layouts takes them in the order in which the caller names them.
    LayoutsInCallerOrder = "layouts-in-caller-order";
}

impl Fault {
    /// The fault of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Fault> {
        Fault::ALL.iter().copied().find(|fault| fault.name() == name)
    }
}
