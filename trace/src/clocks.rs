//! Happens-before: vector clocks over threads, streams and RDMA queues.
//!
//! An agent's own time advances when it does something after others may have learned of it, so that repeated hand-overs
//! without anything new cost nothing. A number that was never seen before is a new agent.

use crate::format::Name;
use std::collections::BTreeMap;

/// An agent: a thread, a stream or an RDMA queue.
pub(crate) type Agent = u32;

/// What an agent knows: of each agent, up to which time. Agents beyond the end: nothing.
pub(crate) type Clock = Vec<u64>;

/// Whether `clock` knows of what `agent` did at `time`.
pub(crate) fn knows(clock: &Clock, agent: Agent, time: u64) -> bool {
    clock.get(agent as usize).is_some_and(|known| *known >= time)
}

/// Takes in what another clock knows, and says whether that was new.
pub(crate) fn join(into: &mut Clock, other: &Clock) -> bool {
    let mut news = false;
    if into.len() < other.len() {
        into.resize(other.len(), 0);
    }
    for (mine, theirs) in into.iter_mut().zip(other) {
        if *mine < *theirs {
            *mine = *theirs;
            news = true;
        }
    }
    news
}

#[derive(Debug)]
struct State {
    name: String,
    clock: Clock,
    /// Somebody may know the agent's present time.
    known: bool,
}

/// The kind of an agent, which is also the name space of its number. What is said of a stream is not said of the RDMA
/// queue with the same number: no event, wait or synchronization orders what a queue does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// The one that everything without a number did.
    Nameless,
    Thread,
    Stream,
    Queue,
}

/// Every agent's clock.
#[derive(Debug, Default)]
pub(crate) struct Clocks {
    numbers: BTreeMap<(Kind, u64), Agent>,
    agents: Vec<State>,
    /// The agents that were looked up last, by kind.
    recent: [Option<(u64, Agent)>; 4],
    /// What streams and queues are called.
    stream_names: BTreeMap<u64, String>,
}

impl Clocks {
    /// The agent of that number.
    pub(crate) fn agent(&mut self, kind: Kind, number: u64) -> Agent {
        if let Some((known, agent)) = self.recent[kind as usize]
            && known == number
        {
            return agent;
        }
        let next = self.agents.len() as Agent;
        let agent = *self.numbers.entry((kind, number)).or_insert(next);
        if agent == next {
            let name = match kind {
                Kind::Nameless => "the thread".to_owned(),
                Kind::Thread => format!("thread {number}"),
                Kind::Stream | Kind::Queue if self.stream_names.contains_key(&number) => {
                    self.stream_names[&number].clone()
                }
                Kind::Stream => format!("stream {number}"),
                Kind::Queue => format!("queue {number}"),
            };
            let mut clock = vec![0; next as usize + 1];
            clock[next as usize] = 1;
            self.agents.push(State { name, clock, known: false });
        }
        self.recent[kind as usize] = Some((number, agent));
        agent
    }

    /// Gives an agent a name.
    pub(crate) fn rename(&mut self, agent: Agent, name: &Name) {
        self.agents[agent as usize].name = name.to_string();
    }

    /// Gives the stream and the RDMA queue of that number a name.
    pub(crate) fn rename_stream(&mut self, number: u64, name: &Name) {
        for kind in [Kind::Stream, Kind::Queue] {
            if let Some(agent) = self.numbers.get(&(kind, number)).copied() {
                self.rename(agent, name);
            }
        }
        self.stream_names.insert(number, name.to_string());
    }

    /// Its name in reports.
    pub(crate) fn name(&self, agent: Agent) -> &str {
        &self.agents[agent as usize].name
    }

    /// The name of the thread of that number, or of the one without.
    pub(crate) fn thread_name(&self, number: Option<u64>) -> String {
        let Some(number) = number else { return "the thread".to_owned() };
        match self.numbers.get(&(Kind::Thread, number)) {
            Some(agent) => self.name(*agent).to_owned(),
            None => format!("holder {number}"),
        }
    }

