//! Touching bytes: the shadow says whose they are and what they hold.

use super::capture::{FROM_BUFFER, UNBOUND};
use super::{ArenaState, Cell, Effects, Note, World};
use crate::invariants::{
    Violation, early_reuse, partial_page, race, stale_address, uninitialized, unmapped, use_after_free, wrong_space,
};
use crate::marks::Mark;
use crate::program::{At, Operand, Program, Space, VarKind};
use leasecheck_core::BandId;
use std::ops::Range;

/// Nobody's bytes.
pub(crate) const NOBODY: u16 = u16::MAX;

/// A cell that holds nothing.
pub(crate) const NOTHING: Cell = Cell { who: NOBODY, value: 0 };

/// A cell whose bytes are not mapped. (No page is the last id of the last band, so that the number is no page's.)
pub(crate) const UNMAPPED: Cell = Cell { who: NOBODY - 1, value: 0 };

/// Content of a cell that was zeroed when its page was handed out. (No write has a number as high.)
pub(crate) const ZEROES: u16 = u16::MAX;

/// Who is touching bytes, which decides what order protects them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// A host thread.
    Host,
    /// A stream: work queued before a page was freed may still touch it before anything queued later does.
    Stream,
    /// An RDMA agent.
    Rdma,
}

/// A page as an operation is about to touch it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access<'a> {
    pub(crate) operand: &'a Operand,
    pub(crate) id: u8,
    pub(crate) generation: u8,
    pub(crate) page: u16,
    /// Content that must be there, for reads; content that is written, for writes.
    pub(crate) value: u16,
    /// How many tokens of that content were written, for reads; all, if 0.
    pub(crate) valid: u8,
    pub(crate) by: By,
    /// The first so many tokens of the page; all, if 0.
    pub(crate) tokens: u8,
    /// Whether it is part of a transfer, which must never touch the sink.
    pub(crate) transfer: bool,
}

/// What was touched, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accessed {
    /// Arena.
    pub arena: u8,
    /// Band.
    pub band: u8,
    /// The page that was meant.
    pub id: u8,
    /// The page number that was used.
    pub page: u16,
    /// First cell.
    pub low: u32,
    /// One past the last cell.
    pub high: u32,
    /// Whether it was written.
    pub write: bool,
}

/// Bytes that a step is about to touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Arena.
    pub arena: u8,
    /// Band.
    pub band: u8,
    /// The page that is meant.
    pub id: u8,
    pub(crate) generation: u8,
    /// First cell.
    pub low: u32,
    /// One past the last cell.
    pub high: u32,
    /// Whether it is written.
    pub write: bool,
}

/// A page of a band as one number, for the shadow.
pub(crate) fn who(band: u8, id: u8, generation: u8) -> u16 {
    u16::from(band) << 14 | u16::from(id) << 6 | u16::from(generation & 0x3f)
}

/// The page that a number of [`who`] stands for: band and id.
pub(crate) fn whom(who: u16) -> (u8, u8) {
    ((who >> 14) as u8, (who >> 6 & 0xff) as u8)
}

impl ArenaState {
    /// The cells of a page, if it lies in the arena.
    pub(crate) fn cells_of(&self, program: &Program, arena: u8, band: u8, page: u16) -> Option<Range<usize>> {
        if u32::from(page) >= self.arena.pages(BandId(band)) {
            return None;
        }
        let parts = program.arenas[usize::from(arena)].parts(band) as usize;
        let start = usize::from(page) * parts;
        Some(start..start + parts)
    }

    /// How many cells the first tokens of a page take; all of them, if 0 tokens.
    pub(crate) fn cells_of_tokens(&self, program: &Program, arena: u8, band: u8, tokens: u8) -> usize {
        let parts = program.arenas[usize::from(arena)].parts(band) as usize;
        let per_page = self.arena.config().bands[usize::from(band)].page_tokens as usize;
        if tokens == 0 { parts } else { (parts * usize::from(tokens)).div_ceil(per_page).min(parts) }
    }

    /// Whether the page is (part of) the sink.
    pub(crate) fn is_sink(&self, band: u8, page: u16) -> bool {
        u32::from(page) < self.arena.first_page(BandId(band)).0
    }
}

