//! Counts the configurations of a formula with binary decision diagrams.
//!
//! Only counting happens here; whether something is possible is [`sat`](crate::sat)'s to say, so a diagram that grows
//! too large costs a number in the report and never an answer. The limit is on the size of each (canonical) result,
//! which makes "not counted" as reproducible as a count.

use std::collections::BTreeMap;

use oxidd::bdd::{BDDFunction, BDDManagerRef};
use oxidd::util::num::Natural;
use oxidd::util::{AllocResult, SatCountCache};
use oxidd::{BooleanFunction, Function, Manager, ManagerRef};

use crate::formula::{Formulas, Id, Node, Universe};
use crate::order;

/// The most nodes of one diagram.
const MAX_NODES: usize = 1 << 20;
/// The most nodes of all results together, small diagrams aside: seconds of work.
const MAX_WORK: usize = 8 << 20;
/// While all diagrams together have no more nodes than this, nothing is measured.
const SMALL: usize = 1 << 14;

/// A counter over one universe.
pub(crate) struct Counter {
    manager: BDDManagerRef,
    /// For each option, the diagram of each value.
    values: Vec<Vec<BDDFunction>>,
    /// For each option, "exactly one value", and its topmost level.
    domains: Vec<(u32, BDDFunction)>,
    /// For each option, its topmost level.
    levels: Vec<u32>,
    defaults: Vec<usize>,
    variables: u32,
    /// Nodes of the large results so far.
    work: usize,
    done: BTreeMap<Id, Option<BDDFunction>>,
}

impl Counter {
    /// A counter whose variable order keeps the options of each of `groups` together.
    pub fn new(universe: &Universe, formulas: &Formulas, groups: &[Id]) -> Option<Self> {
        let edges: Vec<Vec<usize>> = groups.iter().map(|group| formulas.support(*group)).collect();
        let order = order::arrange(universe.len(), &edges);
        let variables: u32 = universe.iter().map(|choice| variables_of(choice.values.len())).sum();
        // Small universes get small tables: a test makes thousands of counters.
        let capacity = 1usize << (variables + 8).min(23);
        let manager = oxidd::bdd::new_manager(capacity, capacity.min(1 << 19), 1);
        manager.with_manager_exclusive(|manager| manager.add_vars(variables));
        let mut counter = Self {
            manager,
            values: vec![Vec::new(); universe.len()],
            domains: Vec::new(),
            levels: vec![0; universe.len()],
            defaults: universe.iter().map(|choice| choice.default).collect(),
            variables,
            work: 0,
            done: BTreeMap::new(),
        };
        let mut level = 0;
        for option in order {
            let width = variables_of(universe[option].values.len());
            counter.option(option, level, width, universe[option].default).ok()?;
            level += width;
        }
        Some(counter)
    }

    /// One variable for each value but the default, at most one of them true. The default is "none of them".
    fn option(&mut self, option: usize, level: u32, width: u32, default: usize) -> AllocResult<()> {
        let (yes, variables) = self.manager.with_manager_shared(|manager| {
            let variables: AllocResult<Vec<_>> =
                (level..level + width).map(|at| BDDFunction::var(manager, at)).collect();
            Ok((BDDFunction::t(manager), variables?))
        })?;
        let mut none = yes.clone();
        let mut at_most_one = yes;
        for variable in variables.iter().rev() {
            at_most_one = variable.ite(&none, &at_most_one)?;
            none = none.and(&variable.not()?)?;
        }
        let mut values = variables;
        values.insert(default.min(values.len()), none);
        self.values[option] = values;
        self.levels[option] = level;
        self.domains.push((level, at_most_one));
        Ok(())
    }

    /// How many configurations make the formula hold, in decimal; `None` if that takes too large a diagram.
    pub fn count(&mut self, formulas: &Formulas, id: Id) -> Option<String> {
        let diagram = self.diagram(formulas, id)?;
        let whole = self.within_domain(vec![(0, diagram)])?;
        let mut cache = SatCountCache::<Natural, std::hash::BuildHasherDefault<oxidd::util::FxHasher>>::default();
        Some(whole.sat_count(self.variables, &mut cache).to_string())
    }

