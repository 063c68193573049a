//! A file around a step program, so that many programs can be tried in it.

use super::diagnostics::{Diagnostic, Lines, Source};
use super::read::{self, CaseText, FileText};
use super::{print, tables};
use crate::program::Program;

/// A litmus file that is read once: what stands in the only thread of its only case can be anything.
#[derive(Debug)]
pub struct Frame {
    /// What stands before the program, and behind it.
    around: [String; 2],
    file: FileText,
}

impl Frame {
    /// Reads the file.
    ///
    /// # Errors
    /// The first thing that is wrong in it; or it has several programs.
    pub fn new(source: &Source) -> Result<Frame, Diagnostic> {
        let file = tables(source)?;
        let one = |file: &FileText| {
            let [CaseText { own, .. }] = file.cases.as_slice() else { return None };
            let alone = [&file.top, own].iter().all(|shared| shared.setup.is_none() && shared.finally.is_none());
            match own.threads.as_slice() {
                [(_, program)] if alone && file.top.threads.is_empty() => Some(program.clone()),
                _ => None,
            }
        };
        let several = || Diagnostic::new(file.name.span.clone(), "several programs", "expected one thread in one case");
        let program = one(&file).ok_or_else(several)?;
        let around = [source.text[..program.start].to_owned(), source.text[program.end..].to_owned()];
        Ok(Frame { around, file })
    }

    /// The file with this program in its thread, the text of which need not be one that TOML can quote.
    #[must_use]
    pub fn with(&self, path: &str, program: &str) -> Source {
        let [before, behind] = &self.around;
        Source { path: path.to_owned(), text: [before, program, behind].concat() }
    }

    /// Compiles the case of a file that [`Frame::with`] made.
    ///
    /// # Errors
    /// The first thing that is wrong in the program.
    pub fn load(&self, source: &Source) -> Result<Program, Diagnostic> {
        let [before, behind] = &self.around;
        let mut case = self.file.cases[0].clone();
        case.own.threads[0].1 = before.len()..source.text.len() - behind.len();
        read::case(source, &Lines::new(&source.text), &self.file, case)
    }

    /// Prints its program in one form.
    ///
    /// # Errors
    /// The first thing that is wrong in the program. Whether names are known is for [`Frame::load`] to say.
    pub fn print(&self, source: &Source) -> Result<String, Diagnostic> {
        let [before, behind] = &self.around;
        print::steps(source, before.len()..source.text.len() - behind.len())
    }
}
