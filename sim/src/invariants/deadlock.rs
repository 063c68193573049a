//! Not everyone waits for what nobody will do. Checked in states in which no agent can take a step.

use super::{Code, Violation};
use crate::program::{END, Op, Program};
use crate::world::{UNSET, World, entries};

pub(crate) fn check(world: &World, program: &Program) -> Violation {
    let mut waits = Vec::new();
    for thread in world.threads.iter().take(program.threads) {
        if thread.pc != END {
            let instr = &program.code[usize::from(thread.pc)];
            let name = &program.agents[usize::from(instr.thread)].name;
            waits.push(format!("{name} waits in `{}` {}", instr.text, reason(world, program, thread.pc)));
        }
    }
    for (slot, queue) in world.queues.iter().take(world.queues.len() / 2).enumerate() {
        if let Some(entry) = entries(queue).next() {
            let name = &program.agents[program.threads + slot].name;
            waits.push(format!("{name} waits in `{}`", program.code[usize::from(entry.pc)].text));
        }
    }
    if waits.is_empty() {
        waits.push("`finally` waits for what no one will do".to_owned());
    }
    Violation::new(Code::Deadlock, format!("{}, and no agent can take a step", waits.join("; ")))
}

fn reason(world: &World, program: &Program, pc: u16) -> String {
    let instr = &program.code[usize::from(pc)];
    if let Some(var) = instr.needs.iter().find(|var| world.vars[usize::from(**var)] == UNSET) {
        return format!("for `{}` to get a value", program.vars[usize::from(*var)].name);
    }
    let holders = |arena: u8| {
        let leases = &world.arenas[usize::from(arena)].leases;
        let holders = leases.holders().map(|holder| program.agents[holder.0 as usize].name.clone());
        let events = leases.events().iter().map(|event| format!("event `{}`", program.events[event.0 as usize]));
        let all: Vec<String> = holders.chain(events).collect();
        all.join(", ")
    };
    match &instr.op {
        Op::Alloc { arena, requests, waits: true, .. } if !world.has_room(program, *arena, requests) => {
            format!("for room in {}", program.arenas[usize::from(*arena)].name)
        }
        Op::Alloc { arena, .. } | Op::Compact { arena } | Op::Clear { arena, .. } => {
            format!("for leases held by {}", holders(*arena))
        }
        Op::LeaseAcquire { .. } | Op::Store { .. } | Op::Fetch { .. } => "for a compaction that waits".to_owned(),
        Op::SyncEvent { event }
        | Op::TrySync { event, .. }
        | Op::Wait { event }
        | Op::Transfer { after: Some(event), .. } => {
            let name = &program.events[usize::from(*event)];
            if world.recorded(program, *event) {
                format!("for event `{name}` to complete")
            } else {
                format!("for event `{name}` to be recorded (assumption events-recorded-before-waited)")
            }
        }
        Op::AwaitCond { .. } => "for its condition to hold".to_owned(),
        Op::Take { var, .. } => format!("for more of `{}`", program.vars[usize::from(*var)].name),
        Op::Meet { group, .. } => format!("for the others at `{}`", program.barriers[usize::from(*group)].0),
        Op::Await { flag } => format!("for flag `{}`", program.flags[usize::from(*flag)]),
        Op::Lock { lock } => {
            let owner = usize::from(world.locks[usize::from(*lock)]).saturating_sub(1);
            format!("held by {}", program.agents[owner].name)
        }
        _ => "for others".to_owned(),
    }
}
