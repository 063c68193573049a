//! The parts that a world consists of, each as bytes: equal bytes, equal worlds. Explorers keep states this way, and ask
//! which parts a step looked at and which it changed.

use super::{BufferState, Capture, Cell, EventState, IdState, Kept, PageRef, World};
use crate::program::{Pc, Program};
use std::ops::Range;
use std::sync::Arc;

/// The most parts of a world: a bit each.
pub(crate) const MOST_PARTS: usize = 128;

/// Some parts of a world, a bit for each.
pub(crate) type Mask = u128;

/// The most threads or queues, or variables, buffers and events together, that are parts of their own: a bit each of a
/// [`super::tracked::Tracked`].
const MOST_GROUPS: usize = 64;

/// A part: what is looked at and changed together. Numbers say which of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Thread(usize),
    Queue(usize),
    /// Variables or index buffers with what they hold: their numbers, and their places among the page references.
    Vars(Range<usize>, Range<usize>),
    Buffers(Range<usize>, Range<usize>),
    Events(Range<usize>),
    Flags,
    /// Locks and barriers.
    Locks,
    Keys,
    /// Which pages are where in an arena, and what of that is cached.
    Table(usize),
    Leases(usize),
    Ids(usize),
    Cells(usize),
}

/// The parts of the worlds of one program: threads, queues, arenas, what there is one of, then what has names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    parts: Vec<Part>,
    queues: usize,
    arenas: usize,
    flags: usize,
    names: usize,
    /// The groups of threads, queues, variables, buffers, page references and events, as [`super::tracked::Tracked`] counts them.
    pub(crate) groups: [Arc<[u8]>; 6],
}

impl Layout {
    pub(crate) fn new(program: &Program) -> Layout {
        let threads = program.entries.len() + 1;
        let queues = 2 * program.agents.iter().filter(|agent| agent.is_queue()).count();
        let mut parts: Vec<Part> = (0..threads).map(Part::Thread).collect();
        parts.extend((0..queues).map(Part::Queue));
        let arenas = parts.len();
        for arena in 0..program.arenas.len() {
            parts.extend([Part::Table(arena), Part::Leases(arena), Part::Ids(arena), Part::Cells(arena)]);
        }
        let flags = parts.len();
        parts.extend([Part::Flags, Part::Locks, Part::Keys]);
        let first = parts.len();
        let vars = program.vars.iter().map(|var| (var.offset, var.cap)).collect();
        let buffers = program.buffers.iter().map(|buffer| (buffer.offset, buffer.cap)).collect();
        let named: [Vec<(u16, u8)>; 3] = [vars, buffers, vec![(0, 0); program.events.len()]];
        let room = (MOST_PARTS - parts.len()).min(MOST_GROUPS);
        // A part each where that fits; several together otherwise.
        let parts_if = |size: usize| -> usize { named.iter().map(|names| names.len().div_ceil(size)).sum() };
        let size = (1..).find(|size| parts_if(*size) <= room).unwrap_or(1);
        let mut ref_groups = vec![0; program.ref_slots];
        let mut name_groups = [const { Vec::new() }; 3];
        for (kind, names) in named.iter().enumerate() {
            for start in (0..names.len()).step_by(size) {
                let range = start..(start + size).min(names.len());
                let (first_ref, last_ref) = (names[range.start], names[range.end - 1]);
                let refs = usize::from(first_ref.0)..usize::from(last_ref.0) + usize::from(last_ref.1);
                let group = (parts.len() - first) as u8;
                name_groups[kind].extend(range.clone().map(|_| group));
                parts.push(match kind {
                    0 | 1 => {
                        ref_groups[refs.clone()].fill(group);
                        if kind == 0 { Part::Vars(range, refs) } else { Part::Buffers(range, refs) }
                    }
                    _ => Part::Events(range),
                });
            }
        }
        let each = |count: usize| (0..count as u8).collect::<Arc<[u8]>>();
        let [vars, buffers, events] = name_groups.map(Arc::from);
        let groups = [each(threads), each(queues), vars, buffers, ref_groups.into(), events];
        Layout { parts, queues: threads, arenas, flags, names: first, groups }
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// The part that is this thread.
    pub(crate) fn thread(&self, slot: usize) -> usize {
        slot
    }

    /// The part that is this queue.
    pub(crate) fn queue(&self, slot: usize) -> usize {
        self.queues + slot
    }
}

/// A length: seven bits a byte, the lowest first. Most lengths take one.
fn put_length(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Items of `N` bytes each, written into place: a loop that the compiler unrolls.
fn put_all<T, const N: usize>(out: &mut Vec<u8>, items: &[T], bytes: impl Fn(&T) -> [u8; N]) {
    let start = out.len();
    out.resize(start + items.len() * N, 0);
    for (place, item) in out[start..].as_chunks_mut().0.iter_mut().zip(items) {
        *place = bytes(item);
    }
}

fn put_refs(out: &mut Vec<u8>, refs: &[PageRef]) {
    put_all(out, refs, |page| {
        let [low, high] = page.page.to_le_bytes();
        [page.id, page.generation, low, high]
    });
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn byte(&mut self) -> u8 {
        let [first, rest @ ..] = self.0 else { return 0 };
        self.0 = rest;
        *first
    }

    fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    fn length(&mut self) -> usize {
        let (mut value, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            value |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return value;
            }
            shift += 7;
        }
    }

    /// What [`put_all`] wrote.
    fn all<T, const N: usize>(&mut self, items: &mut [T], item: impl Fn([u8; N]) -> T) {
        let bytes = self.bytes(items.len() * N);
        for (place, bytes) in items.iter_mut().zip(bytes.as_chunks().0) {
            *place = item(*bytes);
        }
    }

    fn refs(&mut self, refs: &mut [PageRef]) {
        self.all(refs, |[id, generation, low, high]| PageRef { id, generation, page: u16::from_le_bytes([low, high]) });
    }

    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        head
    }
}

