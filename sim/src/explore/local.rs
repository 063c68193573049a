//! Local steps: what an agent can do, and what a step of it changes, follows from the parts of the world that it looks
//! at. Worlds that differ elsewhere share the answer, which is computed once: most states of a case are new combinations
//! of parts that were seen before. (The idea is LTSmin's transition caching, S. Blom, J. van de Pol and M. Weber, *LTSmin:
//! Distributed and Symbolic Reachability*, 2010; which parts a step looks at is not declared here but observed, by the
//! types of `world/tracked.rs`.)
//!
//! With its numbers, a state carries for each agent the answers that are known already: those of the state before it,
//! where the step between the two changed nothing that they depend on, or those that differ from them by that change.

use super::answers::{Answers, Looked};
use super::parts::{Parts, Places, Seen, UNKNOWN, View};
use crate::invariants::{Violation, deadlock, lost_wakeup, race};
use crate::marks::Marks;
use crate::program::{END, Pc, Program};
use crate::world::{Effects, LAND, Mask, Region, Step, World};
use smallvec::SmallVec;

/// The low bits of an answer's number are its place; the high bits say whose it is.
const PLACE_BITS: u32 = 20;
/// Answers of each kind that one worker keeps before it forgets all; room is left for those of one more state.
const MOST_ANSWERS: usize = (1 << PLACE_BITS) - 4_096;
/// Workers that tell states of their answers, and how often each may forget: the rest works without.
const MOST_TELLING: usize = 64;

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
    looked: Looked,
}

/// What a part becomes, and by what the fingerprint changes.
struct Write {
    delta: u128,
    part: u8,
    number: u32,
}

/// What a step does.
pub(crate) struct Taken {
    writes: SmallVec<[Write; 4]>,
    changed: Mask,
    /// By what the fingerprint changes.
    pub(crate) delta: u128,
    pub(crate) marks: Marks,
    pub(crate) violation: Option<Box<Violation>>,
    looked: Looked,
}

/// Where an agent is to be found.
struct Post {
    /// The part that is its thread or queue.
    part: usize,
    /// The part that is what its queue has yet to land.
    landing: Option<usize>,
    /// The number of its first place.
    base: usize,
}

/// An answer that the state at hand knows.
#[derive(Clone, Copy)]
struct Told {
    at: u32,
    /// The parts that it depends on; none if nothing is known.
    mask: Mask,
}

const NOTHING: Told = Told { at: UNKNOWN, mask: 0 };

