//! Local steps: what an agent can do, and what a step of it changes, follows from the parts of the world that it looks
//! at. Worlds that differ elsewhere share the answer, which is computed once: most states of a case are new combinations
//! of parts that were seen before. (The idea is LTSmin's transition caching, S. Blom, J. van de Pol and M. Weber, *LTSmin:
//! Distributed and Symbolic Reachability*, 2010; which parts a step looks at is not declared here but observed, by the
//! types of `world/tracked.rs`.)
//!
//! A state is a number for each of its parts, and for each agent the answers that are known already: those of the state
//! before it, where the step between the two changed nothing that they depend on. Its fingerprint is the sum, without carry, of the 128-bit hashes of the
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

/// The low bits of an answer's number are its place; the high bits say whose it is.
const PLACE_BITS: u32 = 20;
/// Answers of each kind that one worker keeps before it forgets all; room is left for those of one more state.
const MOST_ANSWERS: usize = (1 << PLACE_BITS) - 4_096;
/// Workers that tell states of their answers, and how often each may forget: the rest works without.
const MOST_TELLING: usize = 64;
/// No answer is known.
const UNKNOWN: u32 = u32::MAX;

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
    agents: usize,
    stored: AtomicU64,
}

impl Parts {
    pub(crate) fn new(program: &Program, world: &World) -> Parts {
        let parts = (0..world.layout().len()).map(|_| Values::default()).collect();
        let (threads, queues) = (world.threads.len(), world.queues.len());
        Parts { parts, threads, queues, agents: program.agents.len(), stored: AtomicU64::new(0) }
    }

    /// Numbers of a state: of its parts, then of what every agent can do, then of what its first step does.
    pub(crate) fn width(&self) -> usize {
        self.parts.len() + 2 * self.agents
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
        let mut numbers: Vec<u32> = (0..self.parts.len())
            .map(|part| {
                bytes.clear();
                world.pack_part(part, &mut bytes);
                self.number(world, part, &bytes)
            })
            .collect();
        let print = numbers.iter().enumerate().fold(0, |print, (part, number)| print ^ self.print(part, *number));
        numbers.resize(self.width(), UNKNOWN);
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

/// A step that an agent can take, and its instruction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) step: Step,
    pub(crate) pc: Pc,
}

/// What an agent can do.
struct Options {
    choices: SmallVec<[Choice; 2]>,
    /// The bytes that one of these steps would touch.
    regions: SmallVec<[Region; 4]>,
    /// The parts that this depends on.
    mask: Mask,
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
    changed: Mask,
    /// By what the fingerprint changes.
    delta: u128,
    pub(crate) marks: Marks,
    pub(crate) violation: Option<Box<Violation>>,
    /// The parts that this depends on.
    mask: Mask,
}

/// Answers to one question, asked at one place of the program: for every set of parts that was looked at for an answer,
/// the answers by what was seen there.
#[derive(Default)]
struct Answers {
    by_mask: Vec<(Mask, ByPrint<u32>)>,
}

impl Answers {
    fn get(&self, parts: &Parts, state: &[u32], seed: u128) -> Option<u32> {
        self.by_mask.iter().find_map(|(mask, answers)| answers.get(&key(parts, state, *mask, seed)).copied())
    }

    fn insert(&mut self, parts: &Parts, state: &[u32], mask: Mask, seed: u128, answer: u32) {
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
    nth: usize,
    /// How often it has forgotten all.
    forgot: usize,
    /// The high bits of its answers' numbers.
    tag: Option<u32>,
    world: World,
    /// What each part of the world is; [`LOST`] after a violation has left it without meaning.
    now: Vec<u32>,
    /// By place: program counters of threads, then those at the heads of queues.
    options_at: Vec<Answers>,
    options: Vec<Options>,
    steps_at: Vec<Answers>,
    taken: Vec<Taken>,
    bytes: Vec<u8>,
    /// The state at hand with all that is known of it, and what each of its answers depends on.
    state: Vec<u32>,
    masks: Vec<Mask>,
}

const LOST: u32 = u32::MAX;

/// The high bits of the answers of a worker that has forgotten so often.
fn tag(nth: usize, forgot: usize) -> Option<u32> {
    // The last of all is not given, so that no number is [`UNKNOWN`].
    (nth < MOST_TELLING - 1 && forgot < MOST_TELLING).then_some(((nth * MOST_TELLING + forgot) as u32) << PLACE_BITS)
}

impl<'a> Worker<'a> {
    /// Worker number `nth` of those who share `parts`.
    pub(crate) fn new(program: &'a Program, parts: &'a Parts, world: &World, nth: usize) -> Worker<'a> {
        let places = 2 * program.code.len();
        Worker {
            program,
            parts,
            nth,
            forgot: 0,
            tag: tag(nth, 0),
            world: world.clone(),
            now: vec![LOST; parts.parts.len()],
            options_at: (0..places).map(|_| Answers::default()).collect(),
            options: Vec::new(),
            steps_at: (0..places).map(|_| Answers::default()).collect(),
            taken: Vec::new(),
            bytes: Vec::new(),
            state: Vec::new(),
            masks: Vec::new(),
        }
    }

