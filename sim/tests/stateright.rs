//! Two engines agree: stateright explores the corpus with the same step relation, and comes to the same verdicts, the
//! same number of distinct states and counterexamples of the same length.
//!
//! What this does not check: the step relation itself, which both share, and the reduction, which stateright does not
//! have (see `reduction.rs`).

mod common;

use common::{programs, search, title};
use leasecheck_sim::explore::replay::state_violation;
use leasecheck_sim::invariants::Code;
use leasecheck_sim::program::{Expect, Program};
use leasecheck_sim::verdict::Verdict;
use leasecheck_sim::world::{Effects, Step, World};
use stateright::{Checker, Model, Property};

/// Cases with more states than this are left out: stateright takes its time.
const MOST_STATES: u64 = 20_000;

/// A case, for stateright.
struct Litmus {
    program: Program,
    start: World,
}

/// A world as bytes, or the end of a counterexample.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum State {
    World(Vec<u8>),
    Violated(Code),
}

impl Litmus {
    fn world(&self, bytes: &[u8]) -> World {
        let mut world = self.start.clone();
        world.unpack(bytes);
        world
    }

    /// Whether the case is about this violation.
    fn is_target(&self, code: Code) -> bool {
        match self.program.expect {
            Expect::Unreachable => true,
            Expect::Reachable(expected) => code == expected,
        }
    }

    fn holds(&self, state: &State) -> bool {
        match state {
            State::Violated(_) => false,
            State::World(bytes) => {
                let violation = state_violation(&self.program, &self.world(bytes));
                !violation.is_some_and(|violation| self.is_target(violation.code))
            }
        }
    }
}

fn packed(world: &World) -> State {
    let mut bytes = Vec::new();
    world.pack(&mut bytes);
    State::World(bytes)
}

impl Model for Litmus {
    type State = State;
    type Action = (u8, u8);

    fn init_states(&self) -> Vec<State> {
        vec![packed(&self.start)]
    }

    fn actions(&self, state: &State, actions: &mut Vec<(u8, u8)>) {
        let State::World(bytes) = state else { return };
        let mut steps = Vec::new();
        self.world(bytes).enabled(&self.program, &mut steps);
        actions.extend(steps.iter().map(|step| (step.agent, step.choice)));
    }

    fn next_state(&self, state: &State, (agent, choice): (u8, u8)) -> Option<State> {
        let State::World(bytes) = state else { return None };
        let mut world = self.world(bytes);
        match world.step(&self.program, Step { agent, choice }, &mut Effects::default()) {
            Ok(()) => Some(packed(&world)),
            Err(violation) => self.is_target(violation.code).then_some(State::Violated(violation.code)),
        }
    }

    fn properties(&self) -> Vec<Property<Litmus>> {
        vec![Property::always("holds", |model, state| model.holds(state))]
    }
}

/// Distinct states, and the length of the shortest counterexample if there is one.
fn stateright(program: &Program) -> (u64, Option<usize>) {
    let start = World::start(program).expect("the case starts");
    let checker = Litmus { program: program.clone(), start }.checker().threads(1).spawn_bfs().join();
    let length = checker.discovery("holds").map(|path| path.into_actions().len());
    (checker.unique_state_count() as u64, length)
}

#[test]
fn stateright_agrees_on_the_corpus() {
    let (mut compared, mut left_out) = (0, 0);
    for program in programs() {
        let ours = search(&program, false, MOST_STATES);
        match &ours.verdict {
            Verdict::Truncated { .. } => left_out += 1,
            Verdict::Reachable(found) if matches!(program.expect, Expect::Reachable(code) if code != found.violation.code) =>
            {
                // The expected violation is not reachable, so that stateright has to exhaust the space as well.
                assert_eq!(stateright(&program), (ours.states, None), "{}", title(&program));
                compared += 1;
            }
            Verdict::Reachable(found) => {
                let (_, length) = stateright(&program);
                assert_eq!(length, Some(found.steps.len()), "{}: {}", title(&program), found.violation.message);
                compared += 1;
            }
            Verdict::Unreachable | Verdict::Vacuous { .. } => {
                assert_eq!(stateright(&program), (ours.states, None), "{}", title(&program));
                compared += 1;
            }
        }
    }
    println!("{compared} cases compared, {left_out} left out for their size");
    assert!(compared >= 2 && left_out * 4 <= compared, "{compared} cases compared, {left_out} left out");
}
