//! From what a step names to pages: resolving operands when a step is taken, and packing them into queue entries.
//!
//! An entry carries, for every operand, how many pages it has (or that the index buffer says), the version of the
//! index buffer that the caller meant, and the pages: id, generation, page number, expected content and its valid length.

use super::access::{Access, By};
use super::{Capture, World};
use crate::invariants::{Violation, stale_address, use_after_free};
use crate::program::{At, Ids, Operand, Program, Space, VarKind};
use crate::world::{ArenaState, PageRef};
use leasecheck_core::{Rule, SINK};
use smallvec::SmallVec;

/// Page number of a capture whose address an index buffer gives when the operation runs.
pub(crate) const FROM_BUFFER: u16 = u16::MAX;

/// Page number of a page that is not bound in the band.
pub(crate) const UNBOUND: u16 = u16::MAX - 1;

/// Count of an operand whose pages the index buffer gives when the operation runs.
const ALL_OF_BUFFER: u8 = u8::MAX;

/// A few pages.
pub(crate) type Captures = SmallVec<[Capture; 8]>;

/// An operand as an entry carries it.
#[derive(Clone, Debug)]
pub(crate) struct Captured {
    pub(crate) operand: Operand,
    /// Version of the index buffer that the caller meant.
    pub(crate) version: u8,
    /// `None`: whatever the index buffer names.
    pub(crate) pages: Option<Captures>,
}

impl<'a> Access<'a> {
    /// All of a captured page, by the host.
    pub(crate) fn of(operand: &'a Operand, page: &Capture) -> Access<'a> {
        Access {
            operand,
            id: page.id,
            generation: page.generation,
            page: page.page,
            value: page.expect,
            valid: page.valid,
            by: By::Host,
            tokens: 0,
            transfer: false,
        }
    }
}

impl World {
    /// How many pages a variable holds.
    pub(crate) fn len(&self, var: u8) -> usize {
        usize::from(self.vars[usize::from(var)].max(0) as u16 & 0xff)
    }

    /// Tokens of a variable beyond whole pages.
    pub(crate) fn loose_tokens(&self, var: u8) -> u8 {
        (self.vars[usize::from(var)].max(0) >> 8) as u8
    }

    /// The pages of a variable.
    pub(crate) fn pages_of(&self, program: &Program, var: u8) -> &[PageRef] {
        let offset = usize::from(program.vars[usize::from(var)].offset);
        &self.refs[offset..offset + self.len(var)]
    }

    pub(crate) fn set_pages(&mut self, program: &Program, var: u8, pages: &[PageRef], loose_tokens: u8) {
        let def = &program.vars[usize::from(var)];
        let offset = usize::from(def.offset);
        let room = &mut self.refs[offset..offset + usize::from(def.cap)];
        room.fill(PageRef::default());
        let len = pages.len().min(room.len());
        room[..len].copy_from_slice(&pages[..len]);
        self.vars[usize::from(var)] = len as i16 | i16::from(loose_tokens) << 8;
    }

    /// The ids that an operand means, if they are known before the operation runs.
    pub(crate) fn ids_of(&self, program: &Program, operand: &Operand) -> Option<SmallVec<[PageRef; 8]>> {
        let Ids::Var(var) = operand.ids else { return None };
        let pages = self.pages_of(program, var);
        let to = usize::from(operand.to).min(pages.len());
        let from = usize::from(operand.from).min(to);
        Some(pages[from..to].into())
    }

