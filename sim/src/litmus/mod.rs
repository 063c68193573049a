//! Litmus files: how a person states a claim.
//!
//! [`load`] turns a file into a [`LitmusFile`]: one claim, several cases, each a [`Program`]. The step language is the
//! table in [`steps`]; `docs/litmus.md` is the tutorial.

mod compile;
mod diagnostics;
mod file;
mod frame;
mod lex;
mod names;
mod parse;
mod print;
mod read;
pub mod steps;

pub use diagnostics::{Diagnostic, Source, nearest};
pub use frame::Frame;
pub use parse::usage;

use crate::program::Program;

/// The largest litmus file, in bytes.
pub const MAX_BYTES: usize = 1 << 20;

/// A claim and its cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LitmusFile {
    /// Short name, unique in a corpus.
    pub name: String,
    /// Where the report stands: `owner/repository#number`, a file, a design rule.
    pub source: String,
    /// The claim, in one sentence.
    pub claim: String,
    /// The cases, compiled.
    pub cases: Vec<Program>,
}

/// Parses and compiles a litmus file.
///
/// # Errors
/// The first thing that is wrong in it.
pub fn load(source: &Source) -> Result<LitmusFile, Diagnostic> {
    read::compile_all(source, tables(source)?)
}

/// Prints a litmus file in one form: what [`load`] understands of it, without comments and alternative spellings.
/// Loading what was printed gives the same file, but for the lines and texts of steps; printing it gives the same text.
///
/// # Errors
/// The first thing that is wrong in it. Whether names are known is for [`load`] to say.
pub fn print(source: &Source) -> Result<String, Diagnostic> {
    print::print(source, &tables(source)?)
}

/// What a step means, as it stands in a program: its entry in the vocabulary.
#[must_use]
pub fn meaning(step: &str) -> Option<&'static steps::StepDef> {
    let first = parse::parse(step, 0..step.len()).ok()?.into_iter().next()?.step;
    steps::STEPS.iter().find(|def| def.step == first)
}

fn tables(source: &Source) -> Result<read::FileText, Diagnostic> {
    if source.text.len() > MAX_BYTES {
        let message = format!("a litmus file of {} bytes", source.text.len());
        return Err(Diagnostic::new(0..0, message, format!("at most {MAX_BYTES} bytes")));
    }
    file::with_root(source, read::tables)
}
