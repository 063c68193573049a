//! Steps of host threads: which can be taken, and what each does.

use super::capture::{self, Captured};
use super::queue::entries;
use super::{Effects, EventState, Kept, Note, Object, PageRef, UNSET, World};
use crate::assumptions::Assumption;
use crate::invariants::{self, Violation};
use crate::marks::Mark;
use crate::program::{At, Compare, Cond, END, Instr, Op, Program, Space, Value, VarKind, limits};
use crate::uses::asked;
use crate::world::access::By;
use leasecheck_core::{HolderId, Rule, transfer};
use smallvec::SmallVec;

impl World {
    /// Whether the thread in this slot can take its next step.
    pub(crate) fn thread_ready(&self, program: &Program, slot: usize) -> bool {
        let thread = &self.threads[slot];
        if thread.pc == END {
            return false;
        }
        let instr = &program.code[usize::from(thread.pc)];
        if instr.needs.iter().any(|var| self.vars[usize::from(*var)] == UNSET) {
            return false;
        }
        if let Some(queue) = instr.stream {
            return self.can_queue(program, instr, queue, thread.phase);
        }
        let holder = HolderId(instr.thread.into());
        match &instr.op {
            Op::Alloc { arena, requests, waits: true, .. } if thread.phase == 0 => {
                self.can_allocate(program, slot, *arena) && self.has_room(program, *arena, requests)
            }
            Op::Alloc { arena, .. } | Op::Compact { arena } | Op::Clear { arena, .. } => {
                self.can_allocate(program, slot, *arena)
            }
            Op::LeaseAcquire { arenas, .. } => {
                let order = lease_order(program, arenas);
                order
                    .get(usize::from(thread.phase))
                    .is_none_or(|arena| self.arenas[usize::from(*arena)].leases.may_acquire(holder))
            }
            Op::Store { pages, .. } | Op::Fetch { pages, .. } if thread.phase == 0 => {
                pages.first().is_none_or(|operand| {
                    let captured = matches!(operand.at, At::Var(_));
                    captured || self.arenas[usize::from(operand.arena)].leases.may_acquire(holder)
                })
            }
            Op::SyncEvent { event } => self.recorded(program, *event) && self.complete(program, *event),
            Op::TrySync { event, .. } => {
                let fails = self.events[usize::from(*event)].wait_fails;
                fails || (self.recorded(program, *event) && self.complete(program, *event))
            }
            // The stream ends this wait when it gets to the mark that the first half has queued.
            Op::SyncStream { .. } => thread.phase == 0,
            Op::Await { flag } => *self.flags & 1 << flag != 0,
            Op::AwaitCond { cond } => self.holds(program, cond),
            Op::Take { var, count } => self.vars[usize::from(*var)] >= *count,
            Op::Lock { lock } => self.locks[usize::from(*lock)] == 0,
            Op::Barrier { .. } | Op::Meet { .. } => thread.phase == 0,
            _ => true,
        }
    }

    /// Whether a thread that can take this instruction can do so until it does, whatever others do meanwhile.
    pub(crate) fn stays_ready(program: &Program, instr: &Instr) -> bool {
        let unset = |var: &u8| {
            let of = |other: &Instr| matches!(other.op, Op::TryRead { into, .. } if into == *var);
            program.code.iter().any(of)
        };
        if instr.needs.iter().any(unset) {
            return false;
        }
        if let Some(queue) = instr.stream {
            return !program.uses.fills[usize::from(queue)] && !matches!(instr.op, Op::Transfer { .. });
        }
        !matches!(
            &instr.op,
            Op::Alloc { .. }
                | Op::Compact { .. }
                | Op::Clear { .. }
                | Op::LeaseAcquire { .. }
                | Op::Store { .. }
                | Op::Fetch { .. }
                | Op::SyncEvent { .. }
                | Op::TrySync { .. }
                | Op::Await { .. }
                | Op::AwaitCond { .. }
                | Op::Take { .. }
                | Op::Lock { .. }
        )
    }

