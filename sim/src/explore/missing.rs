//! The order that a violating run lacks: which step had to wait for which other one, and that nothing makes it.

use super::picture::{Hold, HoldKind, Left, loses};
use super::replay::{Row, RowKind};
use crate::invariants::{Code, Violation, race};
use crate::program::{At, END, Op, Pc, Program};
use crate::world::{Note, Region, Step, World};

/// One end of the missing order: a step that ran, or one that is still to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// Who takes it.
    pub agent: u8,
    /// The row that queued it, if it was queued.
    pub queued: Option<usize>,
    /// The row in which it ran, if it has.
    pub ran: Option<usize>,
    /// The instruction.
    pub pc: Pc,
    /// As in the litmus file.
    pub text: String,
    /// The bytes that it would touch, where they are known: arena, first, one past the last.
    pub bytes: Option<(u8, u64, u64)>,
}

/// An order that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What must come first.
    pub before: End,
    /// What must wait for it.
    pub after: End,
    /// Whether it would do as well the other way round.
    pub symmetric: bool,
    /// Both, in a sentence.
    pub sentence: String,
    /// Steps that order something, and come too late to order this.
    pub late: Vec<Pc>,
}

/// What is known of the end of a run.
pub(crate) struct Ending<'a> {
    pub(crate) program: &'a Program,
    /// The world in which the last step is about to be taken, or the last world if it is wrong itself.
    pub(crate) world: &'a World,
    pub(crate) rows: &'a [Row],
    pub(crate) left: &'a [Left],
    pub(crate) holds: &'a [Hold],
    /// Pairs of rows whose accesses nothing orders.
    pub(crate) conflicts: Vec<(usize, usize)>,
    /// Whether the last row violates, rather than the state after it.
    pub(crate) by_step: bool,
}

/// The order whose absence the violation shows, if it is about order.
pub(crate) fn missing(ending: &Ending<'_>, violation: &Violation) -> Option<Missing> {
    if !ending.by_step {
        return ending.next_two();
    }
    let last = ending.rows.len().checked_sub(1)?;
    let moved = |row: &Row| row.notes.iter().any(|note| matches!(note, Note::Moved { .. }));
    match violation.code {
        Code::StaleIndex => ending.index(last),
        Code::MovedUnderLease => ending.held(last),
        Code::StaleAddress | Code::UseAfterFree | Code::DoubleFree => {
            let page = violation.page?;
            let lost = ending.rows[..last].iter().rposition(|row| loses(row, page))?;
            let what = if moved(&ending.rows[lost]) { "the moves of " } else { "" };
            Some(ending.make(ending.ran(last), ending.ran(lost), what))
        }
        Code::Race | Code::Uninitialized | Code::EarlyReuse | Code::LostBytes => {
            let queued = ending.left.iter().find(|left| ending.writes(left, violation));
            if let Some(write) = queued {
                return Some(ending.make(End::left(write), ending.ran(last), ""));
            }
            let (earlier, later) = ending.conflicts.iter().find(|(_, later)| *later == last)?;
            Some(ending.make(ending.ran(*earlier), ending.ran(*later), ""))
        }
        _ => None,
    }
}

impl End {
    fn left(left: &Left) -> End {
        End { agent: left.agent, queued: left.queued, ran: None, pc: left.pc, text: left.text.clone(), bytes: None }
    }
}