/// The space of an operand's addresses, and whether they were made for another band.
fn foreign(program: &Program, operand: &Operand) -> bool {
    match operand.at {
        At::Var(var) => {
            let def = &program.vars[usize::from(var)];
            let kernel = program.arenas[usize::from(operand.arena)].takes_kernel[usize::from(operand.band)];
            let space = if kernel { Space::Kernel } else { Space::Physical };
            def.kind != VarKind::Addresses(space) || def.home != (operand.arena, operand.band)
        }
        At::Buffer(buffer) => program.buffers[usize::from(buffer)].home != (operand.arena, operand.band),
        At::Now => false,
    }
}

impl World {
    /// Checks the place, and returns its cells; `None` for the sink, which kernels skip.
    fn place(&self, program: &Program, access: &Access<'_>) -> Result<Option<Range<usize>>, Violation> {
        let (arena, band) = (access.operand.arena, access.operand.band);
        let state = &self.arenas[usize::from(arena)];
        if access.page == UNBOUND {
            return Err(use_after_free::not_bound(program, access.operand, access.id));
        }
        let Some(cells) = state.cells_of(program, arena, band, access.page) else {
            return Err(wrong_space::outside(program, access.operand, access.id, access.page));
        };
        if state.is_sink(band, access.page) {
            return if access.transfer {
                Err(partial_page::sink(program, access.operand, access.id))
            } else {
                Ok(None)
            };
        }
        if access.by != By::Stream {
            // Nothing orders host threads and RDMA behind a free: the page must still be the id's.
            if !state.alive(band, access.id, access.generation) {
                return Err(use_after_free::access(program, access.operand, access.id, access.page));
            }
            let now = state.locate(band, access.id, access.generation);
            if now != Some(access.page) {
                return Err(self.misplaced(program, access, now));
            }
        }
        Ok(Some(cells))
    }

    /// The page is not where the access goes.
    fn misplaced(&self, program: &Program, access: &Access<'_>, now: Option<u16>) -> Violation {
        if foreign(program, access.operand) {
            wrong_space::touched(program, access.operand, access.id, access.page, now)
        } else {
            stale_address::moved(program, access.operand, access.id, access.page, now)
        }
    }

    /// Reads a page: its bytes must be those of the page that is meant, and hold what was written last.
    pub(crate) fn read_page(
        &self,
        program: &Program,
        access: Access<'_>,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let (arena, band) = (access.operand.arena, access.operand.band);
        let state = &self.arenas[usize::from(arena)];
        let Some(cells) = self.place(program, &access)? else {
            effects.mark(Mark::TranslatedToSink);
            return Ok(());
        };
        let cells = cells.start..cells.start + state.cells_of_tokens(program, arena, band, access.tokens);
        effects.note(Note::Touched(accessed(&access, &cells, false)));
        if access.by == By::Stream && !state.alive(band, access.id, access.generation) {
            effects.mark(Mark::ReadAfterFree);
        }
        let me = who(band, access.id, access.generation);
        let written =
            if access.valid > 0 { state.cells_of_tokens(program, arena, band, access.valid) } else { usize::MAX };
        for (part, cell) in state.cells[cells].iter().enumerate() {
            if cell.who == UNMAPPED.who {
                return Err(unmapped::touched(program, access.operand, access.id, access.page));
            }
            if part >= written && access.value != 0 {
                // Rows beyond the valid length: a transfer takes them along, a kernel must find finite numbers.
                effects.mark(Mark::ReadBeyondValid);
                if cell.who != me && !access.transfer {
                    return Err(uninitialized::beyond(program, access.operand, access.id, cell.who));
                }
                continue;
            }
            if cell.who != me {
                let now = state.locate(band, access.id, access.generation);
                if now.is_none() && !foreign(program, access.operand) {
                    return Err(early_reuse::read(program, access.operand, access.id, access.page, cell.who));
                }
                if now == Some(access.page) && !foreign(program, access.operand) {
                    return Err(uninitialized::read(program, access.operand, access.id, access.value != 0));
                }
                return Err(self.misplaced(program, &access, now));
            }
            if access.value == 0 {
                return Err(uninitialized::read(program, access.operand, access.id, false));
            }
            if cell.value == ZEROES {
                return Err(uninitialized::read(program, access.operand, access.id, true));
            }
            if cell.value != access.value + part as u16 {
                return Err(race::unexpected_content(program, access.operand, access.id, access.page));
            }
        }
        Ok(())
    }

