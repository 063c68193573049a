//! This file against an older one: who is rejected now, who is accepted now.
//!
//! Both files are compiled over one universe. An option that one file does not have counts as unused while it is at
//! the other's default, so an old configuration and the same configuration with the new options untouched are one.

use std::collections::BTreeMap;

use crate::compile::{Compiled, compile, universe};
use crate::cover::{self, Cube};
use crate::engine::{Engine, named};
use crate::formula::{Formulas, Id};
use crate::model::GateFile;
use crate::report::{Change, ChangedDefault, Common, Comparison, Count, Example, Group, Named};

/// Both files over one universe.
pub(crate) struct Both<'a> {
    pub engine: Engine<'a>,
    pub old: Compiled,
    /// Configurations that both files can state.
    shared: Id,
}

pub(crate) fn both<'a>(file: &'a GateFile, baseline: &GateFile) -> Both<'a> {
    let (mut engine, old) = Engine::new(file, universe(file, Some(baseline)), |universe, formulas| {
        let old = compile(baseline, universe, formulas);
        let groups = old.rejects.clone();
        (old, groups)
    });
    let shared = engine.formulas.all([engine.compiled.space, old.space]);
    Both { engine, old, shared }
}

impl Both<'_> {
    /// Accepted before and rejected now.
    pub fn newly_rejected(&mut self) -> Id {
        let rejected = self.engine.formulas.not(self.engine.compiled.accepted);
        self.engine.formulas.all([self.shared, self.old.accepted, rejected])
    }

    fn newly_accepted(&mut self) -> Id {
        let rejected = self.engine.formulas.not(self.old.accepted);
        self.engine.formulas.all([self.shared, self.engine.compiled.accepted, rejected])
    }

    fn change(&mut self, inside: Id, gates: &[(Named, Id)]) -> Change {
        let engine = &mut self.engine;
        let example = engine.nearest(&[inside]);
        if example.is_none() {
            return Change {
                configurations: Count(Some("0".to_owned())),
                example,
                groups: Vec::new(),
                fewest: true,
                complete: true,
            };
        }
        let space = engine.sat.literal(&engine.formulas, self.shared);
        let literal = engine.sat.literal(&engine.formulas, inside);
        let cover = cover::cover(&mut engine.sat, &engine.universe, space, literal);
        let groups = cover.cubes.iter().map(|cube| group(engine, inside, cube, gates)).collect();
        Change {
            configurations: engine.count(&[inside]),
            example,
            groups,
            fewest: cover.fewest,
            complete: cover.complete,
        }
    }

    /// Configurations that leave every changed default alone: compared default with default, not value with value.
    fn changed_defaults(&mut self, baseline: &GateFile) -> Vec<ChangedDefault> {
        let engine = &mut self.engine;
        let (mut before, mut after, mut changed) = (Vec::new(), Vec::new(), Vec::new());
        for option in &engine.file.options {
            let Some(old) = baseline.options.iter().find(|old| old.name == option.name) else {
                continue;
            };
            let (old_default, new_default) = (&old.values[old.default], &option.values[option.default]);
            let place = engine.universe.iter().position(|choice| choice.name == option.name);
            let Some(place) = place.filter(|_| old_default != new_default) else {
                continue;
            };
            let index_of = |value| engine.universe[place].values.iter().position(|known| known == value);
            if let (Some(old_index), Some(new_index)) = (index_of(old_default), index_of(new_default)) {
                before.push((place, old_index));
                after.push((place, new_index));
                changed.push((option.name.clone(), old_default.clone(), new_default.clone()));
            }
        }
        if changed.is_empty() {
            return Vec::new();
        }
        let was = engine.formulas.with(self.old.accepted, &before, &mut BTreeMap::new());
        let is = engine.formulas.with(engine.compiled.accepted, &after, &mut BTreeMap::new());
        let is_not = engine.formulas.not(is);
        // The changed options have no influence any more; one value keeps them from being counted.
        let mut parts = vec![was, is_not];
        parts.extend(after.iter().map(|(option, value)| engine.formulas.is(*option, *value)));
        let example = engine.nearest(&parts);
        let newly_rejected = engine.count(&parts);
        changed
            .into_iter()
            .map(|(option, before, after)| ChangedDefault {
                option,
                before,
                after,
                newly_rejected: newly_rejected.clone(),
                example: example.clone(),
            })
            .collect()
    }
}