impl Ending<'_> {
    fn bytes(&self, region: &Region) -> (u8, u64, u64) {
        let cell = self.program.arenas[usize::from(region.arena)].cell;
        (region.arena, u64::from(region.low) * cell, u64::from(region.high) * cell)
    }

    fn ran(&self, row: usize) -> End {
        let Row { step, text, queued_at, pc, .. } = &self.rows[row];
        let last = self.by_step && row + 1 == self.rows.len();
        let region = if last { self.world.next_regions(self.program, *step).first().copied() } else { None };
        let bytes = region.map(|region| self.bytes(&region));
        End { agent: step.agent, queued: *queued_at, ran: Some(row), pc: *pc, text: text.clone(), bytes }
    }

    fn name(&self, end: &End) -> String {
        format!("`{}: {}`", self.program.agents[usize::from(end.agent)].name, end.text)
    }

    fn make(&self, before: End, after: End, what: &str) -> Missing {
        let sentence = format!("Nothing makes {what}{} wait for {}.", self.name(&after), self.name(&before));
        Missing { before, after, symmetric: false, sentence, late: Vec::new() }
    }

    /// Two possible next steps whose accesses conflict.
    fn next_two(&self) -> Option<Missing> {
        let mut steps = Vec::new();
        self.world.enabled(self.program, &mut steps);
        let (one, other) = race::pair(self.world, self.program, &steps)?;
        let end = |(step, region): &(Step, Region)| {
            let queue = self.left.iter().filter(|left| left.agent == step.agent).nth(usize::from(step.choice));
            End {
                agent: step.agent,
                queued: queue.and_then(|left| left.queued),
                ran: None,
                pc: self.world.step_pc(self.program, *step).unwrap_or(END),
                text: self.world.step_text(self.program, *step),
                bytes: Some(self.bytes(region)),
            }
        };
        let (mut before, mut after) = (end(&other), end(&one));
        if race::dead(self.world, &one.1) {
            std::mem::swap(&mut before, &mut after);
        }
        let symmetric = !race::dead(self.world, &one.1) && !race::dead(self.world, &other.1);
        let mut missing = self.make(before, after, "");
        if symmetric {
            missing.sentence = format!(
                "Nothing makes {} and {} wait for each other: either can come first.",
                self.name(&missing.before),
                self.name(&missing.after)
            );
        }
        missing.symmetric = symmetric;
        Some(missing)
    }

    /// Whether what is left to do would write the page that the violation is about.
    fn writes(&self, left: &Left, violation: &Violation) -> bool {
        let mut same = self.left.iter().filter(|other| other.agent == left.agent);
        let Some(nth) = same.position(|other| std::ptr::eq(other, left)) else { return false };
        // The step that is taken stands in front of what is left in its own queue.
        let taken = self.rows.last().map(|row| row.step).filter(|step| step.agent == left.agent);
        let choice = nth + usize::from(taken.is_some_and(|step| usize::from(step.choice) <= nth));
        let regions = self.world.next_regions(self.program, Step { agent: left.agent, choice: choice as u8 });
        let page = |region: &Region| Some((region.arena, region.band, region.id)) == violation.page;
        regions.iter().any(|region| region.write && page(region))
    }

    fn index(&self, last: usize) -> Option<Missing> {
        let code = &self.program.code;
        let pc = self.world.step_pc(self.program, self.rows[last].step)?;
        let buffers = buffers_read(&code[usize::from(pc)].op);
        let fills = |pc: Pc| match &code[usize::from(pc)].op {
            Op::Produce { buffer, .. } => buffers.contains(buffer),
            Op::CopyBuffer { to, .. } => buffers.contains(to),
            _ => false,
        };
        let late = code.iter().enumerate().filter(|(at, instr)| {
            *at > usize::from(pc)
                && instr.thread == code[usize::from(pc)].thread
                && matches!(
                    instr.op,
                    Op::Wait { .. } | Op::SyncEvent { .. } | Op::TrySync { .. } | Op::SyncStream { .. }
                )
        });
        let late = late.map(|(at, _)| at as Pc).collect();
        if let Some(producer) = self.left.iter().find(|left| fills(left.pc)) {
            return Some(Missing { late, ..self.make(End::left(producer), self.ran(last), "") });
        }
        let over =
            self.rows[..last].iter().rposition(|row| !matches!(row.kind, RowKind::Queued(_)) && fills(row.pc))?;
        Some(self.make(self.ran(last), self.ran(over), ""))
    }

    fn held(&self, last: usize) -> Option<Missing> {
        let arena = self.rows[last].notes.iter().find_map(|note| match note {
            Note::Moved { arena, .. } => Some(*arena),
            _ => None,
        })?;
        let hold = self.holds.iter().find(|hold| hold.arena == arena && hold.to.is_none_or(|to| to >= last))?;
        let mut missing = self.make(self.ran(hold.from), self.ran(last), "the moves of ");
        let until = match hold.kind {
            HoldKind::Lease => "the lease ends that it took".to_owned(),
            HoldKind::Event(event) => format!("the event `{}` completes", self.program.events[usize::from(event)]),
            HoldKind::Gate(gate) => {
                let names = &self.program.arenas[usize::from(arena)].gate_names;
                format!("the gate `{}` opens", names[usize::from(gate)])
            }
        };
        let (moves, holder) = (self.name(&missing.after), self.name(&missing.before));
        missing.sentence = format!("Nothing makes the moves of {moves} wait after {holder} until {until}.");
        Some(missing)
    }
}

/// The index buffers that a step reads.
pub(crate) fn buffers_read(op: &Op) -> Vec<u8> {
    let mut buffers: Vec<u8> = op
        .operands()
        .filter_map(|operand| match operand.at {
            At::Buffer(buffer) => Some(buffer),
            _ => None,
        })
        .collect();
    match op {
        Op::ReadBuffer { buffer, .. } => buffers.push(*buffer),
        Op::CopyBuffer { from, .. } => buffers.push(*from),
        _ => {}
    }
    buffers
}
