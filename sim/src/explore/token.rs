//! Replay tokens: one schedule of one case, short enough to paste.
//!
//! `1.CLAIM.CASE:SCHEDULE`: a version, the claim's name, the number of the case in its file, and the schedule in
//! URL-safe base 64, one byte for each step; steps with a choice other than 0 take three.

use crate::world::Step;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::fmt;

/// Announces a step with a choice.
const WITH_CHOICE: u8 = u8::MAX;

/// A schedule and the case that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// The claim.
    pub claim: String,
    /// The case's place in its file, from 0.
    pub case: usize,
    /// The schedule.
    pub steps: Vec<Step>,
}

/// Why a token cannot be read.
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
        let mut bytes = Vec::new();
        for step in &self.steps {
            match step.choice {
                0 => bytes.push(step.agent),
                choice => bytes.extend([WITH_CHOICE, step.agent, choice]),
            }
        }
        write!(f, "1.{}.{}:{}", self.claim, self.case, URL_SAFE_NO_PAD.encode(bytes))
    }
}

impl std::str::FromStr for Token {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Token, TokenError> {
        let wrong = |what: &str| TokenError(format!("`{text}` is not a replay token: {what}"));
        let (head, schedule) = text.split_once(':').ok_or_else(|| wrong("expected `1.CLAIM.CASE:SCHEDULE`"))?;
        let rest = head.strip_prefix("1.").ok_or_else(|| wrong("expected version 1 in front"))?;
        let (claim, case) =
            rest.rsplit_once('.').ok_or_else(|| wrong("expected the number of the case after the claim"))?;
        let case = case.parse().map_err(|_| wrong("the number of the case is not a number"))?;
        let bytes = URL_SAFE_NO_PAD.decode(schedule).map_err(|_| wrong("the schedule is not URL-safe base 64"))?;
        let mut steps = Vec::new();
        let mut bytes = bytes.into_iter();
        while let Some(agent) = bytes.next() {
            let step = if agent == WITH_CHOICE {
                match (bytes.next(), bytes.next()) {
                    (Some(agent), Some(choice)) => Step { agent, choice },
                    _ => return Err(wrong("the schedule is cut off")),
                }
            } else {
                Step { agent, choice: 0 }
            };
            steps.push(step);
        }
        Ok(Token { claim: claim.to_owned(), case, steps })
    }
}
