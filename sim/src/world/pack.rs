//! A world as bytes: equal bytes, equal worlds. Explorers keep states this way.
//!
//! The bytes begin with the ends of their sections (threads and names, queues, then two for each arena: its tables and
//! its cells), so that a world that differs in few of them from the one at hand is read back in part.

use super::{ArenaState, BufferState, Capture, Cell, EventState, IdState, PageRef, World};

/// Bytes of the end of a section.
const END_BYTES: usize = 4;

/// One section of a packed world.
fn section(bytes: &[u8], nth: usize, sections: usize) -> &[u8] {
    let end = |nth: usize| match bytes.get(nth * END_BYTES..) {
        Some([a, b, c, d, ..]) => u32::from_le_bytes([*a, *b, *c, *d]) as usize,
        _ => 0,
    };
    let start = if nth == 0 { END_BYTES * sections } else { end(nth - 1) };
    bytes.get(start..end(nth)).unwrap_or_default()
}

/// A length: seven bits a byte, the lowest first. Most lengths take one.
fn put_length(out: &mut Vec<u8>, mut value: usize) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put(out: &mut Vec<u8>, value: u16) {
    out.extend(value.to_le_bytes());
}

/// Items of `N` bytes each, written into place: a loop that the compiler unrolls.
fn put_all<T, const N: usize>(out: &mut Vec<u8>, items: &[T], bytes: impl Fn(&T) -> [u8; N]) {
    let start = out.len();
    out.resize(start + items.len() * N, 0);
    for (place, item) in out[start..].as_chunks_mut().0.iter_mut().zip(items) {
        *place = bytes(item);
    }
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

    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        head
    }
}

impl World {
    fn sections(&self) -> usize {
        2 + 2 * self.arenas.len()
    }

    /// Appends the world's state to `out`.
    pub fn pack(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let mut header = start;
        out.resize(start + END_BYTES * self.sections(), 0);
        let mut close = |out: &mut Vec<u8>| {
            let end = (out.len() - start) as u32;
            out[header..header + END_BYTES].copy_from_slice(&end.to_le_bytes());
            header += END_BYTES;
        };
        for thread in &self.threads {
            put(out, thread.pc);
            out.extend([thread.phase, thread.scratch.len() as u8]);
            for page in &thread.scratch {
                out.extend([page.id, page.generation]);
                put(out, page.page);
                put(out, page.expect);
            }
        }
        put_all(out, &self.vars, |value| value.to_le_bytes());
        put_all(out, &self.refs, |page| {
            let [low, high] = page.page.to_le_bytes();
            [page.id, page.generation, low, high]
        });
        put_all(out, &self.buffers, |buffer| [buffer.issued, buffer.version, buffer.len]);
        put_all(out, &self.events, |event| {
            [event.records, u8::from(event.query_fails) | u8::from(event.wait_fails) << 1]
        });
        out.extend(self.flags.to_le_bytes());
        out.extend_from_slice(&self.locks);
        put_all(out, &self.barriers, |waiting| waiting.to_le_bytes());
        put_all(out, &self.keys, |value| value.to_le_bytes());
        close(out);
        for queue in &self.queues {
            put_length(out, queue.len());
            out.extend_from_slice(queue);
        }
        close(out);
        for state in &self.arenas {
            state.pack(out);
            close(out);
            put_all(out, &state.cells, |cell| {
                let ([who, who_high], [value, value_high]) = (cell.who.to_le_bytes(), cell.value.to_le_bytes());
                [who, who_high, value, value_high]
            });
            close(out);
        }
    }

    /// Reads back what [`World::pack`] wrote for the same program.
    pub fn unpack(&mut self, bytes: &[u8]) {
        self.unpack_changed(bytes, &[]);
    }

    /// The same for a world that is known to be what `known` says: sections that are equal are left alone.
    pub(crate) fn unpack_changed(&mut self, bytes: &[u8], known: &[u8]) {
        let sections = self.sections();
        let changed = |nth: usize| {
            let section = section(bytes, nth, sections);
            (known.is_empty() || section != self::section(known, nth, sections)).then_some(Reader(section))
        };
        if let Some(from) = changed(0) {
            self.unpack_names(from);
        }
        if let Some(mut from) = changed(1) {
            for queue in &mut self.queues {
                let length = from.length();
                queue.clear();
                queue.extend_from_slice(from.bytes(length));
            }
        }
        for (at, state) in self.arenas.iter_mut().enumerate() {
            if let Some(mut from) = changed(2 + 2 * at) {
                state.unpack(&mut from);
            }
            if let Some(mut from) = changed(3 + 2 * at) {
                from.all(&mut state.cells, |[who, who_high, value, value_high]| Cell {
                    who: u16::from_le_bytes([who, who_high]),
                    value: u16::from_le_bytes([value, value_high]),
                });
            }
        }
    }

    /// Threads, and what has a name.
    fn unpack_names(&mut self, mut from: Reader<'_>) {
        for thread in &mut self.threads {
            thread.pc = from.word();
            thread.phase = from.byte();
            let count = from.byte();
            thread.scratch.clear();
            for _ in 0..count {
                let (id, generation) = (from.byte(), from.byte());
                thread.scratch.push(Capture { id, generation, page: from.word(), expect: from.word() });
            }
        }
        from.all(&mut self.vars, i16::from_le_bytes);
        from.all(&mut self.refs, |[id, generation, low, high]| PageRef {
            id,
            generation,
            page: u16::from_le_bytes([low, high]),
        });
        from.all(&mut self.buffers, |[issued, version, len]| BufferState { issued, version, len });
        from.all(&mut self.events, |[records, faults]| EventState {
            records,
            query_fails: faults & 1 != 0,
            wait_fails: faults & 2 != 0,
        });
        from.all(std::slice::from_mut(&mut self.flags), u64::from_le_bytes);
        from.all(&mut self.locks, |[lock]| lock);
        from.all(&mut self.barriers, u32::from_le_bytes);
        from.all(&mut self.keys, u16::from_le_bytes);
    }
}

impl ArenaState {
    fn pack(&self, out: &mut Vec<u8>) {
        self.arena.pack(out);
        self.leases.pack(out);
        put_all(out, &self.ids, |id| {
            let ([issued, issued_high], [born, born_high]) = (id.issued.to_le_bytes(), id.born.to_le_bytes());
            [id.generation, id.pins, id.unbound, issued, issued_high, born, born_high]
        });
        out.extend_from_slice(&self.memo);
    }

    fn unpack(&mut self, from: &mut Reader<'_>) {
        from.0 = self.arena.unpack(from.0);
        from.0 = self.leases.unpack(from.0);
        from.all(&mut self.ids, |[generation, pins, unbound, issued, issued_high, born, born_high]| IdState {
            generation,
            pins,
            unbound,
            issued: u16::from_le_bytes([issued, issued_high]),
            born: u16::from_le_bytes([born, born_high]),
        });
        from.all(&mut self.memo, |[memo]| memo);
    }
}
