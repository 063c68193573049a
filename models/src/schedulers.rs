//! The schedulers of the portfolio: shuttle's own depth-first one, and two that depend on nothing but their seed.
//!
//! shuttle's random schedulers take a seed from the environment when one is set; a verdict must not. These two also
//! draw every schedule from its own number, so that a replay starts with the schedule that failed.

use crate::draws::Draws;
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use std::collections::BTreeMap;

/// Which schedules are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Any runnable thread, at every point.
    Random,
    /// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): the runnable thread of the highest
    /// priority, and a few points at which the running one becomes the lowest.
    Pct,
    /// Depth first: all of them, from the first on.
    Dfs,
}

impl Strategy {
    /// All, in the order in which they are tried.
    pub const ALL: [Strategy; 3] = [Strategy::Random, Strategy::Pct, Strategy::Dfs];

    /// Its name in reports and tokens.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Strategy::Random => "random",
            Strategy::Pct => "pct",
            Strategy::Dfs => "dfs",
        }
    }

    /// The strategy of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Strategy> {
        Strategy::ALL.into_iter().find(|strategy| strategy.name() == name)
    }
}

/// Priority changes in one schedule: bugs that need up to this many preemptions are found with a known probability.
const CHANGES: u64 = 4;

/// The schedules `first..=last` of the random or the PCT strategy.
#[derive(Debug)]
pub struct Drawn {
    priorities: bool,
    next: u64,
    last: u64,
    /// About how many steps a schedule has; priority changes are spread over them.
    steps: u64,
    draws: Draws,
    step: u64,
    ranks: BTreeMap<TaskId, u64>,
    changes: Vec<u64>,
}

impl Drawn {
    /// Schedules are numbered from 1.
    #[must_use]
    pub fn new(strategy: Strategy, first: u64, last: u64, steps: u64) -> Drawn {
        let priorities = strategy == Strategy::Pct;
        let (draws, ranks, changes) = (Draws::new(0), BTreeMap::new(), Vec::new());
        Drawn { priorities, next: first, last, steps, draws, step: 0, ranks, changes }
    }

    fn demote(&mut self, task: TaskId) {
        // Later demotions end up below earlier ones.
        let lowest = self.ranks.values().min().copied().unwrap_or(u64::MAX / 2);
        self.ranks.insert(task, lowest.saturating_sub(1));
    }
}

impl Scheduler for Drawn {
    fn new_execution(&mut self) -> Option<Schedule> {
        if self.next > self.last {
            return None;
        }
        self.draws = Draws::new(self.next ^ if self.priorities { 0x5043_5400_0000 } else { 0 });
        self.next += 1;
        self.step = 0;
        self.ranks.clear();
        self.changes = (0..CHANGES).map(|_| self.draws.below(self.steps)).collect();
        Some(Schedule::new(0))
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, is_yielding: bool) -> Option<TaskId> {
        self.step += 1;
        if !self.priorities {
            return Some(runnable[self.draws.below(runnable.len() as u64) as usize].id());
        }
        for task in runnable {
            let rank = self.draws.next() >> 2 | 1 << 61;
            self.ranks.entry(task.id()).or_insert(rank);
        }
        if let Some(current) = current
            && (is_yielding || self.changes.contains(&self.step))
        {
            self.demote(current);
        }
        runnable.iter().map(|task| task.id()).max_by_key(|id| self.ranks[id])
    }

    fn next_u64(&mut self) -> u64 {
        self.draws.next()
    }
}
