//! Priorities with a few change points (PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).
//!
//! Every agent has a random priority, and the enabled agent with the highest runs. At `d` random moments the running
//! agent falls below all others. A bug that needs `d` ordering constraints is found with a probability that does not
//! depend on the length of the run's other parts.

use super::Scheduler;
use crate::hunt::draws::Draws;
use crate::program::limits;
use crate::world::Step;
use smallvec::SmallVec;

/// Priorities and change points.
pub struct Pct {
    draws: Draws,
    priority: [i32; limits::AGENTS],
    /// When a priority changes, in steps.
    changes: SmallVec<[usize; 8]>,
    lowest: i32,
}

impl Pct {
    /// `changes` change points within the first `length` steps.
    pub(crate) fn new(mut draws: Draws, changes: usize, length: usize) -> Pct {
        let mut priority = [0; limits::AGENTS];
        for (at, slot) in priority.iter_mut().enumerate() {
            *slot = at as i32 + 1;
        }
        for at in (1..priority.len()).rev() {
            let other = draws.below(at + 1);
            priority.swap(at, other);
        }
        let changes = (0..changes).map(|_| draws.below(length.max(1))).collect();
        Pct { draws, priority, changes, lowest: 0 }
    }
}

impl Scheduler for Pct {
    fn pick(&mut self, enabled: &[Step], taken: usize) -> usize {
        let highest = |priority: &[i32; limits::AGENTS]| {
            let best = enabled.iter().map(|step| priority[usize::from(step.agent)]).max().unwrap_or(0);
            enabled.iter().position(|step| priority[usize::from(step.agent)] == best).unwrap_or(0)
        };
        let mut chosen = highest(&self.priority);
        if self.changes.contains(&taken) {
            self.lowest -= 1;
            self.priority[usize::from(enabled[chosen].agent)] = self.lowest;
            chosen = highest(&self.priority);
        }
        // Steps of one queue that may overtake each other are equally likely.
        let agent = enabled[chosen].agent;
        let same = enabled[chosen..].iter().take_while(|step| step.agent == agent).count();
        if same > 1 { chosen + self.draws.below(same) } else { chosen }
    }
}
