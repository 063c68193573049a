//! When two failures are the same: same invariant, same pair of steps, same rule off.
//!
//! Steps are compared by what they are (`stream write`, `host alloc`), not by name or place, because every program
//! has names of its own. The pair of a conflict is the two steps; of a bad access, the access and the last step that
//! moved or touched the page; of a deadlock, the first two steps that wait.

use crate::explore::replay;
use crate::explore::replay::Row;
use crate::invariants::{Code, Violation, race};
use crate::program::{AgentKind, END, Program};
use crate::world::{Effects, LAND, Note, Step, World, entries};

/// What two failures must share to be the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Identity {
    /// The invariant.
    pub code: Code,
    /// The two steps, in order; `-` where there is no second.
    pub pair: [String; 2],
}

/// What kind of step an instruction's text is: `alloc`, `lease hand`, `write`.
fn verb(text: &str) -> String {
    let mut words = text.split_whitespace().filter(|word| *word != "try");
    let first = words.next().unwrap_or("-");
    match first {
        "lease" | "gate" | "fail" => format!("{first} {}", words.next().unwrap_or_default()),
        _ => first.to_owned(),
    }
}

fn kind(program: &Program, agent: u8, text: &str) -> String {
    let who = match program.agents[usize::from(agent)].kind {
        AgentKind::Thread => "host",
        AgentKind::Stream => "stream",
        AgentKind::Rdma => "rdma",
        AgentKind::Finally => "finally",
    };
    format!("{who} {}", verb(text))
}

/// The two possible next steps that conflict.
fn conflict(program: &Program, world: &World) -> Option<[String; 2]> {
    let mut enabled = Vec::new();
    world.enabled(program, &mut enabled);
    for (at, one) in enabled.iter().enumerate() {
        for other in enabled[..at].iter().filter(|other| other.agent != one.agent) {
            let (mine, theirs) = (world.next_regions(program, *one), world.next_regions(program, *other));
            if mine.iter().any(|mine| theirs.iter().any(|theirs| race::conflict(mine, theirs))) {
                let name = |step: &Step| kind(program, step.agent, &world.step_text(program, *step));
                return Some([name(other), name(one)]);
            }
        }
    }
    None
}

/// What threads and queues wait in.
fn waiting(program: &Program, world: &World) -> Vec<String> {
    let threads = world.threads.iter().enumerate().filter(|(_, thread)| thread.pc != END);
    let threads = threads.map(|(_, thread)| format!("host {}", verb(&program.code[usize::from(thread.pc)].text)));
    let queues = world.queues.iter().filter_map(|queue| entries(queue).next());
    let queues = queues.map(|entry| format!("stream {}", verb(&program.code[usize::from(entry.pc)].text)));
    let mut all: Vec<String> = threads.chain(queues).collect();
    all.sort();
    all.dedup();
    all
}

fn concerns(row: &Row, page: (u8, u8, u8)) -> bool {
    row.notes.iter().any(|note| match note {
        Note::Moved { arena, band, id, .. } => (*arena, *band, *id) == page,
        Note::Touched(what) => (what.arena, what.band, what.id) == page,
        _ => false,
    })
}

/// The identity of a violation that these steps lead to.
pub(crate) fn of(program: &Program, steps: &[Step], violation: &Violation) -> Identity {
    let none = || "-".to_owned();
    let code = violation.code;
    let Ok(mut world) = World::start(program) else { return Identity { code, pair: [none(), none()] } };
    let in_state = violation.other.is_some() || matches!(code, Code::Deadlock | Code::LostWakeup);
    if in_state {
        for step in steps {
            if world.step(program, *step, &mut Effects::default()).is_err() {
                break;
            }
        }
        let pair = match code {
            Code::Deadlock | Code::LostWakeup => {
                let mut waits = waiting(program, &world).into_iter();
                [waits.next().unwrap_or_else(none), waits.next().unwrap_or_else(none)]
            }
            _ => conflict(program, &world).unwrap_or_else(|| [none(), none()]),
        };
        return Identity { code, pair };
    }
    if code == Code::Starvation && violation.page.is_none() && steps.len() > program.code.len() * 8 {
        // An endless run: what goes round is not worth telling apart.
        return Identity { code, pair: [none(), none()] };
    }
    let Ok(run) = replay::run(program, steps) else { return Identity { code, pair: [none(), none()] } };
    let Some((last, earlier)) = run.rows.split_last() else { return Identity { code, pair: [none(), none()] } };
    let name = |row: &Row| {
        let landing = if row.step.choice == LAND { " landing" } else { "" };
        format!("{}{landing}", kind(program, row.step.agent, &row.text))
    };
    // A free is refused because of an earlier free, which touches no bytes: whoever touched the page is beside the point.
    let page = violation.page.filter(|_| code != Code::DoubleFree);
    let cause = page.and_then(|page| earlier.iter().rev().find(|row| concerns(row, page)));
    Identity { code, pair: [cause.map_or_else(none, &name), name(last)] }
}
