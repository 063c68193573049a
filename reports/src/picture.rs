//! The part of the data model that a picture of a run is drawn from: the program, what each step touched and changed,
//! intervals, order, and the order that is missing.

use crate::model::place;
use leasecheck_core::Grow;
use leasecheck_sim::explore::missing::{End, Missing};
use leasecheck_sim::explore::picture::{Hold, HoldKind, Left};
use leasecheck_sim::explore::replay::{Row, Run};
use leasecheck_sim::program::{AgentKind, END, Op, Pc, Program};
use leasecheck_sim::world::{Note, Object};
use schemars::JsonSchema;
use serde::Serialize;

/// A line of a thread's program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LineReport {
    /// Whose: the name of an agent, or `setup`.
    pub thread: String,
    /// Line in the litmus file.
    pub line: u32,
    /// How deep it is nested.
    pub depth: u32,
    /// The step, with the queue in front that it goes to.
    pub text: String,
}

/// Bytes that a step touched.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TouchReport {
    /// Number of the arena.
    pub arena: u8,
    /// Number of the band.
    pub band: u8,
    /// The page that was meant.
    pub id: u8,
    /// First byte.
    pub low: u64,
    /// One past the last byte.
    pub high: u64,
    /// Whether they were written.
    pub write: bool,
}

/// A page that a step moved.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MoveReport {
    /// Number of the arena.
    pub arena: u8,
    /// Number of the band.
    pub band: u8,
    /// The page.
    pub id: u8,
    /// Where it was.
    pub from: u16,
    /// Where it is now.
    pub to: u16,
}

/// A page that is something else after a step. With the arenas' state at the start, this is their state after each step.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ChangeReport {
    /// Number of the arena.
    pub arena: u8,
    /// Number of the band.
    pub band: u8,
    /// The page.
    pub page: u16,
    /// What it is now: `sink`, `hole`, `pending`, `free`, or the id of a live page.
    pub state: String,
}

/// An interval in which a layout is held still.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct HoldReport {
    /// Number of the arena.
    pub arena: u8,
    /// `lease`, `event` (that a lease was handed off to) or `gate`.
    pub kind: &'static str,
    /// The event or the gate.
    pub name: String,
    /// Number of the agent that took it.
    pub agent: u8,
    /// The step with which it begins, from 1.
    pub from: usize,
    /// The step with which it ends, if it does.
    pub to: Option<usize>,
}

/// Order that one step passed on to another.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OrderReport {
    /// The earlier step, from 1.
    pub from: usize,
    /// The later one.
    pub to: usize,
    /// `event`, `flag`, `lock`, `barrier`, `variable`, `buffer`, `layout`, `key`, `queue` or `return`.
    pub kind: &'static str,
    /// What carried it.
    pub name: String,
}

/// A step that was still to be taken when the run ended.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LeftReport {
    /// Number of the agent.
    pub agent: u8,
    /// The step that queued it, from 1, if it is queued.
    pub queued: Option<usize>,
    /// As in the litmus file.
    pub text: String,
    /// Line in the litmus file.
    pub line: u32,
}

/// One end of the missing order.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EndReport {
    /// Number of the agent.
    pub agent: u8,
    /// The step that queued it, from 1, if it was queued.
    pub queued: Option<usize>,
    /// The step in which it ran, if it has.
    pub ran: Option<usize>,
    /// As in the litmus file.
    pub text: String,
    /// Line in the litmus file.
    pub line: u32,
    /// The bytes that it would touch, where they are known.
    pub bytes: Option<BytesReport>,
}

/// Some bytes of an arena.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BytesReport {
    /// Number of the arena.
    pub arena: u8,
    /// First byte.
    pub low: u64,
    /// One past the last byte.
    pub high: u64,
}

/// The happens-before edge that is missing.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MissingReport {
    /// What must come first.
    pub before: EndReport,
    /// What must wait for it.
    pub after: EndReport,
    /// Whether it would do as well the other way round.
    pub symmetric: bool,
    /// Both, in a sentence.
    pub sentence: String,
    /// Lines of the litmus file with steps that order something and come too late to order this.
    pub late: Vec<u32>,
}

/// The word for an agent's kind.
#[must_use]
pub fn kind(kind: AgentKind) -> &'static str {
    match kind {
        AgentKind::Thread => "thread",
        AgentKind::Stream => "stream",
        AgentKind::Rdma => "rdma",
        AgentKind::Finally => "finally",
    }
}

/// The way a band grows.
pub(crate) fn grow(grow: Grow) -> &'static str {
    match grow {
        Grow::Up => "up",
        Grow::Down => "down",
        Grow::Float => "float",
    }
}

/// The program of a case, thread by thread.
pub(crate) fn program(program: &Program) -> Vec<LineReport> {
    let depths = depths(program);
    let mut lines: Vec<LineReport> = Vec::new();
    for (pc, instr) in program.code.iter().enumerate().filter(|(_, instr)| !matches!(instr.op, Op::Jump { .. })) {
        let thread = thread_of(program, pc);
        let queue = instr.stream.and_then(|queue| program.agents.get(program.threads + usize::from(queue)));
        let text = queue.map_or(instr.text.clone(), |queue| format!("{}: {}", queue.name, instr.text));
        let line = LineReport { thread, line: instr.line, depth: depths[pc], text };
        // `repeat` has the same lines many times.
        if !lines.iter().rev().take_while(|other| other.thread == line.thread).any(|other| *other == line) {
            lines.push(line);
        }
    }
    lines.sort_by_key(|line| line.line);
    lines
}

/// The line of the first step, 0 if there is none.
pub(crate) fn first_line(program: &Program) -> u32 {
    let steps = program.code.iter().filter(|instr| !matches!(instr.op, Op::Jump { .. }));
    steps.map(|instr| instr.line).min().unwrap_or(0)
}

