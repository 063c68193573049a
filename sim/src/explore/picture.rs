//! What a picture of a run shows besides its rows: which row queued what another one ran, who held a layout still and
//! how long, what carried order from one agent to another, and how the arenas changed.

use super::replay::{Picture, Place, Row};
use crate::program::{END, Pc, Program};
use crate::world::{LAND, Note, Object, Step, World};
use leasecheck_core::BandId;
use std::collections::{BTreeMap, VecDeque};

/// A page is something else after a row than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Arena.
    pub arena: u8,
    /// Band.
    pub band: u8,
    /// Page.
    pub page: u16,
    /// What it was.
    pub before: Place,
    /// What it is.
    pub place: Place,
}

/// What holds a layout still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldKind {
    /// A layout lease.
    Lease,
    /// An event that a lease was handed off to.
    Event(u8),
    /// A closed gate, by its place in the arena.
    Gate(u8),
}

/// An interval in which a layout is held still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// Arena.
    pub arena: u8,
    /// By what.
    pub kind: HoldKind,
    /// Who took it.
    pub agent: u8,
    /// The row with which it begins.
    pub from: usize,
    /// The row with which it ends, if it does.
    pub to: Option<usize>,
}

/// Order that one row's step passed on to another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The earlier row.
    pub from: usize,
    /// The later one.
    pub to: usize,
    /// What carried it; nothing, if the earlier step let the later one's agent go on.
    pub by: Option<Object>,
}

/// A step that an agent would take next, or that is queued behind it, when the run ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Whose.
    pub agent: u8,
    /// The row that queued it, if it is queued.
    pub queued: Option<usize>,
    /// The instruction.
    pub pc: Pc,
    /// As in the litmus file.
    pub text: String,
}

/// What is kept while a run is replayed.
pub(crate) struct Tracker {
    queues: Vec<VecDeque<usize>>,
    landing: Vec<VecDeque<usize>>,
    resumed: BTreeMap<u8, usize>,
    released: BTreeMap<Object, (usize, u8)>,
    gates: Vec<Option<usize>>,
    pub(crate) holds: Vec<Hold>,
    pub(crate) orders: Vec<Order>,
}

impl Tracker {
    pub(crate) fn new(program: &Program, world: &World) -> Tracker {
        let agents = program.agents.len();
        let mut tracker = Tracker {
            queues: vec![VecDeque::new(); agents],
            landing: vec![VecDeque::new(); agents],
            resumed: BTreeMap::new(),
            released: BTreeMap::new(),
            gates: vec![None; program.arenas.len()],
            holds: Vec::new(),
            orders: Vec::new(),
        };
        tracker.look_at_gates(program, world, 0, 0);
        tracker
    }

    /// A queue's step is about to be taken: the row that queued it.
    pub(crate) fn dequeued(&mut self, step: Step) -> Option<usize> {
        let agent = usize::from(step.agent);
        if step.choice == LAND {
            return self.landing[agent].pop_front();
        }
        self.queues[agent].remove(usize::from(step.choice))
    }

    /// The step put operations into a queue.
    pub(crate) fn queued(&mut self, row: usize, queue: u8, count: usize) {
        self.queues[usize::from(queue)].extend(std::iter::repeat_n(row, count));
    }

    /// The transfer that the row ran was reported, and its bytes are still to land.
    pub(crate) fn lands_later(&mut self, queue: u8, queued: usize) {
        self.landing[usize::from(queue)].push_back(queued);
    }

    /// The step of the row let another agent go on.
    pub(crate) fn resumes(&mut self, row: usize, agent: u8) {
        self.resumed.insert(agent, row);
    }

    /// Takes in a row and the world after it.
    pub(crate) fn row(&mut self, program: &Program, row: usize, step: Step, notes: &[Note], world: &World) {
        if let Some(from) = self.resumed.remove(&step.agent) {
            self.orders.push(Order { from, to: row, by: None });
        }
        for note in notes {
            match note {
                Note::Acquire(object) => {
                    if let Some((from, by)) = self.released.get(object)
                        && *by != step.agent
                        && !self.orders.contains(&Order { from: *from, to: row, by: Some(*object) })
                    {
                        self.orders.push(Order { from: *from, to: row, by: Some(*object) });
                    }
                }
                Note::Release(object) => {
                    self.released.insert(*object, (row, step.agent));
                }
                Note::Leased(arena) => self.hold(*arena, HoldKind::Lease, step.agent, row),
                Note::Released(arena) => self.end_lease(*arena, step.agent, row),
                Note::HandedOff(arena, event) => {
                    self.end_lease(*arena, step.agent, row);
                    if !world.complete(program, *event) {
                        self.hold(*arena, HoldKind::Event(*event), step.agent, row);
                    }
                }
                Note::Completed(event) => {
                    let open = self.holds.iter_mut().filter(|hold| hold.to.is_none());
                    open.filter(|hold| hold.kind == HoldKind::Event(*event)).for_each(|hold| hold.to = Some(row));
                }
                _ => {}
            }
        }
        self.look_at_gates(program, world, row, step.agent);
    }

