//! Local steps: what an agent can do, and what a step of it changes, follows from the parts of the world that it looks
//! at. Worlds that differ elsewhere share the answer, which is computed once: most states of a case are new combinations
//! of parts that were seen before. (The idea is LTSmin's transition caching, S. Blom, J. van de Pol and M. Weber, *LTSmin:
//! Distributed and Symbolic Reachability*, 2010; which parts a step looks at is not declared here but observed, by the
//! types of `world/tracked.rs`.)
//!
//! A state is a number for each of its parts. Its fingerprint is the sum, without carry, of the 128-bit hashes of the
//! parts' bytes, seeded with their places, so that a step changes it by what it changes.

use crate::invariants::{Violation, deadlock, lost_wakeup, race};
use crate::marks::Marks;
use crate::program::{END, Pc, Program};
use crate::world::{Effects, LAND, Mask, Region, Step, World, counters};
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Answers that one worker keeps; when it has more, it forgets all.
const MOST_ANSWERS: usize = 1 << 20;

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

type ByPrint<T> = HashMap<u128, T, BuildHasherDefault<Identity>>;

/// One state that a part can be in.
struct Value {
    bytes: Box<[u8]>,
    print: u128,
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
    stored: AtomicU64,
}

impl Parts {
    pub(crate) fn new(world: &World) -> Parts {
        let parts = (0..world.layout().len()).map(|_| Values::default()).collect();
        let (threads, queues) = (world.threads.len(), world.queues.len());
        Parts { parts, threads, queues, stored: AtomicU64::new(0) }
    }

    pub(crate) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Bytes that are kept for all states of all parts.
    pub(crate) fn stored(&self) -> u64 {
        self.stored.load(Ordering::Relaxed)
    }

    /// The number of a state of a part.
    fn number(&self, world: &World, part: usize, bytes: &[u8]) -> u32 {
        let print = xxh3_128_with_seed(bytes, part as u64);
        let values = &self.parts[part];
        let mut numbers = values.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        *numbers.entry(print).or_insert_with(|| {
            let counters = counters(world.layout(), part, bytes).into();
            self.stored.fetch_add(bytes.len() as u64 + 128, Ordering::Relaxed);
            values.list.push(Value { bytes: bytes.into(), print, counters }) as u32
        })
    }

    /// The numbers of a whole world, and its fingerprint.
    pub(crate) fn state(&self, world: &World) -> (Vec<u32>, u128) {
        let mut bytes = Vec::new();
        let numbers: Vec<u32> = (0..self.len())
            .map(|part| {
                bytes.clear();
                world.pack_part(part, &mut bytes);
                self.number(world, part, &bytes)
            })
            .collect();
        let print = numbers.iter().enumerate().fold(0, |print, (part, number)| print ^ self.print(part, *number));
        (numbers, print)
    }

    fn print(&self, part: usize, number: u32) -> u128 {
        self.parts[part].list[number as usize].print
    }

    /// Where the thread or queue is.
    pub(crate) fn counters(&self, part: usize, state: &[u32]) -> &[Pc] {
        &self.parts[part].list[state[part] as usize].counters
    }
}

/// A step that an agent can take: the instruction, and the bytes that it would touch.
#[derive(Clone)]
pub(crate) struct Choice {
    pub(crate) step: Step,
    pub(crate) pc: Pc,
    pub(crate) regions: SmallVec<[Region; 4]>,
}

/// Where everyone is in a state.
pub(crate) struct Places<'a> {
    pub(crate) parts: &'a Parts,
    pub(crate) state: &'a [u32],
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

/// What a step does.
pub(crate) struct Taken {
    /// The parts that change, and what they become.
    writes: SmallVec<[(u8, u32); 6]>,
    /// By what the fingerprint changes.
    delta: u128,
    pub(crate) marks: Marks,
    pub(crate) violation: Option<Box<Violation>>,
}

impl Taken {
    /// The state after the step from `state`, into `next`.
    pub(crate) fn apply(&self, state: &[u32], print: u128, next: &mut Vec<u32>) -> u128 {
        next.clear();
        next.extend_from_slice(state);
        for (part, number) in &self.writes {
            next[usize::from(*part)] = *number;
        }
        print ^ self.delta
    }
}

/// Answers to one question, asked at one place of the program: for every set of parts that was looked at for an answer,
/// the answers by what was seen there.
struct Answers<T> {
    by_mask: Vec<(Mask, ByPrint<T>)>,
}

impl<T> Default for Answers<T> {
    fn default() -> Answers<T> {
        Answers { by_mask: Vec::new() }
    }
}

impl<T> Answers<T> {
    fn get(&self, parts: &Parts, state: &[u32], seed: u128) -> Option<&T> {
        self.by_mask.iter().find_map(|(mask, answers)| answers.get(&key(parts, state, *mask, seed)))
    }

