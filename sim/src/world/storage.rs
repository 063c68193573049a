//! Storage: keys and what is kept under them.
//!
//! A key has one slot for each page of the chunk that it names. What a slot *stands for* is said by `key`, or by the
//! first store; what it *holds* is kept under the key's stored name, which several keys may share. Slots of an extra
//! pool (`tail`) are kept beside those of the primary one.

use super::capture::{Captured, Captures};
use super::{Effects, Note, Object, World};
use crate::invariants::{self, Violation};
use crate::marks::Mark;
use crate::program::{At, Op, Operand, Program};
use crate::world::access::Access;
use leasecheck_core::{HolderId, Rule, transfer};
use smallvec::SmallVec;
use std::ops::Range;

impl World {
    /// Slots of a key in [`World::keys`]: what it holds, and what it stands for.
    fn slots(program: &Program, key: u8, tail: bool) -> (Range<usize>, Range<usize>) {
        let def = &program.keys[usize::from(key)];
        let string = &program.keys[usize::from(def.string(program.rules))];
        let pool = usize::from(tail) * program.key_slots;
        let meaning = 2 * program.key_slots + pool + usize::from(def.offset);
        let held = pool + usize::from(string.offset);
        (held..held + usize::from(def.cap), meaning..meaning + usize::from(def.cap))
    }

    pub(crate) fn name_content(&mut self, program: &Program, key: u8, operands: &[Operand]) -> Result<(), Violation> {
        let all = self.capture_all(program, operands)?;
        let (_, meaning) = World::slots(program, key, false);
        let values = all.iter().flat_map(|one| one.pages.as_deref().unwrap_or_default()).map(|page| page.expect);
        for (slot, value) in meaning.zip(values.collect::<SmallVec<[u16; 8]>>()) {
            self.keys[slot] = value;
        }
        Ok(())
    }

    /// How many pages are stored under the key; under several, of how many every component is.
    pub(crate) fn lookup(&self, program: &Program, keys: &[u8], tail: bool) -> i16 {
        let looked_at = if program.rules.on(Rule::PresenceNeedsEveryPart) { keys } else { &keys[..keys.len().min(1)] };
        let found = |key: &u8| {
            let (held, _) = World::slots(program, *key, tail);
            self.keys[held].iter().filter(|value| **value != 0).count() as i16
        };
        looked_at.iter().map(found).min().unwrap_or(0)
    }

    pub(crate) fn drop_key(&mut self, program: &Program, key: u8) {
        for tail in [false, true] {
            let (held, _) = World::slots(program, key, tail);
            self.keys[held].fill(0);
        }
    }

    /// `store` and `fetch` look addresses up in a first phase and touch the bytes in a second, with a lease in between
    /// if the design's leases cover the use.
    pub(crate) fn storage_step(
        &mut self,
        program: &Program,
        slot: usize,
        holder: HolderId,
        op: &Op,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let (Op::Store { pages, .. } | Op::Fetch { pages, .. }) = op else { return Ok(()) };
        let by_id = pages.iter().any(|operand| !matches!(operand.at, At::Var(_)));
        let covers = program.rules.on(Rule::LeasesCoverUse);
        let arena = pages.first().map_or(0, |operand| operand.arena);
        if self.threads[slot].phase == 0 {
            if by_id {
                self.take_lease(program, arena, holder, None, effects)?;
            }
            let all = self.capture_all(program, pages)?;
            self.threads[slot].scratch =
                all.iter().flat_map(|one| one.pages.as_deref().unwrap_or_default()).copied().collect();
            self.threads[slot].phase = 1;
            if by_id && !covers {
                self.release(program, arena, holder, effects)?;
            }
            if by_id {
                return Ok(());
            }
        }
        let scratch = std::mem::take(&mut self.threads[slot].scratch);
        let operand = pages[0];
        let held = Captured {
            operand: Operand { at: At::Now, ..operand },
            version: 0,
            pages: Some(scratch.iter().copied().collect()),
        };
        let key = match op {
            Op::Store { key, from, tail, .. } => {
                self.store(program, &held, *key, *from, *tail, effects)?;
                *key
            }
            Op::Fetch { key, from, tail, .. } => {
                self.fetch(program, &held, *key, *from, *tail, effects)?;
                *key
            }
            _ => 0,
        };
        effects.note(Note::Acquire(Object::Storage(key)));
        effects.note(Note::Release(Object::Storage(key)));
        if by_id && covers {
            self.release(program, arena, holder, effects)?;
        }
        self.advance(program, slot);
        Ok(())
    }

    fn store(
        &mut self,
        program: &Program,
        held: &Captured,
        key: u8,
        from: u8,
        tail: bool,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let pages: &Captures = match &held.pages {
            Some(pages) => pages,
            None => return Ok(()),
        };
        let (string, meaning) = World::slots(program, key, tail);
        let slots: Vec<(usize, usize)> = string.zip(meaning).collect();
        let slots: &[(usize, usize)] = if tail {
            if program.rules.on(Rule::KeysOneToOne) {
                transfer::tail_keys(&slots, pages.len()).unwrap_or_default()
            } else {
                transfer::tail_slice(&slots, pages.len())
            }
        } else {
            let from = usize::from(from).min(slots.len());
            &slots[from..(from + pages.len()).min(slots.len())]
        };
        if slots.len() != pages.len() {
            return Err(invariants::mis_keyed::count(program, key, slots.len(), pages.len()));
        }
        effects.mark(if pages.is_empty() { Mark::StoredNone } else { Mark::Stored });
        for (page, (string, meaning)) in pages.iter().zip(slots) {
            let access = Access { transfer: true, ..Access::of(&held.operand, page) };
            self.read_page(program, access, effects)?;
            if self.keys[*meaning] == 0 {
                self.keys[*meaning] = page.expect;
            }
            if self.keys[*meaning] != page.expect {
                return Err(invariants::mis_keyed::content(program, key));
            }
            // A store that finds its key taken keeps what is there, as content-addressed stores do.
            if self.keys[*string] == 0 {
                self.keys[*string] = page.expect;
            }
        }
        Ok(())
    }

    fn fetch(
        &mut self,
        program: &Program,
        held: &Captured,
        key: u8,
        from: u8,
        tail: bool,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let pages: &Captures = match &held.pages {
            Some(pages) => pages,
            None => return Ok(()),
        };
        let (string, meaning) = World::slots(program, key, tail);
        let slots: Vec<(usize, usize)> = string.zip(meaning).skip(from.into()).collect();
        for (page, (string, meaning)) in pages.iter().zip(slots) {
            let value = self.keys[string];
            if value == 0 {
                return Err(invariants::check::refused(program, "the key is not stored: look it up first"));
            }
            if self.keys[meaning] != 0 && self.keys[meaning] != value {
                return Err(invariants::mis_keyed::fetched(program, key));
            }
            let access = Access { value, valid: 0, transfer: true, ..Access::of(&held.operand, page) };
            self.write_page(program, access, effects)?;
            let state = &mut self.arenas[usize::from(held.operand.arena)];
            let at = state.id_at(held.operand.band, page.id);
            state.ids[at].issued = value;
            effects.mark(Mark::Fetched);
        }
        Ok(())
    }
}
