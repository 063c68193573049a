//! Reading a line quickly.
//!
//! Nearly every line is plain: text without escapes, whole numbers, the kind first. Those are read here, by a
//! deserializer that knows nothing else and says of everything else only that it is unusual. Unusual lines, wrong ones
//! among them, are left to `serde_json`, which then says what is wrong.

use super::Event;
use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// Reads one line.
///
/// # Errors
/// When it is no line of the format.
pub fn event(line: &[u8]) -> Result<Event, serde_json::Error> {
    plain(line).map_or_else(|Unusual| serde_json::from_slice(line), Ok)
}

fn plain(line: &[u8]) -> Result<Event, Unusual> {
    let text = std::str::from_utf8(line).map_err(|_| Unusual)?;
    let mut plain = Plain { text, at: 0 };
    let event = Event::deserialize(&mut plain)?;
    plain.space();
    if plain.at == text.len() { Ok(event) } else { Err(Unusual) }
}

/// Something that only `serde_json` can judge.
#[derive(Debug)]
struct Unusual;

impl fmt::Display for Unusual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not read here")
    }
}

impl std::error::Error for Unusual {}

impl Error for Unusual {
    fn custom<T: fmt::Display>(_: T) -> Unusual {
        Unusual
    }
}

/// A line and how far it was read.
struct Plain<'de> {
    text: &'de str,
    at: usize,
}

impl<'de> Plain<'de> {
    fn space(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Whether `byte` comes next. If so, it is passed.
    fn pass(&mut self, byte: u8) -> bool {
        self.space();
        let comes = self.peek() == Some(byte);
        self.at += usize::from(comes);
        comes
    }

    fn expect(&mut self, byte: u8) -> Result<(), Unusual> {
        if self.pass(byte) { Ok(()) } else { Err(Unusual) }
    }

    fn word(&mut self, word: &str) -> bool {
        self.space();
        let comes = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += if comes { word.len() } else { 0 };
        comes
    }

    fn string(&mut self) -> Result<&'de str, Unusual> {
        self.expect(b'"')?;
        let rest = &self.text[self.at..];
        let end = rest.bytes().position(|byte| byte == b'"' || byte == b'\\' || byte < b' ').ok_or(Unusual)?;
        if rest.as_bytes()[end] != b'"' {
            return Err(Unusual);
        }
        self.at += end + 1;
        Ok(&rest[..end])
    }

    fn number(&mut self) -> Result<u64, Unusual> {
        self.space();
        let digits = &self.text.as_bytes()[self.at..];
        let mut number: u64 = 0;
        let mut count = 0;
        while let Some(digit @ b'0'..=b'9') = digits.get(count) {
            number =
                number.checked_mul(10).and_then(|tens| tens.checked_add(u64::from(digit - b'0'))).ok_or(Unusual)?;
            count += 1;
        }
        if count == 0 || (count > 1 && digits[0] == b'0') {
            return Err(Unusual);
        }
        self.at += count;
        Ok(number)
    }
}

macro_rules! numbers {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
            visitor.visit_u64(self.number()?)
        })+
    };
}

macro_rules! unusual {
    ($($method:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Unusual> {
            Err(Unusual)
        })+
    };
}

