//! The table of known differences.

use crate::compare::{Difference, PLACES, PLACES_OF_BAND, is_place};
use crate::file;
use crate::protocol::{OPS, Step};
use serde::Deserialize;
use std::fmt;

/// What can be true of a step that differs.
const TAGS: [&str; 11] = [
    "negative",
    "unknown-band",
    "sink",
    "own-lease",
    "compaction-waits",
    "two-compactions-wait",
    "waits-for-event",
    "waited",
    "fewer-finished",
    "more-finished",
    "event-failed",
];

/// Why a table cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownError(String);

impl fmt::Display for KnownError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for KnownError {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default, rename = "difference")]
    differences: Vec<Raw>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: String,
    reason: String,
    #[serde(default)]
    see: String,
    ops: Vec<String>,
    at: String,
    #[serde(default)]
    core: String,
    #[serde(default)]
    driver: String,
    #[serde(default)]
    tags: Vec<String>,
    shows: String,
}

/// One known difference.
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Why it is so.
    pub reason: String,
    /// Where more is said of it; may be empty.
    pub see: String,
    /// Operations after which it shows.
    pub ops: Vec<String>,
    /// What differs.
    pub at: String,
    core: String,
    driver: String,
    tags: Vec<String>,
    /// A sequence that shows it.
    pub(crate) shows: Vec<Step>,
}

/// Differences that are known, each with a sequence that shows it.
#[derive(Default)]
pub struct Known {
    pub(crate) entries: Vec<Entry>,
}

impl Known {
    /// Reads a table.
    ///
    /// # Errors
    /// When it is no such table; the text says where.
    pub fn parse(text: &str) -> Result<Known, KnownError> {
        let table: Table = toml::from_str(text).map_err(|error| KnownError(error.to_string()))?;
        let entry = |raw: Raw| {
            let shows = file::parse(&raw.shows)
                .map_err(|error| KnownError(format!("difference `{}`, in `shows`, {error}", raw.name)))?;
            let wrong = |what: String| Err(KnownError(format!("difference `{}` {what}", raw.name)));
            if raw.reason.trim().is_empty() {
                return wrong("has no reason".into());
            }
            if let Some(op) = raw.ops.iter().find(|op| !OPS.contains(&op.as_str())) {
                return wrong(format!("is about `{op}`, which is no operation; there are {}", OPS.join(", ")));
            }
            if let Some(tag) = raw.tags.iter().find(|tag| !TAGS.contains(&tag.as_str())) {
                return wrong(format!("has the tag `{tag}`, which does not exist; there are {}", TAGS.join(", ")));
            }
            if !is_place(&raw.at) {
                return wrong(format!(
                    "is at `{}`, where nothing is compared; there are {} and state.bands.NAME.{}",
                    raw.at,
                    PLACES.join(", "),
                    PLACES_OF_BAND.join(", state.bands.NAME.")
                ));
            }
            let Raw { name, reason, see, ops, at, core, driver, tags, .. } = raw;
            Ok(Entry { name, reason, see, ops, at, core, driver, tags, shows })
        };
        Ok(Known { entries: table.differences.into_iter().map(entry).collect::<Result<_, _>>()? })
    }

    /// All of them, in the order of the table.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry that explains a difference.
    pub(crate) fn explains(&self, difference: &Difference) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.explains(difference))
    }
}

impl Entry {
    pub(crate) fn explains(&self, difference: &Difference) -> bool {
        self.ops.iter().any(|op| op == difference.op)
            && (difference.at == self.at || difference.at.starts_with(&format!("{}.", self.at)))
            && difference.core.contains(&self.core)
            && difference.driver.contains(&self.driver)
            && self.tags.iter().all(|tag| difference.tags.contains(tag.as_str()))
    }
}
