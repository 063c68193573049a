//! What the hunt's programs do, as a shuttle program.

use leasecheck_core::{
    Arena, ArenaConfig, BandConfig, BandId, EventKey, Grow, HolderId, Ids, LeaseTable, LogicalPage, Outcome, Planner,
    Request, Reuse, Rules,
};
use shuttle::scheduler::{RandomScheduler, Schedule, Scheduler, Task, TaskId};
use shuttle::sync::mpsc::{Receiver, Sender, channel};
use shuttle::sync::{Arc, Condvar, Mutex};
use shuttle::{Config, FailurePersistence, Runner};
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts what the scheduler decides on.
struct Counting {
    inner: RandomScheduler,
    steps: Arc<AtomicU64>,
}

impl Scheduler for Counting {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.inner.new_execution()
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, is_yielding: bool) -> Option<TaskId> {
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.inner.next_task(runnable, current, is_yielding)
    }

    fn next_u64(&mut self) -> u64 {
        self.inner.next_u64()
    }
}

struct State {
    arena: Arena,
    leases: LeaseTable,
    bytes: Vec<u32>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// A copy of one page to another, and the event that completes behind it.
struct Copy {
    from: usize,
    to: usize,
    event: EventKey,
}

const FULL: BandId = BandId(0);
const SWA: BandId = BandId(1);

fn layout() -> ArenaConfig {
    let band = |name: &str, envelope, grow| BandConfig {
        name: name.to_owned(),
        envelope,
        page_tokens: 1,
        layers: 1,
        grow,
        ids: Ids::Own,
    };
    ArenaConfig {
        bytes: 14,
        bands: vec![band("full", 2, Grow::Up), band("swa", 1, Grow::Down)],
        sink: false,
        reuse: Reuse::AsDesigned,
        permuted: false,
        planner: Planner::Minimal,
        rules: Rules::all(),
    }
}

fn cell(state: &State, band: BandId, id: LogicalPage) -> usize {
    let page = state.arena.translate(band, id).expect("the page is live").0 as usize;
    page * if band == FULL { 2 } else { 1 }
}

fn allocate(shared: &Shared, holder: HolderId, band: BandId, pages: u32) -> Option<Vec<LogicalPage>> {
    let request = [Request { band, pages }];
    let mut state = shared.state.lock().expect("nobody panics");
    loop {
        match state.arena.admission(&request, |_, _| true) {
            leasecheck_core::Admission::FitsNow => break,
            leasecheck_core::Admission::Refused(_) => {
                state.leases.end_compaction(holder);
                return None;
            }
            leasecheck_core::Admission::FitsPacked => {}
        }
        if state.leases.request_compaction(holder) == Outcome::Granted {
            let plan = state.arena.plan(&|_, _| true);
            for step in plan.moves() {
                let size = if step.band == FULL { 2 } else { 1 };
                let (from, to) = (step.from.0 as usize * size, step.to.0 as usize * size);
                state.bytes.copy_within(from..from + size, to);
            }
            state.arena.commit(&plan, None);
            break;
        }
        state = shared.changed.wait(state).expect("nobody panics");
    }
    state.leases.end_compaction(holder);
    let ids = state.arena.allocate(&request).expect("it was admitted").remove(0);
    shared.changed.notify_all();
    Some(ids)
}

fn lease(shared: &Shared, holder: HolderId) {
    let state = shared.state.lock().expect("nobody panics");
    let mut state = shared.changed.wait_while(state, |state| !state.leases.may_acquire(holder)).expect("nobody panics");
    assert_eq!(state.leases.acquire(holder, None), Outcome::Granted);
}

fn stream(shared: &Shared, copies: &Receiver<Copy>) {
    while let Ok(Copy { from, to, event }) = copies.recv() {
        let mut state = shared.state.lock().expect("nobody panics");
        state.bytes[to] = state.bytes[from];
        state.leases.event_completed(event);
        drop(state);
        shared.changed.notify_all();
    }
}

fn thread(shared: &Shared, number: u32, copies: &Sender<Copy>) {
    let holder = HolderId(number);
    for round in 0..4 {
        let band = if (number + round).is_multiple_of(2) { FULL } else { SWA };
        let Some(pages) = allocate(shared, holder, band, 2) else { continue };
        let value = number * 100 + round + 1;
        lease(shared, holder);
        let event = EventKey(number * 10 + round);
        let mut state = shared.state.lock().expect("nobody panics");
        let (from, to) = (cell(&state, band, pages[0]), cell(&state, band, pages[1]));
        state.bytes[from] = value;
        state.leases.hand_off(holder, event).expect("the lease is held");
        drop(state);
        copies.send(Copy { from, to, event }).expect("the stream runs");
        let state = shared.state.lock().expect("nobody panics");
        let done = |state: &mut State| state.leases.events().contains(&event);
        let mut state = shared.changed.wait_while(state, done).expect("nobody panics");
        let at = cell(&state, band, pages[1]);
        assert_eq!(state.bytes[at], value, "the copy has arrived");
        for page in pages {
            state.arena.free(band, &[page], None).expect("the page is live");
        }
        drop(state);
        shared.changed.notify_all();
    }
}

fn model() {
    let arena = Arena::new(layout()).expect("the layout is possible");
    let state = State { arena, leases: LeaseTable::new(Rules::all()), bytes: vec![0; 14] };
    let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
    let mut threads = Vec::new();
    let streams = [(); 2].map(|()| {
        let (sender, receiver) = channel();
        let shared = Arc::clone(&shared);
        threads.push(shuttle::thread::spawn(move || stream(&shared, &receiver)));
        sender
    });
    for number in 0..3 {
        let (shared, copies) = (Arc::clone(&shared), streams[number as usize % 2].clone());
        threads.push(shuttle::thread::spawn(move || thread(&shared, number, &copies)));
    }
    drop(streams);
    for thread in threads {
        thread.join().expect("nobody panics");
    }
}

/// Runs so many schedules and counts their steps.
pub fn steps(schedules: usize) -> u64 {
    let steps = Arc::new(AtomicU64::new(0));
    let counting = Counting { inner: RandomScheduler::new_from_seed(1, schedules), steps: Arc::clone(&steps) };
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    Runner::new(counting, config).run(model);
    steps.load(Ordering::Relaxed)
}
