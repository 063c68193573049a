//! The table of known differences.

use crate::compare::Difference;
use crate::file;
use crate::protocol::Step;
use serde::Deserialize;
use std::fmt;

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
            if raw.reason.trim().is_empty() || raw.see.len() > 200 {
                return Err(KnownError(format!("difference `{}` has no reason", raw.name)));
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
