//! The TOML of a litmus file: tables and keys, with the place of everything.

use super::diagnostics::{Diagnostic, Source};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key or value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
}

/// A key and what stands under it.
pub(crate) type Named<T> = (At<String>, T);

/// A word, alone or with what it is about.
pub(crate) type Choice = (At<String>, Option<At<String>>);

/// A table of the file, whose keys are taken one by one, so that what is left over is unknown.
pub(crate) struct Table<'f, 't> {
    source: &'f Source,
    entries: Vec<(&'t Spanned<std::borrow::Cow<'t, str>>, &'t Spanned<DeValue<'t>>)>,
    known: Vec<&'static str>,
    pub(crate) span: Range<usize>,
    what: String,
}

fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn wrong_kind(value: &Spanned<DeValue<'_>>, key: &str, expected: &str) -> Diagnostic {
    Diagnostic::new(value.span(), format!("`{key}` is {}", kind(value.get_ref())), format!("expected {expected}"))
}

impl<'f, 't> Table<'f, 't> {
    pub(crate) fn root(source: &'f Source, table: &'t Spanned<DeTable<'t>>) -> Table<'f, 't> {
        Table {
            source,
            entries: table.get_ref().iter().collect(),
            known: Vec::new(),
            span: 0..source.text.len().min(1),
            what: "a litmus file".to_owned(),
        }
    }

    fn nested(&self, value: &'t Spanned<DeValue<'t>>, key: &str, what: &str) -> Result<Table<'f, 't>, Diagnostic> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(Table {
                source: self.source,
                entries: table.iter().collect(),
                known: Vec::new(),
                span: value.span(),
                what: what.to_owned(),
            }),
            _ => Err(wrong_kind(value, key, &format!("{what}, a table"))),
        }
    }

    fn take(&mut self, key: &'static str) -> Option<&'t Spanned<DeValue<'t>>> {
        self.known.push(key);
        let at = self.entries.iter().position(|(name, _)| name.get_ref() == key)?;
        Some(self.entries.remove(at).1)
    }

    pub(crate) fn string(&mut self, key: &'static str) -> Result<Option<At<String>>, Diagnostic> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::String(text) => Ok(Some(At { value: text.to_string(), span: value.span() })),
            _ => Err(wrong_kind(value, key, "a string")),
        }
    }

    pub(crate) fn required(&mut self, key: &'static str) -> Result<At<String>, Diagnostic> {
        match self.string(key)? {
            Some(at) => Ok(at),
            None => Err(Diagnostic::new(
                self.span.clone(),
                format!("{} needs `{key}`", self.what),
                format!("add `{key} = \"…\"`"),
            )),
        }
    }

    pub(crate) fn flag(&mut self, key: &'static str) -> Result<Option<bool>, Diagnostic> {
        let Some(value) = self.take(key) else { return Ok(None) };
        match value.get_ref() {
            DeValue::Boolean(flag) => Ok(Some(*flag)),
            _ => Err(wrong_kind(value, key, "true or false")),
        }
    }

    pub(crate) fn number(&mut self, key: &'static str, most: u64) -> Result<Option<At<u64>>, Diagnostic> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let number = match value.get_ref() {
            DeValue::Integer(number) => u64::from_str_radix(number.as_str(), number.radix()).ok(),
            _ => None,
        };
        match number.filter(|number| *number <= most) {
            Some(number) => Ok(Some(At { value: number, span: value.span() })),
            None => Err(wrong_kind(value, key, &format!("a whole number from 0 to {most}"))),
        }
    }

    pub(crate) fn strings(&mut self, key: &'static str) -> Result<Option<Vec<At<String>>>, Diagnostic> {
        let Some(value) = self.take(key) else { return Ok(None) };
        Ok(Some(strings(value, key)?))
    }

    /// `expect`: a string, or a table with one key.
    pub(crate) fn choice(&mut self, key: &'static str) -> Result<Option<Choice>, Diagnostic> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let expected = "`\"unreachable\"`, `{ reachable = \"CODE\" }` or `{ unreachable = \"CODE\" }`";
        match value.get_ref() {
            DeValue::String(text) => Ok(Some((At { value: text.to_string(), span: value.span() }, None))),
            DeValue::Table(table) if table.len() == 1 => match table.iter().next() {
                Some((name, inner)) => match inner.get_ref() {
                    DeValue::String(text) => Ok(Some((
                        At { value: name.get_ref().to_string(), span: name.span() },
                        Some(At { value: text.to_string(), span: inner.span() }),
                    ))),
                    _ => Err(wrong_kind(inner, key, expected)),
                },
                None => Err(wrong_kind(value, key, expected)),
            },
            _ => Err(wrong_kind(value, key, expected)),
        }
    }

    pub(crate) fn table(&mut self, key: &'static str, what: &str) -> Result<Option<Table<'f, 't>>, Diagnostic> {
        match self.take(key) {
            Some(value) => Ok(Some(self.nested(value, key, what)?)),
            None => Ok(None),
        }
    }

    /// The tables of an array of tables.
    pub(crate) fn tables(&mut self, key: &'static str, what: &str) -> Result<Vec<Table<'f, 't>>, Diagnostic> {
        let Some(value) = self.take(key) else { return Ok(Vec::new()) };
        match value.get_ref() {
            DeValue::Array(items) => items.iter().map(|item| self.nested(item, key, what)).collect(),
            _ => Err(wrong_kind(value, key, "tables in double brackets, such as `[[case]]`")),
        }
    }

    /// Every remaining key, for tables whose keys are names: each with its own table.
    pub(crate) fn named_tables(self, what: &str) -> Result<Vec<Named<Table<'f, 't>>>, Diagnostic> {
        let all = self.entries.iter();
        all.map(|(name, value)| {
            let key = At { value: name.get_ref().to_string(), span: name.span() };
            let table = self.nested(value, name.get_ref(), what)?;
            Ok((key, table))
        })
        .collect()
    }

    /// Every remaining key with a truth value.
    pub(crate) fn named_flags(self) -> Result<Vec<(At<String>, bool)>, Diagnostic> {
        let all = self.entries.iter();
        all.map(|(name, value)| match value.get_ref() {
            DeValue::Boolean(flag) => Ok((At { value: name.get_ref().to_string(), span: name.span() }, *flag)),
            _ => Err(wrong_kind(value, name.get_ref(), "true or false")),
        })
        .collect()
    }

    /// Every remaining key with a list of words.
    pub(crate) fn named_lists(self) -> Result<Vec<Named<Vec<At<String>>>>, Diagnostic> {
        let all = self.entries.iter();
        all.map(|(name, value)| {
            Ok((At { value: name.get_ref().to_string(), span: name.span() }, strings(value, name.get_ref())?))
        })
        .collect()
    }

    /// Every remaining key with a program, which is text whose place in the file is known.
    pub(crate) fn named_programs(self) -> Result<Vec<Named<Range<usize>>>, Diagnostic> {
        let all = self.entries.iter();
        all.map(|(name, value)| {
            let key = At { value: name.get_ref().to_string(), span: name.span() };
            Ok((key, program(self.source, value, name.get_ref())?))
        })
        .collect()
    }

    pub(crate) fn program(&mut self, key: &'static str) -> Result<Option<Range<usize>>, Diagnostic> {
        match self.take(key) {
            Some(value) => Ok(Some(program(self.source, value, key)?)),
            None => Ok(None),
        }
    }

    /// Complains about the first key that nobody asked for.
    pub(crate) fn finish(self) -> Result<(), Diagnostic> {
        match self.entries.first() {
            None => Ok(()),
            Some((name, _)) => {
                let expected = self.known.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
                let unknown = format!("unknown key `{}` in {}", name.get_ref(), self.what);
                Err(Diagnostic::new(name.span(), unknown, "not known here")
                    .help(format!("known keys: {expected}"))
                    .nearest(name.get_ref(), self.known.iter().copied()))
            }
        }
    }
}