    fn insert(&mut self, parts: &Parts, state: &[u32], mask: Mask, seed: u128, answer: T) {
        let key = key(parts, state, mask, seed);
        match self.by_mask.iter_mut().find(|(known, _)| *known == mask) {
            Some((_, answers)) => {
                answers.insert(key, answer);
            }
            None => {
                let mut answers = ByPrint::default();
                answers.insert(key, answer);
                self.by_mask.push((mask, answers));
            }
        }
    }
}

/// What a state looks like to who sees only these parts.
fn key(parts: &Parts, state: &[u32], mask: Mask, seed: u128) -> u128 {
    let (mut left, mut key) = (mask, seed);
    while left != 0 {
        let part = left.trailing_zeros() as usize;
        left &= left - 1;
        key ^= parts.print(part, state[part]);
    }
    key
}

/// A worker: a world that is sent from state to state, and the answers so far.
pub(crate) struct Worker<'a> {
    program: &'a Program,
    parts: &'a Parts,
    world: World,
    /// What each part of the world is; [`LOST`] after a violation has left it without meaning.
    now: Vec<u32>,
    /// By place: program counters of threads, then those at the heads of queues.
    choices: Vec<Answers<SmallVec<[Choice; 2]>>>,
    /// Likewise, by number.
    steps: Vec<Answers<u32>>,
    taken: Vec<Taken>,
    bytes: Vec<u8>,
}

const LOST: u32 = u32::MAX;

impl<'a> Worker<'a> {
    pub(crate) fn new(program: &'a Program, parts: &'a Parts, world: &World) -> Worker<'a> {
        let places = 2 * program.code.len();
        Worker {
            program,
            parts,
            world: world.clone(),
            now: vec![LOST; parts.len()],
            choices: (0..places).map(|_| Answers::default()).collect(),
            steps: (0..places).map(|_| Answers::default()).collect(),
            taken: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// The world that a state is.
    pub(crate) fn world(&mut self, state: &[u32]) -> &World {
        for (part, (number, now)) in state.iter().zip(&mut self.now).enumerate() {
            if number != now {
                self.world.unpack_part(part, &self.parts.parts[part].list[*number as usize].bytes);
                *now = *number;
            }
        }
        self.world.forget_touches();
        &self.world
    }

    /// Appends what an agent can do.
    fn choices(&mut self, state: &[u32], agent: u8, out: &mut Vec<Choice>) {
        let Some(place) = self.place(state, agent) else { return };
        if let Some(known) = self.choices[place].get(self.parts, state, 0) {
            out.extend(known.iter().cloned());
            return;
        }
        let program = self.program;
        let world = self.world(state);
        let mut steps = Vec::new();
        world.enabled_of(program, agent, &mut steps);
        let choice = |step: &Step| Choice {
            step: *step,
            pc: world.step_pc(program, *step).unwrap_or(END),
            regions: world.next_regions(program, *step),
        };
        let found: SmallVec<[Choice; 2]> = steps.iter().map(choice).collect();
        let (read, _) = world.touched();
        out.extend(found.iter().cloned());
        self.choices[place].insert(self.parts, state, read, 0, found);
    }

    /// Appends what every agent can do, in the order of agents.
    pub(crate) fn all_choices(&mut self, state: &[u32], out: &mut Vec<Choice>) {
        for agent in 0..self.program.agents.len() {
            self.choices(state, agent as u8, out);
        }
    }

    /// What is wrong with a state in which these are the choices, whatever is done next.
    pub(crate) fn wrong(&mut self, state: &[u32], choices: &[Choice]) -> Option<Violation> {
        let program = self.program;
        if choices.is_empty() {
            let finished = self.places(state).finished();
            return (!finished).then(|| {
                let world = self.world(state);
                lost_wakeup::check(world, program).unwrap_or_else(|| deadlock::check(world, program))
            });
        }
        if !conflicting(choices) {
            return None;
        }
        let steps: Vec<Step> = choices.iter().map(|choice| choice.step).collect();
        race::check(self.world(state), program, &steps)
    }

    /// Where everyone is.
    pub(crate) fn places<'s>(&self, state: &'s [u32]) -> Places<'s>
    where
        'a: 's,
    {
        Places { parts: self.parts, state }
    }

    /// Where an agent is, if it is anywhere: at an instruction of its thread, or with one at the head of its queue.
    fn place(&self, state: &[u32], agent: u8) -> Option<usize> {
        let (program, layout) = (self.program, self.world.layout());
        if !program.agents[usize::from(agent)].is_queue() {
            let part = layout.thread(World::thread_slot(program, agent));
            let pc = *self.parts.counters(part, state).first()?;
            return (pc != END).then_some(usize::from(pc));
        }
        let slot = World::queue_slot(program, agent);
        let landing = slot + self.world.queues.len() / 2;
        let first = |slot| self.parts.counters(layout.queue(slot), state).first();
        let head = first(slot).or_else(|| first(landing))?;
        Some(program.code.len() + usize::from(*head))
    }

