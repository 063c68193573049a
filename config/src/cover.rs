//! Describes a set of configurations by few descriptions, each "these options have these values".
//!
//! A description starts as the uncovered configuration nearest to the defaults and is widened, option by option, as
//! long as it stays inside the set; then every description that the others make superfluous is dropped. Where there
//! are as many configurations of which no two fit into one description, fewer descriptions cannot do, and the cover
//! says so.

use std::collections::BTreeSet;

use batsat::Lit;

use crate::formula::{Config, Formulas, Id, Universe};
use crate::sat::Sat;

/// The most descriptions of one set.
const MAX_DESCRIPTIONS: usize = 32;
/// The configurations tried for each description when proving that no fewer will do.
const MAX_WITNESSES: usize = 8;

/// The allowed values of each option.
pub(crate) type Cube = Vec<BTreeSet<usize>>;

/// A cover of a set.
pub(crate) struct Cover {
    pub cubes: Vec<Cube>,
    /// No fewer descriptions cover the set (proved).
    pub fewest: bool,
    /// Every configuration of the set is in a description.
    pub complete: bool,
}

/// Covers the configurations of `space` that make `inside` true. What is outside `space` may be described as well:
/// it does not exist.
pub(crate) fn cover(sat: &mut Sat, universe: &Universe, space: Lit, inside: Lit) -> Cover {
    let mut builder = Builder { sat, universe, space, inside };
    let mut cubes: Vec<Cube> = Vec::new();
    let mut literals: Vec<Lit> = Vec::new();
    let mut complete = true;
    while let Some(config) = builder.uncovered(&literals) {
        if cubes.len() == MAX_DESCRIPTIONS {
            complete = false;
            break;
        }
        let cube = builder.widen(&config);
        literals.push(builder.literal(&cube));
        cubes.push(cube);
    }
    if complete {
        for index in (0..cubes.len()).rev() {
            let mut others = literals.clone();
            others.remove(index);
            if builder.uncovered(&others).is_none() {
                cubes.remove(index);
                literals = others;
            }
        }
    }
    let fewest = complete && builder.independent(&literals);
    Cover { cubes, fewest, complete }
}

/// The formula of a description.
pub(crate) fn formula(formulas: &mut Formulas, universe: &Universe, cube: &Cube) -> Id {
    let mut parts = Vec::new();
    for (option, values) in cube.iter().enumerate() {
        if values.len() < universe[option].values.len() {
            let choices: Vec<Id> = values.iter().map(|value| formulas.is(option, *value)).collect();
            parts.push(formulas.any(choices));
        }
    }
    formulas.all(parts)
}

struct Builder<'a> {
    sat: &'a mut Sat,
    universe: &'a Universe,
    space: Lit,
    inside: Lit,
}

impl Builder<'_> {
    fn uncovered(&mut self, covered: &[Lit]) -> Option<Config> {
        let mut assumed = vec![self.space, self.inside];
        assumed.extend(covered.iter().map(|literal| !*literal));
        self.sat.nearest(&assumed)
    }

    /// The values that a description excludes, as literals that must be false.
    fn excluded(&self, cube: &Cube) -> Vec<Lit> {
        let mut literals = Vec::new();
        for (option, values) in cube.iter().enumerate() {
            let all = 0..self.universe[option].values.len();
            literals.extend(all.filter(|value| !values.contains(value)).map(|value| !self.sat.value(option, value)));
        }
        literals
    }

    fn literal(&mut self, cube: &Cube) -> Lit {
        let excluded = self.excluded(cube);
        self.sat.conjunction(&excluded)
    }

    /// Whether everything that a description describes is in the set, or does not exist.
    fn fits(&mut self, cube: &Cube) -> bool {
        let mut assumed = self.excluded(cube);
        assumed.push(self.space);
        assumed.push(!self.inside);
        !self.sat.possible(&assumed)
    }

    /// The widest of the descriptions that different orders of widening lead to: fewest options mentioned first.
    fn widen(&mut self, config: &Config) -> Cube {
        let options = 0..config.len();
        let at_default = |option: &usize| config[*option] == self.universe[*option].default;
        let (same, away): (Vec<usize>, Vec<usize>) = options.clone().partition(at_default);
        let orders = [[same, away].concat(), options.clone().collect(), options.rev().collect::<Vec<_>>()];
        let mut best: Option<((usize, usize), Cube)> = None;
        for order in orders {
            let cube = self.widen_in(config, &order);
            let free =
                cube.iter().zip(self.universe).filter(|(values, choice)| values.len() == choice.values.len()).count();
            let score = (free, cube.iter().map(BTreeSet::len).sum());
            if best.as_ref().is_none_or(|(top, _)| score > *top) {
                best = Some((score, cube));
            }
        }
        best.map_or_else(Vec::new, |(_, cube)| cube)
    }

    fn widen_in(&mut self, config: &Config, order: &[usize]) -> Cube {
        let mut cube: Cube = config.iter().map(|value| BTreeSet::from([*value])).collect();
        for option in order {
            let all: BTreeSet<usize> = (0..self.universe[*option].values.len()).collect();
            if cube[*option].len() == all.len() {
                continue;
            }
            let narrow = std::mem::replace(&mut cube[*option], all);
            if self.fits(&cube) {
                self.free_unneeded(&mut cube);
            } else {
                cube[*option] = narrow;
            }
        }
        for option in order {
            let values = self.universe[*option].values.len();
            // An option with two values has one wider choice, and that was tried.
            if values == 2 || cube[*option].len() == values {
                continue;
            }
            for value in 0..values {
                if cube[*option].insert(value) && !self.fits(&cube) {
                    cube[*option].remove(&value);
                }
            }
        }
        cube
    }

    /// Whether each description has a configuration of its own such that no two of these fit into one description.
    fn independent(&mut self, cubes: &[Lit]) -> bool {
        let mut witnesses: Vec<Config> = Vec::new();
        'cubes: for index in 0..cubes.len() {
            let mut others = cubes.to_vec();
            let own = others.remove(index);
            let mut refused: Vec<Lit> = vec![!own];
            for _ in 0..MAX_WITNESSES {
                let mut avoid = others.clone();
                avoid.extend(&refused);
                let Some(config) = self.uncovered(&avoid) else {
                    return false;
                };
                if witnesses.iter().all(|witness| !self.joinable(witness, &config)) {
                    witnesses.push(config);
                    continue 'cubes;
                }
                let point: Cube = config.iter().map(|value| BTreeSet::from([*value])).collect();
                refused.push(self.literal(&point));
            }
            return false;
        }
        true
    }

    /// Frees every option that the last proof of [`fits`](Self::fits) did not need: the same proof still holds.
    fn free_unneeded(&self, cube: &mut Cube) {
        for (option, values) in cube.iter_mut().enumerate() {
            let all = 0..self.universe[option].values.len();
            let needed =
                all.clone().any(|value| !values.contains(&value) && self.sat.needed(self.sat.value(option, value)));
            if !needed {
                values.extend(all);
            }
        }
    }

    fn joinable(&mut self, left: &Config, right: &Config) -> bool {
        let cube: Cube = left.iter().zip(right).map(|(a, b)| BTreeSet::from([*a, *b])).collect();
        self.fits(&cube)
    }
}
