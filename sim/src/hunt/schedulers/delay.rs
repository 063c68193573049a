//! A fixed schedule with a few delays (Emmi, Qadeer, Rakamarić, POPL 2011).
//!
//! The agent that ran last goes on until it cannot; then the next in turn. At `d` random moments the agent that would
//! run is passed over instead. Most bugs need few delays, and the schedules with few delays are few.

use super::Scheduler;
use crate::hunt::draws::Draws;
use crate::world::Step;
use smallvec::SmallVec;

/// Round robin without preemption, except for delays.
pub struct DelayBounded {
    delays: SmallVec<[usize; 8]>,
    current: u8,
}

impl DelayBounded {
    /// `delays` delays within the first `length` steps.
    pub(crate) fn new(mut draws: Draws, agents: usize, delays: usize, length: usize) -> DelayBounded {
        let current = draws.below(agents) as u8;
        DelayBounded { delays: (0..delays).map(|_| draws.below(length.max(1))).collect(), current }
    }
}

impl Scheduler for DelayBounded {
    fn pick(&mut self, enabled: &[Step], taken: usize) -> usize {
        let next = |from: u8| enabled.iter().position(|step| step.agent >= from).unwrap_or(0);
        let mut chosen = next(self.current);
        if self.delays.contains(&taken) {
            chosen = next(enabled[chosen].agent.saturating_add(1));
        }
        self.current = enabled[chosen].agent;
        chosen
    }
}
