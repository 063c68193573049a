//! Every enabled step is as likely as any other.

use super::Scheduler;
use crate::hunt::draws::Draws;
use crate::world::Step;

/// Uniform choices.
pub struct Uniform {
    draws: Draws,
}

impl Uniform {
    pub(crate) fn new(draws: Draws) -> Uniform {
        Uniform { draws }
    }
}

impl Scheduler for Uniform {
    fn pick(&mut self, enabled: &[Step], _: usize) -> usize {
        self.draws.below(enabled.len())
    }
}
