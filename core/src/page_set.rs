//! A set of small page numbers, lowest first: free ids, holes, retired pages.

/// A bit per page. `first` and `insert` are constant time for the sets that arenas have in practice: `low` is a
/// lower bound of the lowest member's word, so that a nearly full arena does not scan from zero.
#[derive(Debug, Default, Eq)]
pub(crate) struct PageSet {
    words: Vec<u64>,
    len: u32,
    low: usize,
}

impl PageSet {
    pub(crate) fn with_capacity(pages: u32) -> PageSet {
        PageSet { words: vec![0; (pages as usize).div_ceil(64)], len: 0, low: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub(crate) fn contains(&self, page: u32) -> bool {
        self.words.get(page as usize / 64).is_some_and(|word| word & (1 << (page % 64)) != 0)
    }

    pub(crate) fn insert(&mut self, page: u32) -> bool {
        let at = page as usize / 64;
        let bit = 1 << (page % 64);
        let new = self.words[at] & bit == 0;
        self.words[at] |= bit;
        self.len += u32::from(new);
        self.low = self.low.min(at);
        new
    }

    pub(crate) fn remove(&mut self, page: u32) -> bool {
        let at = page as usize / 64;
        let bit = 1 << (page % 64);
        let old = self.words[at] & bit != 0;
        self.words[at] &= !bit;
        self.len -= u32::from(old);
        old
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
        self.len = 0;
        self.low = 0;
    }

    /// The lowest member at or above `from`.
    pub(crate) fn first_from(&self, from: u32) -> Option<u32> {
        let start = from as usize / 64;
        let masked = self.words.get(start)? & (u64::MAX << (from % 64));
        if masked != 0 {
            return Some(start as u32 * 64 + masked.trailing_zeros());
        }
        let next = self.words[start + 1..].iter().position(|word| *word != 0)? + start + 1;
        Some(next as u32 * 64 + self.words[next].trailing_zeros())
    }

    /// Removes and returns the lowest member.
    pub(crate) fn pop_first(&mut self) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        let page = self.first_from(self.low as u32 * 64)?;
        self.low = page as usize / 64;
        self.remove(page);
        Some(page)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let mut next = 0;
        std::iter::from_fn(move || {
            let page = self.first_from(next)?;
            next = page + 1;
            Some(page)
        })
    }
}

impl PartialEq for PageSet {
    fn eq(&self, other: &PageSet) -> bool {
        self.words == other.words
    }
}

impl Clone for PageSet {
    fn clone(&self) -> PageSet {
        PageSet { words: self.words.clone(), len: self.len, low: self.low }
    }

    fn clone_from(&mut self, source: &PageSet) {
        self.words.clone_from(&source.words);
        self.len = source.len;
        self.low = source.low;
    }
}

#[cfg(test)]
mod tests {
    use super::PageSet;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn behaves_like_a_sorted_set(ops in prop::collection::vec((0_u8..3, 0_u32..200), 0..200)) {
            let mut set = PageSet::with_capacity(200);
            let mut model = BTreeSet::new();
            for (op, page) in ops {
                match op {
                    0 => prop_assert_eq!(set.insert(page), model.insert(page)),
                    1 => prop_assert_eq!(set.remove(page), model.remove(&page)),
                    _ => prop_assert_eq!(set.pop_first(), model.pop_first()),
                }
                prop_assert_eq!(set.len() as usize, model.len());
                prop_assert_eq!(set.first_from(page), model.range(page..).next().copied());
            }
            prop_assert!(set.iter().eq(model.iter().copied()));
        }
    }
}
