//! The questions that decide the verdict.

use crate::compare;
use crate::diagnostics::listing;
use crate::engine::Engine;
use crate::formula::Id;
use crate::model::{GateFile, Must, Question, Target};
use crate::report::{Answer, Blocked, FeatureAnswer, MustAnswer};

/// Answers every must of the file.
pub(crate) fn musts(
    engine: &mut Engine<'_>,
    baseline: Option<&GateFile>,
    features: &[FeatureAnswer],
) -> Vec<MustAnswer> {
    let file = engine.file;
    file.musts
        .iter()
        .map(|must| {
            let (answer, message) = answer(engine, baseline, features, must);
            MustAnswer {
                name: must.name.clone(),
                because: must.because.clone(),
                answer,
                // An answer that means nothing is never the expected one.
                as_expected: answer == if must.expect { Answer::Yes } else { Answer::No },
                message,
            }
        })
        .collect()
}

fn answer(
    engine: &mut Engine<'_>,
    baseline: Option<&GateFile>,
    features: &[FeatureAnswer],
    must: &Must,
) -> (Answer, String) {
    match &must.question {
        Question::Reachable(Target::Feature(index)) => {
            let feature = &features[*index];
            match (&feature.example, &feature.blocked) {
                (Some(example), _) => (Answer::Yes, format!("{}, nearest: {example}", feature.configurations.noun())),
                (None, blocked) => (Answer::No, blocked.as_ref().map_or_else(String::new, why_blocked)),
            }
        }
        Question::Reachable(Target::Hazard(index)) => {
            let when = engine.compiled.hazards[*index];
            accepted(engine, when)
        }
        Question::Unreachable(target) => {
            let when = match target {
                Target::Feature(index) => engine.compiled.runs[*index],
                Target::Hazard(index) => engine.compiled.hazards[*index],
            };
            let held_back = engine.possible(&[engine.compiled.space, when]);
            let fine = if held_back {
                "the gates reject every configuration that would reach it"
            } else {
                "no configuration reaches it, with or without the gates"
            };
            none_accepted(engine, when, fine)
        }
        Question::Accepts(cond) => {
            let when = engine.compiled.condition(cond, &mut engine.formulas);
            accepted(engine, when)
        }
        Question::Rejects(cond) => {
            let when = engine.compiled.condition(cond, &mut engine.formulas);
            if !engine.possible(&[engine.compiled.space, when]) {
                return (
                    Answer::Vacuous,
                    "no configuration satisfies this condition, so nothing is there to reject".to_owned(),
                );
            }
            none_accepted(engine, when, "every such configuration is rejected")
        }
        Question::NoNewRejectionsWithout(feature) => {
            let Some(baseline) = baseline else {
                return (Answer::NotChecked, "this needs a baseline (--baseline OLD)".to_owned());
            };
            match compare::rejected_without(engine.file, baseline, *feature) {
                (_, _, false) => {
                    (Answer::Vacuous, "the baseline accepts nothing that does not ask for the feature".to_owned())
                }
                (None, _, true) => {
                    (Answer::Yes, "every configuration that does not ask for it is accepted as before".to_owned())
                }
                (Some(example), count, true) => {
                    (Answer::No, format!("newly rejected: {}, nearest: {example}", count.noun()))
                }
            }
        }
    }
}

fn accepted(engine: &mut Engine<'_>, when: Id) -> (Answer, String) {
    let parts = [engine.compiled.accepted, when];
    match engine.nearest(&parts) {
        Some(example) => (Answer::Yes, format!("{}, nearest: {example}", engine.count(&parts).noun())),
        None => (Answer::No, engine.blocked(when).as_ref().map_or_else(String::new, why_blocked)),
    }
}

fn none_accepted(engine: &mut Engine<'_>, when: Id, fine: &str) -> (Answer, String) {
    let parts = [engine.compiled.accepted, when];
    match engine.nearest(&parts) {
        Some(example) => (Answer::No, format!("accepted: {}, nearest: {example}", engine.count(&parts).noun())),
        None if !engine.possible(&[engine.compiled.accepted]) => {
            (Answer::Vacuous, "the gates accept nothing at all".to_owned())
        }
        None => (Answer::Yes, fine.to_owned()),
    }
}

/// The smallest conflicting sets in a sentence.
fn why_blocked(blocked: &Blocked) -> String {
    match blocked.sets.as_slice() {
        [] => String::new(),
        [only] if only.is_empty() => "its condition cannot hold, with or without the gates".to_owned(),
        [first, rest @ ..] => {
            let names = listing(first.iter().map(|gate| format!("`{}`", gate.name)));
            let others = match rest.len() {
                0 => String::new(),
                more => format!(" (and {more} other sets of this size)"),
            };
            format!("rejected by {names}{others}")
        }
    }
}
