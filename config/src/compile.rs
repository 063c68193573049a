//! A gate file as formulas: resolvers run in order, gates look at their stage, the rest looks at the end.
//!
//! The variables are the values that were *asked for*. After each resolver the value in force of an option is a
//! formula over them, so nothing is enumerated and a resolver costs one node for each value it can change.

use std::collections::BTreeMap;

use crate::formula::{Choice, Formulas, Id, Universe};
use crate::model::{Cond, GateFile, Var};

/// The value in force of each option of the file: one formula for each of its values.
type Env = Vec<Vec<Id>>;

/// The formulas of one file.
pub(crate) struct Compiled {
    /// The configuration can be stated in this file and its assumptions hold.
    pub space: Id,
    /// Each gate rejects.
    pub rejects: Vec<Id>,
    /// In the space and rejected by no gate.
    pub accepted: Id,
    /// Each resolver sets something.
    pub fires: Vec<Id>,
    /// Each option as asked for: one formula for each value of the file.
    pub asked: Env,
    /// Each option after the last resolver.
    pub resolved: Env,
    /// Running the resolvers once more would change the option.
    pub unsettled: Vec<Id>,
    /// Each feature's code runs.
    pub runs: Vec<Id>,
    /// Each feature is asked for.
    pub wanted: Vec<Id>,
    /// Each unsafe path runs.
    pub hazards: Vec<Id>,
}

/// The universe of one file, or of a file and its baseline: options and values of both, the first file's order first.
pub(crate) fn universe(file: &GateFile, baseline: Option<&GateFile>) -> Universe {
    let mut universe: Universe = Vec::new();
    for option in std::iter::once(file).chain(baseline).flat_map(|file| &file.options) {
        match universe.iter_mut().find(|choice| choice.name == option.name) {
            Some(choice) => {
                let new: Vec<_> =
                    option.values.iter().filter(|value| !choice.values.contains(value)).cloned().collect();
                choice.values.extend(new);
            }
            None => universe.push(Choice {
                name: option.name.clone(),
                values: option.values.clone(),
                default: option.default,
            }),
        }
    }
    universe
}

/// Compiles `file` over `universe`, which contains all its options and values.
pub(crate) fn compile(file: &GateFile, universe: &Universe, formulas: &mut Formulas) -> Compiled {
    let asked = asked_for(file, universe, formulas);
    let mut space = vec![statable(file, universe, formulas)];
    for assumption in &file.assumptions {
        space.push(condition(&assumption.holds, &asked, &asked, formulas));
    }
    let space = formulas.all(space);
    let mut stages = vec![asked.clone()];
    let mut fires = Vec::new();
    for resolver in &file.resolvers {
        let env = &stages[stages.len() - 1];
        let (next, when) = step(resolver, env, &asked, formulas);
        fires.push(when);
        stages.push(next);
    }
    let rejects: Vec<Id> =
        file.gates.iter().map(|gate| condition(&gate.rejects, &stages[gate.stage], &asked, formulas)).collect();
    let resolved = stages.swap_remove(stages.len() - 1);
    let mut again = resolved.clone();
    for resolver in &file.resolvers {
        again = step(resolver, &again, &asked, formulas).0;
    }
    let unsettled = resolved
        .iter()
        .zip(&again)
        .map(|(once, twice)| {
            let changed: Vec<Id> = once.iter().zip(twice).map(|(a, b)| formulas.differ(*a, *b)).collect();
            formulas.any(changed)
        })
        .collect();
    let mut accepted = vec![space];
    accepted.extend(rejects.iter().map(|reject| formulas.not(*reject)));
    let mut at_end = |cond: &Cond| condition(cond, &resolved, &asked, formulas);
    let runs = file.features.iter().map(|feature| at_end(&feature.runs)).collect();
    let wanted = file.features.iter().map(|feature| at_end(&feature.wanted)).collect();
    let hazards = file.hazards.iter().map(|hazard| at_end(&hazard.when)).collect();
    Compiled {
        space,
        rejects,
        accepted: formulas.all(accepted),
        fires,
        asked,
        resolved,
        unsettled,
        runs,
        wanted,
        hazards,
    }
}

impl Compiled {
    /// A condition over the values in force at the end.
    pub fn condition(&self, cond: &Cond, formulas: &mut Formulas) -> Id {
        condition(cond, &self.resolved, &self.asked, formulas)
    }
}