/// Compares `file` with `baseline`.
pub(crate) fn compare(file: &GateFile, baseline: &GateFile) -> Comparison {
    let mut both = both(file, baseline);
    let is_new = |name: &str| !baseline.features.iter().any(|old| old.name == name);
    let new: Vec<usize> = (0..file.features.len()).filter(|index| is_new(&file.features[*index].name)).collect();
    let wanted: Vec<Id> = new.iter().map(|feature| both.engine.compiled.wanted[*feature]).collect();
    let wants_new = both.engine.formulas.any(wanted);
    let wants_none = both.engine.formulas.not(wants_new);
    let rejected = both.newly_rejected();
    let without = both.engine.formulas.all([rejected, wants_none]);
    let with = both.engine.formulas.all([rejected, wants_new]);
    let accepted = both.newly_accepted();
    let new_gates = with_names(file, &both.engine.compiled);
    let old_gates = with_names(baseline, &both.old);
    let missing_in = |there: &GateFile, here: &GateFile| -> Vec<String> {
        let names = here.options.iter().map(|option| &option.name);
        names.filter(|name| !there.options.iter().any(|other| other.name == **name)).cloned().collect()
    };
    Comparison {
        baseline: format!("{} ({})", baseline.name, baseline.file_name()),
        new_options: missing_in(baseline, file),
        gone_options: missing_in(file, baseline),
        new_features: new.iter().map(|feature| file.features[*feature].name.clone()).collect(),
        newly_rejected: both.change(without, &new_gates),
        newly_rejected_with_feature: both.change(with, &new_gates),
        newly_accepted: both.change(accepted, &old_gates),
        changed_defaults: both.changed_defaults(baseline),
    }
}

/// The nearest configuration that is newly rejected and does not ask for the feature, how many there are, and whether
/// there was anything to reject.
pub(crate) fn rejected_without(file: &GateFile, baseline: &GateFile, feature: usize) -> (Option<Example>, Count, bool) {
    let mut both = both(file, baseline);
    let unwanted = both.engine.formulas.not(both.engine.compiled.wanted[feature]);
    let rejected = both.newly_rejected();
    let parts = [rejected, unwanted];
    let example = both.engine.nearest(&parts);
    let count = both.engine.count(&parts);
    let anything = both.engine.possible(&[both.shared, both.old.accepted, unwanted]);
    (example, count, anything)
}

fn with_names(file: &GateFile, compiled: &Compiled) -> Vec<(Named, Id)> {
    file.gates
        .iter()
        .zip(&compiled.rejects)
        .map(|(gate, reject)| (named(&gate.name, gate.source.as_ref()), *reject))
        .collect()
}

fn group(engine: &mut Engine<'_>, inside: Id, cube: &Cube, gates: &[(Named, Id)]) -> Group {
    let described = cover::formula(&mut engine.formulas, &engine.universe, cube);
    let mut responsible = Vec::new();
    for (gate, reject) in gates {
        if *reject != Formulas::FALSE && engine.possible(&[inside, described, *reject]) {
            responsible.push(gate.clone());
        }
    }
    let described_options =
        cube.iter().zip(&engine.universe).filter(|(values, choice)| values.len() < choice.values.len()).map(
            |(values, choice)| Common {
                option: choice.name.clone(),
                values: values.iter().map(|value| choice.values[*value].clone()).collect(),
            },
        );
    let description = described_options.collect();
    Group { description, configurations: engine.count(&[inside, described]), gates: responsible }
}
