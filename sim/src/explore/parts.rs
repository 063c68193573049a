//! The states that the parts of worlds are in, by number. A state of a world is a number for each of its parts. Its
//! fingerprint is the sum, without carry, of the 128-bit hashes of the parts' bytes, seeded with their places, so that a
//! step changes it by what it changes.

use crate::program::{END, Pc, Program};
use crate::world::{World, counters};
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Of what a worker was told about a state: nothing is known.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// A fingerprint is its own hash.
#[derive(Default)]
pub(crate) struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {}
    fn write_u128(&mut self, value: u128) {
        self.0 = value as u64;
    }
}

pub(super) type ByPrint<T> = HashMap<u128, T, BuildHasherDefault<Identity>>;

/// One state that a part can be in.
pub(super) struct Value {
    pub(super) bytes: Box<[u8]>,
    pub(super) print: u128,
    /// Of a thread or queue: where it is.
    counters: SmallVec<[Pc; 4]>,
}

/// The states that one part was seen in, by number.
#[derive(Default)]
struct Values {
    numbers: Mutex<ByPrint<u32>>,
    list: boxcar::Vec<Value>,
}

/// The states that the parts of a program's worlds were seen in; shared by all workers.
pub(crate) struct Parts {
    parts: Vec<Values>,
    threads: usize,
    queues: usize,
    pub(super) agents: usize,
    stored: AtomicU64,
    /// How many states all parts have together.
    count: AtomicU64,
}

impl Parts {
    pub(crate) fn new(program: &Program, world: &World) -> Parts {
        let parts = (0..world.layout().len()).map(|_| Values::default()).collect();
        let (threads, queues) = (world.threads.len(), world.queues.len());
        Parts {
            parts,
            threads,
            queues,
            agents: program.agents.len(),
            stored: AtomicU64::new(0),
            count: AtomicU64::new(0),
        }
    }

    /// Numbers of a state: of its parts, then of what every agent can do, then of what its first step does.
    pub(crate) fn width(&self) -> usize {
        self.parts.len() + 2 * self.agents
    }

    /// Bytes that are kept for all states of all parts.
    pub(crate) fn stored(&self) -> u64 {
        self.stored.load(Ordering::Relaxed)
    }

    /// How many parts there are.
    pub(super) fn len(&self) -> usize {
        self.parts.len()
    }

    /// The number of a state of a part, and its hash.
    pub(super) fn number(&self, world: &World, part: usize, bytes: &[u8]) -> (u32, u128) {
        let print = xxh3_128_with_seed(bytes, part as u64);
        let values = &self.parts[part];
        let mut numbers = values.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let number = *numbers.entry(print).or_insert_with(|| {
            let counters = counters(world.layout(), part, bytes).into();
            self.count.fetch_add(1, Ordering::Relaxed);
            self.stored.fetch_add(bytes.len() as u64 + 128, Ordering::Relaxed);
            values.list.push(Value { bytes: bytes.into(), print, counters }) as u32
        });
        (number, print)
    }

    /// The numbers of a whole world, and its fingerprint.
    pub(crate) fn state(&self, world: &World) -> (Vec<u32>, u128) {
        let (mut bytes, mut numbers, mut whole) = (Vec::new(), Vec::new(), 0);
        for part in 0..self.len() {
            bytes.clear();
            world.pack_part(part, &mut bytes);
            let (number, print) = self.number(world, part, &bytes);
            numbers.push(number);
            whole ^= print;
        }
        numbers.resize(self.width(), UNKNOWN);
        (numbers, whole)
    }

    /// What the number stands for.
    pub(super) fn value(&self, part: usize, number: u32) -> &Value {
        &self.parts[part].list[number as usize]
    }

    /// Where the thread or queue is.
    fn counters(&self, part: usize, state: &[u32]) -> &[Pc] {
        &self.value(part, state[part]).counters
    }
}

/// A worker's own copy of what it often asks of [`Parts`], which is shared and therefore slower.
pub(super) struct Seen {
    prints: Vec<Vec<u128>>,
    /// Where threads and queues are first; [`END`] if nowhere.
    heads: Vec<Vec<Pc>>,
    /// How many states all parts have together.
    count: u64,
}

impl Seen {
    pub(super) fn new(parts: &Parts) -> Seen {
        let heads = vec![Vec::new(); parts.threads + parts.queues];
        Seen { prints: vec![Vec::new(); parts.len()], heads, count: 0 }
    }

    /// Copies what the numbers of a state stand for.
    pub(super) fn learn_state(&mut self, parts: &Parts, state: &[u32]) {
        if self.count == parts.count.load(Ordering::Relaxed) {
            return;
        }
        for (part, number) in state[..parts.len()].iter().enumerate() {
            if *number as usize >= self.prints[part].len() {
                self.learn(parts, part, *number);
            }
        }
    }

    /// Copies what is known of a part up to a number that exists.
    pub(super) fn learn(&mut self, parts: &Parts, part: usize, number: u32) {
        for next in self.prints[part].len() as u32..=number {
            let value = parts.value(part, next);
            self.prints[part].push(value.print);
            self.count += 1;
            if let Some(heads) = self.heads.get_mut(part) {
                heads.push(value.counters.first().copied().unwrap_or(END));
            }
        }
    }
}

/// A state as a worker sees it.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) seen: &'a Seen,
    pub(super) state: &'a [u32],
}

impl View<'_> {
    /// The hash of a part's state.
    pub(super) fn print(&self, part: usize) -> u128 {
        self.seen.prints[part][self.state[part] as usize]
    }

    /// Where the thread or queue is first; [`END`] if nowhere.
    pub(super) fn head(&self, part: usize) -> Pc {
        self.seen.heads[part][self.state[part] as usize]
    }
}

/// Where everyone is in a state.
pub(crate) struct Places<'a> {
    pub(super) parts: &'a Parts,
    pub(super) state: &'a [u32],
}

impl<'a> Places<'a> {
    /// The program counter of every thread.
    pub(crate) fn threads(&self) -> impl Iterator<Item = Pc> {
        (0..self.parts.threads).map(|part| self.parts.counters(part, self.state).first().copied().unwrap_or(END))
    }

    /// The program counters of what every queue holds.
    pub(crate) fn queues(&self) -> impl Iterator<Item = &'a [Pc]> {
        (self.parts.threads..self.parts.threads + self.parts.queues).map(|part| self.parts.counters(part, self.state))
    }

    /// Whether every thread has ended and every queue is empty.
    pub(crate) fn finished(&self) -> bool {
        self.threads().all(|pc| pc == END) && self.queues().all(<[Pc]>::is_empty)
    }
}
