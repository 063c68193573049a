//! Reading any line: the kind first, then what that kind has.

use super::Event;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Event, D::Error> {
        deserializer.deserialize_map(LineVisitor)
    }
}

struct LineVisitor;

/// A string that stays where it is, if it stands there as it is meant.
struct Word<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Word<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Word<'de>, D::Error> {
        deserializer.deserialize_str(WordVisitor)
    }
}

struct WordVisitor;

impl<'de> Visitor<'de> for WordVisitor {
    type Value = Word<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a string")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Word<'de>, E> {
        Ok(Word(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Word<'de>, E> {
        Ok(Word(Cow::Owned(text.to_owned())))
    }
}

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an object with the key `k`, the kind of the line")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event, A::Error> {
        let Some(Word(first)) = map.next_key()? else { return Err(A::Error::missing_field("k")) };
        if first == "k" {
            let Word(kind) = map.next_value()?;
            return Event::read(&kind, MapAccessDeserializer::new(map));
        }
        let mut fields = serde_json::Map::new();
        fields.insert(first.into_owned(), map.next_value()?);
        while let Some((key, value)) = map.next_entry()? {
            fields.insert(key, value);
        }
        match fields.remove("k") {
            Some(serde_json::Value::String(kind)) => {
                Event::read(&kind, serde_json::Value::Object(fields)).map_err(A::Error::custom)
            }
            Some(other) => Err(A::Error::custom(format!("`k` is {other}, expected the name of a kind"))),
            None => Err(A::Error::missing_field("k")),
        }
    }
}

pub(super) fn unknown(kind: &str) -> String {
    let near = Event::KINDS.iter().map(|name| (strsim::damerau_levenshtein(kind, name), *name)).min();
    match near {
        Some((distance, name)) if distance <= 2 => format!("there is no kind `{kind}`; did you mean `{name}`?"),
        _ => format!("there is no kind `{kind}`; kinds are {}", Event::KINDS.join(", ")),
    }
}
