//! The questions about one file, in the order of the report.

use crate::advice;
use crate::compare;
use crate::compile::{circles, universe};
use crate::conflicts::BRIEF;
use crate::engine::{Engine, named};
use crate::model::GateFile;
use crate::musts;
use crate::report::{
    Answer, AutoAnswer, Chosen, FeatureAnswer, HazardAnswer, IdleResolver, RedundantGate, Report, Totals, Unsettled,
    Verdict,
};

/// Answers every question about `file`, and compares it with `baseline` if there is one.
///
/// The answers cover all configurations; nothing is sampled. Only counts may be missing (see
/// [`Count::exact`](crate::Count::exact)).
pub fn analyse(file: &GateFile, baseline: Option<&GateFile>) -> Report {
    let (mut engine, ()) = Engine::new(file, universe(file, None), |_, _| ((), Vec::new()));
    let comparison = baseline.map(|baseline| compare::compare(file, baseline));
    let (space, accepted) = (engine.compiled.space, engine.compiled.accepted);
    let totals = Totals {
        options: file.options.len(),
        resolvers: file.resolvers.len(),
        gates: file.gates.len(),
        configurations: engine.count(&[space]),
        accepted: engine.count(&[accepted]),
    };
    let nothing_accepted = engine.blocked(crate::formula::Formulas::TRUE);
    let features = features(&mut engine);
    let hazards = hazards(&mut engine);
    let unsettled = unsettled(&mut engine);
    let musts = musts::musts(&mut engine, baseline, &features);
    let settled = unsettled.iter().all(|unsettled| unsettled.circle.is_empty());
    let holds = musts.iter().all(|must| must.answer == Answer::Yes) && settled;
    Report {
        file: file.file_name(),
        name: file.name.clone(),
        about: file.about.clone(),
        source: file.source.clone(),
        verdict: if holds { Verdict::Ok } else { Verdict::Failed },
        totals,
        assumptions: file.assumptions.iter().map(|assumption| assumption.text.clone()).collect(),
        nothing_accepted,
        features,
        hazards,
        advice: advice::advice(&mut engine),
        redundant: redundant(&mut engine),
        idle_resolvers: idle_resolvers(&mut engine),
        autos: autos(&mut engine),
        unsettled,
        comparison,
        musts,
    }
}

fn features(engine: &mut Engine<'_>) -> Vec<FeatureAnswer> {
    let accepted = engine.compiled.accepted;
    let mut answers = Vec::new();
    for (index, feature) in engine.file.features.iter().enumerate() {
        let runs = engine.compiled.runs[index];
        let example = engine.nearest(&[accepted, runs]);
        answers.push(FeatureAnswer {
            named: named(&feature.name, feature.source.as_ref()),
            configurations: engine.count(&[accepted, runs]),
            blocked: if example.is_none() { engine.blocked(runs) } else { None },
            example,
        });
    }
    answers
}

fn hazards(engine: &mut Engine<'_>) -> Vec<HazardAnswer> {
    let accepted = engine.compiled.accepted;
    let mut answers = Vec::new();
    for (index, hazard) in engine.file.hazards.iter().enumerate() {
        let when = engine.compiled.hazards[index];
        answers.push(HazardAnswer {
            named: named(&hazard.name, hazard.source.as_ref()),
            why: hazard.why.clone(),
            configurations: engine.count(&[accepted, when]),
            examples: engine.several(&[accepted, when]),
        });
    }
    answers
}

fn redundant(engine: &mut Engine<'_>) -> Vec<RedundantGate> {
    let mut answers = Vec::new();
    for gate in 0..engine.file.gates.len() {
        let parts = [engine.compiled.space, engine.compiled.rejects[gate]];
        // The conflicts of "this gate rejects" with the other gates are exactly the sets that cover it.
        if let Some(covers) = engine.conflicts(&parts, Some(gate), BRIEF) {
            answers.push(RedundantGate {
                named: engine.gate(gate),
                covered_by: covers
                    .sets
                    .iter()
                    .map(|set| set.iter().map(|other| engine.gate(*other)).collect())
                    .collect(),
            });
        }
    }
    answers
}

fn idle_resolvers(engine: &mut Engine<'_>) -> Vec<IdleResolver> {
    let (space, accepted) = (engine.compiled.space, engine.compiled.accepted);
    let mut answers = Vec::new();
    for (index, resolver) in engine.file.resolvers.iter().enumerate() {
        let fires = engine.compiled.fires[index];
        if !engine.possible(&[accepted, fires]) {
            answers.push(IdleResolver {
                named: named(&resolver.name, resolver.source.as_ref()),
                only_rejected: engine.possible(&[space, fires]),
            });
        }
    }
    answers
}

fn autos(engine: &mut Engine<'_>) -> Vec<AutoAnswer> {
    let accepted = engine.compiled.accepted;
    let mut answers = Vec::new();
    for (index, option) in engine.file.options.iter().enumerate() {
        let Some(auto) = option.auto else {
            continue;
        };
        let asked = engine.compiled.asked[index][auto];
        let mut chosen = Vec::new();
        for (value_index, value) in option.values.iter().enumerate() {
            let outcome = engine.compiled.resolved[index][value_index];
            let parts = [accepted, asked, outcome];
            chosen.push(Chosen {
                value: value.clone(),
                configurations: engine.count(&parts),
                possible: engine.possible(&parts),
            });
        }
        answers.push(AutoAnswer { option: option.name.clone(), auto: option.values[auto].clone(), chosen });
    }
    answers
}

fn unsettled(engine: &mut Engine<'_>) -> Vec<Unsettled> {
    let accepted = engine.compiled.accepted;
    let circles = circles(engine.file);
    let mut answers = Vec::new();
    for (index, option) in engine.file.options.iter().enumerate() {
        let parts = [accepted, engine.compiled.unsettled[index]];
        let Some(example) = engine.nearest(&parts) else {
            continue;
        };
        let circle = circles.iter().find(|circle| circle.contains(&index));
        let names = circle.into_iter().flatten().map(|option| engine.file.options[*option].name.clone());
        answers.push(Unsettled {
            option: option.name.clone(),
            circle: names.collect(),
            configurations: engine.count(&parts),
            example,
        });
    }
    answers
}
