//! What happens in one execution of a model, written down as it happens.
//!
//! loom and shuttle run all threads of a model as coroutines of one thread of the system, and so does a thread-local
//! ledger hold the whole execution. It is also where two things are checked that no single thread can see:
//! starvation (somebody was granted what another one had asked for earlier), and which panic came first.

use crate::shuttle_runner;
use leasecheck_core::shell::{Did, Fault, Note, Sleeper, Wait};
use leasecheck_core::{EventKey, HolderId, LogicalPage};
use serde::Serialize;
use std::cell::{Cell, RefCell};
use std::sync::Once;

/// One thing that a lane did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// An operation of the arena took effect.
    Shell(Option<HolderId>, Did),
    /// The bytes of a page were read.
    Read(LogicalPage),
    /// The bytes of a page were written.
    Write(LogicalPage),
    /// Something that only the model knows about.
    Says(&'static str),
}

/// A deed and the lane that did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Index into [`Execution::lanes`].
    pub lane: usize,
    /// What.
    pub deed: Deed,
}

/// A thread of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Its name.
    pub name: &'static str,
    /// Whether it has returned.
    pub ended: bool,
}

/// How things stand at one arena, as of its last critical section.
#[derive(Clone, Debug, Default)]
pub struct Stand {
    rank: u32,
    /// Who sleeps.
    pub sleepers: Vec<Sleeper>,
    /// Who holds leases.
    pub holders: Vec<HolderId>,
    /// Events that cover the layout.
    pub events: Vec<EventKey>,
}

/// An execution, as far as it got.
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// The threads; the first one runs the model.
    pub lanes: Vec<Lane>,
    /// What happened, in order.
    pub entries: Vec<Entry>,
    /// So many entries set the stage.
    pub setup: usize,
    /// How things stand at each arena.
    pub arenas: Vec<Stand>,
    /// Requests that wait, with the number of the entry at which they were made.
    asked: Vec<(HolderId, Wait, usize)>,
}

impl Execution {
    /// The lane on which the holder acted last.
    #[must_use]
    pub fn lane_of(&self, holder: HolderId) -> Option<usize> {
        let acted = |entry: &&Entry| matches!(entry.deed, Deed::Shell(Some(who), _) if who == holder);
        self.entries.iter().rev().find(acted).map(|entry| entry.lane)
    }

    /// Everyone asleep, wherever.
    pub fn sleepers(&self) -> impl Iterator<Item = &Sleeper> {
        self.arenas.iter().flat_map(|arena| &arena.sleepers)
    }

    fn asked(&self, holder: HolderId) -> Option<usize> {
        self.asked.iter().find(|(other, ..)| *other == holder).map(|(.., at)| *at)
    }

    /// Whether `holder` got something although somebody who waits for the opposite had asked earlier.
    fn overtaken(&self, holder: HolderId, victim: Wait) -> Option<HolderId> {
        let since = self.asked(holder).unwrap_or(self.entries.len());
        let earlier = |(other, wait, at): &&(HolderId, Wait, usize)| {
            *wait == victim
                && *at < since
                && *other != holder
                && Execution::same_arena(holder, *other)
                && self.sleepers().any(|sleeper| sleeper.holder == *other)
        };
        self.asked.iter().find(earlier).map(|(other, ..)| *other)
    }

    /// Arenas number their holders from multiples of 65,536.
    fn same_arena(one: HolderId, other: HolderId) -> bool {
        one.0 >> 16 == other.0 >> 16
    }

    fn record(&mut self, lane: usize, deed: Deed) -> Option<String> {
        let at = self.entries.len();
        self.entries.push(Entry { lane, deed });
        let Deed::Shell(Some(holder), did) = deed else { return None };
        let starved = match did {
            Did::Slept(wait) => {
                self.asked.push((holder, wait, at));
                return None;
            }
            Did::Leased(1) => self
                .overtaken(holder, Wait::Move)
                .map(|victim| format!("starvation: holder {holder} was granted a lease that holder {victim}, who waits to move pages, had to come before")),
            Did::Moved(_) => self
                .overtaken(holder, Wait::Lease)
                .map(|victim| format!("starvation: holder {holder} moved pages while holder {victim} waited for a lease that it had asked for earlier")),
            _ => None,
        };
        self.asked.retain(|(other, ..)| *other != holder);
        starved
    }
}

/// In how many executions something happened without which a verdict means little.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Marks {
    /// Somebody had to wait.
    pub waited: u64,
    /// Pages moved.
    pub moved: u64,
}

/// Everything that was seen between [`watch`] and [`unwatch`].
#[derive(Debug)]
pub struct Seen {
    /// Executions begun.
    pub executions: u64,
    /// What happened in how many of them.
    pub marks: Marks,
    /// The first panic that nobody wanted.
    pub panic: Option<String>,
    /// The last execution.
    pub last: Execution,
}

