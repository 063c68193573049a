//! Errors for people: what is wrong, where, what was expected, what to do.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::ops::Range;

/// The text of a litmus file and the name to show for it.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path as given by the user.
    pub path: String,
    /// Whole text.
    pub text: String,
}

impl Source {
    /// Line of a byte offset, counted from 1.
    #[must_use]
    pub fn line(&self, offset: usize) -> u32 {
        let end = offset.min(self.text.len());
        1 + self.text.as_bytes()[..end].iter().filter(|byte| **byte == b'\n').count() as u32
    }
}

/// Where the lines of a text begin.
#[derive(Debug)]
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn new(text: &str) -> Lines {
        Lines(text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1).collect())
    }

    /// Line of a byte offset, counted from 1.
    pub(crate) fn line(&self, offset: usize) -> u32 {
        1 + self.0.partition_point(|start| *start <= offset) as u32
    }
}

/// One error in a litmus file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What is wrong.
    pub message: String,
    /// Where, in bytes of the file.
    pub span: Range<usize>,
    /// What was expected there.
    pub label: String,
    /// What to do; empty if the label says it all.
    pub help: String,
}

impl Diagnostic {
    /// An error at `span`.
    #[must_use]
    pub fn new(span: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Diagnostic {
        Diagnostic { message: message.into(), span, label: label.into(), help: String::new() }
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = help.into();
        self
    }

    /// Adds the nearest known word, if one is near.
    #[must_use]
    pub fn nearest<'a>(self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Diagnostic {
        match nearest(word, known) {
            Some(near) => self.help(format!("did you mean `{near}`?")),
            None => self,
        }
    }

    /// The error with the lines that it is about, as text for a terminal without colours.
    #[must_use]
    pub fn render(&self, source: &Source) -> String {
        let length = source.text.len();
        let mut start = self.span.start.min(length);
        let mut end = self.span.end.clamp(start, length);
        while !source.text.is_char_boundary(start) {
            start -= 1;
        }
        while !source.text.is_char_boundary(end) {
            end += 1;
        }
        let (message, label, help, path) =
            (shown(&self.message, 1), shown(&self.label, 1), shown(&self.help, 4), shown(&source.path, 1));
        // The lines of the error, without the far ends of long ones.
        let text = &source.text;
        let near = |mut at: usize| {
            while !text.is_char_boundary(at) {
                at += 1;
            }
            at
        };
        end = near(end.min(start + MOST_SHOWN));
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let line_end = text[end..].find('\n').map_or(length, |at| end + at);
        let from = near(line_start.max(start.saturating_sub(MOST_SHOWN)));
        let to = near(line_end.min(end + MOST_SHOWN));
        let excerpt: String = text[from..to].chars().map(visible).collect();
        // Letters that cannot be shown may have another length than what stands for them.
        let before = text[from..start].chars().map(|letter| visible(letter).len_utf8()).sum::<usize>();
        let within = text[start..end].chars().map(|letter| visible(letter).len_utf8()).sum::<usize>();
        let snippet = Snippet::source(&excerpt)
            .line_start(source.line(start) as usize)
            .path(&path)
            .annotation(AnnotationKind::Primary.span(before..before + within).label(&label));
        let mut groups = vec![Level::ERROR.primary_title(&message).element(snippet)];
        if !help.is_empty() {
            groups.push(Group::with_title(Level::HELP.secondary_title(&help)));
        }
        Renderer::plain().render(&groups)
    }
}

/// The most bytes of a line, a message or a name that an error shows on each side.
const MOST_SHOWN: usize = 300;

/// The letter itself, or one that says that it cannot be shown.
fn visible(letter: char) -> char {
    if letter.is_control() && letter != '\n' && letter != '\t' { char::REPLACEMENT_CHARACTER } else { letter }
}

/// A text that a terminal can show, cut off if it is longer than `times` what an error shows of a line.
fn shown(text: &str, times: usize) -> String {
    let mut short: String = text.chars().take(MOST_SHOWN * times).map(visible).collect();
    if text.chars().nth(MOST_SHOWN * times).is_some() {
        short.push('…');
    }
    short
}

/// The known word that is nearest to `word`, unless all are far.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let short: String = word.chars().take(64).collect();
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&short, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.chars().count().max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}
