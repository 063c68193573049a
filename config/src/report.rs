//! What an analysis found, for programs: every field serialises, in a fixed order.
//!
//! Counts are decimal strings (they pass 2^64 quickly) or `null` where a diagram grew too large to count.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::value::Value;

/// A number of configurations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count(pub(crate) Option<String>);

impl Count {
    /// The number in decimal; `None` if it was too expensive to count.
    pub fn exact(&self) -> Option<&str> {
        self.0.as_deref()
    }
}

impl Count {
    /// The number with its noun: `1 configuration`, `1,024 configurations`.
    pub(crate) fn noun(&self) -> String {
        let plural = if self.0.as_deref() == Some("1") { "" } else { "s" };
        format!("{self} configuration{plural}")
    }
}

impl fmt::Display for Count {
    /// The number in groups of three digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(digits) = &self.0 else {
            return f.write_str("(not counted)");
        };
        for (index, digit) in digits.chars().enumerate() {
            if index > 0 && (digits.len() - index).is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// An option with a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Setting {
    /// The option.
    pub option: String,
    /// Its value.
    pub value: Value,
}

/// A configuration, by what is not at its default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Example(pub Vec<Setting>);

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("everything at its default");
        }
        for (index, setting) in self.0.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{} = {}", setting.option, setting.value)?;
        }
        Ok(())
    }
}

/// A gate, resolver, feature or path with where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// Its name in the file.
    pub name: String,
    /// Its source, if the file gives one.
    pub source: Option<String>,
}

/// Why nothing gets through: the smallest sets of gates that suffice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Blocked {
    /// Sets of gates. One empty set means that the condition cannot hold at all, gates aside.
    pub sets: Vec<Vec<Named>>,
    /// No smaller set exists (proved).
    pub smallest: bool,
    /// All sets of this size are listed (proved).
    pub complete: bool,
    /// For each gate of these sets, what dropping it (and nothing else) would let through.
    pub dropped: Vec<Dropped>,
}

/// What one gate alone holds back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// The gate.
    pub gate: String,
    /// How many configurations would get through.
    pub configurations: Count,
    /// The one nearest to the defaults.
    pub example: Option<Example>,
}

/// A feature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FeatureAnswer {
    /// The feature.
    #[serde(flatten)]
    pub named: Named,
    /// Accepted configurations in which its code runs.
    pub configurations: Count,
    /// The one nearest to the defaults; `None` if there is none.
    pub example: Option<Example>,
    /// Why there is none.
    pub blocked: Option<Blocked>,
}

/// An unsafe path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HazardAnswer {
    /// The path.
    #[serde(flatten)]
    pub named: Named,
    /// Why it is unsafe.
    pub why: Option<String>,
    /// Accepted configurations that reach it.
    pub configurations: Count,
    /// The ones nearest to the defaults; none contains another.
    pub examples: Vec<Example>,
}

/// What happens to people who follow a gate's message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdviceAnswer {
    /// The gate.
    #[serde(flatten)]
    pub named: Named,
    /// The message.
    pub message: Option<String>,
    /// What it recommends.
    pub recommends: Example,
    /// Configurations that the gate rejects.
    pub rejected: Count,
    /// Of these, how many are accepted after following the message.
    pub accepted: Count,
    /// What is wrong with the advice; empty if nothing is.
    pub problems: Vec<AdviceProblem>,
}

/// One thing that is wrong with a gate's advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdviceProblem {
    /// What happens.
    #[serde(flatten)]
    pub kind: AdviceKind,
    /// To how many of the configurations that the gate rejects.
    pub configurations: Count,
    /// The one nearest to the defaults, before following the message.
    pub example: Example,
}

/// What can be wrong with a gate's advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "problem", content = "by")]
pub enum AdviceKind {
    /// The same gate rejects the recommended configuration.
    StillRejected,
    /// A gate that did not object before rejects the recommended configuration.
    NewlyRejected(String),
    /// The recommended configuration is accepted and reaches an unsafe path.
    Unsafe(String),
    /// No configuration that the gate rejects is accepted after following the message.
    NeverHelps,
}

/// A gate that rejects nothing that others do not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RedundantGate {
    /// The gate.
    #[serde(flatten)]
    pub named: Named,
    /// The smallest sets of other gates that reject all it rejects. One empty set: it never rejects at all.
    pub covered_by: Vec<Vec<Named>>,
}

/// A resolver that never fires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IdleResolver {
    /// The resolver.
    #[serde(flatten)]
    pub named: Named,
    /// It does fire, but only in configurations that are rejected.
    pub only_rejected: bool,
}

/// What an automatic value becomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AutoAnswer {
    /// The option.
    pub option: String,
    /// The value that asks for a choice.
    pub auto: Value,
    /// Every value, with the accepted configurations in which it is chosen.
    pub chosen: Vec<Chosen>,
}

/// One value that an automatic choice may have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Chosen {
    /// The value; the automatic value itself means that no resolver chose.
    pub value: Value,
    /// Accepted configurations with this outcome.
    pub configurations: Count,
    /// Whether there is any.
    pub possible: bool,
}

/// An option that a second run of the resolvers would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unsettled {
    /// The option.
    pub option: String,
    /// The options whose resolvers depend on each other in a circle with this one; empty if there is no circle.
    pub circle: Vec<String>,
    /// Accepted configurations in which it would change.
    pub configurations: Count,
    /// The one nearest to the defaults.
    pub example: Example,
}

