//! Selecting sliding-window pages (S14, S15): what comes out is whole pages by construction, in order, never the sink;
//! a page that is bound in part, or whose tokens are not one page in order, is an error and never a shorter transfer.
//!
//! Over rows built from pages (all of them valid), over such rows with one token spoilt, and over arbitrary numbers up
//! to the ends of the range. The seed's numbers are the last test; it also shows what the token-wise filter makes of
//! them. Not checked: where the tokens come from.

use crate::common::cases;
use leasecheck_core::select::{SelectError, tokens_above, whole_pages};
use leasecheck_core::{PhysicalPage, TokenIndex};
use proptest::prelude::*;

/// A row of a page table: a bound page, or one of the ways in which a page can be unbound.
fn row(page: Option<u32>, unbound: i64, size: u32) -> Vec<TokenIndex> {
    let size = i64::from(size);
    let token = |offset: i64| match page {
        Some(page) => i64::from(page) * size + offset,
        // Below zero: a negative mark. Else tokens of the sink.
        None if unbound < 0 => unbound,
        None => unbound.min(1) * offset,
    };
    (0..size).map(|offset| TokenIndex(token(offset))).collect()
}

fn rows() -> impl Strategy<Value = (u32, Vec<Option<u32>>, i64)> {
    let page = prop_oneof![1 => Just(None), 2 => (1_u32..1000).prop_map(Some), 1 => Just(Some(u32::MAX))];
    (1_u32..9, prop::collection::vec(page, 0..10), -3_i64..2)
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn bound_pages_come_out_whole_and_in_order((size, pages, unbound) in rows()) {
        let tokens: Vec<TokenIndex> = pages.iter().flat_map(|page| row(*page, unbound, size)).collect();
        let bound: Vec<PhysicalPage> = pages.iter().flatten().map(|page| PhysicalPage(*page)).collect();
        prop_assert_eq!(whole_pages(&tokens, size), Ok(bound));
    }

    #[test]
    fn one_token_that_is_out_of_place_is_an_error(
        (size, pages, unbound) in rows(),
        at in any::<prop::sample::Index>(),
        other in prop_oneof![-3_i64..50, any::<i64>(), Just(i64::MAX), Just(i64::MIN)],
    ) {
        prop_assume!(size > 1 && !pages.is_empty());
        let mut tokens: Vec<TokenIndex> = pages.iter().flat_map(|page| row(*page, unbound, size)).collect();
        let at = at.index(tokens.len());
        let row = at / size as usize;
        let was_bound = pages[row].is_some();
        prop_assume!(tokens[at].0 != other);
        // An unbound token that becomes another unbound token leaves the page unbound.
        let stays_unbound = !was_bound && other < i64::from(size);
        tokens[at] = TokenIndex(other);
        match whole_pages(&tokens, size) {
            Ok(selected) => {
                prop_assert!(stays_unbound);
                prop_assert_eq!(selected.len(), pages.iter().flatten().count());
            }
            Err(error) => {
                prop_assert!(!stays_unbound);
                prop_assert_eq!(error, SelectError::PartialPage { row });
            }
        }
    }

    #[test]
    fn whatever_the_numbers_nothing_but_whole_pages_comes_out(
        tokens in prop::collection::vec(
            prop_oneof![3 => -8_i64..40, 1 => any::<i64>(), 1 => (i64::MAX - 9)..=i64::MAX, 1 => i64::MIN..(i64::MIN + 9)],
            0..16,
        ),
        run in prop_oneof![0_i64..30, (i64::MAX - 40)..(i64::MAX - 3)],
        size in 0_u32..5,
    ) {
        let run = (0..4).map(|offset| run + offset);
        let tokens: Vec<TokenIndex> = run.chain(tokens).map(TokenIndex).collect();
        match whole_pages(&tokens, size) {
            Err(SelectError::Length { tokens: count, page_tokens }) => {
                prop_assert!(size == 0 || !tokens.len().is_multiple_of(size as usize));
                prop_assert_eq!((count, page_tokens), (tokens.len(), size));
            }
            Err(SelectError::PartialPage { row }) => {
                let row = &tokens[row * size as usize..][..size as usize];
                let whole = row[0].0.rem_euclid(i64::from(size)) == 0
                    && u32::try_from(row[0].0.div_euclid(i64::from(size))).is_ok_and(|page| page > 0)
                    && row.windows(2).all(|pair| pair[1].0.checked_sub(pair[0].0) == Some(1));
                prop_assert!(!whole && row.iter().any(|token| token.0 >= i64::from(size)));
            }
            Ok(pages) => {
                let size = i64::from(size);
                let expanded: Vec<i64> =
                    pages.iter().flat_map(|page| (0..size).map(move |offset| i64::from(page.0) * size + offset)).collect();
                let kept: Vec<i64> = tokens.iter().map(|token| token.0).filter(|token| *token >= size).collect();
                prop_assert_eq!(expanded, kept, "what is not in the sink, and nothing else");
                prop_assert!(pages.iter().all(|page| page.0 > 0));
            }
        }
    }

    #[test]
    fn the_token_filter_keeps_order(tokens in prop::collection::vec(-5_i64..20, 0..20), floor in -2_i64..3) {
        let tokens: Vec<TokenIndex> = tokens.into_iter().map(TokenIndex).collect();
        let kept: Vec<TokenIndex> = tokens_above(&tokens, floor).collect();
        let mut expected = tokens;
        let (sorted, dropped) = (expected.clone(), expected.iter().filter(|token| token.0 <= floor).count());
        expected.retain(|token| token.0.saturating_sub(floor) > 0);
        prop_assert_eq!(kept.len() + dropped, sorted.len());
        prop_assert_eq!(kept, expected);
    }
}

/// A window of 12 tokens in 3 pages of 4. With 10 of them mapped, `indices > 0` gives 10 indices, which is no number
/// of pages; with 0, 4 or 12 tombstoned (whole pages), it gives whole pages, as the answer to that review says.
#[test]
fn ten_of_twelve_tokens_are_an_error_and_whole_tombstones_are_not() {
    let window = |unbound: &[usize]| -> Vec<TokenIndex> {
        (0..12).map(|at| TokenIndex(if unbound.contains(&at) { 0 } else { 4 * 5 + at as i64 })).collect()
    };
    let pages = |pages: &[u32]| Ok(pages.iter().copied().map(PhysicalPage).collect::<Vec<_>>());
    let ten = window(&[3, 7]);
    assert_eq!(whole_pages(&ten, 4), Err(SelectError::PartialPage { row: 0 }));
    assert_eq!(tokens_above(&ten, 0).count(), 10);
    assert_eq!(whole_pages(&window(&[]), 4), pages(&[5, 6, 7]));
    assert_eq!(whole_pages(&window(&[4, 5, 6, 7]), 4), pages(&[5, 7]));
    assert_eq!(whole_pages(&window(&(0..12).collect::<Vec<_>>()), 4), pages(&[]));
    for (unbound, left) in [(0..0, 12), (4..8, 8), (0..12, 0)] {
        assert_eq!(tokens_above(&window(&unbound.collect::<Vec<_>>()), 0).count(), left);
    }
    // `>= 0` would take the sink along, one token short of a page or not.
    assert_eq!(tokens_above(&window(&[4, 5, 6, 7]), -1).filter(|token| token.0 < 4).count(), 4);
}

/// Pages without tokens are no pages, even where no tokens are selected.
#[test]
fn a_page_of_no_tokens_is_an_error() {
    assert_eq!(whole_pages(&[], 0), Err(SelectError::Length { tokens: 0, page_tokens: 0 }));
}
