//! Threads that meet: barriers, and groups that make one value of what everyone brings.

use super::{Effects, Note, Object, World};
use crate::invariants::{Violation, divergence};
use crate::marks::Mark;
use crate::program::{Fold, Op, Program, Value};

impl World {
    /// The thread has come to the barrier. When all have, all go on. Whether they have.
    pub(crate) fn come(&mut self, program: &Program, slot: usize, barrier: u8, effects: &mut Effects) -> bool {
        let at = usize::from(barrier);
        effects.note(Note::Release(Object::Barrier(barrier)));
        self.barriers[at] |= 1 << slot;
        self.threads[slot].phase = 1;
        let waiting = self.barriers[at];
        let all = waiting.count_ones() == u32::from(program.barriers[at].1);
        if all {
            self.barriers[at] = 0;
            for other in (0..self.threads.len()).filter(|other| waiting & 1 << other != 0) {
                if let Some(Op::Meet { into: Some(into), .. }) =
                    program.code.get(usize::from(self.threads[other].pc)).map(|instr| &instr.op)
                {
                    self.vars[usize::from(*into)] = self.brought[at];
                    effects.note(Note::Release(Object::Var(*into)));
                }
                self.advance(program, other);
            }
        }
        all
    }

    /// The same, with a value.
    pub(crate) fn meet(
        &mut self,
        program: &Program,
        (slot, agent): (usize, u8),
        (group, value, fold): (u8, Value, Fold),
        effects: &mut Effects,
    ) -> Result<(), Violation> {
        let at = usize::from(group);
        let value = self.count(program, value);
        let others = self.brought[at];
        let first = self.barriers[at] == 0;
        self.brought[at] = match fold {
            _ if first => value,
            Fold::Same if value != others => return Err(divergence::brought(program, group, agent, value, others)),
            Fold::Same => value,
            Fold::Min => others.min(value),
            Fold::Max => others.max(value),
            Fold::Sum => others.saturating_add(value),
        };
        if self.come(program, slot, group, effects) {
            self.brought[at] = 0;
            effects.mark(Mark::Met);
        }
        Ok(())
    }
}