/// This file against an older one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    /// The older file, by name and file name.
    pub baseline: String,
    /// Options that only this file has.
    pub new_options: Vec<String>,
    /// Options that only the older file has.
    pub gone_options: Vec<String>,
    /// Features that only this file has.
    pub new_features: Vec<String>,
    /// Accepted before, rejected now, and asking for no new feature.
    pub newly_rejected: Change,
    /// Accepted before, rejected now, and asking for a new feature.
    pub newly_rejected_with_feature: Change,
    /// Rejected before, accepted now.
    pub newly_accepted: Change,
    /// Options whose default changed.
    pub changed_defaults: Vec<ChangedDefault>,
}

/// A set of configurations that changed sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// How many.
    pub configurations: Count,
    /// The one nearest to the defaults; `None` if there is none.
    pub example: Option<Example>,
    /// The descriptions that cover them.
    pub groups: Vec<Group>,
    /// No fewer descriptions would do (proved).
    pub fewest: bool,
    /// The descriptions cover all of them.
    pub complete: bool,
}

/// One description of configurations that changed sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group {
    /// What the configurations have in common; everything else is free.
    pub description: Vec<Common>,
    /// How many there are.
    pub configurations: Count,
    /// The gates that reject them, on the side that does.
    pub gates: Vec<Named>,
}

/// One option of a description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Common {
    /// The option.
    pub option: String,
    /// The values it may have.
    pub values: Vec<Value>,
}

/// An option with another default than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedDefault {
    /// The option.
    pub option: String,
    /// The old default.
    pub before: Value,
    /// The new default.
    pub after: Value,
    /// Configurations that leave all changed defaults alone, were accepted and are rejected now.
    pub newly_rejected: Count,
    /// The one nearest to the defaults.
    pub example: Option<Example>,
}

/// The answer to a must.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It holds.
    Yes,
    /// It does not.
    No,
    /// It holds only because nothing at all is there to hold for.
    Vacuous,
    /// It needs a baseline, and there is none.
    NotChecked,
}

/// A must with its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MustAnswer {
    /// The must.
    pub name: String,
    /// Why the file asks.
    pub because: Option<String>,
    /// The answer.
    pub answer: Answer,
    /// Whether the file says that this answer is known.
    pub as_expected: bool,
    /// The evidence, in a sentence.
    pub message: String,
}

/// How many there are of everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Options, model properties included.
    pub options: usize,
    /// Resolvers.
    pub resolvers: usize,
    /// Gates.
    pub gates: usize,
    /// Configurations that can be asked for.
    pub configurations: Count,
    /// Of these, the ones that no gate rejects.
    pub accepted: Count,
}

/// The verdict on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every must holds and the resolvers mean one thing.
    Ok,
    /// A must does not hold, could not be checked, or the resolvers go in circles.
    Failed,
}

/// One line of a test report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was checked.
    pub name: String,
    /// Whether it holds.
    pub passed: bool,
    /// The evidence.
    pub message: String,
}

/// Everything that [`analyse`](crate::analyse) found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The file name.
    pub file: String,
    /// Its name.
    pub name: String,
    /// What it is about.
    pub about: Option<String>,
    /// Where it comes from.
    pub source: Option<String>,
    /// See [`Verdict`].
    pub verdict: Verdict,
    /// How many there are of everything.
    pub totals: Totals,
    /// What the file takes for granted about every configuration.
    pub assumptions: Vec<String>,
    /// Why no configuration at all is accepted, if none is.
    pub nothing_accepted: Option<Blocked>,
    /// Every feature.
    pub features: Vec<FeatureAnswer>,
    /// Every unsafe path.
    #[serde(rename = "unsafe")]
    pub hazards: Vec<HazardAnswer>,
    /// Every gate that recommends something.
    pub advice: Vec<AdviceAnswer>,
    /// Gates that reject nothing of their own.
    pub redundant: Vec<RedundantGate>,
    /// Resolvers that never fire.
    pub idle_resolvers: Vec<IdleResolver>,
    /// Every option with an automatic value.
    pub autos: Vec<AutoAnswer>,
    /// Options that a second run of the resolvers would change.
    pub unsettled: Vec<Unsettled>,
    /// This file against the baseline, if there is one.
    pub comparison: Option<Comparison>,
    /// Every must.
    pub musts: Vec<MustAnswer>,
}

impl Report {
    /// Whether every must holds (and the resolvers do not go in circles).
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Whether every must has the answer that the file expects. A file that documents a known failure is as expected.
    pub fn as_expected(&self) -> bool {
        self.musts.iter().all(|must| must.as_expected) && self.circles().next().is_none()
    }

    /// The checks, for a test report: every must, then every circle of resolvers.
    pub fn checks(&self) -> Vec<Check> {
        let musts = self.musts.iter().map(|must| Check {
            name: must.name.clone(),
            passed: must.answer == Answer::Yes,
            message: must.message.clone(),
        });
        let circles = self.circles().map(|unsettled| Check {
            name: format!("`{}` settles", unsettled.option),
            passed: false,
            message: format!(
                "its resolvers go in a circle ({}), and a second run changes {}, for example: {}",
                unsettled.circle.join(", "),
                unsettled.configurations.noun(),
                unsettled.example
            ),
        });
        musts.chain(circles).collect()
    }

    pub(crate) fn circles(&self) -> impl Iterator<Item = &Unsettled> {
        self.unsettled.iter().filter(|unsettled| !unsettled.circle.is_empty())
    }
}
