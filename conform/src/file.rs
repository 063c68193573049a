//! Files that replay: a sequence, one step a line, after a line that says what was found.

use crate::compare::Difference;
use crate::protocol::{Call, PROTOCOL, Step};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Header {
    conform: u32,
}

/// Writes a sequence and the difference that it shows.
#[must_use]
pub fn render(driver: &str, seed: Option<u64>, difference: Option<&Difference>, steps: &[Step]) -> String {
    let found = difference.map(|found| {
        let Difference { step, op, at, core, driver, .. } = found;
        json!({"step": step, "op": op, "at": at, "core": core, "driver": driver})
    });
    let mut text = json!({"conform": PROTOCOL, "driver": driver, "seed": seed, "difference": found}).to_string();
    for step in steps {
        text.push('\n');
        text.push_str(&serde_json::to_string(step).unwrap_or_default());
    }
    text.push('\n');
    text
}

/// Reads a sequence; empty lines and the first line that [`render`] writes are passed over.
///
/// # Errors
/// When a line is no step, or the first step is not a reset. The text names the line.
pub fn parse(text: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        if steps.is_empty()
            && let Ok(header) = serde_json::from_str::<Header>(line)
        {
            if header.conform != PROTOCOL {
                return Err(format!("line {}: version {} is not supported, only {PROTOCOL}", at + 1, header.conform));
            }
            continue;
        }
        let step: Step = serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))?;
        let reset = matches!(step.call, Call::Reset { .. });
        if reset != steps.is_empty() {
            return Err(format!("line {}: the first step, and only the first, is a `reset` with the layout", at + 1));
        }
        steps.push(step);
    }
    if steps.is_empty() {
        return Err("there is no step in it".into());
    }
    Ok(steps)
}
