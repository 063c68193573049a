//! One newtype per id space, so that mixing them up does not compile.
//!
//! The only crossings are named functions: [`crate::Arena::translate`] (logical → physical) and
//! [`crate::transfer`] (physical → kernel-facing, page → token). The raw numbers are public because explorers,
//! traces and foreign drivers must print and compare them.

use std::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($raw:ty)) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub $raw);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(
    /// A band of an arena, by its position in [`crate::ArenaConfig::bands`].
    BandId(u8)
);
id!(
    /// The stable id that caches hold. Called *virtual page* in device pools, where several bands share one id
    /// space. It never changes while the page lives.
    LogicalPage(u32)
);
id!(
    /// Where a page's bytes are now: page `p` of a band occupies bytes `p·envelope .. (p+1)·envelope`. Private to
    /// the arena; changes when pages move.
    PhysicalPage(u32)
);
id!(
    /// A position in a per-layer view of a band: physical page × kernel multiplier (2 × layers for
    /// sliding-window pools; 35 layers: 70).
    KernelIndex(u64)
);
id!(
    /// A token's index in a page table: page × `page_tokens` + offset. Signed, because tables mark unbound tokens
    /// with negative numbers.
    TokenIndex(i64)
);
id!(
    /// Whoever holds a lease or waits for a compaction: a thread, a request, a transfer engine.
    HolderId(u32)
);
id!(
    /// A completion event, as its owner numbers them.
    EventKey(u32)
);