impl World {
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Appends the state of one part to `out`.
    pub(crate) fn pack_part(&self, at: usize, out: &mut Vec<u8>) {
        match &self.layout.parts[at] {
            Part::Thread(slot) => {
                let thread = &self.threads.peek()[*slot];
                out.extend(thread.pc.to_le_bytes());
                out.push(thread.phase);
                put_all(out, &thread.scratch, |page| {
                    let ([low, high], [expect, expect_high]) = (page.page.to_le_bytes(), page.expect.to_le_bytes());
                    [page.id, page.generation, low, high, expect, expect_high, page.valid]
                });
            }
            Part::Queue(slot) => out.extend_from_slice(&self.queues.peek()[*slot]),
            Part::Vars(vars, refs) => {
                put_all(out, &self.vars.peek()[vars.clone()], |value| value.to_le_bytes());
                put_refs(out, &self.refs.peek()[refs.clone()]);
            }
            Part::Buffers(buffers, refs) => {
                put_all(out, &self.buffers.peek()[buffers.clone()], |buffer| {
                    [buffer.issued, buffer.version, buffer.len]
                });
                put_refs(out, &self.refs.peek()[refs.clone()]);
            }
            Part::Events(events) => put_all(out, &self.events.peek()[events.clone()], |event| {
                let [a, b, c, d] = event.queued.to_le_bytes();
                [event.records, u8::from(event.query_fails) | u8::from(event.wait_fails) << 1, a, b, c, d]
            }),
            Part::Flags => out.extend(self.flags.peek().to_le_bytes()),
            Part::Locks => {
                out.extend_from_slice(self.locks.peek());
                put_all(out, self.barriers.peek(), |waiting| waiting.to_le_bytes());
                put_all(out, self.brought.peek(), |value| value.to_le_bytes());
            }
            Part::Keys => put_all(out, self.keys.peek(), |value| value.to_le_bytes()),
            Part::Table(arena) => {
                self.arenas[*arena].arena.peek().pack(out);
                out.extend_from_slice(self.arenas[*arena].memo.peek());
            }
            Part::Leases(arena) => self.arenas[*arena].leases.peek().pack(out),
            Part::Ids(arena) => {
                put_all(out, self.arenas[*arena].ids.peek(), |id| {
                    let ([issued, issued_high], [born, born_high]) = (id.issued.to_le_bytes(), id.born.to_le_bytes());
                    [id.generation, id.pins, id.unbound, issued, issued_high, born, born_high]
                });
                put_all(out, self.arenas[*arena].kept.peek(), |kept| [kept.references, kept.cached.into(), kept.valid]);
            }
            Part::Cells(arena) => put_all(out, self.arenas[*arena].cells.peek(), |cell| {
                let ([who, who_high], [value, value_high]) = (cell.who.to_le_bytes(), cell.value.to_le_bytes());
                [who, who_high, value, value_high]
            }),
        }
    }

