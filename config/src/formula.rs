//! Boolean formulas over "option has value", shared: equal formulas are one node.
//!
//! Every question of an analysis is a formula here; [`sat`](crate::sat) decides it, [`count`](crate::count) counts
//! its configurations. Nodes never change, so a node's number can stand for it everywhere.

use std::collections::BTreeMap;

use crate::value::Value;

/// The number of a formula.
pub(crate) type Id = usize;

/// A formula; its parts have smaller numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Node {
    Const(bool),
    /// The option (index into the universe) was asked to have the value (index into its values).
    Is(usize, usize),
    Not(Id),
    All(Vec<Id>),
    Any(Vec<Id>),
}

/// An option as the formulas see it. Values that only a baseline knows are among `values` too.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub name: String,
    pub values: Vec<Value>,
    pub default: usize,
}

/// All options of an analysis.
pub(crate) type Universe = Vec<Choice>;

/// A configuration as it was asked for: one value index for each option of the universe.
pub(crate) type Config = Vec<usize>;

/// The table of formulas.
pub(crate) struct Formulas {
    nodes: Vec<Node>,
    ids: BTreeMap<Node, Id>,
}

impl Formulas {
    pub const FALSE: Id = 0;
    pub const TRUE: Id = 1;

    pub fn new() -> Self {
        let mut formulas = Self { nodes: Vec::new(), ids: BTreeMap::new() };
        formulas.intern(Node::Const(false));
        formulas.intern(Node::Const(true));
        formulas
    }

    fn intern(&mut self, node: Node) -> Id {
        if let Some(id) = self.ids.get(&node) {
            return *id;
        }
        let id = self.nodes.len();
        self.nodes.push(node.clone());
        self.ids.insert(node, id);
        id
    }

    pub fn node(&self, id: Id) -> &Node {
        &self.nodes[id]
    }

    pub fn is(&mut self, option: usize, value: usize) -> Id {
        self.intern(Node::Is(option, value))
    }

    pub fn not(&mut self, id: Id) -> Id {
        match self.nodes[id] {
            Node::Const(value) => Id::from(!value),
            Node::Not(inner) => inner,
            _ => self.intern(Node::Not(id)),
        }
    }

    pub fn all(&mut self, parts: impl IntoIterator<Item = Id>) -> Id {
        self.join(parts, Self::TRUE, Self::FALSE, Node::All)
    }

    pub fn any(&mut self, parts: impl IntoIterator<Item = Id>) -> Id {
        self.join(parts, Self::FALSE, Self::TRUE, Node::Any)
    }

    fn join(&mut self, parts: impl IntoIterator<Item = Id>, unit: Id, zero: Id, node: fn(Vec<Id>) -> Node) -> Id {
        let mut kept: Vec<Id> = parts.into_iter().filter(|part| *part != unit).collect();
        kept.sort_unstable();
        kept.dedup();
        if kept.contains(&zero)
            || kept.iter().any(|part| matches!(self.nodes[*part], Node::Not(inner) if kept.contains(&inner)))
        {
            return zero;
        }
        match kept.as_slice() {
            [] => unit,
            [one] => *one,
            _ => self.intern(node(kept)),
        }
    }

    /// `when ? then : otherwise`
    pub fn choose(&mut self, when: Id, then: Id, otherwise: Id) -> Id {
        if then == otherwise {
            return then;
        }
        let unless = self.not(when);
        let left = self.all([when, then]);
        let right = self.all([unless, otherwise]);
        self.any([left, right])
    }

    /// Exactly one of the two holds.
    pub fn differ(&mut self, left: Id, right: Id) -> Id {
        let opposite = self.not(right);
        self.choose(left, opposite, right)
    }

    /// The formula for "`id` would hold if these options had these values instead".
    pub fn with(&mut self, id: Id, settings: &[(usize, usize)], memo: &mut BTreeMap<Id, Id>) -> Id {
        if let Some(done) = memo.get(&id) {
            return *done;
        }
        let node = self.nodes[id].clone();
        let result = match node {
            Node::Const(_) => id,
            Node::Is(option, value) => match settings.iter().find(|(set, _)| *set == option) {
                Some((_, set)) => Id::from(*set == value),
                None => id,
            },
            Node::Not(inner) => {
                let inner = self.with(inner, settings, memo);
                self.not(inner)
            }
            Node::All(parts) => {
                let parts: Vec<Id> = parts.iter().map(|part| self.with(*part, settings, memo)).collect();
                self.all(parts)
            }
            Node::Any(parts) => {
                let parts: Vec<Id> = parts.iter().map(|part| self.with(*part, settings, memo)).collect();
                self.any(parts)
            }
        };
        memo.insert(id, result);
        result
    }

    /// The options that a formula depends on, in order.
    pub fn support(&self, id: Id) -> Vec<usize> {
        let mut seen = vec![false; id + 1];
        let mut options = Vec::new();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut seen[id], true) {
                continue;
            }
            match &self.nodes[id] {
                Node::Const(_) => {}
                Node::Is(option, _) => options.push(*option),
                Node::Not(inner) => open.push(*inner),
                Node::All(parts) | Node::Any(parts) => open.extend(parts),
            }
        }
        options.sort_unstable();
        options.dedup();
        options
    }
}
