//! A litmus case as a stateright model, over the same step relation as our explorers.

use leasecheck_sim::explore::replay::state_violation;
use leasecheck_sim::invariants::Code;
use leasecheck_sim::program::{Expect, Program};
use leasecheck_sim::world::{Effects, Step, World};
use stateright::{Checker, Model, Property};

/// A case, for stateright.
struct LitmusModel {
    program: Program,
    start: World,
}

/// A world as bytes, or the end of a counterexample.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum State {
    World(Vec<u8>),
    Violated(Code),
}

impl LitmusModel {
    fn world(&self, bytes: &[u8]) -> World {
        let mut world = self.start.clone();
        world.unpack(bytes);
        world
    }

    /// Whether the case is about this violation.
    fn is_target(&self, code: Code) -> bool {
        match self.program.expect {
            Expect::Unreachable => true,
            Expect::Reachable(expected) | Expect::Never(expected) => code == expected,
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

impl Model for LitmusModel {
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

    fn properties(&self) -> Vec<Property<LitmusModel>> {
        vec![Property::always("holds", |model, state| model.holds(state))]
    }
}

/// Distinct states, and the length of the shortest counterexample if there is one: breadth first, on one thread.
pub fn stateright(program: &Program) -> (u64, Option<usize>) {
    let start = World::start(program).expect("the case starts");
    let checker = LitmusModel { program: program.clone(), start }.checker().threads(1).spawn_bfs().join();
    let length = checker.discovery("holds").map(|path| path.into_actions().len());
    (checker.unique_state_count() as u64, length)
}
