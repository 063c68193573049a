//! What a campaign runs with: rules and assumptions in force, the scheduler, and whether the canary is in.

use super::schedulers::Choice;
use crate::assumptions::Assumption;
use leasecheck_core::Rule;
use std::fmt;

/// Changes whenever the same seed stands for another run: tokens and folders of other versions are refused.
pub const VERSION: u32 = 3;

/// The configuration of a campaign. Together with a seed it names one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Rules that are off.
    pub rules_off: Vec<Rule>,
    /// Assumptions that are dropped.
    pub assume_off: Vec<Assumption>,
    /// Who decides which step is next.
    pub scheduler: Choice,
    /// Whether one program in a few carries a unit that breaks the contract, and about one run in a hundred fails.
    pub canary: bool,
}

impl fmt::Display for Settings {
    /// As in tokens: the scheduler, then what is off, separated by `,`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.scheduler.name())?;
        for rule in &self.rules_off {
            write!(f, ",{}", rule.name())?;
        }
        for assumption in &self.assume_off {
            write!(f, ",{}", assumption.name())?;
        }
        if self.canary {
            write!(f, ",canary")?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Settings {
    type Err = String;

    fn from_str(text: &str) -> Result<Settings, String> {
        let mut words = text.split(',');
        let scheduler = words.next().unwrap_or_default();
        let scheduler = Choice::named(scheduler).ok_or_else(|| format!("`{scheduler}` is not a scheduler"))?;
        let mut settings = Settings { scheduler, ..Settings::default() };
        for word in words {
            if word == "canary" {
                settings.canary = true;
            } else if let Some(rule) = Rule::named(word) {
                settings.rules_off.push(rule);
            } else if let Some(assumption) = Assumption::named(word) {
                settings.assume_off.push(assumption);
            } else {
                return Err(format!("`{word}` is neither a rule nor an assumption"));
            }
        }
        Ok(settings.ordered())
    }
}

impl Settings {
    /// The same, with what is off in the order of the tables, each once: one configuration has one token.
    #[must_use]
    pub fn ordered(mut self) -> Settings {
        self.rules_off.sort_unstable_by_key(|rule| *rule as usize);
        self.rules_off.dedup();
        self.assume_off.sort_unstable_by_key(|assumption| *assumption as usize);
        self.assume_off.dedup();
        self
    }

    /// What is off, for people and as part of a find's identity: `-` if nothing is.
    #[must_use]
    pub fn off(&self) -> String {
        let rules = self.rules_off.iter().map(|rule| rule.name());
        let assumptions = self.assume_off.iter().map(|assumption| assumption.name());
        let mut all: Vec<&str> = rules.chain(assumptions).collect();
        if self.canary {
            all.push("canary");
        }
        if all.is_empty() { "-".to_owned() } else { all.join("+") }
    }
}

/// One run: a seed under a configuration. `h1.SETTINGS:SEED`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunToken {
    /// The configuration.
    pub settings: Settings,
    /// The seed.
    pub seed: u64,
}

impl fmt::Display for RunToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "h{VERSION}.{}:{}", self.settings, self.seed)
    }
}

impl std::str::FromStr for RunToken {
    type Err = String;

    fn from_str(text: &str) -> Result<RunToken, String> {
        let wrong = |what: String| format!("`{text}` is not a token of a hunted run: {what}");
        let rest = text
            .strip_prefix(&format!("h{VERSION}."))
            .ok_or_else(|| wrong(format!("expected `h{VERSION}.` in front; other versions draw other runs")))?;
        let (settings, seed) = rest.rsplit_once(':').ok_or_else(|| wrong("expected `:SEED` at the end".to_owned()))?;
        let seed = seed.parse().map_err(|_| wrong(format!("`{seed}` is not a seed")))?;
        Ok(RunToken { settings: settings.parse().map_err(wrong)?, seed })
    }
}