    fn can_queue(&self, program: &Program, instr: &Instr, queue: u8, phase: u8) -> bool {
        let bytes = || &self.queues[usize::from(queue)];
        if program.uses.fills[usize::from(queue)]
            && bytes().len() > limits::QUEUE
            && entries(bytes()).count() >= limits::QUEUE
        {
            return false;
        }
        match &instr.op {
            Op::Wait { event } => self.recorded(program, *event),
            Op::ReadBuffer { .. } => phase == 0,
            Op::Transfer { from, to, after: Some(event), .. } => {
                // A design that reads the index first blocks on the stream before it queues the wait.
                let reads_first = !program.rules.on(Rule::ResolveAfterProducer)
                    && from.iter().chain(to).any(|operand| matches!(operand.at, At::Buffer(_)));
                self.recorded(program, *event) && (!reads_first || bytes().is_empty())
            }
            _ => true,
        }
    }

    /// Whether the event may be waited for: callers are assumed to record first.
    pub(crate) fn recorded(&self, program: &Program, event: u8) -> bool {
        self.events[usize::from(event)].records > 0 || !program.assume.on(Assumption::EventsRecordedBeforeWaited)
    }

    /// The thread's next step is the one after this.
    pub(crate) fn advance(&mut self, program: &Program, slot: usize) {
        let thread = &mut self.threads[slot];
        thread.pc = program.settle(thread.pc + 1);
        thread.phase = 0;
        thread.scratch.clear();
    }

    pub(crate) fn raise(&mut self, flag: u8, up: bool) {
        if up {
            *self.flags |= 1 << flag;
        } else {
            *self.flags &= !(1 << flag);
        }
    }

