//! Decides formulas, and finds the configuration nearest to the defaults, with a SAT solver.
//!
//! One incremental solver serves a whole analysis: a formula becomes clauses once (Tseitin), every question is a set
//! of assumed literals. The solver draws no random numbers, so the same questions give the same answers; everything
//! that is *shown* is made canonical on top of that (nearest first, then in the order of the file).

use batsat::{BasicSolver, Lit, SolverInterface, Var, lbool};

use crate::formula::{Config, Formulas, Id, Node, Universe};

/// An incremental solver over one universe.
pub(crate) struct Sat {
    solver: BasicSolver,
    /// For each option, the literal of each value.
    values: Vec<Vec<Lit>>,
    defaults: Vec<usize>,
    /// The literal of each formula that has become clauses.
    literals: Vec<Option<Lit>>,
    always: Lit,
    /// `counter[k]` is forced when more than `k` options are away from their defaults.
    counter: Vec<Lit>,
}

impl Sat {
    pub fn new(universe: &Universe) -> Self {
        let mut solver = BasicSolver::default();
        let always = Lit::new(solver.new_var_default(), true);
        let mut sat = Self {
            solver,
            values: Vec::new(),
            defaults: universe.iter().map(|choice| choice.default).collect(),
            literals: Vec::new(),
            always,
            counter: Vec::new(),
        };
        sat.clause(&[always]);
        for choice in universe {
            let literals = sat.option(choice.values.len());
            sat.values.push(literals);
        }
        sat
    }

    /// One literal for each value, exactly one of them true.
    fn option(&mut self, values: usize) -> Vec<Lit> {
        if values == 2 {
            let first = self.fresh();
            return vec![first, !first];
        }
        let literals: Vec<Lit> = (0..values).map(|_| self.fresh()).collect();
        self.clause(&literals);
        for (index, left) in literals.iter().enumerate() {
            for right in &literals[index + 1..] {
                self.clause(&[!*left, !*right]);
            }
        }
        literals
    }

    fn fresh(&mut self) -> Lit {
        let var: Var = self.solver.new_var_default();
        Lit::new(var, true)
    }

    fn clause(&mut self, literals: &[Lit]) {
        self.solver.add_clause_reuse(&mut literals.to_vec());
    }

    /// The literal that is true exactly when the formula holds.
    pub fn literal(&mut self, formulas: &Formulas, id: Id) -> Lit {
        if let Some(Some(literal)) = self.literals.get(id) {
            return *literal;
        }
        let literal = match formulas.node(id) {
            Node::Const(value) => {
                if *value {
                    self.always
                } else {
                    !self.always
                }
            }
            Node::Is(option, value) => self.values[*option][*value],
            Node::Not(inner) => !self.literal(formulas, *inner),
            Node::All(parts) => {
                let parts: Vec<Lit> = parts.iter().map(|part| self.literal(formulas, *part)).collect();
                self.conjunction(&parts)
            }
            Node::Any(parts) => {
                let parts: Vec<Lit> = parts.iter().map(|part| !self.literal(formulas, *part)).collect();
                !self.conjunction(&parts)
            }
        };
        if self.literals.len() <= id {
            self.literals.resize(id + 1, None);
        }
        self.literals[id] = Some(literal);
        literal
    }

    /// A literal that is true exactly when all `parts` are.
    pub fn conjunction(&mut self, parts: &[Lit]) -> Lit {
        let whole = self.fresh();
        let mut long = vec![whole];
        for part in parts {
            self.clause(&[!whole, *part]);
            long.push(!*part);
        }
        self.clause(&long);
        whole
    }

    /// The literal for "the option was asked to have the value".
    pub fn value(&self, option: usize, value: usize) -> Lit {
        self.values[option][value]
    }

    /// Whether all literals can be true at once.
    pub fn possible(&mut self, assumed: &[Lit]) -> bool {
        self.solver.solve_limited(assumed) == lbool::TRUE
    }

    /// Whether the last refusal of [`possible`](Self::possible) needed the literal.
    pub fn needed(&self, literal: Lit) -> bool {
        self.solver.unsat_core_contains_var(literal.var())
    }

    /// Whether all formulas can hold at once.
    pub fn satisfiable(&mut self, formulas: &Formulas, parts: &[Id]) -> bool {
        let assumed = self.assume(formulas, parts);
        self.possible(&assumed)
    }

    pub fn assume(&mut self, formulas: &Formulas, parts: &[Id]) -> Vec<Lit> {
        parts.iter().map(|part| self.literal(formulas, *part)).collect()
    }

    /// Whether the last model makes a literal true.
    pub fn modelled(&self, literal: Lit) -> bool {
        self.solver.value_lit(literal) == lbool::TRUE
    }

    /// The last model's configuration.
    pub fn config(&self) -> Config {
        self.values
            .iter()
            .map(|literals| literals.iter().position(|literal| self.modelled(*literal)).unwrap_or(0))
            .collect()
    }

    /// The configuration that makes all literals true and is nearest to the defaults; of several, the one whose
    /// first differing option (in the order of the file) is at its default or has the earlier value.
    pub fn nearest(&mut self, assumed: &[Lit]) -> Option<Config> {
        if !self.possible(assumed) {
            return None;
        }
        let mut best = self.config();
        let mut assumed = assumed.to_vec();
        let away = |config: &Config, defaults: &[usize]| config.iter().zip(defaults).filter(|(v, d)| v != d).count();
        // From the distance of the first model downwards: each success may skip several steps.
        loop {
            let distance = away(&best, &self.defaults);
            if distance == 0 {
                return Some(best);
            }
            let closer = !self.more_than(distance - 1);
            assumed.push(closer);
            if !self.possible(&assumed) {
                assumed.pop();
                assumed.push(!self.more_than(distance));
                break;
            }
            best = self.config();
            assumed.pop();
        }
        for option in 0..self.values.len() {
            let default = self.defaults[option];
            let others = (0..self.values[option].len()).filter(|value| *value != default);
            for value in std::iter::once(default).chain(others) {
                assumed.push(self.values[option][value]);
                if best[option] == value {
                    break;
                }
                if self.possible(&assumed) {
                    best = self.config();
                    break;
                }
                assumed.pop();
            }
        }
        Some(best)
    }

    /// The literal that is forced when more than `bound` options are away from their defaults.
    fn more_than(&mut self, bound: usize) -> Lit {
        if bound >= self.counter.len() {
            let width = (bound + 1).next_power_of_two().max(8).min(self.values.len());
            self.counter = self.sequential_counter(width);
        }
        self.counter.get(bound).copied().unwrap_or(!self.always)
    }

    /// `result[k]` is forced when at least `k + 1` options are away from their defaults.
    fn sequential_counter(&mut self, width: usize) -> Vec<Lit> {
        let mut sums: Vec<Lit> = vec![!self.always; width];
        for option in 0..self.values.len() {
            let away = !self.values[option][self.defaults[option]];
            let mut next = Vec::with_capacity(width);
            for level in 0..width {
                let sum = self.fresh();
                self.clause(&[!sums[level], sum]);
                let below = if level == 0 { self.always } else { sums[level - 1] };
                self.clause(&[!away, !below, sum]);
                next.push(sum);
            }
            sums = next;
        }
        sums
    }
}
