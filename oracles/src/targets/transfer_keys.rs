//! Planning transfers: pages and storage keys one to one, zero pages included; ends that pair; layouts leased once;
//! indices that lead back to their page.

use crate::bytes::below;
use arbitrary::Unstructured;
use leasecheck_core::transfer::{PairError, kernel_index, layouts, pair, tail_keys, tail_slice, token_index};
use leasecheck_core::{KernelIndex, MAX_PAGES, PhysicalPage};

/// Plans the transfer that the bytes stand for.
pub fn run(data: &[u8]) {
    // The bytes ran out: there is nothing more to plan.
    let _ = plan(&mut Unstructured::new(data));
}

fn plan(bytes: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let (count, pages) = (below(bytes, 40)? as usize, below(bytes, 44)? as usize);
    let keys: Vec<u16> = (0..count as u16).collect();
    keys_of_the_tail(&keys, pages);
    ends(bytes)?;
    let pools: Vec<Option<u8>> = (0..below(bytes, 12)?)
        .map(|_| Ok(bytes.arbitrary::<u8>()?.checked_sub(32).map(|layout| layout % 6)))
        .collect::<arbitrary::Result<_>>()?;
    leased(&pools);
    indices(bytes)
}

/// Page `n` of a tail of pages goes with key `n` of the same number of keys from the end of the chunk.
fn keys_of_the_tail(keys: &[u16], pages: usize) {
    let tail = tail_keys(keys, pages);
    assert_eq!(tail.is_some(), pages <= keys.len());
    if let Some(tail) = tail {
        assert_eq!(tail.len(), pages, "a key for each page");
        for (page, key) in tail.iter().enumerate() {
            assert_eq!(usize::from(*key), keys.len() - pages + page, "the keys of the wrong end");
        }
    }
    // `keys[-0:]` is the whole list, and a slice that reaches too far is cut off.
    let whole = pages == 0 || pages > keys.len();
    let slice = tail_slice(keys, pages);
    assert_eq!(slice, if whole { keys } else { tail.unwrap_or_default() });
}

fn ends(bytes: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let end = |bytes: &mut Unstructured<'_>| Ok((below(bytes, 5)? as usize, u64::from(below(bytes, 4)?)));
    let (source, destination) = (end(bytes)?, end(bytes)?);
    match pair(source, destination) {
        Ok(()) => assert_eq!(source, destination),
        Err(PairError::Count { source: from, destination: to }) => {
            assert_eq!((from, to), (source.0, destination.0));
            assert_ne!(from, to);
        }
        Err(PairError::Envelope { source: from, destination: to }) => {
            assert_eq!((from, to), (source.1, destination.1));
            assert!(source.0 == destination.0 && from != to);
        }
    }
    Ok(())
}

fn leased(pools: &[Option<u8>]) {
    let leased = layouts(pools.iter().copied());
    for layout in 0..6 {
        let used = pools.contains(&Some(layout));
        assert_eq!(leased.iter().filter(|other| **other == layout).count(), usize::from(used), "each layout once");
    }
    let first = |layout: &u8| pools.iter().position(|pool| pool == &Some(*layout));
    assert!(leased.windows(2).all(|pair| first(&pair[0]) < first(&pair[1])), "in the order of first appearance");
}

fn indices(bytes: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let (page, layers, size) = (bytes.arbitrary::<u32>()?, bytes.arbitrary::<u32>()?, bytes.arbitrary::<u32>()?.max(1));
    let exact = u128::from(page) * u128::from(layers) * 2;
    let expected = u64::try_from(exact).ok().map(KernelIndex);
    assert_eq!(kernel_index(PhysicalPage(page), layers), expected);
    let page = page % MAX_PAGES as u32;
    let offset = bytes.arbitrary::<u32>()? % size;
    let token = token_index(PhysicalPage(page), size, offset).0;
    assert_eq!((token / i64::from(size), token % i64::from(size)), (page.into(), offset.into()));
    Ok(())
}
