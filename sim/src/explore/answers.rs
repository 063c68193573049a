//! Answers that were computed once, by what was looked at for them.

use super::parts::{ByPrint, View};
use crate::world::Mask;
use smallvec::SmallVec;

/// What was looked at for an answer.
pub(super) struct Looked {
    /// The hash of what was seen there.
    key: u128,
    /// The parts.
    pub(super) mask: Mask,
    /// The table that the answer is in.
    table: u32,
}

/// Answers of one place for which the same parts were looked at, by what was seen there.
struct Table {
    mask: Mask,
    /// The parts in `mask`.
    parts: SmallVec<[u8; 16]>,
    numbers: ByPrint<u32>,
}

impl Table {
    fn key(&self, view: View<'_>, seed: u128) -> u128 {
        self.parts.iter().fold(seed, |key, part| key ^ view.print(usize::from(*part)))
    }
}

/// Answers to one question, asked at each place of the program.
pub(super) struct Answers {
    tables: Vec<Table>,
    /// The tables of each place.
    at: Vec<SmallVec<[u32; 4]>>,
}

impl Answers {
    pub(super) fn new(places: usize) -> Answers {
        Answers { tables: Vec::new(), at: vec![SmallVec::new(); places] }
    }

    /// The answer at a place. Questions that differ in their seed are different.
    pub(super) fn get(&self, view: View<'_>, place: usize, seed: u128) -> Option<usize> {
        self.at[place].iter().find_map(|table| {
            let table = &self.tables[*table as usize];
            table.numbers.get(&table.key(view, seed)).map(|number| *number as usize)
        })
    }

    /// The answer for a state that differs from one with a known answer `by` this, in the parts that were looked at.
    pub(super) fn beside(&self, looked: &Looked, by: u128) -> Option<u32> {
        self.tables[looked.table as usize].numbers.get(&(looked.key ^ by)).copied()
    }

    /// Keeps an answer for which the parts of `mask` were looked at.
    pub(super) fn insert(&mut self, view: View<'_>, place: usize, seed: u128, mask: Mask, number: usize) -> Looked {
        let known = self.at[place].iter().copied().find(|table| self.tables[*table as usize].mask == mask);
        let at = known.unwrap_or_else(|| {
            let parts = (0..Mask::BITS as u8).filter(|part| mask >> part & 1 != 0).collect();
            self.tables.push(Table { mask, parts, numbers: ByPrint::default() });
            self.at[place].push(self.tables.len() as u32 - 1);
            self.tables.len() as u32 - 1
        });
        let table = &mut self.tables[at as usize];
        let key = table.key(view, seed);
        table.numbers.insert(key, number as u32);
        Looked { key, mask, table: at }
    }
}
