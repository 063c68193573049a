//! The bytes behind an arena, as far as the shell must know them.

use std::fmt;

/// A range of bytes in the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first byte.
    pub start: u64,
    /// How many.
    pub bytes: u64,
}

impl Extent {
    /// The byte behind the last one.
    #[must_use]
    pub const fn end(self) -> u64 {
        self.start + self.bytes
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end())
    }
}

/// Something that holds the arena's bytes and can move a page of them.
pub trait Storage: 'static {
    /// Why a copy failed.
    type Error;

    /// Copies one page. Called inside the monitor while no lease and no event covers the layout; the two extents
    /// have the same size and do not overlap, and nothing live is in the target. It may fail or panic: pages that
    /// were copied before have moved then, this one has not.
    ///
    /// # Errors
    /// When the bytes could not be copied.
    fn copy(&self, from: Extent, to: Extent) -> Result<(), Self::Error>;
}

/// No bytes at all, for callers that need the bookkeeping only.
impl Storage for () {
    type Error = std::convert::Infallible;

    fn copy(&self, _from: Extent, _to: Extent) -> Result<(), Self::Error> {
        Ok(())
    }
}
