//! Tokens: one line that names an execution, for `leasecheck replay`.
//!
//! `m1.TOOL.MODEL.SUBJECT.FAULT.BOUND.EXECUTION`: everything here is deterministic, so that the number of an
//! execution is its schedule. A token means the same as long as the code under test does the same.

use crate::catalogue::{Entry, Tool, list};
use crate::schedulers::Strategy;
use leasecheck_core::shell::Fault;
use std::fmt;

/// How the executions of a token are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// loom's, with at most so many preemptions.
    Loom(Option<u32>),
    /// A strategy of shuttle's.
    Shuttle(Strategy),
}

/// One execution of one model.
#[derive(Clone, Debug)]
pub struct Token {
    /// Which model, on what.
    pub entry: Entry,
    /// The fault that was switched on.
    pub fault: Option<Fault>,
    /// How executions are numbered.
    pub order: Order,
    /// The number, from 1.
    pub execution: u64,
}

/// Why a token names nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenError(String);

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TokenError {}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Token { entry, fault, order, execution } = self;
        let fault = fault.map_or("none", Fault::name);
        write!(f, "m1.{}.{}.{}.{fault}.", entry.tool.name(), entry.model, entry.subject.name())?;
        match order {
            Order::Loom(None) => write!(f, "all")?,
            Order::Loom(Some(bound)) => write!(f, "{bound}")?,
            Order::Shuttle(strategy) => f.write_str(strategy.name())?,
        }
        write!(f, ".{execution}")
    }
}

impl Token {
    /// Reads a token.
    ///
    /// # Errors
    /// When a part of it names nothing; the text says which.
    pub fn parse(text: &str) -> Result<Token, TokenError> {
        let error = |what: String| TokenError(format!("`{text}` is not a token of a model: {what}"));
        let parts: Vec<&str> = text.trim().split('.').collect();
        let ["m1", tool, model, subject, fault, order, execution] = parts[..] else {
            return Err(error("it should read m1.TOOL.MODEL.SUBJECT.FAULT.BOUND.EXECUTION".to_owned()));
        };
        let entry = list()
            .into_iter()
            .find(|entry| entry.tool.name() == tool && entry.model == model && entry.subject.name() == subject);
        let entry = entry.ok_or_else(|| error(format!("there is no {tool} model `{model}` on `{subject}`")))?;
        let fault = match fault {
            "none" => None,
            name => Some(Fault::named(name).ok_or_else(|| error(format!("there is no fault `{name}`")))?),
        };
        let order = match (entry.tool, order) {
            (Tool::Loom, "all") => Some(Order::Loom(None)),
            (Tool::Loom, bound) => bound.parse().ok().map(|bound| Order::Loom(Some(bound))),
            (Tool::Shuttle, name) => Strategy::named(name).map(Order::Shuttle),
        };
        let order = order.ok_or_else(|| error("its bound is neither a number of preemptions nor a strategy".into()))?;
        match execution.parse() {
            Ok(execution) if execution > 0 => Ok(Token { entry, fault, order, execution }),
            _ => Err(error("executions are counted from 1".to_owned())),
        }
    }
}
