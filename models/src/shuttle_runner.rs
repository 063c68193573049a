//! Runs a model under shuttle with a portfolio of schedulers, and says what that proves: nothing but that these
//! schedules pass, unless the depth-first one has come to its end.

use crate::failure::Failure;
use crate::ledger::{self, Seen};
use crate::loom_runner::{End, Exploration};
use crate::schedulers::{Drawn, Strategy};
use leasecheck_core::shell::Fault;
use shuttle::scheduler::{DfsScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The most steps in one schedule. The largest model needs about 5,000.
const STEPS: usize = 100_000;

/// Which schedules to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedules {
    /// How they are drawn.
    pub strategy: Strategy,
    /// The first one, counted from 1. Depth first always starts from 1.
    pub first: u64,
    /// The last one.
    pub last: u64,
    /// About how many steps one has.
    pub steps: u64,
}

/// Runs `model` with `fault` switched on. Deterministic.
#[must_use]
pub fn explore(model: fn(), fault: Option<Fault>, schedules: Schedules) -> Exploration {
    // A thread of its own, as for loom.
    let explorer = std::thread::spawn(move || match schedules.strategy {
        Strategy::Dfs => {
            let scheduler = DfsScheduler::new(Some(schedules.last as usize), false);
            run(scheduler, model, fault, 1, Some(schedules.last))
        }
        drawn => {
            let scheduler = Drawn::new(drawn, schedules.first, schedules.last, schedules.steps);
            run(scheduler, model, fault, schedules.first, None)
        }
    });
    explorer.join().expect("panics of the model are caught")
}

/// `limit` is where a search that could be exhaustive is cut off.
fn run(
    scheduler: impl Scheduler + 'static,
    model: fn(),
    fault: Option<Fault>,
    first: u64,
    limit: Option<u64>,
) -> Exploration {
    ledger::watch(fault);
    let result = catch_unwind(AssertUnwindSafe(|| {
        Runner::new(scheduler, config()).run(move || {
            ledger::begin();
            model();
        })
    }));
    let Seen { executions, marks, panic, last } = ledger::unwatch();
    let end = match (result, panic) {
        (Ok(_), None) if limit.is_some_and(|limit| executions < limit) => End::Exhausted,
        (Ok(_), None) => End::Tried,
        (_, Some(message)) if message.starts_with("exceeded max_steps") => {
            End::Truncated(format!("{STEPS} steps in one schedule: does somebody spin?"))
        }
        (_, message) => {
            let message = message.unwrap_or_else(|| "a panic that no hook saw".to_owned());
            End::Failed(Box::new(Failure::new(message, &last, first - 1 + executions)))
        }
    };
    Exploration { executions, marks, end }
}

/// Nothing in here comes from the environment.
pub(crate) fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::FailAfter(STEPS);
    config.max_time = None;
    config.silence_warnings = true;
    config
}
