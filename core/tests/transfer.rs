//! Planning transfers: ends pair only if pages and bytes match; the keys of a tail are as many as its pages, also for
//! none (S16), where the slice `keys[-n:]` gives all of them; kernel-facing and token indices (S13) go back and forth
//! without loss, or say that they do not fit.
//!
//! Not checked: the copies (the simulator's world), collecting layouts (`layouts.rs`).

use crate::common::cases;
use leasecheck_core::transfer::{PairError, kernel_index, pair, tail_keys, tail_slice, token_index};
use leasecheck_core::{KernelIndex, MAX_PAGES, PhysicalPage, TokenIndex};
use proptest::prelude::*;

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn ends_pair_exactly_if_pages_and_envelopes_match(
        source in (0_usize..4, 1_u64..4),
        destination in (0_usize..4, 1_u64..4),
    ) {
        let expected = if source.0 != destination.0 {
            Err(PairError::Count { source: source.0, destination: destination.0 })
        } else if source.1 != destination.1 {
            Err(PairError::Envelope { source: source.1, destination: destination.1 })
        } else {
            Ok(())
        };
        prop_assert_eq!(pair(source, destination), expected);
        prop_assert_eq!(pair(source, destination).is_ok(), pair(destination, source).is_ok());
    }

    #[test]
    fn a_tail_has_as_many_keys_as_pages(keys in prop::collection::vec(any::<u8>(), 0..12), pages in 0_usize..16) {
        match tail_keys(&keys, pages) {
            Some(tail) => {
                prop_assert_eq!(tail.len(), pages);
                prop_assert!(keys.ends_with(tail));
            }
            None => prop_assert!(pages > keys.len()),
        }
        // The slice agrees, except where it does not: none asked for, or more than there are.
        let slice = tail_slice(&keys, pages);
        if pages == 0 {
            prop_assert_eq!(slice, &keys[..], "the whole chunk");
            prop_assert_eq!(tail_keys(&keys, 0).map(<[u8]>::len), Some(0));
        } else if pages <= keys.len() {
            prop_assert_eq!(Some(slice), tail_keys(&keys, pages));
        } else {
            prop_assert_eq!(slice, &keys[..]);
        }
    }

    #[test]
    fn indices_lead_back_to_their_page(
        page in any::<u32>(),
        layers in prop_oneof![1_u32..100, any::<u32>()],
        size in prop_oneof![1_u32..100, 1..=u32::MAX],
        offset in any::<prop::sample::Index>(),
    ) {
        let exact = u128::from(page) * 2 * u128::from(layers);
        let index = kernel_index(PhysicalPage(page), layers);
        prop_assert_eq!(index.map(|index| u128::from(index.0)), u64::try_from(exact).ok().map(u128::from));
        if let Some(KernelIndex(index)) = index
            && layers > 0
        {
            prop_assert_eq!(index / (2 * u64::from(layers)), u64::from(page));
        }
        let offset = offset.index(size as usize) as u32;
        // Any page that an arena can have, with pages of any size.
        let page = page % MAX_PAGES as u32;
        let TokenIndex(token) = token_index(PhysicalPage(page), size, offset);
        prop_assert_eq!(token.div_euclid(i64::from(size)), i64::from(page));
        prop_assert_eq!(token.rem_euclid(i64::from(size)), i64::from(offset));
    }
}

#[test]
fn a_35_layer_pool_steps_by_70() {
    assert_eq!(kernel_index(PhysicalPage(1), 35), Some(KernelIndex(70)));
    // As a physical page, that index is a page that the pool may not even have.
    assert_ne!(kernel_index(PhysicalPage(1), 35).map(|index| index.0), Some(1));
}