    /// Writes a page: its bytes must be, or become, those of the page that is meant.
    pub(crate) fn write_page(
        &mut self,
        program: &Program,
        access: Access<'_>,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let (arena, band) = (access.operand.arena, access.operand.band);
        let Some(cells) = self.place(program, &access)? else {
            effects.mark(Mark::TranslatedToSink);
            return Ok(());
        };
        let state = &self.arenas[usize::from(arena)];
        let cells = cells.start..cells.start + state.cells_of_tokens(program, arena, band, access.tokens);
        let me = who(band, access.id, access.generation);
        let alive = state.alive(band, access.id, access.generation);
        let now = state.locate(band, access.id, access.generation);
        let pending_move = || self.move_is_queued(program, arena, band, access.id, access.page);
        let mut fresh = false;
        for (at, cell) in cells.clone().zip(&state.cells[cells.clone()]) {
            if cell.who == me {
                continue;
            }
            if cell.who == UNMAPPED.who {
                return Err(unmapped::touched(program, access.operand, access.id, access.page));
            }
            fresh = true;
            if self.is_home(program, arena, at, cell.who) {
                return Err(if alive && (now.is_some() || foreign(program, access.operand)) {
                    self.misplaced(program, &access, now)
                } else {
                    early_reuse::write(program, access.operand, access.id, access.page, cell.who)
                });
            }
        }
        // A page that the band has let go of (freed, or its binding released) may still be written by work that was queued
        // before, as long as nobody has moved in.
        let elsewhere = now.map_or(foreign(program, access.operand), |now| now != access.page);
        if fresh && alive && elsewhere && !pending_move() {
            return Err(self.misplaced(program, &access, now));
        }
        if access.tokens > 0 && !access.transfer {
            effects.mark(Mark::WrittenInPart);
        }
        effects.note(Note::Touched(accessed(&access, &cells, true)));
        let state = &mut self.arenas[usize::from(arena)];
        for (part, cell) in state.cells[cells].iter_mut().enumerate() {
            *cell = Cell { who: me, value: access.value + part as u16 };
        }
        Ok(())
    }

    /// Whether the page that a cell's bytes belong to still has its place there, or will be copied from there.
    fn is_home(&self, program: &Program, arena: u8, cell: usize, owner: u16) -> bool {
        if owner == NOBODY || owner == UNMAPPED.who {
            return false;
        }
        let state = &self.arenas[usize::from(arena)];
        let (band, id) = whom(owner);
        let generation = state.generation(band, id);
        if who(band, id, generation) != owner {
            return false;
        }
        let page = (cell / program.arenas[usize::from(arena)].parts(band) as usize) as u16;
        state.locate(band, id, generation) == Some(page) || self.move_is_queued(program, arena, band, id, page)
    }

    /// Copies a page's bytes to its new place.
    pub(crate) fn move_page(&mut self, program: &Program, arena: u8, band: u8, from: u16, to: u16) {
        let state = &mut self.arenas[usize::from(arena)];
        let (Some(from), Some(to)) =
            (state.cells_of(program, arena, band, from), state.cells_of(program, arena, band, to))
        else {
            return;
        };
        for (source, target) in from.zip(to) {
            state.cells[target] = state.cells[source];
            // The bytes stay, but they are nobody's now.
            state.cells[source].who = NOBODY;
        }
    }

    /// The bytes that pages of an operation occupy, for conflicts.
    pub(crate) fn region(
        &self,
        program: &Program,
        operand: &Operand,
        (id, generation, page): (u8, u8, u16),
        write: bool,
    ) -> Option<Region> {
        if page == FROM_BUFFER || page == UNBOUND {
            return None;
        }
        let state = &self.arenas[usize::from(operand.arena)];
        if state.is_sink(operand.band, page) {
            return None;
        }
        let cells = state.cells_of(program, operand.arena, operand.band, page)?;
        let (low, high) = (cells.start as u32, cells.end as u32);
        Some(Region { arena: operand.arena, band: operand.band, id, generation, low, high, write })
    }
}

fn accessed(access: &Access<'_>, cells: &Range<usize>, write: bool) -> Accessed {
    Accessed {
        arena: access.operand.arena,
        band: access.operand.band,
        id: access.id,
        page: access.page,
        low: cells.start as u32,
        high: cells.end as u32,
        write,
    }
}
