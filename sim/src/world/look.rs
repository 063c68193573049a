//! Looking at a world without changing it: what a step would touch, what it is called, what a variable holds.

use super::queue::{captured, entries, moves};
use super::{LAND, Region, Step, UNSET, World};
use crate::program::{At, Ids, Op, Operand, Pc, Program, VarKind};
use smallvec::SmallVec;

impl World {
    /// The instruction behind a step, and the payload of its queue entry if it has one.
    fn instruction(&self, program: &Program, step: Step) -> Option<(Pc, Option<&[u8]>)> {
        if !program.agents[usize::from(step.agent)].is_queue() {
            return Some((self.threads[World::thread_slot(program, step.agent)].pc, None));
        }
        let slot = World::queue_slot(program, step.agent);
        let (slot, nth) =
            if step.choice == LAND { (slot + self.queues.len() / 2, 0) } else { (slot, usize::from(step.choice)) };
        let entry = entries(&self.queues[slot]).nth(nth)?;
        Some((entry.pc, Some(entry.payload)))
    }

    /// The instruction that a step takes or runs.
    #[must_use]
    pub fn step_pc(&self, program: &Program, step: Step) -> Option<Pc> {
        if usize::from(step.agent) < program.threads {
            return Some(self.threads[usize::from(step.agent)].pc);
        }
        self.instruction(program, step).map(|(pc, _)| pc)
    }

    /// What a step is called in reports: the text of the litmus file.
    #[must_use]
    pub fn step_text(&self, program: &Program, step: Step) -> String {
        let Some((pc, payload)) = self.instruction(program, step) else { return String::new() };
        let instr = &program.code[usize::from(pc)];
        match (&instr.op, payload) {
            (Op::Transfer { after: Some(event), .. }, Some([_])) => {
                format!("wait {}", program.events[usize::from(*event)])
            }
            (Op::Alloc { .. } | Op::Compact { .. } | Op::Flush { .. }, Some(_)) => format!("moves of `{}`", instr.text),
            (Op::Transfer { .. }, Some(_)) if step.choice == LAND => format!("bytes of `{}` land", instr.text),
            _ => instr.text.clone(),
        }
    }

    /// How many reported transfers of the step's agent have not landed.
    #[must_use]
    pub fn landing(&self, program: &Program, step: Step) -> usize {
        entries(&self.queues[World::queue_slot(program, step.agent) + self.queues.len() / 2]).count()
    }

    /// The bytes that a possible next step would touch.
    #[must_use]
    pub fn next_regions(&self, program: &Program, step: Step) -> SmallVec<[Region; 4]> {
        let mut regions = SmallVec::new();
        let Some((pc, payload)) = self.instruction(program, step) else { return regions };
        let instr = &program.code[usize::from(pc)];
        match (&instr.op, payload) {
            (Op::Read { .. } | Op::Write { .. } | Op::Transfer { .. }, Some(payload)) => {
                let entry = super::queue::Entry { pc, payload };
                let sources = match &instr.op {
                    Op::Transfer { from, .. } => from.len(),
                    _ => 0,
                };
                for (nth, one) in captured(program, &entry).iter().enumerate() {
                    let write = match &instr.op {
                        Op::Transfer { .. } => nth >= sources,
                        op => matches!(op, Op::Write { .. }),
                    };
                    let Ok(pages) = self.at_run(program, one) else { continue };
                    regions.extend(pages.iter().filter_map(|page| {
                        self.region(program, &one.operand, (page.id, page.generation, page.page), write)
                    }));
                }
            }
            (Op::Alloc { .. } | Op::Compact { .. } | Op::Flush { .. }, Some(payload)) => {
                let entry = super::queue::Entry { pc, payload };
                if let Some((arena, steps)) = moves(program, &entry) {
                    for step in steps {
                        let ids = Ids::Var(0);
                        let operand = Operand { ids, from: 0, to: 0, arena, band: step.band, at: At::Now };
                        let generation = self.arenas[usize::from(arena)].generation(step.band, step.id);
                        regions.extend(self.region(program, &operand, (step.id, generation, step.from), false));
                        regions.extend(self.region(program, &operand, (step.id, generation, step.to), true));
                    }
                }
            }
            (Op::Read { pages, .. } | Op::Write { pages, .. }, None) if instr.stream.is_none() => {
                let write = matches!(instr.op, Op::Write { .. });
                for operand in pages {
                    let Ok(one) = self.capture(program, operand) else { continue };
                    let pages = one.pages.unwrap_or_default();
                    regions.extend(pages.iter().filter_map(|page| {
                        self.region(program, operand, (page.id, page.generation, page.page), write)
                    }));
                }
            }
            (Op::Store { pages, .. } | Op::Fetch { pages, .. }, None) => {
                let thread = &self.threads[World::thread_slot(program, step.agent)];
                let write = matches!(instr.op, Op::Fetch { .. });
                if thread.phase == 1
                    && let Some(operand) = pages.first()
                {
                    regions.extend(thread.scratch.iter().filter_map(|page| {
                        self.region(program, operand, (page.id, page.generation, page.page), write)
                    }));
                }
            }
            _ => {}
        }
        if let Op::Read { tokens, .. } | Op::Write { tokens, .. } = &instr.op
            && *tokens > 0
        {
            for region in &mut regions {
                let state = &self.arenas[usize::from(region.arena)];
                region.high = region.low + state.cells_of_tokens(program, region.arena, region.band, *tokens) as u32;
            }
        }
        regions
    }

    /// What a variable holds, for messages.
    #[must_use]
    pub fn describe(&self, program: &Program, var: u8) -> String {
        let value = self.vars[usize::from(var)];
        if value == UNSET {
            return "not set".to_owned();
        }
        let pages = || self.pages_of(program, var).iter();
        match program.vars[usize::from(var)].kind {
            VarKind::Number => value.to_string(),
            VarKind::Pages => format!("ids {:?}", pages().map(|page| page.id).collect::<Vec<_>>()),
            VarKind::Addresses(_) => format!("pages {:?}", pages().map(|page| page.page).collect::<Vec<_>>()),
        }
    }
}

impl Region {
    pub(crate) fn generation(&self) -> u8 {
        self.generation
    }
}
