//! Planning a transfer: pair the pages of both ends, name the storage keys, lease each layout once.

use crate::ids::{KernelIndex, PhysicalPage, TokenIndex};
use std::fmt;

/// Why two ends do not make a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairError {
    /// Different numbers of pages.
    Count {
        /// Pages at the source.
        source: usize,
        /// Pages at the destination.
        destination: usize,
    },
    /// Different envelopes, in bytes: the copy would be cut or would land across pages.
    Envelope {
        /// Bytes of a page at the source.
        source: u64,
        /// Bytes of a page at the destination.
        destination: u64,
    },
}

impl fmt::Display for PairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PairError::Count { source, destination } => {
                write!(f, "{source} pages cannot be copied to {destination} pages")
            }
            PairError::Envelope { source, destination } => {
                write!(f, "pages of {source} bytes cannot be copied to pages of {destination} bytes")
            }
        }
    }
}

impl std::error::Error for PairError {}

/// Checks that the ends of a transfer match: page counts, then envelopes in bytes.
///
/// # Errors
/// When they do not.
pub fn pair(source: (usize, u64), destination: (usize, u64)) -> Result<(), PairError> {
    if source.0 != destination.0 {
        return Err(PairError::Count { source: source.0, destination: destination.0 });
    }
    if source.1 != destination.1 {
        return Err(PairError::Envelope { source: source.1, destination: destination.1 });
    }
    Ok(())
}

/// The keys of the last `pages` pages of a chunk: none for zero pages. `None` if the chunk has fewer keys.
#[must_use]
pub fn tail_keys<K>(keys: &[K], pages: usize) -> Option<&[K]> {
    keys.len().checked_sub(pages).map(|start| &keys[start..])
}

/// What the slice `keys[-pages:]` of Python gives: for zero pages, all of them.
#[must_use]
pub fn tail_slice<K>(keys: &[K], pages: usize) -> &[K] {
    let start = if pages == 0 { 0 } else { keys.len().saturating_sub(pages) };
    &keys[start..]
}

/// The layouts that a transfer must lease: each once, in order of first appearance. Pools without a shared layout
/// (`None`) need no lease.
pub fn layouts<L: Copy + PartialEq>(pools: impl IntoIterator<Item = Option<L>>) -> Vec<L> {
    let mut layouts = Vec::new();
    for layout in pools.into_iter().flatten() {
        if !layouts.contains(&layout) {
            layouts.push(layout);
        }
    }
    layouts
}

/// The kernel-facing index of a physical page: page × 2 × layers (K and V rows of every layer lie between two
/// pages of one layer's view). `None` when it overflows.
#[must_use]
pub fn kernel_index(page: PhysicalPage, layers: u32) -> Option<KernelIndex> {
    u64::from(page.0).checked_mul(2 * u64::from(layers)).map(KernelIndex)
}

/// The token index of a page's `offset`-th token. It fits for every page that an arena can have
/// ([`crate::MAX_PAGES`]), whatever the page size.
#[must_use]
pub fn token_index(page: PhysicalPage, page_tokens: u32, offset: u32) -> TokenIndex {
    TokenIndex(i64::from(page.0) * i64::from(page_tokens) + i64::from(offset))
}
