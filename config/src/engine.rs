//! One file over one universe, with a solver and a counter: what every question is asked of.

use batsat::Lit;

use crate::compile::{Compiled, compile};
use crate::conflicts;
use crate::count::Counter;
use crate::formula::{Config, Formulas, Id, Universe};
use crate::model::GateFile;
use crate::report::{Blocked, Count, Dropped, Example, Named, Setting};
use crate::sat::Sat;

/// The most examples for one finding.
const MAX_EXAMPLES: usize = 3;

pub(crate) struct Engine<'a> {
    pub file: &'a GateFile,
    pub universe: Universe,
    pub formulas: Formulas,
    pub sat: Sat,
    pub compiled: Compiled,
    counter: Option<Counter>,
}

impl<'a> Engine<'a> {
    /// Compiles `file` over `universe`. `also` adds formulas of a baseline, whose gates then count when the options
    /// are put in order.
    pub fn new<T>(
        file: &'a GateFile,
        universe: Universe,
        also: impl FnOnce(&Universe, &mut Formulas) -> (T, Vec<Id>),
    ) -> (Self, T) {
        let mut formulas = Formulas::new();
        let compiled = compile(file, &universe, &mut formulas);
        let (extra, extra_groups) = also(&universe, &mut formulas);
        let mut groups = compiled.rejects.clone();
        groups.extend(compiled.runs.iter().chain(&compiled.hazards).chain(&extra_groups));
        let counter = Counter::new(&universe, &formulas, &groups);
        let engine = Self { file, sat: Sat::new(&universe), universe, formulas, compiled, counter };
        (engine, extra)
    }

    /// How many configurations make all the formulas hold.
    pub fn count(&mut self, parts: &[Id]) -> Count {
        let whole = self.formulas.all(parts.iter().copied());
        Count(self.counter.as_mut().and_then(|counter| counter.count(&self.formulas, whole)))
    }

    /// Tells the counter that `after` is `before` with these settings: restricting a diagram is cheaper than a new one.
    pub fn derived(&mut self, after: Id, before: Id, settings: &[(usize, usize)]) {
        if let Some(counter) = &mut self.counter {
            counter.derived(&self.formulas, after, before, settings);
        }
    }

    /// Whether a configuration makes all the formulas hold.
    pub fn possible(&mut self, parts: &[Id]) -> bool {
        self.sat.satisfiable(&self.formulas, parts)
    }

    /// The configuration nearest to the defaults that makes all the formulas hold.
    pub fn nearest(&mut self, parts: &[Id]) -> Option<Example> {
        let assumed = self.sat.assume(&self.formulas, parts);
        self.sat.nearest(&assumed).map(|config| self.example(&config))
    }

    /// The nearest configurations that make all the formulas hold, none of them an extension of an earlier one.
    pub fn several(&mut self, parts: &[Id]) -> Vec<Example> {
        let mut assumed = self.sat.assume(&self.formulas, parts);
        let mut examples = Vec::new();
        while examples.len() < MAX_EXAMPLES {
            let Some(config) = self.sat.nearest(&assumed) else {
                break;
            };
            let away: Vec<Lit> = config
                .iter()
                .enumerate()
                .filter(|(option, value)| **value != self.universe[*option].default)
                .map(|(option, value)| self.sat.value(option, *value))
                .collect();
            let extends = self.sat.conjunction(&away);
            assumed.push(!extends);
            examples.push(self.example(&config));
        }
        examples
    }

    pub fn example(&self, config: &Config) -> Example {
        let away = config.iter().zip(&self.universe).filter(|(value, choice)| **value != choice.default);
        Example(
            away.map(|(value, choice)| Setting { option: choice.name.clone(), value: choice.values[*value].clone() })
                .collect(),
        )
    }

    pub fn gate(&self, gate: usize) -> Named {
        let gate = &self.file.gates[gate];
        named(&gate.name, gate.source.as_ref())
    }

    /// The smallest sets of gates (all but `except`) that leave nothing of the formulas.
    pub fn conflicts(&mut self, parts: &[Id], except: Option<usize>, patience: usize) -> Option<conflicts::Conflicts> {
        let assumed = self.sat.assume(&self.formulas, parts);
        let gates: Vec<(usize, Lit)> = (0..self.compiled.rejects.len())
            .filter(|gate| Some(*gate) != except)
            .map(|gate| (gate, self.sat.literal(&self.formulas, self.compiled.rejects[gate])))
            .collect();
        conflicts::smallest(&mut self.sat, &assumed, &gates, patience)
    }

    /// Why no accepted configuration makes the formula hold; `None` if one does.
    pub fn blocked(&mut self, formula: Id) -> Option<Blocked> {
        let space = self.compiled.space;
        let found = self.conflicts(&[space, formula], None, conflicts::THOROUGH)?;
        let mut involved: Vec<usize> = found.sets.iter().flatten().copied().collect();
        involved.sort_unstable();
        involved.dedup();
        let dropped = involved
            .into_iter()
            .map(|gate| {
                let mut parts = vec![space, formula];
                for (other, reject) in self.compiled.rejects.iter().enumerate() {
                    if other != gate {
                        parts.push(self.formulas.not(*reject));
                    }
                }
                let example = self.nearest(&parts);
                Dropped {
                    gate: self.file.gates[gate].name.clone(),
                    configurations: if example.is_some() { self.count(&parts) } else { Count(Some("0".to_owned())) },
                    example,
                }
            })
            .collect();
        Some(Blocked {
            sets: found.sets.iter().map(|set| set.iter().map(|gate| self.gate(*gate)).collect()).collect(),
            smallest: found.smallest,
            complete: found.complete,
            dropped,
        })
    }
}

pub(crate) fn named(name: &str, source: Option<&String>) -> Named {
    Named { name: name.to_owned(), source: source.cloned() }
}
