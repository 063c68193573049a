//! Which guards of a design that holds are needed: each is dropped in turn, and the rest is explored.
//!
//! A guard is what a program does only to be safe: waits, leases, gates, pins, locks, barriers, questions whose answer
//! is awaited, events that a free or a transfer is tied to; and every rule of the design that is on. Dropping turns
//! its instructions into jumps to the next one, or into the same step without the guard, so that nothing else of the
//! program changes. A guard that consists of two ends (`lock` and `unlock`) is dropped with both.

use super::{Options, check};
use crate::program::{Expect, Fold, Ids, Instr, Op, Pc, Program, Value};
use crate::verdict::{Outcome, Verdict};
use crate::world::StartError;
use leasecheck_core::Rule;
use std::collections::BTreeMap;

/// What a guard is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Steps of the program: line, who does it, text; and what becomes of them.
    Steps(Vec<(u32, String)>, &'static str),
    /// A rule of the design.
    Rule(Rule),
}

/// Something that could be left out.
#[derive(Clone, Debug)]
pub struct Guard {
    /// What it is.
    pub what: What,
    /// The case without it. It claims that nothing is reachable and names no witness.
    pub program: Program,
}

/// What comes of leaving a guard out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// A counterexample returns.
    Needed,
    /// The set-up no longer runs.
    NoStart,
    /// Nothing returns.
    Redundant,
    /// Nothing changes at all: the rule has no part in this case.
    NoPart,
    /// A limit was reached.
    Unknown,
}

/// A guard, tried.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The guard.
    pub guard: Guard,
    /// What came of it.
    pub fate: Fate,
    /// The exploration without it.
    pub outcome: Result<Outcome, StartError>,
}

/// Drops each guard of a case that holds. `with` is what exploring the case itself has given.
pub fn needed(program: &Program, with: &Outcome, options: &Options<'_>) -> Vec<Tried> {
    let size = |outcome: &Outcome| (outcome.states, outcome.steps, outcome.depth, outcome.marks);
    let try_without = |guard: Guard| {
        let outcome = check(&guard.program, options);
        let fate = match &outcome {
            Err(_) => Fate::NoStart,
            Ok(outcome) => match outcome.verdict {
                Verdict::Reachable(_) => Fate::Needed,
                Verdict::Truncated { .. } => Fate::Unknown,
                _ if size(outcome) == size(with) && matches!(guard.what, What::Rule(_)) => Fate::NoPart,
                _ => Fate::Redundant,
            },
        };
        Tried { guard, fate, outcome }
    };
    guards(program).into_iter().map(try_without).collect()
}

/// A step as the file has it: all instructions that it was compiled to, in several rounds of a `repeat`, say.
struct Statement {
    pcs: Vec<usize>,
}

/// Every guard of a program: its steps in the order of the file, then the rules.
#[must_use]
pub fn guards(program: &Program) -> Vec<Guard> {
    let statements = statements(program);
    let mut found: Vec<(Vec<usize>, &'static str, Edit)> = Vec::new();
    for (at, statement) in statements.iter().enumerate() {
        let instr = &program.code[statement.pcs[0]];
        if let Some((becomes, edit)) = single(&instr.op) {
            found.push((vec![at], becomes, edit));
        }
    }
    for pair in pairs(program, &statements) {
        found.push((pair, "left out", Edit::Drop));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let steps = found.into_iter().map(|(group, becomes, edit)| {
        let mut without = bare(program);
        let mut lines = Vec::new();
        for at in group {
            for pc in &statements[at].pcs {
                change(&mut without.code[*pc], *pc, edit);
            }
            lines.push(line(program, &program.code[statements[at].pcs[0]]));
        }
        Guard { what: What::Steps(lines, becomes), program: without }
    });
    let on = Rule::ALL.iter().filter(|rule| program.rules.on(**rule));
    let rules = on.map(|rule| {
        let bare = bare(program);
        Guard { what: What::Rule(*rule), program: bare.with_rules(bare.rules.without(*rule)) }
    });
    steps.chain(rules).collect()
}

/// The case with the claim that nothing is reachable: a behaviour that a guard causes is no witness without it.
fn bare(program: &Program) -> Program {
    Program { expect: Expect::Unreachable, witness: Vec::new(), ..program.clone() }
}

fn line(program: &Program, instr: &Instr) -> (u32, String) {
    let queue = instr.stream.and_then(|queue| program.agents.get(program.threads + usize::from(queue)));
    let text = match queue {
        Some(queue) => format!("{}: {}", queue.name, instr.text),
        None => instr.text.clone(),
    };
    (instr.line, text)
}

fn statements(program: &Program) -> Vec<Statement> {
    let mut by_key: BTreeMap<(u8, u32, Option<u8>, &str), usize> = BTreeMap::new();
    let mut statements: Vec<Statement> = Vec::new();
    for (pc, instr) in program.code.iter().enumerate() {
        let key = (instr.thread, instr.line, instr.stream, instr.text.as_str());
        match by_key.get(&key) {
            Some(at) => statements[*at].pcs.push(pc),
            None => {
                by_key.insert(key, statements.len());
                statements.push(Statement { pcs: vec![pc] });
            }
        }
    }
    statements
}

/// What becomes of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    /// A jump to the next one.
    Drop,
    /// A lease that was handed off ends at once.
    Release,
    /// The step is tied to no event.
    Untie,
    /// The answer is taken to be yes.
    Believe,
}

/// The guards that are one step.
fn single(op: &Op) -> Option<(&'static str, Edit)> {
    match op {
        Op::Wait { .. } | Op::SyncEvent { .. } | Op::SyncStream { .. } | Op::Await { .. } | Op::AwaitCond { .. } => {
            Some(("left out", Edit::Drop))
        }
        Op::LeaseHandOff { .. } => Some(("a plain release", Edit::Release)),
        Op::Transfer { after: Some(_), .. } => Some(("without `after`", Edit::Untie)),
        Op::Free { on, .. } | Op::Tombstone { on, .. } | Op::Flush { on, .. } if !on.is_empty() => {
            Some(("without `on`", Edit::Untie))
        }
        Op::Query { .. } | Op::Valid { .. } | Op::TrySync { .. } => Some(("taken for yes", Edit::Believe)),
        _ => None,
    }
}

fn change(instr: &mut Instr, pc: usize, edit: Edit) {
    match (edit, &mut instr.op) {
        (Edit::Release, Op::LeaseHandOff { arena, .. }) => instr.op = Op::LeaseRelease { arena: *arena },
        (Edit::Untie, Op::Transfer { after: event, .. }) => *event = None,
        (Edit::Untie, Op::Free { on, .. } | Op::Tombstone { on, .. } | Op::Flush { on, .. }) => on.clear(),
        (Edit::Believe, Op::Query { into, .. } | Op::Valid { into, .. } | Op::TrySync { into, .. }) => {
            instr.op = Op::Let { var: *into, value: Value::Number(1), plus: 0 };
        }
        _ => {
            instr.op = Op::Jump { to: pc as Pc + 1 };
            instr.stream = None;
        }
    }
    instr.needs = instr.op.needs();
}

/// One end of a guard with two ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Opens,
    Closes,
    /// All of these together are one guard.
    Joins,
}