    /// Reads back what [`World::pack_part`] wrote. Nobody has looked at the part, or changed it, by that.
    pub(crate) fn unpack_part(&mut self, at: usize, bytes: &[u8]) {
        let mut from = Reader(bytes);
        match &self.layout.parts[at] {
            Part::Thread(slot) => {
                let thread = &mut self.threads.peek_mut()[*slot];
                thread.pc = from.word();
                thread.phase = from.byte();
                thread.scratch.clear();
                thread.scratch.resize(from.0.len() / 7, Capture::default());
                from.all(&mut thread.scratch, |[id, generation, low, high, expect, expect_high, valid]| Capture {
                    id,
                    generation,
                    page: u16::from_le_bytes([low, high]),
                    expect: u16::from_le_bytes([expect, expect_high]),
                    valid,
                });
            }
            Part::Queue(slot) => {
                let queue = &mut self.queues.peek_mut()[*slot];
                queue.clear();
                queue.extend_from_slice(bytes);
            }
            Part::Vars(vars, refs) => {
                from.all(&mut self.vars.peek_mut()[vars.clone()], i16::from_le_bytes);
                from.refs(&mut self.refs.peek_mut()[refs.clone()]);
            }
            Part::Buffers(buffers, refs) => {
                from.all(&mut self.buffers.peek_mut()[buffers.clone()], |[issued, version, len]| BufferState {
                    issued,
                    version,
                    len,
                });
                from.refs(&mut self.refs.peek_mut()[refs.clone()]);
            }
            Part::Events(events) => {
                from.all(&mut self.events.peek_mut()[events.clone()], |[records, faults, a, b, c, d]| EventState {
                    records,
                    queued: u32::from_le_bytes([a, b, c, d]),
                    query_fails: faults & 1 != 0,
                    wait_fails: faults & 2 != 0,
                });
            }
            Part::Flags => from.all(std::slice::from_mut(self.flags.peek_mut()), u64::from_le_bytes),
            Part::Locks => {
                from.all(self.locks.peek_mut(), |[lock]| lock);
                from.all(self.barriers.peek_mut(), u32::from_le_bytes);
                from.all(self.brought.peek_mut(), i16::from_le_bytes);
            }
            Part::Keys => from.all(self.keys.peek_mut(), u16::from_le_bytes),
            Part::Table(arena) => {
                let state = &mut self.arenas[*arena];
                from.0 = state.arena.peek_mut().unpack(from.0);
                from.all(state.memo.peek_mut(), |[memo]| memo);
            }
            Part::Leases(arena) => {
                self.arenas[*arena].leases.peek_mut().unpack(bytes);
            }
            Part::Ids(arena) => {
                let state = &mut self.arenas[*arena];
                from.all(state.ids.peek_mut(), |[generation, pins, unbound, issued, issued_high, born, born_high]| {
                    IdState {
                        generation,
                        pins,
                        unbound,
                        issued: u16::from_le_bytes([issued, issued_high]),
                        born: u16::from_le_bytes([born, born_high]),
                    }
                });
                from.all(state.kept.peek_mut(), |[references, cached, valid]| Kept {
                    references,
                    cached: cached != 0,
                    valid,
                });
            }
            Part::Cells(arena) => {
                from.all(self.arenas[*arena].cells.peek_mut(), |[who, who_high, value, value_high]| Cell {
                    who: u16::from_le_bytes([who, who_high]),
                    value: u16::from_le_bytes([value, value_high]),
                });
            }
        }
    }

