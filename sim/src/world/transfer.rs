//! Transfers: submitting one, and what happens when it runs.

use super::capture::{self, Captured, UNBOUND};
use super::{Effects, Kept, World};
use crate::invariants::{Violation, lost_bytes, partial_page};
use crate::marks::Mark;
use crate::program::{At, Ids, Op, Operand, Pc, Program};
use crate::world::access::{Access, By};
use leasecheck_core::{Rule, SINK, transfer};
use smallvec::SmallVec;

/// No limit to the pages that a transfer moves.
const ALL: u8 = u8::MAX;

/// Pages and bytes of a page at one end.
fn size(program: &Program, end: &[Captured]) -> Option<(usize, u64)> {
    let first = end.first()?;
    let envelope =
        program.arenas[usize::from(first.operand.arena)].config.bands[usize::from(first.operand.band)].envelope;
    let pages: Option<usize> = end.iter().map(|one| one.pages.as_ref().map(SmallVec::len)).sum();
    Some((pages?, envelope))
}

impl World {
    #[allow(clippy::too_many_arguments)] // The parts of one operation, taken apart by its only caller.
    pub(crate) fn submit_transfer(
        &mut self,
        program: &Program,
        slot: usize,
        queue: u8,
        (from, to): (&[Operand], &[Operand]),
        after: Option<u8>,
        (only, fails): (Option<u8>, bool),
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let pc = self.threads[slot].pc;
        let loose = from.iter().chain(to).find_map(|operand| match operand.ids {
            Ids::Var(var) if self.loose_tokens(var) > 0 => Some((operand, self.loose_tokens(var))),
            _ => None,
        });
        if let Some((operand, tokens)) = loose {
            return Err(partial_page::loose(program, operand, tokens));
        }
        let mut source = self.capture_all(program, from)?;
        let mut target = self.capture_all(program, to)?;
        if program.rules.on(Rule::NeverTheSink) {
            self.leave_sink_out(&mut source, &mut target, effects);
        }
        if !program.rules.on(Rule::ResolveAfterProducer) && after.is_some() {
            // The index is read on the host before the stream has waited for its producer.
            for one in source.iter_mut().chain(&mut target) {
                if matches!(one.operand.at, At::Buffer(_)) {
                    one.pages = Some(self.at_run(program, one)?);
                    one.operand.at = At::Now;
                }
            }
        }
        if program.rules.on(Rule::StridesMatch)
            && let Some((source, target)) = size(program, &source).zip(size(program, &target))
            && let Err(error) = transfer::pair(source, target)
        {
            effects.mark(Mark::TransferRefused);
            effects.say(|| format!("refused: {error}"));
            self.advance(program, slot);
            return Ok(());
        }
        // From here on, the destination is expected to hold what the source is expected to hold; nothing, where a
        // transfer is going to say that it failed.
        let arrive = if fails { usize::from(only.unwrap_or(ALL)) } else { usize::MAX };
        let mut values: SmallVec<[(u16, u8); 8]> = SmallVec::new();
        for one in &source {
            let pages = one.pages.as_deref().unwrap_or_default().iter();
            values.extend(pages.map(|page| (page.expect, page.valid)));
        }
        let targets: SmallVec<[(Operand, u8); 8]> = target
            .iter()
            .flat_map(|one| one.pages.as_deref().unwrap_or_default().iter().map(|page| (one.operand, page.id)))
            .collect();
        for (nth, ((operand, id), (value, valid))) in targets.iter().zip(&values).enumerate() {
            let state = &mut self.arenas[usize::from(operand.arena)];
            let at = state.id_at(operand.band, *id);
            state.ids[at].issued = if nth < arrive { *value } else { 0 };
            let kept = state.kept(operand.band, *id);
            state.keep(operand.band, *id, Kept { valid: *valid, ..kept });
        }
        if let Some(event) = after {
            self.enqueue(queue, pc, &[self.events[usize::from(event)].records]);
        }
        let mut payload: SmallVec<[u8; 64]> = SmallVec::new();
        payload.push(only.unwrap_or(ALL));
        capture::pack(&source, &mut payload);
        capture::pack(&target, &mut payload);
        self.enqueue(queue, pc, &payload);
        self.advance(program, slot);
        Ok(())
    }

    /// Drops the pairs whose device page is the sink.
    fn leave_sink_out(&self, source: &mut [Captured], target: &mut [Captured], effects: &mut Effects) {
        let ([source], [target]) = (source, target) else { return };
        let (Some(from), Some(to)) = (&mut source.pages, &mut target.pages) else { return };
        let sink = |operand: &Operand, page: u16| {
            self.arenas[usize::from(operand.arena)].arena.config().sink && page == SINK.0 as u16
        };
        for nth in (0..from.len().min(to.len())).rev() {
            if sink(&source.operand, from[nth].page) || sink(&target.operand, to[nth].page) {
                effects.mark(Mark::SinkLeftOut);
                from.remove(nth);
                to.remove(nth);
            }
        }
    }

    pub(crate) fn run_transfer(
        &mut self,
        program: &Program,
        pc: Pc,
        (source, target): (&[Captured], &[Captured]),
        only: u8,
        by: By,
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let mut reads: SmallVec<[(Operand, super::Capture); 8]> = SmallVec::new();
        for one in source {
            reads.extend(self.at_run(program, one)?.into_iter().map(|page| (one.operand, page)));
        }
        let mut writes: SmallVec<[(Operand, super::Capture); 8]> = SmallVec::new();
        for one in target {
            writes.extend(self.at_run(program, one)?.into_iter().map(|page| (one.operand, page)));
        }
        let described = reads.len();
        let moved = described.min(writes.len()).min(usize::from(only));
        for ((source, from), (target, to)) in reads.iter().zip(&writes).take(moved) {
            // Of a page that is written in part, the rest comes along and means nothing.
            let part = |operand, page| Access {
                value: from.expect,
                valid: from.valid,
                by,
                tokens: from.valid,
                transfer: true,
                ..Access::of(operand, page)
            };
            if from.page == UNBOUND || to.page == UNBOUND {
                let (operand, id) = if from.page == UNBOUND { (source, from.id) } else { (target, to.id) };
                return Err(crate::invariants::use_after_free::not_bound(program, operand, id));
            }
            self.read_page(program, part(source, from), effects)?;
            let envelope = |operand: &Operand| program.arenas[usize::from(operand.arena)].parts(operand.band);
            if envelope(source) != envelope(target) {
                return Err(lost_bytes::envelopes(program, source, target));
            }
            self.write_page(program, part(target, to), effects)?;
        }
        effects.mark(Mark::Transferred);
        if matches!(program.code[usize::from(pc)].op, Op::Transfer { fails: true, .. }) {
            effects.mark(Mark::CopyFailed);
            return Ok(());
        }
        if moved < described || writes.len() != described {
            return Err(lost_bytes::short(program, pc, described.max(writes.len()), moved));
        }
        Ok(())
    }
}
