//! Taking a given schedule again, with everything written down: what reports are made of.

use super::clocks::{Clocks, Conflict};
use super::missing::{Ending, Missing, buffers_read, missing};
use super::picture::{Change, Hold, Left, Order, Tracker, changes, pictures};
use crate::invariants::{Code, Violation, deadlock, lost_wakeup, race};
use crate::marks::Marks;
use crate::program::{AgentKind, END, Op, Pc, Program};
use crate::world::{Effects, LAND, Note, Step, World};
use std::fmt;

/// How a row of a run came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A host thread did something at once.
    Host,
    /// A host thread queued something on this agent.
    Queued(u8),
    /// A queue ran its operation.
    Run,
}

/// One step of a run.
#[derive(Clone, Debug)]
pub struct Row {
    /// The step.
    pub step: Step,
    /// How it came about.
    pub kind: RowKind,
    /// As in the litmus file.
    pub text: String,
    /// Line in the litmus file.
    pub line: u32,
    /// The instruction, or [`END`] for none.
    pub pc: Pc,
    /// What happened.
    pub notes: Vec<Note>,
    /// The row that queued what this one runs.
    pub queued_at: Option<usize>,
    /// What became of pages.
    pub changes: Vec<Change>,
}

/// One page's place in an arena's picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Reserved.
    Sink,
    /// A live page, by id.
    Live(u8),
    /// Free, inside the watermark.
    Hole,
    /// Free once an event completes.
    Pending,
    /// Outside the watermark.
    Outside,
}

/// An arena at one moment: per band, the place of every page from page 0 up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Per band.
    pub bands: Vec<Vec<Place>>,
}

/// A run, step by step.
#[derive(Clone, Debug)]
pub struct Run {
    /// The steps.
    pub rows: Vec<Row>,
    /// What is violated in the end.
    pub violation: Option<Violation>,
    /// Whether the last step violates it, rather than the state that it leads to.
    pub by_step: bool,
    /// Every arena at the start of the case.
    pub before: Vec<Picture>,
    /// Every arena when the last step begins.
    pub after: Vec<Picture>,
    /// The accesses that nothing orders, as vector clocks see them.
    pub conflicts: Vec<Conflict>,
    /// Who held a layout still, and how long.
    pub holds: Vec<Hold>,
    /// What carried order from one agent to another.
    pub orders: Vec<Order>,
    /// What was still to be done when the run ended.
    pub left: Vec<Left>,
    /// The order whose absence the violation shows.
    pub missing: Option<Missing>,
    /// Sentences that say why: earlier rows that matter and the order that is missing.
    pub because: Vec<String>,
}

/// A schedule that does not fit its case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The step, from 0, that no agent can take.
    pub step: usize,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "step {} of the schedule cannot be taken: the token belongs to another version of this case",
            self.step + 1
        )
    }
}

impl std::error::Error for Misfit {}

/// The marks of a run.
#[must_use]
pub fn marks(program: &Program, steps: &[Step]) -> Marks {
    let mut marks = Marks::default();
    let Ok(mut world) = World::start(program) else { return marks };
    for step in steps {
        let mut effects = Effects::default();
        let result = world.step(program, *step, &mut effects);
        marks.add(effects.marks);
        if result.is_err() {
            break;
        }
    }
    marks
}