    /// Agents known so far, and names.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.agents.len() + self.stream_names.len()
    }

    /// Streams, known so far.
    pub(crate) fn streams(&self) -> Vec<Agent> {
        self.numbers.iter().filter(|((kind, _), _)| *kind == Kind::Stream).map(|(_, agent)| *agent).collect()
    }

    /// What the agent knows.
    pub(crate) fn clock(&self, agent: Agent) -> &Clock {
        &self.agents[agent as usize].clock
    }

    /// The agent's own time, for something that it does now.
    pub(crate) fn now(&mut self, agent: Agent) -> u64 {
        let state = &mut self.agents[agent as usize];
        if state.known {
            state.known = false;
            state.clock[agent as usize] += 1;
        }
        state.clock[agent as usize]
    }

    /// The agent learns what `clock` knows.
    pub(crate) fn learn(&mut self, agent: Agent, clock: &Clock) {
        if join(&mut self.agents[agent as usize].clock, clock) {
            self.now(agent);
        }
    }

    /// What the agent knows, for others to learn.
    pub(crate) fn tell(&mut self, agent: Agent) -> &Clock {
        let state = &mut self.agents[agent as usize];
        state.known = true;
        &state.clock
    }

    /// `to` learns what `from` knows.
    pub(crate) fn pass(&mut self, from: Agent, to: Agent) {
        let own = self.agents[from as usize].clock[from as usize];
        if from == to || knows(self.clock(to), from, own) {
            return;
        }
        let clock = std::mem::take(&mut self.agents[from as usize].clock);
        self.learn(to, &clock);
        let state = &mut self.agents[from as usize];
        state.clock = clock;
        state.known = true;
    }

    /// A lock that `agent` takes and gives back.
    pub(crate) fn through(&mut self, agent: Agent, lock: &mut Clock) {
        self.learn(agent, lock);
        let state = &mut self.agents[agent as usize];
        if !knows(lock, agent, state.clock[agent as usize]) {
            state.known = true;
            join(lock, &state.clock);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Clocks, Kind, knows};

    #[test]
    fn work_that_is_queued_later_is_not_known_to_earlier_work() {
        let mut clocks = Clocks::default();
        let thread = clocks.agent(Kind::Thread, 7);
        let stream = clocks.agent(Kind::Stream, 7);
        let before = clocks.now(thread);
        clocks.pass(thread, stream);
        let after = clocks.now(thread);
        assert!(knows(clocks.clock(stream), thread, before));
        assert!(!knows(clocks.clock(stream), thread, after));
        clocks.pass(thread, stream);
        assert!(knows(clocks.clock(stream), thread, after));
        let queued = clocks.now(stream);
        assert!(!knows(clocks.clock(thread), stream, queued), "queueing tells the thread nothing");
    }

    #[test]
    fn what_was_learned_in_between_is_passed_on() {
        let mut clocks = Clocks::default();
        let (a, b) = (clocks.agent(Kind::Thread, 1), clocks.agent(Kind::Thread, 2));
        let stream = clocks.agent(Kind::Stream, 1);
        clocks.pass(a, stream);
        let time = clocks.now(b);
        clocks.pass(b, a);
        clocks.pass(a, stream);
        assert!(knows(clocks.clock(stream), b, time));
    }

    #[test]
    fn a_lock_orders_those_who_take_it() {
        let mut clocks = Clocks::default();
        let (a, b) = (clocks.agent(Kind::Thread, 1), clocks.agent(Kind::Thread, 2));
        let mut lock = Vec::new();
        let before = clocks.now(a);
        clocks.through(a, &mut lock);
        let after = clocks.now(a);
        clocks.through(b, &mut lock);
        assert!(knows(clocks.clock(b), a, before) && !knows(clocks.clock(b), a, after));
    }
}
