//! The first world of a program: everything empty, then the set-up run as the first thread.

use super::tracked::{Slot, Tracked};
use super::{
    ArenaState, BufferState, Cell, Effects, EventState, IdState, Kept, Layout, PageRef, Step, Thread, UNSET, World,
    access,
};
use crate::invariants::Violation;
use crate::program::{END, Program};
use leasecheck_core::{Arena, BandId, Ids, LeaseTable};
use std::sync::Arc;

/// A set-up longer than this does not end.
const MAX_SETUP_STEPS: usize = 100_000;

/// Why a case cannot start.
#[derive(Clone, Debug)]
pub enum StartError {
    /// The set-up violates an invariant.
    Violated(Violation),
    /// The set-up waits for something that nothing will bring, at this instruction.
    Stuck(u16),
    /// The set-up does not end.
    Endless,
    /// A layout that a litmus file cannot have; the loader has checked it.
    Layout(String),
}

impl World {
    /// The world in which the case begins.
    ///
    /// # Errors
    /// When the set-up does not run to its end.
    pub fn start(program: &Program) -> Result<World, StartError> {
        let mut arenas = Vec::new();
        for def in &program.arenas {
            let arena = Arena::new(def.config.clone()).map_err(|error| StartError::Layout(error.to_string()))?;
            let mut offsets = Vec::new();
            let mut ids = 0_u16;
            for (band, config) in arena.bands() {
                offsets.push(ids);
                let owner = match config.ids {
                    Ids::Own => band,
                    Ids::Of(owner) => owner,
                };
                ids += arena.pages(owner) as u16;
            }
            arenas.push(ArenaState {
                leases: Slot::new(LeaseTable::new(program.rules)),
                ids: Slot::new(vec![IdState::default(); usize::from(ids)]),
                cells: Slot::new(vec![Cell { who: access::NOBODY, value: 0 }; def.cells as usize]),
                kept: Slot::new(vec![Kept::default(); if program.keeps { usize::from(ids) } else { 0 }]),
                memo: Slot::new(vec![u8::MAX; def.config.bands.len()]),
                offsets,
                arena: Slot::new(arena),
            });
        }
        let queues = program.agents.iter().filter(|agent| agent.is_queue()).count();
        let thread = |pc| Thread { pc: program.settle(pc), phase: 0, scratch: Vec::new() };
        let mut threads: Vec<Thread> = program.entries.iter().map(|_| thread(END)).collect();
        threads[0] = thread(program.setup);
        threads.push(thread(END));
        let layout = Layout::new(program);
        let [of_threads, of_queues, of_vars, of_buffers, of_refs, of_events] = layout.groups.clone();
        let mut world = World {
            layout: Arc::new(layout),
            arenas,
            threads: Tracked::new(threads, of_threads),
            queues: Tracked::new(vec![Vec::new(); queues * 2], of_queues),
            vars: Tracked::new(vec![UNSET; program.vars.len()], of_vars),
            refs: Tracked::new(vec![PageRef::default(); program.ref_slots], of_refs),
            buffers: Tracked::new(vec![BufferState::default(); program.buffers.len()], of_buffers),
            events: Tracked::new(vec![EventState::default(); program.events.len()], of_events),
            flags: Slot::new(0),
            locks: Slot::new(vec![0; program.locks.len()]),
            barriers: Slot::new(vec![0; program.barriers.len()]),
            brought: Slot::new(vec![0; if program.meets { program.barriers.len() } else { 0 }]),
            keys: Slot::new(vec![0; program.key_slots * 4]),
        };
        world.set_up(program)?;
        for (slot, entry) in program.entries.iter().enumerate() {
            world.threads[slot].pc = program.settle(*entry);
        }
        world.threads[program.threads].pc = program.settle(program.finally);
        Ok(world)
    }

    /// Runs the set-up, queues first, so that it is over when its last step has been taken.
    fn set_up(&mut self, program: &Program) -> Result<(), StartError> {
        let mut steps = Vec::new();
        for _ in 0..MAX_SETUP_STEPS {
            steps.clear();
            self.enabled(program, &mut steps);
            let queues = steps.iter().find(|step| program.agents[usize::from(step.agent)].is_queue());
            let Some(step) = queues.or_else(|| steps.iter().find(|step| step.agent == 0)).copied() else {
                let pc = self.threads[0].pc;
                return if pc == END && self.quiet() { Ok(()) } else { Err(StartError::Stuck(pc)) };
            };
            self.step(program, Step { agent: step.agent, choice: step.choice }, &mut Effects::default())
                .map_err(StartError::Violated)?;
        }
        Err(StartError::Endless)
    }
}

impl ArenaState {
    /// Place of a band's id in [`ArenaState::ids`].
    pub(crate) fn id_at(&self, band: u8, id: u8) -> usize {
        usize::from(self.offsets[usize::from(band)]) + usize::from(id)
    }

    /// The band that owns the ids of `band`.
    pub(crate) fn owner(&self, band: u8) -> u8 {
        match self.arena.config().bands[usize::from(band)].ids {
            Ids::Own => band,
            Ids::Of(owner) => owner.0,
        }
    }

    pub(crate) fn generation(&self, band: u8, id: u8) -> u8 {
        self.ids[self.id_at(self.owner(band), id)].generation
    }

    /// Where the page is now, if the id still names the page that was captured.
    pub(crate) fn locate(&self, band: u8, id: u8, generation: u8) -> Option<u16> {
        if self.generation(band, id) != generation {
            return None;
        }
        let page = self.arena.translate(BandId(band), leasecheck_core::LogicalPage(id.into()))?;
        Some(page.0 as u16)
    }

    /// Whether the id still names the page that was captured, in the band that owns it.
    pub(crate) fn alive(&self, band: u8, id: u8, generation: u8) -> bool {
        self.locate(self.owner(band), id, generation).is_some()
    }
}