    fn hold(&mut self, arena: u8, kind: HoldKind, agent: u8, from: usize) {
        self.holds.push(Hold { arena, kind, agent, from, to: None });
    }

    /// Ends the agent's last lease; another's, if a timed one has run out.
    fn end_lease(&mut self, arena: u8, agent: u8, row: usize) {
        let lease = |hold: &Hold| hold.to.is_none() && hold.kind == HoldKind::Lease && hold.arena == arena;
        let mine = self.holds.iter().rposition(|hold| lease(hold) && hold.agent == agent);
        if let Some(at) = mine.or_else(|| self.holds.iter().position(lease)) {
            self.holds[at].to = Some(row);
        }
    }

    fn look_at_gates(&mut self, program: &Program, world: &World, row: usize, agent: u8) {
        for arena in 0..program.arenas.len() {
            let closed = world.closed_gate(program, arena as u8);
            if closed == self.gates[arena] {
                continue;
            }
            if self.gates[arena].is_some() {
                let gate = |hold: &&mut Hold| matches!(hold.kind, HoldKind::Gate(_)) && hold.to.is_none();
                let mut mine = self.holds.iter_mut().filter(|hold| usize::from(hold.arena) == arena);
                if let Some(hold) = mine.find(gate) {
                    hold.to = Some(row);
                }
            }
            if let Some(gate) = closed {
                self.hold(arena as u8, HoldKind::Gate(gate as u8), agent, row);
            }
            self.gates[arena] = closed;
        }
    }

    /// What is still to be done in a world in which `taken` has not been taken yet (or nothing is about to be).
    pub(crate) fn left(&self, program: &Program, world: &World, taken: Option<Step>) -> Vec<Left> {
        let mut left = Vec::new();
        for (at, agent) in program.agents.iter().enumerate() {
            let id = at as u8;
            let mine = taken.filter(|step| step.agent == id);
            if !agent.is_queue() {
                let pc = world.threads[World::thread_slot(program, id)].pc;
                let blocked = taken.and_then(|step| world.step_pc(program, step)) == Some(pc);
                if mine.is_none() && !blocked && pc != END {
                    let text = world.step_text(program, Step { agent: id, choice: 0 });
                    left.push(Left { agent: id, queued: None, pc, text });
                }
                continue;
            }
            let mut entries: Vec<Step> =
                (0..world.queued(program, id)).map(|nth| Step { agent: id, choice: nth as u8 }).collect();
            if let Some(step) = mine.filter(|step| step.choice != LAND) {
                entries.remove(usize::from(step.choice));
            }
            for (step, row) in entries.into_iter().zip(&self.queues[at]) {
                let Some(pc) = world.step_pc(program, step) else { continue };
                left.push(Left { agent: id, queued: Some(*row), pc, text: world.step_text(program, step) });
            }
        }
        left
    }
}

/// What every page of every arena is.
pub(crate) fn pictures(program: &Program, world: &World) -> Vec<Picture> {
    let picture = |(at, state): (usize, &crate::world::ArenaState)| {
        let bands = program.arenas[at].config.bands.iter().enumerate().map(|(band, _)| {
            let band = BandId(band as u8);
            let arena = &state.arena;
            let (first, extent) = (arena.first_page(band).0, arena.extent(band));
            let pages = (0..arena.pages(band)).map(|page| match page {
                page if page < first => Place::Sink,
                page if extent.contains(&page) => Place::Hole,
                _ => Place::Outside,
            });
            let mut pages: Vec<Place> = pages.collect();
            let mut set = |page: u32, place| {
                if let Some(at) = pages.get_mut(page as usize) {
                    *at = place;
                }
            };
            arena.pending(band).for_each(|(page, _)| set(page.0, Place::Pending));
            // The lowest id wins where a design without a rule has put two into one place.
            let live: Vec<_> = arena.placements(band).collect();
            live.into_iter().rev().for_each(|(id, page)| set(page.0, Place::Live(id.0 as u8)));
            pages
        });
        Picture { bands: bands.collect() }
    };
    world.arenas.iter().enumerate().map(picture).collect()
}

/// What differs between two pictures of the same arenas.
pub(crate) fn changes(before: &[Picture], after: &[Picture]) -> Vec<Change> {
    let mut changes = Vec::new();
    for (arena, (before, after)) in before.iter().zip(after).enumerate() {
        for (band, (before, after)) in before.bands.iter().zip(&after.bands).enumerate() {
            for (page, (before, place)) in before.iter().zip(after).enumerate().filter(|(_, (one, other))| one != other)
            {
                let (arena, band, page) = (arena as u8, band as u8, page as u16);
                changes.push(Change { arena, band, page, before: *before, place: *place });
            }
        }
    }
    changes
}

/// Whether the row moved, freed or released the page: it had a place before and has another or none after.
pub(crate) fn loses(row: &Row, page: (u8, u8, u8)) -> bool {
    row.changes
        .iter()
        .any(|change| (change.arena, change.band) == (page.0, page.1) && change.before == Place::Live(page.2))
}