    pub(crate) fn host_step(
        &mut self,
        program: &Program,
        slot: usize,
        agent: u8,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let pc = self.threads[slot].pc;
        let instr = &program.code[usize::from(pc)];
        for var in &instr.needs {
            effects.note(Note::Acquire(Object::Var(*var)));
        }
        if let Some(queue) = instr.stream {
            return self.queue_it(program, slot, instr, queue, effects);
        }
        let holder = HolderId(agent.into());
        match &instr.op {
            Op::Alloc { .. } | Op::Compact { .. } | Op::Clear { .. } => {
                return self.allocate(program, slot, holder, &instr.op, effects);
            }
            Op::Free { pages, on } => self.free(program, pages, on, effects)?,
            Op::Share { pages } => self.share(program, pages, effects)?,
            Op::Cache { pages } => self.cache(program, pages, effects)?,
            Op::Evict { arena, band, pages, into } => {
                self.vars[usize::from(*into)] = self.evict(program, (*arena, *band), *pages, effects)?;
            }
            Op::Count { class, arena, band, into } => {
                self.vars[usize::from(*into)] = self.count_class(*class, *arena, *band);
            }
            Op::Unmap { pages } => self.unmap(program, pages, effects)?,
            Op::Map { pages, only } => self.map(program, pages, *only, effects)?,
            Op::Flush { arena, band, urgent, on } => {
                self.flush(program, (*arena, *band), *urgent, on, None, effects)?;
            }
            Op::Bind { arena, band, pages, into } => self.bind(program, (*arena, *band), pages, *into, effects)?,
            Op::Tombstone { arena, band, pages, tokens, on } => {
                self.tombstone(program, (*arena, *band), pages, *tokens, on, effects)?;
            }
            Op::Admit { arena, requests, into } => {
                let answer = self.admit(program, *arena, requests, effects)?;
                self.vars[usize::from(*into)] = i16::from(answer);
            }
            Op::Available { arena, band, into } => {
                let answer = self.available(program, *arena, *band, effects)?;
                self.vars[usize::from(*into)] = answer;
            }
            Op::Translate { pages, space, into } => self.translate(program, pages, *space, *into, effects)?,
            Op::Valid { var, into } => {
                let home = program.vars[usize::from(*var)].home;
                let state = &self.arenas[usize::from(home.0)];
                let pages = self.pages_of(program, *var);
                let valid = if program.vars[usize::from(*var)].kind == VarKind::Pages {
                    pages.iter().all(|page| state.alive(home.1, page.id, page.generation))
                } else {
                    pages.iter().all(|page| state.locate(home.1, page.id, page.generation) == Some(page.page))
                };
                if !valid {
                    effects.mark(Mark::FoundInvalid);
                }
                self.vars[usize::from(*into)] = valid.into();
            }
            Op::Select { pages, tokens, into } => self.select(program, pages, *tokens, *into, effects)?,
            Op::LeaseAcquire { arenas, ttl } => return self.lease(program, slot, holder, arenas, *ttl, effects),
            Op::LeaseRelease { arena } => self.release(program, *arena, holder, effects)?,
            Op::LeaseRenew { arena, ttl } => {
                if self.arenas[usize::from(*arena)].leases.renew(holder, (*ttl).into()).is_ok() {
                    effects.mark(Mark::LeaseRenewed);
                }
            }
            Op::LeaseHeld { arena, into } => {
                self.vars[usize::from(*into)] = (self.arenas[usize::from(*arena)].leases.depth(holder) > 0).into();
            }
            Op::LeaseHandOff { arena, event } => self.hand_off(program, *arena, holder, *event, effects)?,
            Op::Tick => {
                for (arena, state) in self.arenas.iter_mut().enumerate() {
                    let before = state.leases.holders().count();
                    state.leases.tick();
                    for _ in state.leases.holders().count()..before {
                        effects.mark(Mark::LeaseExpired);
                        effects.note(Note::Released(arena as u8));
                    }
                }
            }
            Op::Pin { pages, up } => self.pin(program, pages, *up)?,
            Op::Write { pages, value, tokens } => {
                let all = self.capture_all(program, pages)?;
                self.issue_write(program, &all, *value, *tokens);
                self.write_all(program, &all, (*value, *tokens), By::Host, effects)?;
            }
            Op::Read { pages, tokens } => {
                let all = self.capture_all(program, pages)?;
                self.read_all(program, &all, *tokens, By::Host, effects)?;
            }
            Op::TryRead { pages, into } => {
                let all = self.capture_all(program, pages);
                let good = all.is_ok_and(|all| self.read_all(program, &all, 0, By::Host, effects).is_ok());
                self.attempted(*into, good, effects);
            }
            Op::Produce { buffer, pages } => {
                let all = self.capture_all(program, pages)?;
                let state = &mut self.buffers[usize::from(*buffer)];
                state.issued = next_version(state.issued);
                let version = state.issued;
                self.fill_buffer(program, *buffer, version, &all);
                effects.note(Note::Release(Object::Buffer(*buffer)));
            }
            Op::SyncEvent { event } => {
                let records = self.events[usize::from(*event)].records;
                effects.mark(if records == 0 { Mark::WaitedForNothing } else { Mark::HostWaited });
                effects.note(Note::Acquire(Object::Event(*event, records)));
            }
            Op::TrySync { event, into } => {
                let EventState { records, wait_fails, .. } = self.events[usize::from(*event)];
                if wait_fails {
                    effects.mark(Mark::WaitFailed);
                    self.events[usize::from(*event)].wait_fails = false;
                } else {
                    effects.mark(if records == 0 { Mark::WaitedForNothing } else { Mark::HostWaited });
                    effects.note(Note::Acquire(Object::Event(*event, records)));
                }
                self.vars[usize::from(*into)] = (!wait_fails).into();
            }
            Op::SyncStream { stream } => {
                if !self.queues[usize::from(*stream)].is_empty() {
                    self.enqueue(*stream, pc, &[]);
                    self.threads[slot].phase = 1;
                    return Ok(());
                }
                effects.note(Note::Acquire(Object::QueueEnd(*stream + program.threads as u8)));
            }
            Op::Query { event, into } => {
                let state = self.events[usize::from(*event)];
                let answer = if state.query_fails {
                    effects.mark(Mark::QueryFailed);
                    false
                } else {
                    self.recorded(program, *event) && self.complete(program, *event)
                };
                if answer {
                    effects.note(Note::Acquire(Object::Event(*event, state.records)));
                }
                self.vars[usize::from(*into)] = answer.into();
            }
            Op::FailQuery { event } => self.events[usize::from(*event)].query_fails = true,
            Op::FailWait { event } => self.events[usize::from(*event)].wait_fails = true,
            Op::Key { key, pages } => self.name_content(program, *key, pages)?,
            Op::Store { .. } | Op::Fetch { .. } => {
                return self.storage_step(program, slot, holder, &instr.op, effects);
            }
            Op::Lookup { keys, into, tail } => {
                let found = self.lookup(program, keys, *tail);
                effects.mark(if found > 0 { Mark::Hit } else { Mark::Miss });
                keys.iter().for_each(|key| effects.note(Note::Acquire(Object::Storage(*key))));
                self.vars[usize::from(*into)] = found;
            }
            Op::Drop { key } => self.drop_key(program, *key),
            Op::Set { flag, up } => {
                self.mark_flip(program, *flag, *up, effects);
                self.raise(*flag, *up);
                effects.note(Note::Release(Object::Flag(*flag)));
            }
            Op::Await { flag } => effects.note(Note::Acquire(Object::Flag(*flag))),
            Op::AwaitCond { .. } => effects.mark(Mark::ConditionHeld),
            Op::Take { var, count } => self.take_from(*var, *count, effects),
            Op::Give { var, count } => self.take_from(*var, -*count, effects),
            Op::Meet { group, value, fold, .. } => {
                return self.meet(program, (slot, agent), (*group, *value, *fold), effects);
            }
            Op::Lock { lock } => {
                self.locks[usize::from(*lock)] = agent + 1;
                effects.note(Note::Acquire(Object::Lock(*lock)));
            }
            Op::Unlock { lock } => {
                if self.locks[usize::from(*lock)] != agent + 1 {
                    return Err(invariants::check::unlock(program, *lock));
                }
                self.locks[usize::from(*lock)] = 0;
                effects.note(Note::Release(Object::Lock(*lock)));
            }
            Op::Barrier { barrier } => {
                self.come(program, slot, *barrier, effects);
                return Ok(());
            }
            Op::Let { var, value, plus } => {
                self.vars[usize::from(*var)] = self.number(*value).saturating_add(*plus).max(UNSET + 1);
            }
            Op::Check { cond, code } => {
                if !self.holds(program, cond) {
                    return Err(invariants::check::failed(program, self, pc, *code));
                }
            }
            Op::CheckEmpty { arena, band } => invariants::leak::check(self, program, *arena, *band)?,
            Op::Branch { cond, otherwise, .. } => {
                if !self.holds(program, cond) {
                    self.threads[slot].pc = program.settle(*otherwise);
                    return Ok(());
                }
            }
            // Queued steps have a stream, and jumps are never steps of their own.
            Op::CopyBuffer { .. } | Op::ReadBuffer { .. } | Op::Wait { .. } | Op::Record { .. } => {}
            Op::Transfer { .. } | Op::Jump { .. } => {}
        }
        if effects.log.is_some() {
            for var in instr.op.gives() {
                effects.note(Note::Release(Object::Var(var)));
            }
        }
        self.advance(program, slot);
        Ok(())
    }

