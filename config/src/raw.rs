//! The shape of a gate file as TOML, with the place of everything that a later check may complain about.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor, value::MapAccessDeserializer};
use toml::Spanned;

use crate::value::Value;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawFile {
    pub name: Option<String>,
    pub source: Option<String>,
    pub about: Option<String>,
    pub baseline: Option<String>,
    pub options: Option<BTreeMap<Spanned<String>, Spanned<RawOption>>>,
    #[serde(default)]
    pub assume: Vec<RawAssume>,
    #[serde(default)]
    pub resolver: Vec<RawResolver>,
    #[serde(default)]
    pub gate: Vec<RawGate>,
    #[serde(default)]
    pub feature: Vec<RawFeature>,
    #[serde(default, rename = "unsafe")]
    pub hazard: Vec<RawHazard>,
    #[serde(default)]
    pub must: Vec<Spanned<RawMust>>,
}

/// An option: `name = false` for a flag, or a table.
pub(crate) enum RawOption {
    Flag(bool),
    Table(Box<RawOptionTable>),
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawOptionTable {
    pub values: Option<Spanned<Vec<Spanned<Value>>>>,
    pub default: Option<Spanned<Value>>,
    pub auto: Option<Spanned<Value>>,
    #[serde(default)]
    pub model: bool,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawAssume {
    pub holds: Spanned<String>,
    pub because: Option<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawResolver {
    pub name: Spanned<String>,
    pub when: Option<Spanned<String>>,
    pub set: Spanned<BTreeMap<Spanned<String>, Spanned<Value>>>,
    pub source: Option<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawGate {
    pub name: Spanned<String>,
    pub rejects: Spanned<String>,
    pub message: Option<String>,
    pub source: Option<String>,
    pub recommends: Option<BTreeMap<Spanned<String>, Spanned<Value>>>,
    pub before: Option<Spanned<String>>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawFeature {
    pub name: Spanned<String>,
    pub runs: Spanned<String>,
    pub wanted: Option<Spanned<String>>,
    pub source: Option<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawHazard {
    pub name: Spanned<String>,
    pub when: Spanned<String>,
    pub why: Option<String>,
    pub source: Option<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawMust {
    pub name: Option<Spanned<String>>,
    pub reachable: Option<Spanned<String>>,
    pub unreachable: Option<Spanned<String>>,
    pub accepts: Option<Spanned<String>>,
    pub rejects: Option<Spanned<String>>,
    pub no_new_rejections_without: Option<Spanned<String>>,
    pub expect: Option<Spanned<String>>,
    pub because: Option<String>,
}

impl<'de> Deserialize<'de> for RawOption {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OptionVisitor;
        impl<'de> Visitor<'de> for OptionVisitor {
            type Value = RawOption;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true or false (a flag's default), or { values = […], default = … }")
            }

            fn visit_bool<E: Error>(self, value: bool) -> Result<RawOption, E> {
                Ok(RawOption::Flag(value))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawOption, A::Error> {
                RawOptionTable::deserialize(MapAccessDeserializer::new(map))
                    .map(|table| RawOption::Table(Box::new(table)))
            }
        }
        deserializer.deserialize_any(OptionVisitor)
    }
}
