//! A world as bytes: equal bytes, equal worlds. Explorers keep states this way.

use super::{ArenaState, Capture, Cell, EventState, IdState, PageRef, World};

fn put(out: &mut Vec<u8>, value: u16) {
    out.extend(value.to_le_bytes());
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

    fn bytes(&mut self, count: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        head
    }
}

impl World {
    /// Appends the world's state to `out`.
    pub fn pack(&self, out: &mut Vec<u8>) {
        for thread in &self.threads {
            put(out, thread.pc);
            out.extend([thread.phase, thread.scratch.len() as u8]);
            for page in &thread.scratch {
                out.extend([page.id, page.generation]);
                put(out, page.page);
                put(out, page.expect);
            }
        }
        for queue in &self.queues {
            put(out, queue.len() as u16);
            out.extend_from_slice(queue);
        }
        for value in &self.vars {
            put(out, *value as u16);
        }
        for page in &self.refs {
            out.extend([page.id, page.generation]);
            put(out, page.page);
        }
        for buffer in &self.buffers {
            out.extend([buffer.issued, buffer.version, buffer.len]);
        }
        for event in &self.events {
            out.extend([event.records, u8::from(event.query_fails) | u8::from(event.wait_fails) << 1]);
        }
        out.extend(self.flags.to_le_bytes());
        out.extend_from_slice(&self.locks);
        for waiting in &self.barriers {
            out.extend(waiting.to_le_bytes());
        }
        for value in &self.keys {
            put(out, *value);
        }
        for state in &self.arenas {
            state.pack(out);
        }
    }

    /// Reads back what [`World::pack`] wrote for the same program.
    pub fn unpack(&mut self, bytes: &[u8]) {
        let mut from = Reader(bytes);
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
        for queue in &mut self.queues {
            let length = from.word();
            queue.clear();
            queue.extend_from_slice(from.bytes(length.into()));
        }
        for value in &mut self.vars {
            *value = from.word() as i16;
        }
        for page in &mut self.refs {
            *page = PageRef { id: from.byte(), generation: from.byte(), page: from.word() };
        }
        for buffer in &mut self.buffers {
            (buffer.issued, buffer.version, buffer.len) = (from.byte(), from.byte(), from.byte());
        }
        for event in &mut self.events {
            let (records, faults) = (from.byte(), from.byte());
            *event = EventState { records, query_fails: faults & 1 != 0, wait_fails: faults & 2 != 0 };
        }
        let mut flags = [0; 8];
        flags.copy_from_slice(from.bytes(8));
        self.flags = u64::from_le_bytes(flags);
        for lock in &mut self.locks {
            *lock = from.byte();
        }
        for waiting in &mut self.barriers {
            let mut word = [0; 4];
            word.copy_from_slice(from.bytes(4));
            *waiting = u32::from_le_bytes(word);
        }
        for value in &mut self.keys {
            *value = from.word();
        }
        for state in &mut self.arenas {
            state.unpack(&mut from);
        }
    }
}

impl ArenaState {
    fn pack(&self, out: &mut Vec<u8>) {
        self.arena.pack(out);
        self.leases.pack(out);
        for id in &self.ids {
            out.extend([id.generation, id.pins, id.unbound]);
            put(out, id.issued);
            put(out, id.born);
        }
        for cell in &self.cells {
            put(out, cell.who);
            put(out, cell.value);
        }
        out.extend_from_slice(&self.memo);
    }

    fn unpack(&mut self, from: &mut Reader<'_>) {
        from.0 = self.arena.unpack(from.0);
        from.0 = self.leases.unpack(from.0);
        for id in &mut self.ids {
            let (generation, pins, unbound) = (from.byte(), from.byte(), from.byte());
            *id = IdState { generation, pins, unbound, issued: from.word(), born: from.word() };
        }
        for cell in &mut self.cells {
            *cell = Cell { who: from.word(), value: from.word() };
        }
        for memo in &mut self.memo {
            *memo = from.byte();
        }
    }
}
