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
        let snippet = Snippet::source(&source.text)
            .path(&source.path)
            .annotation(AnnotationKind::Primary.span(start..end).label(&self.label));
        let mut groups = vec![Level::ERROR.primary_title(&self.message).element(snippet)];
        if !self.help.is_empty() {
            groups.push(Group::with_title(Level::HELP.secondary_title(&self.help)));
        }
        Renderer::plain().render(&groups)
    }
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
