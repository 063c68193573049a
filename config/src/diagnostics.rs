//! What is wrong with a gate file, and where: one renderer for people, one list for programs.
//!
//! Every message names what was found, what was expected and, where a name is unknown, the nearest known one.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use serde::Serialize;

/// One thing that is wrong, at a place in the file (or with the file as a whole).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    /// What is wrong, in one line.
    pub message: String,
    /// Byte range in the file; `None` when the file could not be read at all.
    pub span: Option<Range<usize>>,
    /// What was expected here.
    pub expected: String,
    /// A way out, usually the nearest known name.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic at `span`.
    pub fn at(span: Range<usize>, message: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { message: message.into(), span: Some(span), expected: expected.into(), help: None }
    }

    /// The same diagnostic with a way out.
    pub fn help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }
}

/// Everything that is wrong with one gate file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostics {
    path: String,
    source: String,
    items: Vec<Diagnostic>,
}

/// One entry of [`Diagnostics`], for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The file, as it was named by the caller.
    pub path: String,
    /// 1-based line; 0 when the file could not be read.
    pub line: usize,
    /// 1-based column, in characters; 0 when the file could not be read.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What was expected.
    pub expected: String,
    /// A way out, where there is one.
    pub help: Option<String>,
}

impl Diagnostics {
    pub(crate) fn new(path: &str, source: &str, mut items: Vec<Diagnostic>) -> Self {
        items.sort_by_key(|item| item.span.as_ref().map(|span| (span.start, span.end)));
        Self { path: path.to_owned(), source: source.to_owned(), items }
    }

    /// The entries with line and column, in the order of the file.
    pub fn entries(&self) -> Vec<Entry> {
        self.items
            .iter()
            .map(|item| {
                let (line, column) = item.span.as_ref().map_or((0, 0), |span| line_column(&self.source, span.start));
                Entry {
                    path: self.path.clone(),
                    line,
                    column,
                    message: item.message.clone(),
                    expected: item.expected.clone(),
                    help: item.help.clone(),
                }
            })
            .collect()
    }

    /// The text for a terminal: the source line with a mark under the place, what was expected, a way out.
    pub fn render(&self) -> String {
        let renderer = Renderer::plain();
        let mut out = String::new();
        for item in &self.items {
            let title = Level::ERROR.primary_title(&item.message);
            let mut group: Group<'_> = match &item.span {
                Some(span) => title.element(
                    Snippet::source(&self.source)
                        .path(&self.path)
                        .annotation(AnnotationKind::Primary.span(clamp(&self.source, span)).label(&item.expected)),
                ),
                None => title.element(Level::NOTE.message(format!("{}: {}", self.path, item.expected))),
            };
            if let Some(help) = &item.help {
                group = group.element(Level::HELP.message(help));
            }
            out.push_str(&renderer.render(&[group]));
            out.push('\n');
        }
        out
    }
}

impl fmt::Display for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render())
    }
}

impl std::error::Error for Diagnostics {}

/// 1-based line and column (in characters) of a byte offset.
fn line_column(source: &str, offset: usize) -> (usize, usize) {
    let before = &source[..clamp(source, &(offset..offset)).start];
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
    (line, column)
}

/// The nearest range that lies in the source and on character boundaries.
fn clamp(source: &str, span: &Range<usize>) -> Range<usize> {
    let start = source.floor_char_boundary(span.start.min(source.len()));
    let end = source.ceil_char_boundary(span.end.clamp(start, source.len()));
    start..end
}

/// "did you mean …": the known name nearest to `name`, if one is near enough to be a slip.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (name.len().max(candidate.len()) / 3).max(1))
        .min()
        .map(|(_, candidate)| format!("did you mean `{candidate}`?"))
}

/// `a, b and c`, for messages.
pub(crate) fn listing<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    match items.as_slice() {
        [] => "none".to_owned(),
        [one] => one.clone(),
        [first @ .., last] if items.len() <= 12 => format!("{} and {last}", first.join(", ")),
        _ => format!("{} and {} more", items[..12].join(", "), items.len() - 12),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_given_in_characters_and_survives_odd_offsets() {
        assert_eq!(line_column("é = 1\nx = é!", 13), (2, 6));
        assert_eq!(line_column("é", 1), (1, 1));
        assert_eq!(line_column("", 99), (1, 1));
    }

    #[test]
    fn the_nearest_name_is_a_slip_and_not_just_any_name() {
        assert_eq!(nearest("modell", ["mode", "model"]).as_deref(), Some("did you mean `model`?"));
        assert_eq!(nearest("zzz", ["mode", "model"]), None);
    }
}
