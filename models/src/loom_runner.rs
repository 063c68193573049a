//! Runs a model under loom, and turns loom's silence into a verdict.
//!
//! loom returns when it has explored everything, and also when it was cut off; it panics when an execution fails,
//! and does not say which one. Here, executions are counted, every limit is stated, and nothing comes from the
//! environment: what `LOOM_…` variables set is overwritten.

use crate::failure::Failure;
use crate::ledger::{self, Marks, Seen};
use leasecheck_core::shell::Fault;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How far to explore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most preemptions in one execution; `None` is no bound.
    pub preemptions: Option<u32>,
    /// The most executions.
    pub executions: u64,
}

/// The most points in one execution at which loom may switch. The largest model needs about 200.
const BRANCHES: usize = 1_000;

/// How an exploration ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Everything within the preemption bound has been explored.
    Exhausted,
    /// All schedules that were asked for have been run, of many more.
    Tried,
    /// A limit was hit; the text says which.
    Truncated(String),
    /// An execution failed.
    Failed(Box<Failure>),
}

/// What an exploration found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    /// Executions begun.
    pub executions: u64,
    /// What happened in how many of them.
    pub marks: Marks,
    /// How it ended.
    pub end: End,
}

/// Explores `model` with `fault` switched on. Deterministic: the same model, fault and limits give the same answer.
#[must_use]
pub fn explore(model: fn(), fault: Option<Fault>, limits: Limits) -> Exploration {
    // A thread of its own: its thread-locals are the execution's, and what loom leaks when it fails ends with it.
    let explorer = std::thread::spawn(move || explore_here(model, fault, limits));
    explorer.join().expect("panics of the model are caught")
}

fn explore_here(model: fn(), fault: Option<Fault>, limits: Limits) -> Exploration {
    ledger::watch(fault);
    let result = catch_unwind(AssertUnwindSafe(|| {
        builder(limits).check(move || {
            ledger::begin();
            model();
        });
    }));
    let Seen { executions, marks, panic, last } = ledger::unwatch();
    let end = match (result, panic) {
        (Ok(()), None) if executions > limits.executions => End::Truncated(format!("{} executions", limits.executions)),
        (Ok(()), None) => End::Exhausted,
        (_, Some(message)) if message.starts_with("Model exceeded maximum number of branches") => {
            End::Truncated(format!("{BRANCHES} switches in one execution: does somebody spin?"))
        }
        (_, message) => {
            let message = message.unwrap_or_else(|| "a panic that no hook saw".to_owned());
            End::Failed(Box::new(Failure::new(message, &last, executions)))
        }
    };
    Exploration { executions, marks, end }
}

fn builder(limits: Limits) -> loom::model::Builder {
    let mut builder = loom::model::Builder::new();
    builder.max_threads = loom::MAX_THREADS;
    builder.max_branches = BRANCHES;
    builder.preemption_bound = limits.preemptions.map(|bound| bound as usize);
    // loom looks at the limit before it begins an execution, and only every `checkpoint_interval` of them. One more
    // than allowed is begun when there is one more.
    builder.max_permutations = Some(usize::try_from(limits.executions).map_or(usize::MAX, |most| most + 2));
    builder.checkpoint_interval = 1;
    builder.max_duration = None;
    builder.checkpoint_file = None;
    builder.expect_explicit_explore = false;
    builder.location = false;
    builder.log = false;
    builder
}
