//! Who could have to do with what, as far as the code tells: a question about others need not be put to those who have
//! no step that it is about. What nobody looked at cannot change an answer, so that explorers find more states alike
//! (`explore/local.rs`).

use crate::program::{Instr, Op, limits};

/// What has to do with an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct EventUses {
    /// Queues that its records can be in.
    pub(crate) queues: Vec<u8>,
    /// Arenas whose leases are handed off to it.
    pub(crate) leased: Vec<u8>,
    /// Arenas whose pages can be pending on it.
    pub(crate) pending: Vec<u8>,
}

/// What has to do with an arena, by slot of the thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ArenaUses {
    /// Threads that allocate, compact or clear.
    pub(crate) allocators: Vec<u8>,
    /// Threads that take leases.
    pub(crate) leasers: Vec<u8>,
    /// Threads that allocate right after they asked for the capacity.
    pub(crate) askers: Vec<u8>,
    /// For each band, the queues whose operations access its pages.
    pub(crate) accessors: Vec<Vec<u8>>,
}

/// Who could have to do with what in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    pub(crate) events: Vec<EventUses>,
    pub(crate) arenas: Vec<ArenaUses>,
    /// Of each queue, whether so much could be queued there that the host has to wait.
    pub(crate) fills: Vec<bool>,
}

fn put(into: &mut Vec<u8>, one: u8) {
    if !into.contains(&one) {
        into.push(one);
    }
}

/// Whether the instruction at `pc` allocates from the arena, right after a question for its capacity.
pub(crate) fn asked(code: &[Instr], pc: usize, arena: u8) -> bool {
    let before = code[..pc].iter().rev().take(2);
    before.into_iter().any(|instr| matches!(&instr.op, Op::Admit { arena: of, .. } if *of == arena))
}

impl Uses {
    /// Of the code from `first` on (the set-up runs alone), in a program with so many threads and queues, events
    /// and arenas.
    pub(crate) fn new(
        code: &[Instr],
        first: usize,
        (threads, queues): (usize, usize),
        (events, arenas): (usize, usize),
    ) -> Uses {
        let loops = code.iter().enumerate().any(|(pc, instr)| match instr.op {
            Op::Jump { to } => usize::from(to) <= pc,
            _ => false,
        });
        // A step queues two operations at most.
        let most = |queue: usize| 2 * code.iter().filter(|instr| instr.stream == Some(queue as u8)).count();
        let fills = (0..queues).map(|queue| loops || most(queue) >= limits::QUEUE).collect();
        let (events, arenas) = (vec![EventUses::default(); events], vec![ArenaUses::default(); arenas]);
        let mut uses = Uses { events, arenas, fills };
        for (pc, instr) in code.iter().enumerate() {
            let of_event = |event: u8| usize::from(event);
            match &instr.op {
                Op::Record { event } => {
                    if let Some(queue) = instr.stream {
                        put(&mut uses.events[of_event(*event)].queues, queue);
                    }
                }
                Op::LeaseHandOff { arena, event } => put(&mut uses.events[of_event(*event)].leased, *arena),
                Op::Free { pages, on } | Op::Tombstone { pages, on, .. } => {
                    for event in on {
                        pages.iter().for_each(|page| put(&mut uses.events[of_event(*event)].pending, page.arena));
                    }
                }
                Op::Flush { arena, on, .. } => {
                    on.iter().for_each(|event| put(&mut uses.events[of_event(*event)].pending, *arena));
                }
                _ => {}
            }
            if let (Op::Read { .. } | Op::Write { .. } | Op::Transfer { .. }, Some(queue)) = (&instr.op, instr.stream) {
                for operand in instr.op.operands() {
                    let bands = &mut uses.arenas[usize::from(operand.arena)].accessors;
                    let band = usize::from(operand.band);
                    bands.resize(bands.len().max(band + 1), Vec::new());
                    put(&mut bands[band], queue);
                }
            }
            if pc < first {
                continue;
            }
            // The `finally` thread is the last of the agents, after the queues.
            let slot = usize::from(instr.thread).min(threads) as u8;
            match &instr.op {
                Op::Alloc { arena, .. } | Op::Compact { arena } | Op::Clear { arena, .. } => {
                    put(&mut uses.arenas[usize::from(*arena)].allocators, slot);
                    if matches!(instr.op, Op::Alloc { .. }) && asked(code, pc, *arena) {
                        put(&mut uses.arenas[usize::from(*arena)].askers, slot);
                    }
                }
                Op::LeaseAcquire { arenas, .. } => {
                    arenas.iter().for_each(|arena| put(&mut uses.arenas[usize::from(*arena)].leasers, slot));
                }
                _ => {}
            }
        }
        uses
    }
}
