//! Running models: all of them, some of them, one execution of one of them, or all of them with a fault switched on.

use crate::catalogue::{Entry, Subject, Tool, list};
use crate::failure::Failure;
use crate::ledger::Marks;
use crate::loom_runner::{self, End, Exploration, Limits};
use crate::report::{Report, Row, Verdict};
use crate::schedulers::Strategy;
use crate::shuttle_runner::{self, Schedules};
use crate::token::{Order, Token, TokenError};
use leasecheck_core::shell::Fault;
use std::sync::Mutex;

/// Interleavings after which loom is cut off. The largest model needs about 12,000.
pub const LOOM_EXECUTIONS: u64 = 1_000_000;

/// Schedules for each strategy of shuttle, unless the caller says how many.
pub const SHUTTLE_SCHEDULES: u64 = 200;

/// What to run, and how far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Only models whose name contains this.
    pub only: Option<String>,
    /// A preemption bound for every loom model, instead of its own (mostly none).
    pub preemptions: Option<u32>,
    /// Schedules for each strategy of shuttle, instead of [`SHUTTLE_SCHEDULES`].
    pub iterations: Option<u64>,
    /// Models to run at the same time; 0 counts as 1. Results do not depend on it.
    pub jobs: usize,
}

/// What a run tells while it lasts.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// A model begins.
    Began(&'a Entry),
    /// A model has ended.
    Ended(&'a Row),
}

/// Runs the models.
#[must_use]
pub fn run(options: &Options) -> Report {
    run_with(options, &|_| {})
}

/// Runs the models, and says so. Both calls for a model come from the thread that runs it.
#[must_use]
pub fn run_with(options: &Options, progress: &(dyn Fn(Progress<'_>) + Sync)) -> Report {
    let wanted = |entry: &Entry| options.only.as_deref().is_none_or(|only| entry.model.contains(only));
    let entries: Vec<Entry> = list().into_iter().filter(wanted).collect();
    let next = Mutex::new(entries.iter().enumerate());
    let rows = Mutex::new(Vec::new());
    let lock = "nothing panics while it holds this";
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let Some((at, entry)) = next.lock().expect(lock).next() else { return };
                    progress(Progress::Began(entry));
                    let row = explore(entry, None, options);
                    progress(Progress::Ended(&row));
                    rows.lock().expect(lock).push((at, row));
                }
            });
        }
    });
    let mut rows = rows.into_inner().expect(lock);
    rows.sort_by_key(|(at, _)| *at);
    Report { rows: rows.into_iter().map(|(_, row)| row).collect() }
}

/// Explores one entry with `fault` switched on.
#[must_use]
pub fn explore(entry: &Entry, fault: Option<Fault>, options: &Options) -> Row {
    explore_up_to(LOOM_EXECUTIONS, entry, fault, options)
}

fn explore_up_to(executions: u64, entry: &Entry, fault: Option<Fault>, options: &Options) -> Row {
    let (exploration, order, bound) = match entry.tool {
        Tool::Loom => {
            let preemptions = options.preemptions.or(entry.preemptions);
            let limits = Limits { preemptions, executions };
            let bound = preemptions.map_or_else(|| "none".to_owned(), |bound| format!("{bound} preemptions"));
            (loom_runner::explore(entry.body, fault, limits), Order::Loom(preemptions), bound)
        }
        Tool::Shuttle => portfolio(entry, fault, options.iterations.unwrap_or(SHUTTLE_SCHEDULES)),
    };
    let Exploration { executions, marks, end } = exploration;
    let with_token = |failure: Box<Failure>| {
        let token = Token { entry: entry.clone(), fault, order, execution: failure.execution };
        Failure { token: token.to_string(), ..*failure }
    };
    let verdict = match (end, entry.expected()) {
        (End::Failed(failure), None) => Verdict::Failed { failure: with_token(failure) },
        (End::Failed(failure), Some(expected)) if failure.kind == expected.kind => {
            Verdict::Shows { code: expected.code, failure: with_token(failure) }
        }
        (End::Failed(failure), Some(expected)) => {
            Verdict::Unexpected { code: expected.code, failure: Some(with_token(failure)) }
        }
        (End::Truncated(limit), None) => Verdict::Truncated { limit },
        (_, Some(expected)) => Verdict::Unexpected { code: expected.code, failure: None },
        (End::Exhausted | End::Tried, None) if marks.waited == 0 => Verdict::Vacuous,
        (End::Exhausted, None) => Verdict::Exhausted,
        (End::Tried, None) => Verdict::Passed,
    };
    let (model, tool, subject) = (entry.model.clone(), entry.tool, entry.subject);
    Row { model, tool, subject, executions, bound, witnesses: marks, verdict }
}