    /// Takes a step from a state.
    pub(crate) fn take(&mut self, state: &[u32], choice: &Choice) -> &Taken {
        let queue = self.program.agents[usize::from(choice.step.agent)].is_queue();
        let place = usize::from(choice.pc) + if queue { self.program.code.len() } else { 0 };
        // Steps of one agent at one place differ in their choice: each is a question of its own.
        let seed = match choice.step.choice {
            0 => 0,
            LAND => u128::MAX,
            nth => u128::from(nth) << 64,
        };
        if let Some(known) = self.steps[place].get(self.parts, state, seed) {
            return &self.taken[*known as usize];
        }
        self.make_room();
        self.world(state);
        let mut effects = Effects::default();
        let outcome = self.world.step_only(self.program, choice.step, &mut effects);
        let (read, written) = self.world.touched();
        let mut taken =
            Taken { writes: SmallVec::new(), delta: 0, marks: effects.marks, violation: outcome.err().map(Box::new) };
        for part in (0..self.parts.len()).filter(|part| written >> part & 1 != 0) {
            if taken.violation.is_some() {
                self.now[part] = LOST;
                continue;
            }
            self.bytes.clear();
            self.world.pack_part(part, &mut self.bytes);
            let number = self.parts.number(&self.world, part, &self.bytes);
            self.now[part] = number;
            if number != state[part] {
                taken.writes.push((part as u8, number));
                taken.delta ^= self.parts.print(part, state[part]) ^ self.parts.print(part, number);
            }
        }
        let number = self.taken.len();
        self.steps[place].insert(self.parts, state, read | written, seed, number as u32);
        self.taken.push(taken);
        &self.taken[number]
    }

    /// Keeps the answers from growing without bound.
    fn make_room(&mut self) {
        if self.taken.len() >= MOST_ANSWERS {
            self.taken.clear();
            self.choices.iter_mut().for_each(|answers| *answers = Answers::default());
            self.steps.iter_mut().for_each(|answers| *answers = Answers::default());
        }
    }
}

/// Whether two agents could touch the same bytes next, one of them writing.
fn conflicting(choices: &[Choice]) -> bool {
    choices.iter().enumerate().any(|(nth, one)| {
        let others = choices[..nth].iter().filter(|other| other.step.agent != one.step.agent);
        let mut theirs = others.flat_map(|other| &other.regions);
        theirs.any(|their| one.regions.iter().any(|mine| race::conflict(mine, their)))
    })
}

#[cfg(test)]
mod tests {
    use super::{Choice, Parts, Worker};
    use crate::litmus::{Source, load};
    use crate::program::Program;
    use crate::world::{Effects, Step, World};
    use proptest::prelude::*;

    const FILES: [&str; 4] = [
        include_str!("../../../tests/litmus/design/everything-at-once.toml"),
        include_str!("../../../tests/litmus/design/failed-wait-keeps-events.toml"),
        include_str!("../../../tests/litmus/seed/lease-spans-async-transfer.toml"),
        include_str!("../../../tests/litmus/seed/zero-page-keys.toml"),
    ];

    fn programs() -> Vec<Program> {
        let source = |text: &str| Source { path: "test".to_owned(), text: text.to_owned() };
        FILES
            .iter()
            .flat_map(|text| load(&source(text)).unwrap_or_else(|_| panic!("a corpus file loads")).cases)
            .collect()
    }

    /// Walks a world and the numbers of its parts side by side. The worker's answers come from all walks before.
    fn walk(program: &Program, parts: &Parts, start: &World, worker: &mut Worker<'_>, picks: &[u16]) {
        let mut world = start.clone();
        let (mut state, mut print) = parts.state(&world);
        let mut next = Vec::new();
        for pick in picks {
            let (mut steps, mut choices): (Vec<Step>, Vec<Choice>) = (Vec::new(), Vec::new());
            world.enabled(program, &mut steps);
            worker.all_choices(&state, &mut choices);
            assert_eq!(choices.iter().map(|choice| choice.step).collect::<Vec<_>>(), steps);
            for choice in &choices {
                assert_eq!(choice.regions, world.next_regions(program, choice.step));
                assert_eq!(Some(choice.pc), world.step_pc(program, choice.step));
            }
            if choices.is_empty() {
                return;
            }
            let choice = &choices[usize::from(*pick) % choices.len()];
            let mut effects = Effects::default();
            let violation = world.step_only(program, choice.step, &mut effects).err();
            let taken = worker.take(&state, choice);
            assert_eq!(taken.marks, effects.marks);
            assert_eq!(taken.violation.as_deref(), violation.as_ref());
            if violation.is_some() {
                return;
            }
            print = taken.apply(&state, print, &mut next);
            std::mem::swap(&mut state, &mut next);
            assert_eq!(parts.state(&world), (state.clone(), print));
            assert_eq!(worker.world(&state), &world);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(8))]

        #[test]
        fn shared_answers_are_those_of_the_world(
            walks in prop::collection::vec(prop::collection::vec(any::<u16>(), 60), 20),
        ) {
            for program in programs() {
                let Ok(start) = World::start(&program) else { continue };
                let parts = Parts::new(&start);
                let mut worker = Worker::new(&program, &parts, &start);
                for picks in &walks {
                    walk(&program, &parts, &start, &mut worker, picks);
                }
            }
        }
    }
}
