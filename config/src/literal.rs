//! From a place inside a decoded TOML string back to the place in the file.
//!
//! A condition is a string in the file. Its errors must point into the file, not into the decoded text, so this
//! module repeats just enough of TOML's string rules to know where each decoded byte came from.

use std::ops::Range;

/// A decoded string and, for each of its bytes, the offset in the file that the byte came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    pub text: String,
    origin: Vec<usize>,
    /// The whole literal in the file, quotes included.
    pub span: Range<usize>,
}

impl Literal {
    /// Pairs the decoded `text` with its literal at `span` of `source`.
    pub fn new(source: &str, span: Range<usize>, text: &str) -> Self {
        let raw = source.get(span.clone()).unwrap_or("");
        let origin = match origins(raw, text) {
            Some(origin) => origin.into_iter().map(|offset| span.start + offset).collect(),
            // Not a form this module knows: point at the whole literal rather than at a wrong place.
            None => vec![span.start; text.len()],
        };
        Self { text: text.to_owned(), origin, span }
    }

    /// The file range of a range of decoded bytes.
    pub fn locate(&self, range: Range<usize>) -> Range<usize> {
        let end_of_text = self.span.end.saturating_sub(1);
        let place = |index: usize| self.origin.get(index).copied().unwrap_or(end_of_text);
        let start = place(range.start);
        let end = if range.end > range.start { place(range.end - 1) + 1 } else { start + 1 };
        start..end.max(start + 1)
    }

    /// The file range of a 1-based line and column (in characters) of the decoded text.
    pub fn locate_line_column(&self, line: usize, column: usize) -> Range<usize> {
        let line_start: usize = self.text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let within: usize = self.text[line_start..].chars().take(column.saturating_sub(1)).map(char::len_utf8).sum();
        self.locate(line_start + within..line_start + within)
    }
}

/// Offsets into `raw` for each byte of `text`, or `None` if the two do not belong together.
fn origins(raw: &str, text: &str) -> Option<Vec<usize>> {
    let (quote, escapes) = if raw.starts_with("'''") {
        (3, false)
    } else if raw.starts_with("\"\"\"") {
        (3, true)
    } else if raw.starts_with('\'') {
        (1, false)
    } else if raw.starts_with('"') {
        (1, true)
    } else {
        return None;
    };
    let body_end = raw.len().checked_sub(quote)?;
    let mut at = quote;
    if quote == 3 {
        // A line break right after the opening quotes is not part of the string.
        at += match raw.get(at..)? {
            rest if rest.starts_with("\r\n") => 2,
            rest if rest.starts_with('\n') => 1,
            _ => 0,
        };
    }
    let mut origin = Vec::with_capacity(text.len());
    for character in text.chars() {
        while escapes && quote == 3 && folds_line(raw.get(at..body_end)?) {
            let rest = raw.get(at + 1..body_end)?;
            at += 1 + (rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len());
        }
        let rest = raw.get(at..body_end)?;
        origin.extend(std::iter::repeat_n(at, character.len_utf8()));
        at += match rest.strip_prefix('\\') {
            Some(escape) if escapes => {
                1 + match escape.chars().next()? {
                    'x' => 3,
                    'u' => 5,
                    'U' => 9,
                    _ => 1,
                }
            }
            _ if character == '\n' && rest.starts_with("\r\n") => 2,
            _ if rest.starts_with(character) => character.len_utf8(),
            _ => return None,
        };
    }
    Some(origin)
}

/// Whether a backslash here joins two lines of a multi-line string.
fn folds_line(rest: &str) -> bool {
    rest.strip_prefix('\\').is_some_and(|after| after.trim_start_matches([' ', '\t']).starts_with(['\n', '\r']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn points_at(source: &str, text: &str, needle: &str, expected: &str) {
        let literal = Literal::new(source, 0..source.len(), text);
        let start = text.find(needle).expect("needle is in the text");
        assert_eq!(&source[literal.locate(start..start + needle.len())], expected);
    }

    #[test]
    fn every_kind_of_string_maps_back() {
        points_at("'a && b'", "a && b", "b", "b");
        points_at("\"x == \\\"on\\\" && b\"", "x == \"on\" && b", "b", "b");
        points_at("\"\\u00e9 && b\"", "é && b", "b", "b");
        points_at("'''\na &&\nbee'''", "a &&\nbee", "bee", "bee");
        points_at("\"\"\"\na && \\\n   bee\"\"\"", "a && bee", "bee", "bee");
    }

    #[test]
    fn a_line_and_column_count_characters() {
        let literal = Literal::new("'''é\n é !'''", 0.."'''é\n é !'''".len(), "é\n é !");
        let place = literal.locate_line_column(2, 4);
        assert_eq!(&"'''é\n é !'''"[place], "!");
        // Beyond the end is the end.
        assert_eq!(literal.locate_line_column(9, 9).start, "'''é\n é !'''".len() - 1);
    }
}