    /// Notes whether a thread stands between a capacity question and the allocation that follows it, while a gate of
    /// its arena is closed or opened by this flag.
    fn mark_flip(&self, program: &Program, flag: u8, up: bool, effects: &mut Effects) {
        let closes = |arena: u8| program.arenas[usize::from(arena)].gates.closed(1 << flag).is_some();
        let gated = (0..program.arenas.len()).any(|arena| closes(arena as u8));
        if !gated || effects.marks.has(Mark::GateFlipped) || (*self.flags & 1 << flag != 0) == up {
            return;
        }
        let asks = |arena: u8, slot: &u8| {
            let pc = usize::from(self.threads[usize::from(*slot)].pc);
            let op = program.code.get(pc).map(|instr| &instr.op);
            matches!(op, Some(Op::Alloc { arena: of, .. }) if *of == arena) && asked(&program.code, pc, arena)
        };
        let arenas = (0_u8..).zip(&program.uses.arenas);
        let flipped = arenas
            .filter(|(arena, _)| closes(*arena))
            .any(|(arena, uses)| uses.askers.iter().any(|slot| asks(arena, slot)));
        if flipped {
            effects.mark(Mark::GateFlipped);
        }
    }

    /// Queues the thread's step on a stream or RDMA agent.
    fn queue_it(
        &mut self,
        program: &Program,
        slot: usize,
        instr: &Instr,
        queue: u8,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let pc = self.threads[slot].pc;
        effects.note(Note::Queued(queue + program.threads as u8));
        let mut payload: SmallVec<[u8; 64]> = SmallVec::new();
        match &instr.op {
            Op::Write { pages, value, tokens } => {
                let all = self.capture_all(program, pages)?;
                self.issue_write(program, &all, *value, *tokens);
                capture::pack(&all, &mut payload);
            }
            Op::TryRead { pages, into } => match self.capture_all(program, pages) {
                Ok(all) => {
                    // Steps that use the answer wait for it.
                    self.vars[usize::from(*into)] = UNSET;
                    capture::pack(&all, &mut payload);
                }
                Err(_) => {
                    self.attempted(*into, false, effects);
                    self.advance(program, slot);
                    return Ok(());
                }
            },
            Op::Read { pages, .. } => capture::pack(&self.capture_all(program, pages)?, &mut payload),
            Op::Produce { buffer, pages } => {
                let all = self.capture_all(program, pages)?;
                let state = &mut self.buffers[usize::from(*buffer)];
                state.issued = next_version(state.issued);
                payload.push(state.issued);
                capture::pack(&all, &mut payload);
            }
            Op::CopyBuffer { from, to } => {
                payload.push(self.buffers[usize::from(*from)].issued);
                let state = &mut self.buffers[usize::from(*to)];
                state.issued = next_version(state.issued);
                payload.push(state.issued);
            }
            Op::ReadBuffer { buffer, .. } => {
                self.enqueue(queue, pc, &[self.buffers[usize::from(*buffer)].issued]);
                self.threads[slot].phase = 1;
                return Ok(());
            }
            Op::Wait { event } => {
                let records = self.events[usize::from(*event)].records;
                if records == 0 {
                    effects.mark(Mark::WaitedForNothing);
                }
                payload.push(records);
            }
            Op::Record { event } => {
                let state = &mut self.events[usize::from(*event)];
                payload.push(state.queue());
            }
            Op::Flush { arena, band, urgent, on } => {
                self.flush(program, (*arena, *band), *urgent, on, Some((queue, pc)), effects)?;
                self.advance(program, slot);
                return Ok(());
            }
            Op::Transfer { from, to, after, only, fails } => {
                return self.submit_transfer(program, slot, queue, (from, to), *after, (*only, *fails), effects);
            }
            _ => {}
        }
        self.enqueue(queue, pc, &payload);
        self.advance(program, slot);
        Ok(())
    }