/// What a step opens or closes, by name.
fn ends(program: &Program, op: &Op) -> Option<(End, Vec<String>)> {
    let awaited = |flag: u8| program.code.iter().any(|instr| instr.op == Op::Await { flag });
    match op {
        Op::LeaseAcquire { arenas, .. } => {
            Some((End::Opens, arenas.iter().map(|arena| format!("lease {arena}")).collect()))
        }
        Op::LeaseRelease { arena } | Op::LeaseHandOff { arena, .. } => {
            Some((End::Closes, vec![format!("lease {arena}")]))
        }
        Op::Pin { pages, up } => {
            let ids = pages.iter().map(|operand| match operand.ids {
                Ids::Var(var) => format!("pin {var}"),
                Ids::Buffer(buffer) => format!("pin buffer {buffer}"),
            });
            Some((if *up { End::Opens } else { End::Closes }, ids.collect()))
        }
        // A flag that is awaited does more than to close a gate.
        Op::Set { flag, up } if closes_gate(program, *flag) && !awaited(*flag) => {
            Some((if *up { End::Opens } else { End::Closes }, vec![format!("flag {flag}")]))
        }
        Op::Lock { lock } => Some((End::Opens, vec![format!("lock {lock}")])),
        Op::Unlock { lock } => Some((End::Closes, vec![format!("lock {lock}")])),
        Op::Barrier { barrier } | Op::Meet { group: barrier, fold: Fold::Same, .. } => {
            Some((End::Joins, vec![format!("barrier {barrier}")]))
        }
        _ => None,
    }
}

fn closes_gate(program: &Program, flag: u8) -> bool {
    program.arenas.iter().any(|arena| arena.gates.closed(1 << flag).is_some())
}

/// Groups of statements that open and close the same thing: within a thread, the end belongs to the last beginning.
/// A second end (in the other branch of an `if`) belongs to the beginning before it. Ends without a beginning in
/// their thread belong to the beginnings of other threads that have no end.
fn pairs(program: &Program, statements: &[Statement]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut open: BTreeMap<(u8, String), Vec<usize>> = BTreeMap::new();
    let mut closed: BTreeMap<(u8, String), usize> = BTreeMap::new();
    let mut stray: Vec<(usize, String)> = Vec::new();
    let mut joined: BTreeMap<String, usize> = BTreeMap::new();
    for (at, statement) in statements.iter().enumerate() {
        let instr = &program.code[statement.pcs[0]];
        let Some((end, names)) = ends(program, &instr.op) else { continue };
        match end {
            End::Opens => {
                for name in names {
                    open.entry((instr.thread, name)).or_default().push(groups.len());
                }
                groups.push(vec![at]);
            }
            End::Closes => {
                for name in names {
                    let key = (instr.thread, name.clone());
                    match open.get_mut(&key).and_then(Vec::pop).or(closed.get(&key).copied()) {
                        Some(group) => {
                            groups[group].push(at);
                            closed.insert(key, group);
                        }
                        None => stray.push((at, name)),
                    }
                }
            }
            End::Joins => {
                for name in names {
                    let group = *joined.entry(name).or_insert_with(|| {
                        groups.push(Vec::new());
                        groups.len() - 1
                    });
                    groups[group].push(at);
                }
            }
        }
    }
    for (at, name) in stray {
        let mut unclosed = open.iter().filter(|((_, other), _)| *other == name).flat_map(|(_, groups)| groups.clone());
        match unclosed.next() {
            Some(first) => {
                let rest: Vec<usize> = unclosed.collect();
                for group in rest {
                    let mut moved = std::mem::take(&mut groups[group]);
                    groups[first].append(&mut moved);
                }
                groups[first].push(at);
            }
            None => groups.push(vec![at]),
        }
    }
    for group in &mut groups {
        group.sort_unstable();
        group.dedup();
    }
    groups.retain(|group| !group.is_empty());
    groups
}