impl<'de> Deserializer<'de> for &mut Plain<'de> {
    type Error = Unusual;

    numbers! { deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 }

    unusual! {
        deserialize_any deserialize_i8 deserialize_i16 deserialize_i32 deserialize_f32 deserialize_f64 deserialize_char
        deserialize_bytes deserialize_byte_buf deserialize_unit deserialize_ignored_any
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        if !self.pass(b'-') {
            return visitor.visit_u64(self.number()?);
        }
        match (self.peek(), self.number()?) {
            (Some(b'1'..=b'9'), number) => visitor.visit_i64(-i64::try_from(number).map_err(|_| Unusual)?),
            _ => Err(Unusual),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        if self.word("true") {
            visitor.visit_bool(true)
        } else if self.word("false") {
            visitor.visit_bool(false)
        } else {
            Err(Unusual)
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        visitor.visit_borrowed_str(self.string()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        visitor.visit_borrowed_str(self.string()?)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        visitor.visit_borrowed_str(self.string()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        if self.word("null") { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Unusual> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        self.expect(b'[')?;
        visitor.visit_seq(Items { plain: self, first: true, done: false })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Unusual> {
        self.expect(b'{')?;
        visitor.visit_map(Items { plain: self, first: true, done: false })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unusual> {
        visitor.visit_enum(StrDeserializer::new(self.string()?))
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, _: V) -> Result<V::Value, Unusual> {
        Err(Unusual)
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Unusual> {
        Err(Unusual)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(self, _: &'static str, _: usize, _: V) -> Result<V::Value, Unusual> {
        Err(Unusual)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Unusual> {
        self.deserialize_map(visitor)
    }
}

/// What a list or an object holds. A visitor that stops before its end leaves text that is unusual there.
struct Items<'a, 'de> {
    plain: &'a mut Plain<'de>,
    first: bool,
    done: bool,
}

impl Items<'_, '_> {
    /// Whether another item comes, or else the end, which is passed.
    fn another(&mut self, end: u8) -> Result<bool, Unusual> {
        if self.done {
            return Ok(false);
        }
        if self.plain.pass(end) {
            self.done = true;
            return Ok(false);
        }
        if !std::mem::take(&mut self.first) {
            self.plain.expect(b',')?;
        }
        Ok(true)
    }
}

impl<'de> SeqAccess<'de> for Items<'_, 'de> {
    type Error = Unusual;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Unusual> {
        if !self.another(b']')? {
            return Ok(None);
        }
        seed.deserialize(&mut *self.plain).map(Some)
    }
}

impl<'de> MapAccess<'de> for Items<'_, 'de> {
    type Error = Unusual;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Unusual> {
        if !self.another(b'}')? {
            return Ok(None);
        }
        let key = self.plain.string()?;
        self.plain.expect(b':')?;
        seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Unusual> {
        seed.deserialize(&mut *self.plain)
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, plain};

    /// Lines of every kind, with everything that a line can have, and near misses.
    const LINES: &[&str] = &[
        r#"{"k":"alloc","th":1,"t":5,"b":["swa","full"],"n":[2,1],"ids":[0,1,0],"at":[0,1,7]}"#,
        r#"{"k": "alloc", "b": ["swa"], "n": [3], "out": "refused", "err": "none left", "ids": null}"#,
        r#"{"k":"state","b":"swa","live":3,"wm":-1}"#,
        r#"{"k":"admit","b":["swa"],"n":[3],"empty":true,"res":false}"#,
        r#"{"k":"read","s":18446744073709551615,"in":"swa","at":[3],"ids":[0],"sp":"kernel","sum":[7]}"#,
        r#"{"k":"store","b":"swa","keys":["a","b"],"ids":[0,1]}"#,
        r#"{"k":"post","x":1,"s":2,"dir":"write","in":"swa","at":[]}"#,
        r#"{"k":"end"}"#,
    ];

    #[test]
    fn what_is_read_quickly_is_what_serde_json_reads() {
        let (mut same, mut left) = (0, 0);
        let mut compare = |line: &[u8]| match (plain(line), serde_json::from_slice::<Event>(line)) {
            (Ok(quick), full) => {
                assert_eq!(Some(quick), full.ok(), "{}", String::from_utf8_lossy(line));
                same += 1;
            }
            (Err(_), full) => left += u32::from(full.is_ok()),
        };
        let odd =
            [b'"', b'\\', b',', b':', b'[', b']', b'{', b'}', b'0', b'1', b'-', b'.', b'e', b' ', b'\t', b'x', 0, 200];
        for line in LINES.iter().map(|line| line.as_bytes()) {
            compare(line);
            for at in 0..line.len() {
                compare(&line[..at]);
                compare(&[&line[..at], &line[at + 1..]].concat());
                for byte in odd {
                    compare(&[&line[..at], &[byte], &line[at..]].concat());
                    compare(&[&line[..at], &[byte], &line[at + 1..]].concat());
                }
            }
        }
        assert!(same > 1_000 && left > 20, "{same} were read quickly, {left} were left");
    }

    #[test]
    fn plain_lines_are_read_quickly() {
        for line in LINES {
            assert!(plain(line.as_bytes()).is_ok(), "{line}");
        }
    }
}