/// One strategy after the other, until one of them fails or has tried everything.
fn portfolio(entry: &Entry, fault: Option<Fault>, iterations: u64) -> (Exploration, Order, String) {
    let (steps, small) = entry.size;
    let strategies = if small { &[Strategy::Dfs][..] } else { &Strategy::ALL };
    let last = if small { LOOM_EXECUTIONS } else { iterations };
    let mut sum = Exploration { executions: 0, marks: Marks::default(), end: End::Tried };
    let mut order = Order::Shuttle(Strategy::Dfs);
    for strategy in strategies {
        order = Order::Shuttle(*strategy);
        let schedules = Schedules { strategy: *strategy, first: 1, last, steps };
        let Exploration { executions, marks, end } = shuttle_runner::explore(entry.body, fault, schedules);
        sum.executions += executions;
        sum.marks.waited += marks.waited;
        sum.marks.moved += marks.moved;
        // A large model is not expected to be exhausted; a small one that is not has been cut off.
        sum.end = match end {
            End::Tried if small => End::Truncated(format!("{last} schedules")),
            end => end,
        };
        if sum.end != End::Tried {
            break;
        }
    }
    let bound = if small { "none".to_owned() } else { format!("{iterations} each") };
    (sum, order, bound)
}

/// Runs the execution that a token names, once more.
///
/// The row's verdict is about that execution only for shuttle; loom has to explore the executions before it, too,
/// and stops at the first one that fails.
///
/// # Errors
/// When the token names nothing.
pub fn replay(token: &str) -> Result<Row, TokenError> {
    let Token { entry, fault, order, execution } = Token::parse(token)?;
    let (exploration, bound) = match order {
        Order::Loom(preemptions) => {
            let limits = Limits { preemptions, executions: execution };
            (loom_runner::explore(entry.body, fault, limits), "up to the execution")
        }
        Order::Shuttle(strategy) => {
            let schedules = Schedules { strategy, first: execution, last: execution, steps: entry.size.0 };
            (shuttle_runner::explore(entry.body, fault, schedules), "the execution")
        }
    };
    let verdict = match exploration.end {
        End::Failed(failure) => Verdict::Failed { failure: Failure { token: token.trim().to_owned(), ..*failure } },
        End::Exhausted | End::Tried | End::Truncated(_) => Verdict::Passed,
    };
    Ok(Row {
        model: entry.model,
        tool: entry.tool,
        subject: entry.subject,
        executions: exploration.executions,
        bound: bound.to_owned(),
        witnesses: exploration.marks,
        verdict,
    })
}

/// A fault of the shell, and the first model that noticed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The fault.
    pub fault: Fault,
    /// The row of the loom model that fails with it; `None` if none does.
    pub caught: Option<Row>,
}

/// Switches every fault of the shell on in turn, and runs the loom models until one of them notices. Most faults show
/// early, and the models are not of one size: all of them are tried a little before any is tried to its end.
#[must_use]
pub fn mutants() -> Vec<Mutant> {
    let shell = |entry: &Entry| entry.tool == Tool::Loom && entry.subject == Subject::Shell;
    let entries: Vec<Entry> = list().into_iter().filter(shell).collect();
    let catch = |fault: &Fault| {
        let mut rows = [200, 10_000, LOOM_EXECUTIONS].into_iter().flat_map(|executions| {
            let explore = move |entry| explore_up_to(executions, entry, Some(*fault), &Options::default());
            entries.iter().map(explore)
        });
        Mutant { fault: *fault, caught: rows.find(|row| row.verdict.failure().is_some()) }
    };
    Fault::ALL.iter().map(catch).collect()
}
