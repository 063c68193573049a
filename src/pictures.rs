//! Files that a command writes beside its output: the run as a page, as a drawing, as a trace.

use leasecheck_reports::model::CaseReport;
use leasecheck_reports::why::Chances;
use leasecheck_reports::{html, perfetto, svg};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Which pictures to write, and where.
#[derive(clap::Args, Clone)]
pub struct Pictures {
    /// Write the cases and their runs as one page that needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Draw the first run that violates into this file.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write the first run that violates as a trace that Perfetto opens.
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
}

/// Writes a file that the user has named.
///
/// # Errors
/// A text that says which file, and why it cannot be written.
pub fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("error: {}: cannot be written: {error}", path.display()))
}

/// Writes a file into a folder that the user has named, and makes the folder. A link of that name is replaced, not
/// followed: nothing is written anywhere else.
///
/// # Errors
/// A text that says which file, and why it cannot be written.
pub fn write_in(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    let (path, beside) = (folder.join(name), folder.join(format!(".{name}.part")));
    let write = || {
        std::fs::create_dir_all(folder)?;
        // What an earlier run may have left.
        let _ = std::fs::remove_file(&beside);
        std::fs::OpenOptions::new().write(true).create_new(true).open(&beside)?.write_all(text.as_bytes())?;
        std::fs::rename(&beside, &path)
    };
    write().map_err(|error| format!("error: {}: cannot be written: {error}", path.display()))
}

impl Pictures {
    /// Whether a page is asked for.
    pub fn has_page(&self) -> bool {
        self.html.is_some()
    }

    /// Writes what was asked for; `chances` are for the page.
    ///
    /// # Errors
    /// A text that says which file, and why it cannot be written.
    pub fn write(&self, cases: &[CaseReport], chances: &[Option<Chances>]) -> Result<(), String> {
        if let Some(path) = &self.html {
            write(path, &html::cases(cases, chances)?)?;
        }
        let run = cases.iter().find_map(|case| Some((case, case.counterexample.as_ref()?)));
        let Some((case, run)) = run else {
            for path in self.svg.iter().chain(&self.perfetto) {
                eprintln!("note: no case has a run to draw: {} is not written", path.display());
            }
            return Ok(());
        };
        if let Some(path) = &self.svg {
            write(path, &svg::render(case, run)?)?;
        }
        if let Some(path) = &self.perfetto {
            write(path, &perfetto::render(&format!("{} / {}", case.claim, case.case), run)?)?;
        }
        Ok(())
    }
}