    /// The place of one of this worker's answers; none for what others know, or nobody.
    fn own(&self, number: u32) -> Option<usize> {
        let at = number ^ self.tag?;
        (at >> PLACE_BITS == 0).then_some(at as usize)
    }

    /// Tells the state at hand of an answer, which depends on `mask`.
    fn tell(&mut self, hint: usize, at: usize, mask: Mask) {
        if let Some(tag) = self.tag {
            self.state[hint] = tag | at as u32;
            self.masks[hint] = mask;
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

    /// What an agent can do, by number; nothing if it is nowhere.
    fn options(&mut self, agent: usize) -> Option<usize> {
        let hint = self.parts.parts.len() + agent;
        if let Some(known) = self.own(self.state[hint]) {
            self.masks[hint] = self.options[known].mask;
            return Some(known);
        }
        let place = self.place(&self.state, agent as u8)?;
        let at = match self.options_at[place].get(self.parts, &self.state, 0) {
            Some(known) => known as usize,
            None => {
                let state = std::mem::take(&mut self.state);
                let options = self.look(&state, agent as u8);
                self.options_at[place].insert(self.parts, &state, options.mask, 0, self.options.len() as u32);
                self.options.push(options);
                self.state = state;
                self.options.len() - 1
            }
        };
        self.tell(hint, at, self.options[at].mask);
        Some(at)
    }

    /// Looks at the world itself.
    fn look(&mut self, state: &[u32], agent: u8) -> Options {
        let program = self.program;
        let world = self.world(state);
        let mut steps = Vec::new();
        world.enabled_of(program, agent, &mut steps);
        let choice = |step: &Step| Choice { step: *step, pc: world.step_pc(program, *step).unwrap_or(END) };
        Options {
            choices: steps.iter().map(choice).collect(),
            regions: steps.iter().flat_map(|step| world.next_regions(program, *step)).collect(),
            mask: world.touched().0,
        }
    }

    /// Turns to a state: collects what every agent can do, in the order of agents. Says what is wrong with the state,
    /// whatever is done next.
    pub(crate) fn turn_to(&mut self, state: &[u32], choices: &mut Vec<Choice>) -> Option<Violation> {
        let program = self.program;
        self.make_room();
        self.state.clear();
        self.state.extend_from_slice(state);
        self.masks.clear();
        self.masks.resize(state.len(), 0);
        choices.clear();
        let mut touching: SmallVec<[usize; 8]> = SmallVec::new();
        let mut conflict = false;
        for agent in 0..program.agents.len() {
            let Some(at) = self.options(agent) else { continue };
            let options = &self.options[at];
            choices.extend_from_slice(&options.choices);
            if !options.regions.is_empty() {
                let of = |other: &usize| self.options[*other].regions.iter();
                let meets = |mine| touching.iter().flat_map(of).any(|their| race::conflict(mine, their));
                conflict |= options.regions.iter().any(meets);
                touching.push(at);
            }
        }
        if choices.is_empty() {
            let finished = self.places(state).finished();
            return (!finished).then(|| {
                let world = self.world(state);
                lost_wakeup::check(world, program).unwrap_or_else(|| deadlock::check(world, program))
            });
        }
        if !conflict {
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

    /// Takes a step from the state at hand; the answer's place.
    pub(crate) fn take(&mut self, choice: &Choice) -> usize {
        let agent = usize::from(choice.step.agent);
        let hint = self.parts.parts.len() + self.parts.agents + agent;
        let first = choice.step.choice == 0;
        if let Some(known) = self.own(self.state[hint]).filter(|_| first) {
            self.masks[hint] = self.taken[known].mask;
            return known;
        }
        let queue = self.program.agents[agent].is_queue();
        let place = usize::from(choice.pc) + if queue { self.program.code.len() } else { 0 };
        // Steps of one agent at one place differ in their choice: each is a question of its own.
        let seed = match choice.step.choice {
            0 => 0,
            LAND => u128::MAX,
            nth => u128::from(nth) << 64,
        };
        let at = match self.steps_at[place].get(self.parts, &self.state, seed) {
            Some(known) => known as usize,
            None => {
                let taken = self.really_take(choice);
                self.steps_at[place].insert(self.parts, &self.state, taken.mask, seed, self.taken.len() as u32);
                self.taken.push(taken);
                self.taken.len() - 1
            }
        };
        if first {
            self.tell(hint, at, self.taken[at].mask);
        }
        at
    }

    /// Keeps the answers from growing without bound.
    fn make_room(&mut self) {
        if self.taken.len().max(self.options.len()) < MOST_ANSWERS {
            return;
        }
        self.options.clear();
        self.taken.clear();
        self.options_at.iter_mut().chain(&mut self.steps_at).for_each(|answers| *answers = Answers::default());
        self.forgot += 1;
        self.tag = tag(self.nth, self.forgot);
    }

    fn really_take(&mut self, choice: &Choice) -> Taken {
        let state = std::mem::take(&mut self.state);
        self.world(&state);
        let mut effects = Effects::default();
        let outcome = self.world.step_only(self.program, choice.step, &mut effects);
        let (read, written) = self.world.touched();
        let mut taken = Taken {
            writes: SmallVec::new(),
            changed: 0,
            delta: 0,
            marks: effects.marks,
            violation: outcome.err().map(Box::new),
            mask: read | written,
        };
        for part in (0..self.parts.parts.len()).filter(|part| written >> part & 1 != 0) {
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
                taken.changed |= 1 << part;
                taken.delta ^= self.parts.print(part, state[part]) ^ self.parts.print(part, number);
            }
        }
        self.state = state;
        taken
    }

    /// The answer at a place that [`Worker::take`] has given for the state at hand.
    pub(crate) fn taken(&self, at: usize) -> &Taken {
        &self.taken[at]
    }

    /// The state after a step from the state at hand, into `next`, and its fingerprint.
    pub(crate) fn after(&self, at: usize, print: u128, next: &mut Vec<u32>) -> u128 {
        let taken = &self.taken[at];
        next.clear();
        next.extend_from_slice(&self.state);
        for (part, number) in &taken.writes {
            next[usize::from(*part)] = *number;
        }
        let answers = self.parts.parts.len();
        for (number, mask) in next[answers..].iter_mut().zip(&self.masks[answers..]) {
            // What others know depends on parts that this worker has not looked at.
            if mask & taken.changed != 0 || *mask == 0 {
                *number = UNKNOWN;
            }
        }
        print ^ taken.delta
    }
}

#[cfg(test)]
mod tests {
    use super::{Parts, Worker};
    use crate::explore::replay::wrong;
    use crate::litmus::{Source, load};
    use crate::program::Program;
    use crate::world::{Effects, World};
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
        let (mut choices, mut next) = (Vec::new(), Vec::new());
        for pick in picks {
            let mut steps = Vec::new();
            world.enabled(program, &mut steps);
            assert_eq!(worker.turn_to(&state, &mut choices), wrong(program, &world, &steps));
            assert_eq!(choices.iter().map(|choice| choice.step).collect::<Vec<_>>(), steps);
            for choice in &choices {
                assert_eq!(Some(choice.pc), world.step_pc(program, choice.step));
                worker.take(choice);
            }
            if choices.is_empty() {
                return;
            }
            let choice = &choices[usize::from(*pick) % choices.len()];
            let mut effects = Effects::default();
            let violation = world.step_only(program, choice.step, &mut effects).err();
            let number = worker.take(choice);
            assert_eq!(worker.taken(number).marks, effects.marks);
            assert_eq!(worker.taken(number).violation.as_deref(), violation.as_ref());
            if violation.is_some() {
                return;
            }
            print = worker.after(number, print, &mut next);
            std::mem::swap(&mut state, &mut next);
            let (numbers, whole) = parts.state(&world);
            let count = parts.parts.len();
            assert_eq!((&numbers[..count], whole), (&state[..count], print));
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
                let parts = Parts::new(&program, &start);
                let mut worker = Worker::new(&program, &parts, &start, 0);
                for picks in &walks {
                    walk(&program, &parts, &start, &mut worker, picks);
                }
            }
        }
    }
}