    /// From here on, the pages are expected to hold what this write puts there.
    pub(crate) fn issue_write(&mut self, program: &Program, all: &[Captured], mut value: u16, tokens: u8) {
        for one in all {
            let (arena, band) = (one.operand.arena, one.operand.band);
            let parts = program.arenas[usize::from(arena)].parts(band) as u16;
            let state = &mut self.arenas[usize::from(arena)];
            for page in one.pages.as_deref().unwrap_or_default() {
                let at = state.id_at(band, page.id);
                if state.generation(band, page.id) == page.generation {
                    state.ids[at].issued = value;
                    let kept = state.kept(band, page.id);
                    state.keep(band, page.id, Kept { valid: tokens, ..kept });
                }
                value += parts;
            }
        }
    }

    fn translate(
        &mut self,
        program: &Program,
        operand: &crate::program::Operand,
        space: Space,
        into: u8,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let captured = self.capture(program, operand)?;
        let state = &self.arenas[usize::from(operand.arena)];
        let kernels = program.arenas[usize::from(operand.arena)].kernels[usize::from(operand.band)];
        let mut pages: SmallVec<[PageRef; 8]> = SmallVec::new();
        for page in captured.pages.unwrap_or_default() {
            if space != Space::Logical && page.page == capture::UNBOUND {
                return Err(invariants::use_after_free::not_bound(program, operand, page.id));
            }
            if state.is_sink(operand.band, page.page) {
                effects.mark(Mark::TranslatedToSink);
            }
            let number = match space {
                Space::Physical => page.page,
                Space::Logical => page.id.into(),
                Space::Kernel => {
                    let index = u64::from(page.page) * u64::from(kernels);
                    u16::try_from(index).unwrap_or(capture::UNBOUND - 1).min(capture::UNBOUND - 1)
                }
            };
            pages.push(PageRef { id: page.id, generation: page.generation, page: number });
        }
        effects.mark(Mark::Captured);
        self.set_pages(program, into, &pages, 0);
        Ok(())
    }