/// Takes the steps of a schedule.
///
/// # Errors
/// When a step cannot be taken where the schedule has it.
pub fn run(program: &Program, steps: &[Step]) -> Result<Run, Misfit> {
    let mut world = World::start(program).map_err(|_| Misfit { step: 0 })?;
    let before = pictures(program, &world);
    let mut clocks = Clocks::new(program);
    let mut tracker = Tracker::new(program, &world);
    let mut pictured = before.clone();
    let mut rows: Vec<Row> = Vec::new();
    let mut violation = None;
    let mut last = world.clone();
    for (nth, step) in steps.iter().enumerate() {
        let mut enabled = Vec::new();
        world.enabled(program, &mut enabled);
        if !enabled.contains(step) || violation.is_some() {
            return Err(Misfit { step: nth });
        }
        last.clone_from(&world);
        let mut effects = Effects::logging();
        let (text, pc) = (world.step_text(program, *step), world.step_pc(program, *step).unwrap_or(END));
        let is_queue = program.agents[usize::from(step.agent)].is_queue();
        let queued_at = if is_queue { tracker.dequeued(*step) } else { None };
        if is_queue && step.choice != LAND {
            clocks.dequeued(step.agent, usize::from(step.choice));
        }
        violation = world.step(program, *step, &mut effects).err();
        let notes = effects.log.unwrap_or_default();
        clocks.step(step.agent, &notes);
        for (queue, agent) in program.agents.iter().enumerate().filter(|(_, agent)| agent.is_queue()) {
            let _ = agent;
            let added = world.queued(program, queue as u8).saturating_sub(last.queued(program, queue as u8));
            if !is_queue && added > 0 {
                clocks.queued(step.agent, queue as u8, added);
                tracker.queued(nth, queue as u8, added);
            }
        }
        for (slot, (now, then)) in world.threads.iter().zip(last.threads.iter()).enumerate() {
            if now.pc != then.pc && World::thread_slot(program, step.agent) != slot {
                clocks.released(step.agent, slot as u8);
                tracker.resumes(nth, slot as u8);
            }
        }
        if let Some(queued) =
            queued_at.filter(|_| is_queue && world.landing(program, *step) > last.landing(program, *step))
        {
            tracker.lands_later(step.agent, queued);
        }
        tracker.row(program, nth, *step, &notes, &world);
        let now = pictures(program, &world);
        let changes = changes(&pictured, &now);
        pictured = now;
        let queued = notes.iter().find_map(|note| match note {
            Note::Queued(queue) => Some(*queue),
            _ => None,
        });
        let kind = match (is_queue, queued) {
            (true, _) => RowKind::Run,
            (false, Some(queue)) => RowKind::Queued(queue),
            (false, None) => RowKind::Host,
        };
        let line = program.code.get(usize::from(pc)).map_or(0, |instr| instr.line);
        rows.push(Row { step: *step, kind, text, line, pc, notes, queued_at, changes });
    }
    let by_step = violation.is_some();
    if !by_step {
        last.clone_from(&world);
        violation = state_violation(program, &world);
    }
    let left = tracker.left(program, &last, rows.last().map(|row| row.step).filter(|_| by_step));
    let conflicts = clocks.conflicts().iter().map(|conflict| (conflict.earlier, conflict.later)).collect();
    let (holds, orders) = (tracker.holds, tracker.orders);
    let missing = violation.as_ref().and_then(|violation| {
        let (world, rows) = (&last, rows.as_slice());
        missing(&Ending { program, world, rows, left: &left, holds: &holds, conflicts, by_step }, violation)
    });
    let because = violation.as_ref().map(|violation| reasons(program, &last, &rows, violation)).unwrap_or_default();
    let after = pictures(program, &last);
    let conflicts = clocks.conflicts().to_vec();
    Ok(Run { rows, violation, by_step, before, after, conflicts, holds, orders, left, missing, because })
}

/// What is wrong with a state itself.
#[must_use]
pub fn state_violation(program: &Program, world: &World) -> Option<Violation> {
    let mut steps = Vec::new();
    world.enabled(program, &mut steps);
    wrong(program, world, &steps)
}

/// What is wrong with a state itself, given the steps that can be taken in it.
pub(crate) fn wrong(program: &Program, world: &World, steps: &[Step]) -> Option<Violation> {
    if !steps.is_empty() {
        return race::check(world, program, steps);
    }
    if world.finished() {
        return None;
    }
    Some(lost_wakeup::check(world, program).unwrap_or_else(|| deadlock::check(world, program)))
}

/// Earlier rows that matter for the violation, and the order that is missing, in sentences.
fn reasons(program: &Program, last: &World, rows: &[Row], violation: &Violation) -> Vec<String> {
    let mut because = Vec::new();
    if let Some((arena, band, id)) = violation.page {
        for (nth, row) in rows.iter().enumerate() {
            for note in &row.notes {
                if let Note::Moved { arena: at, band: of, id: moved, from, to } = note
                    && (*at, *of, *moved) == (arena, band, id)
                {
                    because.push(format!(
                        "Page {id} of {} was moved from physical page {from} to {to} in step {}.",
                        program.band_name(arena, band),
                        nth + 1
                    ));
                }
            }
        }
    }
    if violation.code == Code::StaleIndex
        && let Some(row) = rows.last()
        && let Some(pc) = program.code.iter().position(|instr| instr.text == row.text && instr.line == row.line)
    {
        let buffers = buffers_read(&program.code[pc].op);
        for (at, agent) in program.agents.iter().enumerate().filter(|(_, agent)| agent.is_queue()) {
            for entry in crate::world::entries(&last.queues[at - program.threads]) {
                let instr = &program.code[usize::from(entry.pc)];
                if matches!(&instr.op, Op::Produce { buffer, .. } if buffers.contains(buffer)) {
                    because.push(format!(
                        "`{}: {}` is queued and has not run: nothing orders it before `{}`.",
                        agent.name, instr.text, row.text
                    ));
                }
            }
        }
        let later = program.code.iter().enumerate().filter(|(at, instr)| {
            *at > pc && instr.thread == program.code[pc].thread && matches!(instr.op, Op::Wait { .. })
        });
        for (_, instr) in later {
            because.push(format!(
                "`{}` stands in line {}, after the read: it orders what is queued behind it, not the read.",
                instr.text, instr.line
            ));
        }
    }
    if matches!(violation.code, Code::Race | Code::EarlyReuse | Code::Uninitialized)
        && let Some(row) = rows.last()
        && program.agents[usize::from(row.step.agent)].kind != AgentKind::Thread
    {
        let waits = rows.iter().any(|other| {
            other.step.agent == row.step.agent && other.kind == RowKind::Run && other.text.starts_with("wait ")
        });
        if !waits {
            let name = &program.agents[usize::from(row.step.agent)].name;
            because.push(format!("Stream {name} has waited for nothing before this."));
        }
    }
    because
}
