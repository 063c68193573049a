//! Replay that forgives: the agents of a given schedule in their order, as far as they can go.
//!
//! For the program that the schedule was made for, this is exact replay. For a program from which steps have been
//! dropped, it is the nearest schedule: an agent that cannot run is skipped.

use super::Scheduler;
use crate::world::Step;

/// A schedule to follow.
pub struct Follow<'a> {
    steps: &'a [Step],
    at: usize,
}

impl<'a> Follow<'a> {
    /// Follows these steps.
    #[must_use]
    pub fn new(steps: &'a [Step]) -> Follow<'a> {
        Follow { steps, at: 0 }
    }
}

impl Scheduler for Follow<'_> {
    fn pick(&mut self, enabled: &[Step], _: usize) -> usize {
        while let Some(step) = self.steps.get(self.at) {
            self.at += 1;
            let same = enabled.iter().position(|other| other == step);
            if let Some(at) = same.or_else(|| enabled.iter().position(|other| other.agent == step.agent)) {
                return at;
            }
        }
        0
    }

    /// The schedule has its forced steps as well.
    fn forced(&mut self, step: Step) {
        self.pick(&[step], 0);
    }
}