thread_local! {
    static MARKS: Cell<Marks> = Cell::default();
    static EXECUTION: RefCell<Execution> = RefCell::default();
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static FAULT: Cell<Option<Fault>> = const { Cell::new(None) };
    /// Panics of this thread of the system belong to a model.
    static WATCHED: Cell<bool> = const { Cell::new(false) };
    static FIRST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Starts watching this thread of the system; `fault` is on for everything that runs on it.
pub fn watch(fault: Option<Fault>) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        // shuttle installs a hook of its own when it runs first, which prints. It must not come after this one.
        let nothing = shuttle::scheduler::DfsScheduler::new(Some(1), false);
        shuttle::Runner::new(nothing, shuttle_runner::config()).run(|| {});
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !WATCHED.get() {
                before(info);
                return;
            }
            FIRST_PANIC.with_borrow_mut(|first| {
                first.get_or_insert_with(|| info.payload_as_str().unwrap_or("a panic without a message").to_owned());
            });
        }));
    });
    FAULT.set(fault);
    WATCHED.set(true);
    COUNT.set(0);
    FIRST_PANIC.set(None);
}

/// Stops watching.
#[must_use]
pub fn unwatch() -> Seen {
    WATCHED.set(false);
    FAULT.set(None);
    count_marks();
    Seen { executions: COUNT.get(), marks: MARKS.take(), panic: FIRST_PANIC.take(), last: EXECUTION.take() }
}

/// Counts what happened in the execution that is over.
fn count_marks() {
    EXECUTION.with_borrow(|execution| {
        let did = |what: fn(Did) -> bool| {
            let shown = |entry: &Entry| matches!(entry.deed, Deed::Shell(_, did) if what(did));
            u64::from(execution.entries.iter().any(shown))
        };
        let mut marks = MARKS.get();
        marks.waited += did(|did| matches!(did, Did::Slept(_)));
        marks.moved += did(|did| matches!(did, Did::Moved(moves) if moves > 0));
        MARKS.set(marks);
    });
}

/// A new execution begins, on a lane of the model's own.
pub fn begin() {
    count_marks();
    COUNT.set(COUNT.get() + 1);
    EXECUTION.with_borrow_mut(|execution| {
        execution.lanes.clear();
        execution.lanes.push(Lane { name: "model", ended: false });
        execution.entries.clear();
        execution.setup = 0;
        execution.arenas.clear();
        execution.asked.clear();
    });
}

/// What has happened so far set the stage; schedules begin here.
pub fn stage_is_set() {
    EXECUTION.with_borrow_mut(|execution| execution.setup = execution.entries.len());
}

/// A new lane; returns its index.
#[must_use]
pub fn lane(name: &'static str) -> usize {
    EXECUTION.with_borrow_mut(|execution| {
        execution.lanes.push(Lane { name, ended: false });
        execution.lanes.len() - 1
    })
}

/// The lane has returned.
pub fn ended(lane: usize) {
    EXECUTION.with_borrow_mut(|execution| execution.lanes[lane].ended = true);
}

/// Whether a panic has ended this execution, so that nothing may wait any more. Panics that a model wants are thrown
/// by [`std::panic::resume_unwind`], which no hook sees.
#[must_use]
pub fn halted() -> bool {
    FIRST_PANIC.with_borrow(Option::is_some)
}

/// Whether `fault` is on.
#[must_use]
pub fn faulty(fault: Fault) -> bool {
    FAULT.get() == Some(fault)
}

/// Writes a deed down.
///
/// # Panics
/// When it starves somebody.
pub fn deed(lane: usize, deed: Deed) {
    if let Some(starved) = EXECUTION.with_borrow_mut(|execution| execution.record(lane, deed)) {
        panic!("{starved}");
    }
}

/// Writes down what the shell reports.
pub fn note(lane: usize, note: Note<'_>) {
    match note {
        Note::Did(holder, did) => deed(lane, Deed::Shell(holder, did)),
        Note::Stands(standing) => EXECUTION.with_borrow_mut(|execution| {
            let at = execution.arenas.iter().position(|arena| arena.rank == standing.rank);
            let at = at.unwrap_or_else(|| {
                execution.arenas.push(Stand { rank: standing.rank, ..Stand::default() });
                execution.arenas.len() - 1
            });
            let arena = &mut execution.arenas[at];
            arena.sleepers.clear();
            arena.sleepers.extend_from_slice(standing.sleepers);
            arena.holders.clear();
            arena.holders.extend_from_slice(standing.holders);
            arena.events.clear();
            arena.events.extend_from_slice(standing.events);
        }),
    }
}

/// Whether nobody is registered as asleep.
#[must_use]
pub fn nobody_sleeps() -> bool {
    EXECUTION.with_borrow(|execution| execution.sleepers().next().is_none())
}
