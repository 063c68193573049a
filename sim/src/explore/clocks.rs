//! Happens-before with vector clocks, fed by the notes of a replayed run.
//!
//! Order comes from program order, from queueing (what queues an operation happens before it runs), from events,
//! flags, locks, barriers, storage keys, layout leases and variables. Two accesses to the same bytes, one of them a
//! write, must be ordered, even if this run happened to be lucky.

use crate::program::Program;
use crate::world::{Accessed, Note, Object};
use std::collections::BTreeMap;
use std::collections::VecDeque;

type Clock = Vec<u32>;

fn join(into: &mut Clock, other: &Clock) {
    for (mine, theirs) in into.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// An access of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Access {
    row: usize,
    agent: u8,
    /// The agent's own time at the access.
    time: u32,
    write: bool,
    what: Accessed,
}

/// Two accesses that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The row of the earlier access.
    pub earlier: usize,
    /// The row of the later one.
    pub later: usize,
    /// What the earlier one touched.
    pub touched: Accessed,
}

/// The clocks of one run.
pub struct Clocks {
    agents: Vec<Clock>,
    objects: BTreeMap<Object, Clock>,
    queues: Vec<VecDeque<Clock>>,
    accesses: BTreeMap<(u8, u32), Vec<Access>>,
    row: usize,
    conflicts: Vec<Conflict>,
}

impl Clocks {
    /// Clocks at zero.
    #[must_use]
    pub fn new(program: &Program) -> Clocks {
        let agents = program.agents.len();
        Clocks {
            agents: vec![vec![0; agents]; agents],
            objects: BTreeMap::new(),
            queues: vec![VecDeque::new(); agents],
            accesses: BTreeMap::new(),
            row: 0,
            conflicts: Vec::new(),
        }
    }

    /// A queue's operation number `nth` is about to run.
    pub fn dequeued(&mut self, queue: u8, nth: usize) {
        if let Some(clock) = self.queues[usize::from(queue)].remove(nth) {
            join(&mut self.agents[usize::from(queue)], &clock);
        }
    }

    /// Operations were added to a queue by this agent.
    pub fn queued(&mut self, agent: u8, queue: u8, count: usize) {
        let clock = self.agents[usize::from(agent)].clone();
        self.queues[usize::from(queue)].extend(std::iter::repeat_n(clock, count));
    }

    /// One agent's step let another go on.
    pub fn released(&mut self, by: u8, other: u8) {
        let clock = self.agents[usize::from(by)].clone();
        join(&mut self.agents[usize::from(other)], &clock);
    }

    /// Takes in what a step did.
    pub fn step(&mut self, agent: u8, notes: &[Note]) {
        let at = usize::from(agent);
        self.agents[at][at] += 1;
        for note in notes {
            match note {
                Note::Acquire(object) => {
                    if let Some(clock) = self.objects.get(object) {
                        join(&mut self.agents[at], clock);
                    }
                }
                Note::Release(object) => {
                    let mine = self.agents[at].clone();
                    let clock = self.objects.entry(*object).or_insert_with(|| vec![0; mine.len()]);
                    join(clock, &mine);
                }
                Note::Touched(what) => self.touched(agent, *what),
                _ => {}
            }
        }
        self.row += 1;
    }

    fn touched(&mut self, agent: u8, what: Accessed) {
        let now = &self.agents[usize::from(agent)];
        let access = Access { row: self.row, agent, time: now[usize::from(agent)], write: what.write, what };
        for cell in what.low..what.high {
            let earlier = self.accesses.entry((what.arena, cell)).or_default();
            let unordered = earlier.iter().find(|other| {
                other.agent != agent && (other.write || what.write) && now[usize::from(other.agent)] < other.time
            });
            if let Some(other) = unordered
                && self.conflicts.iter().all(|known| (known.earlier, known.later) != (other.row, access.row))
            {
                self.conflicts.push(Conflict { earlier: other.row, later: access.row, touched: other.what });
            }
            if what.write {
                earlier.retain(|other| other.agent != agent && !other.write);
            }
            earlier.retain(|other| other.agent != agent || other.write != what.write);
            earlier.push(access.clone());
        }
    }

    /// The unordered pairs seen so far.
    #[must_use]
    pub fn conflicts(&self) -> &[Conflict] {
        &self.conflicts
    }
}
