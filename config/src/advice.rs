//! What happens to people who do what a gate's message tells them.
//!
//! The question is about pairs: a configuration that the gate rejects, and the same configuration with the
//! recommended values. "As recommended" is a substitution in the formulas, so both are about the same variables.

use std::collections::BTreeMap;

use crate::engine::Engine;
use crate::formula::Id;
use crate::report::{AdviceAnswer, AdviceKind, AdviceProblem, Example, Setting};

pub(crate) fn advice(engine: &mut Engine<'_>) -> Vec<AdviceAnswer> {
    let mut answers = Vec::new();
    for gate in 0..engine.file.gates.len() {
        if !engine.file.gates[gate].recommends.is_empty() {
            answers.push(about(engine, gate));
        }
    }
    answers
}

fn about(engine: &mut Engine<'_>, gate: usize) -> AdviceAnswer {
    let file = engine.file;
    let settings = &file.gates[gate].recommends;
    let mut memo = BTreeMap::new();
    let mut following = |engine: &mut Engine<'_>, id: Id| engine.formulas.with(id, settings, &mut memo);
    let space = engine.compiled.space;
    let accepted = engine.compiled.accepted;
    let space_after = following(engine, space);
    let accepted_after = following(engine, accepted);
    engine.derived(accepted_after, accepted, settings);
    let rejected = engine.formulas.all([space, engine.compiled.rejects[gate], space_after]);

    let mut candidates: Vec<(AdviceKind, Vec<Id>)> = Vec::new();
    for other in 0..file.gates.len() {
        let before = engine.compiled.rejects[other];
        let after = following(engine, before);
        if other == gate {
            candidates.push((AdviceKind::StillRejected, vec![rejected, after]));
        } else {
            let passed = engine.formulas.not(before);
            let kind = AdviceKind::NewlyRejected(file.gates[other].name.clone());
            candidates.push((kind, vec![rejected, passed, after]));
        }
    }
    for (index, hazard) in file.hazards.iter().enumerate() {
        let after = following(engine, engine.compiled.hazards[index]);
        candidates.push((AdviceKind::Unsafe(hazard.name.clone()), vec![rejected, accepted_after, after]));
    }
    let mut problems = Vec::new();
    for (kind, parts) in candidates {
        if let Some(example) = engine.nearest(&parts) {
            let configurations = engine.count(&parts);
            problems.push(AdviceProblem { kind, configurations, example });
        }
    }
    if !engine.possible(&[rejected, accepted_after])
        && let Some(example) = engine.nearest(&[rejected])
    {
        let configurations = engine.count(&[rejected]);
        problems.push(AdviceProblem { kind: AdviceKind::NeverHelps, configurations, example });
    }
    let recommends = settings.iter().map(|(option, value)| Setting {
        option: file.options[*option].name.clone(),
        value: file.options[*option].values[*value].clone(),
    });
    AdviceAnswer {
        named: engine.gate(gate),
        message: file.gates[gate].message.clone(),
        recommends: Example(recommends.collect()),
        rejected: engine.count(&[rejected]),
        accepted: engine.count(&[rejected, accepted_after]),
        problems,
    }
}