    fn number(&self, value: Value) -> i16 {
        match value {
            Value::Number(number) => number,
            Value::Var(var) => self.vars[usize::from(var)],
        }
    }

    /// Whether a condition holds. Pages against pages compare their addresses, or their ids if they have none.
    pub(crate) fn holds(&self, program: &Program, cond: &Cond) -> bool {
        let kind = |value: Value| match value {
            Value::Var(var) => program.vars[usize::from(var)].kind,
            Value::Number(_) => VarKind::Number,
        };
        let ordering = match (kind(cond.left), kind(cond.right)) {
            (VarKind::Number, VarKind::Number) => self.number(cond.left).cmp(&self.number(cond.right)),
            (_, VarKind::Number) => (self.count(program, cond.left)).cmp(&self.number(cond.right)),
            (VarKind::Number, _) => self.number(cond.left).cmp(&self.count(program, cond.right)),
            _ => self.list(program, cond.left).cmp(&self.list(program, cond.right)),
        };
        match cond.compare {
            Compare::Eq => ordering.is_eq(),
            Compare::Ne => ordering.is_ne(),
            Compare::Lt => ordering.is_lt(),
            Compare::Le => ordering.is_le(),
            Compare::Gt => ordering.is_gt(),
            Compare::Ge => ordering.is_ge(),
        }
    }

    /// A number, or how many pages a variable holds.
    pub(crate) fn count(&self, program: &Program, value: Value) -> i16 {
        match value {
            Value::Var(var) if program.vars[usize::from(var)].kind != VarKind::Number => self.len(var) as i16,
            value => self.number(value),
        }
    }

    /// A bounded resource has less left, or more.
    pub(crate) fn take_from(&mut self, var: u8, count: i16, effects: &mut Effects) {
        let rest = &mut self.vars[usize::from(var)];
        *rest = rest.saturating_sub(count).max(UNSET + 1);
        if count > 0 {
            effects.mark(Mark::Took);
        }
        effects.note(Note::Acquire(Object::Var(var)));
        effects.note(Note::Release(Object::Var(var)));
    }

    /// An attempt to read has found what it meant, or not.
    pub(crate) fn attempted(&mut self, into: u8, good: bool, effects: &mut Effects) {
        self.vars[usize::from(into)] = good.into();
        effects.mark(if good { Mark::ReadAccepted } else { Mark::ReadDiscarded });
        effects.note(Note::Release(Object::Var(into)));
    }

    fn list(&self, program: &Program, value: Value) -> Vec<u16> {
        let Value::Var(var) = value else { return Vec::new() };
        let ids = program.vars[usize::from(var)].kind == VarKind::Pages;
        self.pages_of(program, var).iter().map(|page| if ids { page.id.into() } else { page.page }).collect()
    }
}

/// The version after this one. Version 0 means that nothing was produced; a queue is too short for all others to be
/// under way at once.
fn next_version(version: u8) -> u8 {
    version.checked_add(1).unwrap_or(1)
}

/// The arenas that one call leases: with the rule, each once and in one order for all callers.
pub(crate) fn lease_order(program: &Program, arenas: &[u8]) -> SmallVec<[u8; 4]> {
    if arenas.len() < 2 || !program.rules.on(Rule::LeaseEachLayoutOnce) {
        return arenas.into();
    }
    let mut order: SmallVec<[u8; 4]> = transfer::layouts(arenas.iter().map(|arena| Some(*arena))).into();
    order.sort_unstable();
    order
}