impl Told {
    /// What the state after a step can be told: the same, if that still holds, or the answer that differs from it by what
    /// the step has changed. Of the agent that took the step, whatever depends on where it is does not hold.
    fn after<'s>(
        self,
        taken: &Taken,
        moved: bool,
        answers: &Answers,
        looked: impl FnOnce(usize) -> &'s Looked,
    ) -> Option<u32> {
        if self.mask == 0 {
            return None;
        }
        if self.mask & taken.changed == 0 {
            return Some(self.at);
        }
        if moved {
            return None;
        }
        let seen = taken.writes.iter().filter(|write| self.mask >> write.part & 1 != 0);
        answers.beside(looked(self.at as usize), seen.fold(0, |by, write| by ^ write.delta))
    }
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
    seen: Seen,
    posts: Vec<Post>,
    /// By place: program counters of threads, then those at the heads of queues.
    options_at: Answers,
    options: Vec<Options>,
    steps_at: Answers,
    taken: Vec<Taken>,
    bytes: Vec<u8>,
    /// The state at hand; its answers begin at this place.
    state: Vec<u32>,
    answers: usize,
    /// What is known of it: what every agent can do, then what its first step does.
    told: Vec<Told>,
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
        let layout = world.layout();
        let post = |agent: u8| match program.agents[usize::from(agent)].is_queue() {
            false => Post { part: layout.thread(World::thread_slot(program, agent)), landing: None, base: 0 },
            true => {
                let slot = World::queue_slot(program, agent);
                let landing = layout.queue(slot + world.queues.len() / 2);
                Post { part: layout.queue(slot), landing: Some(landing), base: program.code.len() }
            }
        };
        Worker {
            program,
            parts,
            nth,
            forgot: 0,
            tag: tag(nth, 0),
            world: world.clone(),
            now: vec![LOST; parts.len()],
            seen: Seen::new(parts),
            posts: (0..program.agents.len() as u8).map(post).collect(),
            options_at: Answers::new(places),
            options: Vec::new(),
            steps_at: Answers::new(places),
            taken: Vec::new(),
            bytes: Vec::new(),
            state: Vec::new(),
            answers: parts.len(),
            told: vec![NOTHING; 2 * parts.agents],
        }
    }

    /// The place of one of this worker's answers, if the state at hand was told of it.
    fn hint(&self, hint: usize) -> Option<usize> {
        let at = self.state[self.answers + hint] ^ self.tag?;
        (at >> PLACE_BITS == 0).then_some(at as usize)
    }

    /// The state at hand.
    fn view(&self) -> View<'_> {
        View { seen: &self.seen, state: &self.state }
    }

    /// The world that a state is.
    pub(crate) fn world(&mut self, state: &[u32]) -> &World {
        for (part, (number, now)) in state.iter().zip(&mut self.now).enumerate() {
            if number != now {
                self.world.unpack_part(part, &self.parts.value(part, *number).bytes);
                *now = *number;
            }
        }
        self.world.forget_touches();
        &self.world
    }

    /// What an agent can do, by number; nothing if it is nowhere.
    fn options(&mut self, agent: usize) -> Option<usize> {
        let at = match self.hint(agent) {
            Some(known) => known,
            None => {
                let place = self.place(agent)?;
                let known = self.options_at.get(self.view(), place, 0);
                known.unwrap_or_else(|| self.look(agent, place))
            }
        };
        self.told[agent] = Told { at: at as u32, mask: self.options[at].looked.mask };
        Some(at)
    }

    /// Looks at the world itself.
    fn look(&mut self, agent: usize, place: usize) -> usize {
        let program = self.program;
        let state = std::mem::take(&mut self.state);
        let world = self.world(&state);
        let mut steps = Vec::new();
        world.enabled_of(program, agent as u8, |step, _| steps.push(step));
        let choice = |step: &Step| Choice { step: *step, pc: world.step_pc(program, *step).unwrap_or(END) };
        let choices = steps.iter().map(choice).collect();
        let regions = steps.iter().flat_map(|step| world.next_regions(program, *step)).collect();
        let mask = world.touched().0;
        self.state = state;
        let at = self.options.len();
        let view = View { seen: &self.seen, state: &self.state };
        let looked = self.options_at.insert(view, place, 0, mask, at);
        self.options.push(Options { choices, regions, looked });
        at
    }

    /// Turns to a state: collects what every agent can do, in the order of agents. Says what is wrong with the state,
    /// whatever is done next.
    pub(crate) fn turn_to(&mut self, state: &[u32], choices: &mut Vec<Choice>) -> Option<Violation> {
        let program = self.program;
        self.make_room();
        self.state.clear();
        self.state.extend_from_slice(state);
        self.seen.learn_state(self.parts, state);
        self.told.fill(NOTHING);
        choices.clear();
        let mut touching: SmallVec<[usize; 8]> = SmallVec::new();
        let mut conflict = false;
        for agent in 0..program.agents.len() {
            let Some(at) = self.options(agent) else { continue };
            let options = &self.options[at];
            for choice in &options.choices {
                choices.push(*choice);
            }
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
    fn place(&self, agent: usize) -> Option<usize> {
        let post = &self.posts[agent];
        let mut first = self.view().head(post.part);
        if first == END {
            first = self.view().head(post.landing?);
        }
        (first != END).then(|| post.base + usize::from(first))
    }

    /// Takes a step from the state at hand; the answer's place.
    pub(crate) fn take(&mut self, choice: &Choice) -> usize {
        let agent = usize::from(choice.step.agent);
        let hint = self.parts.agents + agent;
        let first = choice.step.choice == 0;
        let at = match self.hint(hint).filter(|_| first) {
            Some(known) => known,
            None => {
                let place = self.posts[agent].base + usize::from(choice.pc);
                // Steps of one agent at one place differ in their choice: each is a question of its own.
                let seed = match choice.step.choice {
                    0 => 0,
                    LAND => u128::MAX,
                    nth => u128::from(nth) << 64,
                };
                let known = self.steps_at.get(self.view(), place, seed);
                known.unwrap_or_else(|| self.really_take(choice, place, seed))
            }
        };
        if first {
            self.told[hint] = Told { at: at as u32, mask: self.taken[at].looked.mask };
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
        let places = 2 * self.program.code.len();
        (self.options_at, self.steps_at) = (Answers::new(places), Answers::new(places));
        self.forgot += 1;
        self.tag = tag(self.nth, self.forgot);
    }

    fn really_take(&mut self, choice: &Choice, place: usize, seed: u128) -> usize {
        let state = std::mem::take(&mut self.state);
        self.world(&state);
        let mut effects = Effects::default();
        let outcome = self.world.step_only(self.program, choice.step, &mut effects);
        let (read, written) = self.world.touched();
        let violation = outcome.err().map(Box::new);
        let (mut writes, mut changed, mut delta) = (SmallVec::new(), 0, 0);
        for part in (0..self.parts.len()).filter(|part| written >> part & 1 != 0) {
            if violation.is_some() {
                self.now[part] = LOST;
                continue;
            }
            self.bytes.clear();
            self.world.pack_part(part, &mut self.bytes);
            let (number, print) = self.parts.number(&self.world, part, &self.bytes);
            self.now[part] = number;
            self.seen.learn(self.parts, part, number);
            if number != state[part] {
                let by = self.parts.value(part, state[part]).print ^ print;
                writes.push(Write { delta: by, part: part as u8, number });
                changed |= 1 << part;
                delta ^= by;
            }
        }
        self.state = state;
        let at = self.taken.len();
        let view = View { seen: &self.seen, state: &self.state };
        let looked = self.steps_at.insert(view, place, seed, read | written, at);
        self.taken.push(Taken { writes, changed, delta, marks: effects.marks, violation, looked });
        at
    }

    /// The answer at a place that [`Worker::take`] has given for the state at hand.
    pub(crate) fn taken(&self, at: usize) -> &Taken {
        &self.taken[at]
    }

    /// Appends the state after a step of an agent from the state at hand.
    pub(crate) fn after(&self, agent: u8, at: usize, states: &mut Vec<u32>) {
        let taken = &self.taken[at];
        let start = states.len();
        states.extend_from_slice(&self.state[..self.parts.len()]);
        for write in &taken.writes {
            states[start + usize::from(write.part)] = write.number;
        }
        let Some(tag) = self.tag else {
            states.resize(start + self.parts.width(), UNKNOWN);
            return;
        };
        let mover = usize::from(agent);
        let (options, steps) = self.told.split_at(self.parts.agents);
        states.extend(options.iter().enumerate().map(|(agent, told)| {
            let looked = |at: usize| &self.options[at].looked;
            told.after(taken, agent == mover, &self.options_at, looked).map_or(UNKNOWN, |at| tag | at)
        }));
        states.extend(steps.iter().enumerate().map(|(agent, told)| {
            let looked = |at: usize| &self.taken[at].looked;
            told.after(taken, agent == mover, &self.steps_at, looked).map_or(UNKNOWN, |at| tag | at)
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::super::parts::Parts;
    use super::Worker;
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
            print ^= worker.taken(number).delta;
            next.clear();
            worker.after(choice.step.agent, number, &mut next);
            std::mem::swap(&mut state, &mut next);
            let (numbers, whole) = parts.state(&world);
            let count = parts.len();
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