    /// The parts that were read (or written), and those that were written, since [`World::forget_touches`].
    pub(crate) fn touched(&self) -> (Mask, Mask) {
        let (mut read, mut written) = (0, 0);
        let mut groups = |first: usize, touch: (u64, u64)| {
            read |= Mask::from(touch.0) << first;
            written |= Mask::from(touch.1) << first;
        };
        groups(0, self.threads.touched());
        groups(self.layout.queues, self.queues.touched());
        let named = [self.vars.touched(), self.refs.touched(), self.buffers.touched(), self.events.touched()];
        named.into_iter().for_each(|touch| groups(self.layout.names, touch));
        let mut part = |at: usize, touches: &[(bool, bool)]| {
            read |= Mask::from(touches.iter().any(|touch| touch.0)) << at;
            written |= Mask::from(touches.iter().any(|touch| touch.1)) << at;
        };
        for (at, arena) in self.arenas.iter().enumerate() {
            let first = self.layout.arenas + 4 * at;
            part(first, &[arena.arena.touched(), arena.memo.touched()]);
            part(first + 1, &[arena.leases.touched()]);
            part(first + 2, &[arena.ids.touched(), arena.kept.touched()]);
            part(first + 3, &[arena.cells.touched()]);
        }
        part(self.layout.flags, &[self.flags.touched()]);
        part(self.layout.flags + 1, &[self.locks.touched(), self.barriers.touched(), self.brought.touched()]);
        part(self.layout.flags + 2, &[self.keys.touched()]);
        (read, written)
    }

    /// From now on, nobody has looked at anything.
    pub(crate) fn forget_touches(&mut self) {
        self.threads.forget();
        self.queues.forget();
        self.vars.forget();
        self.refs.forget();
        self.buffers.forget();
        self.events.forget();
        self.flags.forget();
        self.locks.forget();
        self.barriers.forget();
        self.brought.forget();
        self.keys.forget();
        for arena in &mut self.arenas {
            arena.arena.forget();
            arena.leases.forget();
            arena.ids.forget();
            arena.cells.forget();
            arena.memo.forget();
            arena.kept.forget();
        }
    }

    /// Appends the world's state to `out`.
    pub fn pack(&self, out: &mut Vec<u8>) {
        let mut part = Vec::new();
        for at in 0..self.layout.len() {
            part.clear();
            self.pack_part(at, &mut part);
            put_length(out, part.len());
            out.extend_from_slice(&part);
        }
    }

    /// Reads back what [`World::pack`] wrote for the same program.
    pub fn unpack(&mut self, bytes: &[u8]) {
        let mut from = Reader(bytes);
        for at in 0..self.layout.len() {
            let length = from.length();
            let part = from.bytes(length);
            self.unpack_part(at, part);
        }
    }
}

/// The program counters in a packed part: of the thread, or of the operations in the queue.
pub(crate) fn counters(layout: &Layout, at: usize, bytes: &[u8]) -> Vec<Pc> {
    match &layout.parts[at] {
        Part::Thread(_) => vec![Reader(bytes).word()],
        Part::Queue(_) => super::entries(bytes).map(|entry| entry.pc).collect(),
        _ => Vec::new(),
    }
}