fn asked_for(file: &GateFile, universe: &Universe, formulas: &mut Formulas) -> Env {
    file.options
        .iter()
        .map(|option| {
            let place = universe.iter().position(|choice| choice.name == option.name);
            option
                .values
                .iter()
                .map(|value| {
                    let index = place.and_then(|at| universe[at].values.iter().position(|known| known == value));
                    match (place, index) {
                        (Some(at), Some(index)) => formulas.is(at, index),
                        _ => Formulas::FALSE,
                    }
                })
                .collect()
        })
        .collect()
}

/// The configuration uses no option or value that the file does not have. An option that the file does not have
/// counts as not used while it is at the other file's default.
fn statable(file: &GateFile, universe: &Universe, formulas: &mut Formulas) -> Id {
    let mut parts = Vec::new();
    for (index, choice) in universe.iter().enumerate() {
        match file.options.iter().find(|option| option.name == choice.name) {
            Some(option) => {
                for (value_index, value) in choice.values.iter().enumerate() {
                    if !option.values.contains(value) {
                        let is = formulas.is(index, value_index);
                        parts.push(formulas.not(is));
                    }
                }
            }
            None => parts.push(formulas.is(index, choice.default)),
        }
    }
    formulas.all(parts)
}

/// One resolver: the values in force after it, and when it sets anything.
fn step(resolver: &crate::model::Resolver, env: &Env, asked: &Env, formulas: &mut Formulas) -> (Env, Id) {
    let when = condition(&resolver.when, env, asked, formulas);
    let mut next = env.clone();
    for (option, set) in &resolver.set {
        for (value, formula) in next[*option].iter_mut().enumerate() {
            *formula = formulas.choose(when, Id::from(value == *set), *formula);
        }
    }
    (next, when)
}

fn condition(cond: &Cond, env: &Env, asked: &Env, formulas: &mut Formulas) -> Id {
    match cond {
        Cond::Const(value) => Id::from(*value),
        Cond::Test(Var { option, asked: of_asked }, values) => {
            let source = if *of_asked { asked } else { env };
            let parts: Vec<Id> = values.iter().map(|value| source[*option][*value]).collect();
            // All values of an option are no test at all.
            if parts.len() == source[*option].len() { Formulas::TRUE } else { formulas.any(parts) }
        }
        Cond::Not(inner) => {
            let inner = condition(inner, env, asked, formulas);
            formulas.not(inner)
        }
        Cond::All(parts) => {
            let parts: Vec<Id> = parts.iter().map(|part| condition(part, env, asked, formulas)).collect();
            formulas.all(parts)
        }
        Cond::Any(parts) => {
            let parts: Vec<Id> = parts.iter().map(|part| condition(part, env, asked, formulas)).collect();
            formulas.any(parts)
        }
    }
}

/// The resolvers that depend on each other in a circle, if any: the options on the circle, in the file's order.
///
/// An option depends on what is read by the resolvers that set it. Reading the option one sets is no circle: that is
/// what "auto" does.
pub(crate) fn circles(file: &GateFile) -> Vec<Vec<usize>> {
    let mut reads: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for resolver in &file.resolvers {
        for (set, _) in &resolver.set {
            resolver.when.reads(&mut |var| {
                // What was asked for never changes, so it closes no circle.
                if var.option != *set && !var.asked {
                    reads.entry(*set).or_default().push(var.option);
                }
            });
        }
    }
    let reached: Vec<Vec<bool>> = (0..file.options.len())
        .map(|start| {
            let mut seen = vec![false; file.options.len()];
            let mut open = vec![start];
            while let Some(option) = open.pop() {
                for next in reads.get(&option).into_iter().flatten() {
                    if !std::mem::replace(&mut seen[*next], true) {
                        open.push(*next);
                    }
                }
            }
            seen
        })
        .collect();
    let mut circles: Vec<Vec<usize>> = Vec::new();
    for (option, onward) in reached.iter().enumerate() {
        let circle: Vec<usize> = (0..reached.len()).filter(|other| onward[*other] && reached[*other][option]).collect();
        if circle.first() == Some(&option) {
            circles.push(circle);
        }
    }
    circles
}
