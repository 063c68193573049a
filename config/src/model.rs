//! A gate file after every check: names resolved, conditions typed, nothing left that could be wrong.

use std::collections::BTreeSet;

use crate::value::{Kind, Value};

/// A checked gate file. Made by [`load`](crate::load) or [`parse`](crate::parse), read by [`analyse`](crate::analyse).
#[derive(Clone, Debug)]
pub struct GateFile {
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) about: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) baseline: Option<String>,
    pub(crate) options: Vec<OptionDef>,
    pub(crate) assumptions: Vec<Assumption>,
    pub(crate) resolvers: Vec<Resolver>,
    pub(crate) gates: Vec<Gate>,
    pub(crate) features: Vec<Feature>,
    pub(crate) hazards: Vec<Hazard>,
    pub(crate) musts: Vec<Must>,
}

impl GateFile {
    /// The path that the file was loaded from.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The last part of the path: what a report shows, so that it reads the same wherever the file lies.
    pub(crate) fn file_name(&self) -> String {
        let name = std::path::Path::new(&self.path).file_name();
        name.map_or_else(|| self.path.clone(), |name| name.to_string_lossy().into_owned())
    }

    /// The baseline that the file itself names (`baseline = "…"`), as a path beside the file.
    ///
    /// A caller that got no `--baseline` loads this one.
    pub fn baseline(&self) -> Option<std::path::PathBuf> {
        let named = self.baseline.as_ref()?;
        Some(std::path::Path::new(&self.path).with_file_name(named))
    }
}

/// An option (or a property of the model) with everything it can be.
#[derive(Clone, Debug)]
pub(crate) struct OptionDef {
    pub name: String,
    pub values: Vec<Value>,
    /// Index into `values`.
    pub default: usize,
    /// The value that asks a resolver to choose, as an index into `values`.
    pub auto: Option<usize>,
    /// A property of the model rather than something a person sets.
    pub model: bool,
}

impl OptionDef {
    pub fn kind(&self) -> Kind {
        self.values.first().map_or(Kind::Bool, Value::kind)
    }

    pub fn index_of(&self, value: &Value) -> Option<usize> {
        self.values.iter().position(|known| known == value)
    }
}

/// Which value of an option a condition reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Var {
    /// Index into the options.
    pub option: usize,
    /// The value that was asked for, rather than the one in force after the resolvers so far.
    pub asked: bool,
}

/// A condition, reduced to tests of options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cond {
    Const(bool),
    /// The option has one of these values (indices).
    Test(Var, BTreeSet<usize>),
    Not(Box<Cond>),
    All(Vec<Cond>),
    Any(Vec<Cond>),
}

impl Cond {
    /// Calls `visit` for every variable the condition reads.
    pub fn reads(&self, visit: &mut impl FnMut(Var)) {
        match self {
            Self::Const(_) => {}
            Self::Test(var, _) => visit(*var),
            Self::Not(inner) => inner.reads(visit),
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.reads(visit)),
        }
    }
}

/// Something that holds for every configuration that exists (about models, mostly).
#[derive(Clone, Debug)]
pub(crate) struct Assumption {
    pub holds: Cond,
    /// The condition as written, and why it holds.
    pub text: String,
}

/// A step that sets options from others.
#[derive(Clone, Debug)]
pub(crate) struct Resolver {
    pub name: String,
    pub when: Cond,
    /// Option index and value index.
    pub set: Vec<(usize, usize)>,
    pub source: Option<String>,
}

/// A startup check.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub name: String,
    pub rejects: Cond,
    pub message: Option<String>,
    pub source: Option<String>,
    /// Option index and value index that the message tells people to use.
    pub recommends: Vec<(usize, usize)>,
    /// How many resolvers have run when the gate looks.
    pub stage: usize,
}

/// Code that somebody wants to run.
#[derive(Clone, Debug)]
pub(crate) struct Feature {
    pub name: String,
    pub runs: Cond,
    /// The configuration asks for the feature, whether it gets it or not.
    pub wanted: Cond,
    pub source: Option<String>,
}

/// Code that nobody may run.
#[derive(Clone, Debug)]
pub(crate) struct Hazard {
    pub name: String,
    pub when: Cond,
    pub why: Option<String>,
    pub source: Option<String>,
}

/// A feature or an unsafe path, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Feature(usize),
    Hazard(usize),
}

/// What a must asks.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    Reachable(Target),
    Unreachable(Target),
    Accepts(Cond),
    Rejects(Cond),
    NoNewRejectionsWithout(usize),
}

/// A question whose answer decides the verdict.
#[derive(Clone, Debug)]
pub(crate) struct Must {
    pub name: String,
    pub question: Question,
    /// The answer that this file is known to give.
    pub expect: bool,
    pub because: Option<String>,
}