/// Whose instruction it is.
fn thread_of(program: &Program, pc: usize) -> String {
    let mut starts: Vec<(Pc, &str)> = vec![(program.setup, "setup"), (program.finally, "finally")];
    for (agent, entry) in program.agents.iter().zip(&program.entries) {
        starts.push((*entry, &agent.name));
    }
    let before = starts.into_iter().filter(|(start, _)| usize::from(*start) <= pc);
    before.max_by_key(|(start, _)| *start).map_or(String::new(), |(_, name)| name.to_owned())
}

/// How deep each instruction is nested in `if` and `while`.
fn depths(program: &Program) -> Vec<u32> {
    let mut depths = vec![0; program.code.len()];
    for (at, instr) in program.code.iter().enumerate() {
        let to = match instr.op {
            Op::Branch { otherwise, .. } => usize::from(otherwise),
            // A thread that ends is no block.
            Op::Jump { to } if to != END => usize::from(to),
            _ => continue,
        };
        let inside = program.code.iter().zip(&mut depths).take(to).skip(at + 1);
        inside.for_each(|(other, depth)| *depth += u32::from(other.thread == instr.thread));
    }
    depths
}

/// What the step touched.
pub(crate) fn touched(program: &Program, row: &Row) -> Vec<TouchReport> {
    let touches = row.notes.iter().filter_map(|note| match note {
        Note::Touched(what) => Some(what),
        _ => None,
    });
    let report = |what: &leasecheck_sim::world::Accessed| {
        let cell = program.arenas[usize::from(what.arena)].cell;
        let (low, high) = (u64::from(what.low) * cell, u64::from(what.high) * cell);
        TouchReport { arena: what.arena, band: what.band, id: what.id, low, high, write: what.write }
    };
    touches.map(report).collect()
}

/// What the step moved.
pub(crate) fn moves(row: &Row) -> Vec<MoveReport> {
    let moves = row.notes.iter().filter_map(|note| match note {
        Note::Moved { arena, band, id, from, to } => {
            Some(MoveReport { arena: *arena, band: *band, id: *id, from: *from, to: *to })
        }
        _ => None,
    });
    moves.collect()
}

/// What became of pages.
pub(crate) fn changes(row: &Row) -> Vec<ChangeReport> {
    let report = |change: &leasecheck_sim::explore::picture::Change| ChangeReport {
        arena: change.arena,
        band: change.band,
        page: change.page,
        state: place(change.place),
    };
    row.changes.iter().map(report).collect()
}

/// Who held layouts still.
pub(crate) fn holds(program: &Program, run: &Run) -> Vec<HoldReport> {
    let report = |hold: &Hold| {
        let (kind, name) = match hold.kind {
            HoldKind::Lease => ("lease", String::new()),
            HoldKind::Event(event) => ("event", program.events[usize::from(event)].clone()),
            HoldKind::Gate(gate) => {
                ("gate", program.arenas[usize::from(hold.arena)].gate_names[usize::from(gate)].clone())
            }
        };
        let (from, to) = (hold.from + 1, hold.to.map(|to| to + 1));
        HoldReport { arena: hold.arena, kind, name, agent: hold.agent, from, to }
    };
    run.holds.iter().map(report).collect()
}

/// What carried order between agents.
pub(crate) fn orders(program: &Program, run: &Run) -> Vec<OrderReport> {
    let name = |object: Object| match object {
        Object::Event(event, _) => ("event", program.events[usize::from(event)].clone()),
        Object::Flag(flag) => ("flag", program.flags[usize::from(flag)].clone()),
        Object::Lock(lock) => ("lock", program.locks[usize::from(lock)].clone()),
        Object::Barrier(barrier) => ("barrier", program.barriers[usize::from(barrier)].0.clone()),
        Object::Var(var) => ("variable", program.vars[usize::from(var)].name.clone()),
        Object::Buffer(buffer) => ("buffer", program.buffers[usize::from(buffer)].name.clone()),
        Object::Layout(arena) => ("layout", program.arenas[usize::from(arena)].name.clone()),
        Object::Storage(key) => ("key", program.keys[usize::from(key)].name.clone()),
        Object::QueueEnd(queue) => ("queue", program.agents[usize::from(queue)].name.clone()),
    };
    let report = |order: &leasecheck_sim::explore::picture::Order| {
        let (kind, name) = order.by.map_or(("return", String::new()), name);
        OrderReport { from: order.from + 1, to: order.to + 1, kind, name }
    };
    run.orders.iter().map(report).collect()
}

fn line(program: &Program, pc: Pc) -> u32 {
    program.code.get(usize::from(pc)).map_or(0, |instr| instr.line)
}

/// What was still to be done.
pub(crate) fn left(program: &Program, run: &Run) -> Vec<LeftReport> {
    let report = |left: &Left| LeftReport {
        agent: left.agent,
        queued: left.queued.map(|row| row + 1),
        text: left.text.clone(),
        line: line(program, left.pc),
    };
    run.left.iter().map(report).collect()
}

/// The order that is missing.
pub(crate) fn missing(program: &Program, missing: &Missing) -> MissingReport {
    let end = |end: &End| EndReport {
        agent: end.agent,
        queued: end.queued.map(|row| row + 1),
        ran: end.ran.map(|row| row + 1),
        text: end.text.clone(),
        line: line(program, end.pc),
        bytes: end.bytes.map(|(arena, low, high)| BytesReport { arena, low, high }),
    };
    let late = missing.late.iter().map(|pc| program.code[usize::from(*pc)].line).collect();
    let (before, after) = (end(&missing.before), end(&missing.after));
    MissingReport { before, after, symmetric: missing.symmetric, sentence: missing.sentence.clone(), late }
}