    /// Resolves an operand as of now.
    pub(crate) fn capture(&self, program: &Program, operand: &Operand) -> Result<Captured, Violation> {
        let version = match operand.at {
            At::Buffer(buffer) => self.buffers[usize::from(buffer)].issued,
            _ => 0,
        };
        let Some(ids) = self.ids_of(program, operand) else {
            return Ok(Captured { operand: *operand, version, pages: None });
        };
        let state = &self.arenas[usize::from(operand.arena)];
        let captured: Option<&[PageRef]> = match operand.at {
            At::Var(var) => Some(self.pages_of(program, var)),
            _ => None,
        };
        let mut pages = Captures::new();
        for (nth, id) in ids.iter().enumerate() {
            let page = match (operand.at, captured) {
                (At::Buffer(_), _) => FROM_BUFFER,
                (At::Var(var), Some(addresses)) => {
                    let at = nth + if operand.ids == Ids::Var(var) { usize::from(operand.from) } else { 0 };
                    let Some(address) = addresses.get(at) else { break };
                    check_captured(program, state, operand, var, *id, address.page)?;
                    taken(program, operand, address.page)
                }
                _ => {
                    if !state.alive(operand.band, id.id, id.generation) {
                        return Err(use_after_free::id_is_dead(program, operand, id.id));
                    }
                    let born = state.ids[state.id_at(operand.band, id.id)].born;
                    let now = state.locate(operand.band, id.id, id.generation);
                    // An index that is too narrow leads to another page.
                    let bits = program.arenas[usize::from(operand.arena)].index_bits[usize::from(operand.band)];
                    let exact = bits >= 16 || program.rules.on(Rule::IndicesAreExact);
                    match now {
                        Some(_) if !program.rules.on(Rule::ResolveAtBoundary) => born,
                        Some(page) if !exact => page & ((1 << bits) - 1),
                        Some(page) => page,
                        None if state.arena.config().sink => SINK.0 as u16,
                        None => UNBOUND,
                    }
                }
            };
            let expect = state.ids[state.id_at(operand.band, id.id)].issued;
            let valid = state.valid(operand.band, id.id, id.generation);
            pages.push(Capture { id: id.id, generation: id.generation, page, expect, valid });
        }
        Ok(Captured { operand: *operand, version, pages: Some(pages) })
    }

    /// Resolves several operands.
    pub(crate) fn capture_all(
        &self,
        program: &Program,
        operands: &[Operand],
    ) -> Result<SmallVec<[Captured; 2]>, Violation> {
        operands.iter().map(|operand| self.capture(program, operand)).collect()
    }
}

/// The page to which a captured number leads, in the space that the operand's band declares.
fn taken(program: &Program, operand: &Operand, number: u16) -> u16 {
    let def = &program.arenas[usize::from(operand.arena)];
    if !def.takes_kernel[usize::from(operand.band)] {
        return number;
    }
    (u32::from(number) / def.kernels[usize::from(operand.band)]) as u16
}

/// A physical address that was captured earlier must still be its id's when a step is issued with it. Numbers of
/// other id spaces are not checked here: whether they bite shows when the bytes are touched.
fn check_captured(
    program: &Program,
    state: &ArenaState,
    operand: &Operand,
    var: u8,
    id: PageRef,
    page: u16,
) -> Result<(), Violation> {
    let def = &program.vars[usize::from(var)];
    let takes_kernel = program.arenas[usize::from(operand.arena)].takes_kernel[usize::from(operand.band)];
    if takes_kernel || def.kind != VarKind::Addresses(Space::Physical) || def.home != (operand.arena, operand.band) {
        return Ok(());
    }
    if !state.alive(operand.band, id.id, id.generation) {
        return Err(use_after_free::address_is_dead(program, operand, id.id, page));
    }
    match state.locate(operand.band, id.id, id.generation) {
        Some(now) if now != page => Err(stale_address::moved(program, operand, id.id, page, Some(now))),
        _ => Ok(()),
    }
}

/// Packs operands into an entry.
pub(crate) fn pack(captured: &[Captured], out: &mut SmallVec<[u8; 64]>) {
    for one in captured {
        out.push(one.version);
        match &one.pages {
            None => out.push(ALL_OF_BUFFER),
            Some(pages) => {
                out.push(pages.len() as u8);
                for page in pages {
                    out.extend([page.id, page.generation]);
                    out.extend(page.page.to_le_bytes());
                    out.extend(page.expect.to_le_bytes());
                    out.push(page.valid);
                }
            }
        }
    }
}

/// Reads back what [`pack`] wrote for these operands, and returns the rest of the bytes.
pub(crate) fn unpack<'a>(operands: &[Operand], mut bytes: &'a [u8], out: &mut SmallVec<[Captured; 2]>) -> &'a [u8] {
    for operand in operands {
        let [version, count, rest @ ..] = bytes else { return bytes };
        bytes = rest;
        let pages = (*count != ALL_OF_BUFFER).then(|| {
            let (pages, rest) = bytes.split_at(usize::from(*count) * 7);
            bytes = rest;
            let read = |page: &[u8]| Capture {
                id: page[0],
                generation: page[1],
                page: u16::from_le_bytes([page[2], page[3]]),
                expect: u16::from_le_bytes([page[4], page[5]]),
                valid: page[6],
            };
            pages.chunks_exact(7).map(read).collect()
        });
        out.push(Captured { operand: *operand, version: *version, pages });
    }
    bytes
}