    /// Builds the diagram of `after`, which is `before` with these settings, by restricting the diagram of `before`.
    pub fn derived(&mut self, formulas: &Formulas, after: Id, before: Id, settings: &[(usize, usize)]) {
        let diagram = match self.diagram(formulas, before) {
            Some(before) => {
                let restricted = self.restrict(&before, settings);
                self.small(restricted)
            }
            None => None,
        };
        self.done.insert(after, diagram);
    }

    fn restrict(&self, diagram: &BDDFunction, settings: &[(usize, usize)]) -> AllocResult<BDDFunction> {
        let mut cube = self.constant(true);
        for (option, value) in settings {
            // Each variable of the option has to be decided, the ones of the other values as well.
            for (other, variable) in self.values[*option].iter().enumerate() {
                if other != self.defaults[*option] {
                    let literal = if other == *value { variable.clone() } else { variable.not()? };
                    cube = cube.and(&literal)?;
                }
            }
        }
        diagram.restrict(&cube)
    }

    fn diagram(&mut self, formulas: &Formulas, id: Id) -> Option<BDDFunction> {
        if let Some(done) = self.done.get(&id) {
            return done.clone();
        }
        let diagram = match formulas.node(id) {
            Node::Const(value) => Some(self.constant(*value)),
            Node::Is(option, value) => self.values.get(*option)?.get(*value).cloned(),
            Node::Not(inner) => self.diagram(formulas, *inner).and_then(|inner| inner.not().ok()),
            Node::All(parts) => self.all(formulas, parts),
            Node::Any(parts) => self.any(formulas, parts),
        };
        self.done.insert(id, diagram.clone());
        diagram
    }

    fn constant(&self, value: bool) -> BDDFunction {
        self.manager.with_manager_shared(
            |manager| {
                if value { BDDFunction::t(manager) } else { BDDFunction::f(manager) }
            },
        )
    }

    fn any(&mut self, formulas: &Formulas, parts: &[Id]) -> Option<BDDFunction> {
        let mut sum = self.constant(false);
        for part in parts {
            let part = self.diagram(formulas, *part)?;
            let next = sum.or(&part);
            sum = self.small(next)?;
        }
        Some(sum)
    }

    fn all(&mut self, formulas: &Formulas, parts: &[Id]) -> Option<BDDFunction> {
        let mut factors = Vec::new();
        for part in parts {
            let support = formulas.support(*part);
            let top = support.iter().map(|option| self.levels[*option]).min().unwrap_or(0);
            factors.push((top, self.diagram(formulas, *part)?));
        }
        self.within_domain(factors)
    }

    /// The product of the factors and all domains, from the bottom of the order up: that keeps what is in between small.
    fn within_domain(&mut self, mut factors: Vec<(u32, BDDFunction)>) -> Option<BDDFunction> {
        factors.extend(self.domains.iter().cloned());
        factors.sort_by_key(|(top, _)| std::cmp::Reverse(*top));
        let mut product = self.constant(true);
        for (_, factor) in factors {
            let next = product.and(&factor);
            product = self.small(next)?;
        }
        Some(product)
    }

    /// Gives up on a diagram that is too large, and on all large ones when they have cost too much.
    fn small(&mut self, diagram: AllocResult<BDDFunction>) -> Option<BDDFunction> {
        let diagram = diagram.ok()?;
        let all = self.manager.with_manager_shared(|manager| manager.num_inner_nodes());
        if all <= SMALL {
            return Some(diagram);
        }
        let nodes = diagram.node_count();
        if nodes > SMALL {
            self.work = self.work.saturating_add(nodes);
        }
        if all > 2 * MAX_NODES {
            // Dead nodes go before they can make a later operation run out of room.
            self.manager.with_manager_shared(|manager| manager.gc());
        }
        (nodes <= MAX_NODES && (nodes <= SMALL || self.work <= MAX_WORK)).then_some(diagram)
    }
}

fn variables_of(values: usize) -> u32 {
    u32::try_from(values.saturating_sub(1)).unwrap_or(u32::MAX)
}