fn strings(value: &Spanned<DeValue<'_>>, key: &str) -> Result<Vec<At<String>>, Diagnostic> {
    let DeValue::Array(items) = value.get_ref() else { return Err(wrong_kind(value, key, "a list of strings")) };
    let one = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
        DeValue::String(text) => Ok(At { value: text.to_string(), span: item.span() }),
        _ => Err(wrong_kind(item, key, "a string")),
    };
    items.iter().map(one).collect()
}

/// Where the text of a string stands in the file, without its quotes.
fn program(source: &Source, value: &Spanned<DeValue<'_>>, key: &str) -> Result<Range<usize>, Diagnostic> {
    let DeValue::String(text) = value.get_ref() else {
        return Err(wrong_kind(value, key, "a program, in triple quotes"));
    };
    let span = value.span();
    let raw = source.text.get(span.clone()).unwrap_or_default();
    // Text without escapes stands right before the closing quotes.
    let quotes = if raw.starts_with("\"\"\"") || raw.starts_with("'''") { 3 } else { 1 };
    let end = raw.len().saturating_sub(quotes);
    match end.checked_sub(text.len()) {
        Some(at) if raw.get(at..end) == Some(text) => Ok(span.start + at..span.start + end),
        _ => Err(Diagnostic::new(span, format!("`{key}` has escapes in its text"), "no `\\` is needed in a program")
            .help("write the program in triple quotes, with plain line ends")),
    }
}

/// Parses the TOML and hands its root to `read`.
pub(crate) fn with_root<T>(
    source: &Source,
    read: impl FnOnce(Table<'_, '_>) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    match DeTable::parse(&source.text) {
        Ok(table) => read(Table::root(source, &table)),
        Err(error) => {
            let message = error.message().lines().collect::<Vec<_>>().join(" ");
            Err(Diagnostic::new(error.span().unwrap_or(0..0), message, "not valid TOML here"))
        }
    }
}
