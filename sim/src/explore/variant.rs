//! A variant of the design: rules off, assumptions dropped, another planner. Applied to every case of a corpus, it is
//! what `compare` compares and what `ablate` goes through one by one.

use crate::assumptions::Assumption;
use crate::litmus::nearest;
use crate::program::Program;
use leasecheck_core::{Planner, Rule};
use std::fmt;
use std::str::FromStr;

/// One difference from the design.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Item {
    /// The rule is off.
    Rule(Rule),
    /// The assumption is dropped.
    Assumption(Assumption),
    /// Arenas compact with this planner.
    Planner(Planner),
}

const PLANNERS: &[(&str, Planner)] = &[("minimal", Planner::Minimal), ("slide", Planner::Slide)];

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Item::Rule(rule) => write!(f, "rule:{}=off", rule.name()),
            Item::Assumption(assumption) => write!(f, "assume:{}=off", assumption.name()),
            Item::Planner(planner) => {
                let name = PLANNERS.iter().find(|(_, other)| other == planner).map_or("", |(name, _)| *name);
                write!(f, "planner={name}")
            }
        }
    }
}

/// Differences from the design; none is the design itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant(pub Vec<Item>);

impl Variant {
    /// The case under this variant. What the case switches off itself stays off.
    #[must_use]
    pub fn apply(&self, program: &Program) -> Program {
        let mut program = program.clone();
        for item in &self.0 {
            match item {
                Item::Rule(rule) => program = program.with_rules(program.rules.without(*rule)),
                Item::Assumption(assumption) => program.assume = program.assume.without(*assumption),
                Item::Planner(planner) => program.arenas.iter_mut().for_each(|arena| arena.config.planner = *planner),
            }
        }
        program
    }

    /// Whether it would change nothing in a case, which has all of this already.
    #[must_use]
    pub fn is_in(&self, program: &Program) -> bool {
        self.0.iter().all(|item| match item {
            Item::Rule(rule) => !program.rules.on(*rule),
            Item::Assumption(assumption) => !program.assume.on(*assumption),
            Item::Planner(planner) => program.arenas.iter().all(|arena| arena.config.planner == *planner),
        })
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("design");
        }
        for (nth, item) in self.0.iter().enumerate() {
            write!(f, "{}{item}", if nth == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// Why a text is not a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariantError(String);

impl fmt::Display for VariantError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for VariantError {}

fn unknown<'a>(what: &str, name: &str, list: &str, known: impl Iterator<Item = &'a str>) -> VariantError {
    let near = nearest(name, known).map_or(String::new(), |near| format!("did you mean `{near}`? "));
    VariantError(format!("unknown {what} `{name}`; {near}{list}"))
}

fn item(text: &str) -> Result<Item, VariantError> {
    let expected = "expected `design`, `rule:NAME=off`, `assume:NAME=off`, `planner=slide` or `planner=minimal`";
    let wrong = || VariantError(format!("`{text}` is no part of a configuration; {expected}"));
    let (key, value) = text.split_once('=').ok_or_else(wrong)?;
    if key == "planner" {
        let found = PLANNERS.iter().find(|(name, _)| *name == value).map(|(_, planner)| Item::Planner(*planner));
        return found.ok_or_else(|| {
            let list = "`planner=slide` or `planner=minimal`";
            unknown("planner", value, list, PLANNERS.iter().map(|(name, _)| *name))
        });
    }
    if !key.starts_with("rule:") && !key.starts_with("assume:") {
        return Err(wrong());
    }
    if value != "off" {
        return Err(VariantError(format!(
            "`{text}`: what is not switched off is on; write `{key}=off` or leave it out"
        )));
    }
    if let Some(name) = key.strip_prefix("rule:") {
        let list = "`leasecheck list rules` shows them all";
        let known = Rule::ALL.iter().map(|rule| rule.name());
        return Rule::named(name).map(Item::Rule).ok_or_else(|| unknown("rule", name, list, known));
    }
    if let Some(name) = key.strip_prefix("assume:") {
        let list = "`leasecheck list assumptions` shows them all";
        let known = Assumption::ALL.iter().map(|assumption| assumption.name());
        return Assumption::named(name).map(Item::Assumption).ok_or_else(|| unknown("assumption", name, list, known));
    }
    Err(wrong())
}

impl FromStr for Variant {
    type Err = VariantError;

    fn from_str(text: &str) -> Result<Variant, VariantError> {
        if text == "design" {
            return Ok(Variant::default());
        }
        text.split(',').map(item).collect::<Result<_, _>>().map(Variant)
    }
}
