//! Selecting the sliding-window pages of a token range.
//!
//! A window's tokens map to physical token indices; tokens whose page was tombstoned map to the sink or to a
//! negative number. A transfer must carry whole pages and never the sink. [`whole_pages`] keeps the rows that are
//! bound and fails on a row that is partly bound: misuse is an error, never a shorter transfer.
//! [`tokens_above`] is the filter that the seed's review disputes (`indices[indices > 0]`).

use crate::ids::{PhysicalPage, TokenIndex};
use std::fmt;

/// Why a token range has no whole-page selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectError {
    /// The range is not a multiple of the page size.
    Length {
        /// Tokens in the range.
        tokens: usize,
        /// Tokens of a page.
        page_tokens: u32,
    },
    /// A row of one page's tokens is bound in part, or does not lie in one page in order.
    PartialPage {
        /// The row, counted in pages from the start of the range.
        row: usize,
    },
}

impl fmt::Display for SelectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SelectError::Length { tokens, page_tokens } => {
                write!(f, "{tokens} tokens are not a whole number of pages of {page_tokens} tokens")
            }
            SelectError::PartialPage { row } => {
                write!(f, "page {row} of the range is bound in part, or its tokens are not one page in order")
            }
        }
    }
}

impl std::error::Error for SelectError {}

/// The physical pages of the bound rows, in order. Page 0 is the sink and counts as unbound, like every negative
/// index.
///
/// # Errors
/// When the range is not made of whole pages.
pub fn whole_pages(tokens: &[TokenIndex], page_tokens: u32) -> Result<Vec<PhysicalPage>, SelectError> {
    let size = page_tokens as usize;
    if size == 0 || !tokens.len().is_multiple_of(size) {
        return Err(SelectError::Length { tokens: tokens.len(), page_tokens });
    }
    let mut pages = Vec::new();
    for (row, tokens) in tokens.chunks_exact(size).enumerate() {
        let page = tokens[0].0.div_euclid(i64::from(page_tokens));
        if tokens.iter().all(|token| token.0 < i64::from(page_tokens)) {
            continue;
        }
        let start = page.saturating_mul(i64::from(page_tokens));
        let in_order = (tokens.iter().zip(0_i64..)).all(|(token, offset)| token.0.checked_sub(start) == Some(offset));
        match u32::try_from(page) {
            Ok(page) if in_order => pages.push(PhysicalPage(page)),
            _ => return Err(SelectError::PartialPage { row }),
        }
    }
    Ok(pages)
}

/// The token-wise filter: keeps what is above `floor`. With `floor` 0 it excludes token 0 only, which happens to
/// be in the sink; with −1 (`>= 0`) it keeps the sink.
pub fn tokens_above(tokens: &[TokenIndex], floor: i64) -> impl Iterator<Item = TokenIndex> + '_ {
    tokens.iter().copied().filter(move |token| token.0 > floor)
}
