//! `leasecheck config`: what configuration gates can and cannot reach.

use crate::{FAILED, Format, OK, WRONG, print};
use leasecheck_config::{GateFile, Report, Verdict, analyse, load, render_markdown, render_text};
use std::path::{Path, PathBuf};

/// Loads a gate file, its baseline (named on the command line, or by the file), and analyses them.
///
/// # Errors
/// The whole error text.
pub fn settle(file: &Path, baseline: Option<&Path>) -> Result<Report, String> {
    let open = |path: &Path| -> Result<GateFile, String> { load(path).map_err(|wrong| wrong.render()) };
    let gates = open(file)?;
    let baseline = baseline.map(Path::to_owned).or_else(|| gates.baseline());
    let baseline = baseline.as_deref().map(open).transpose()?;
    Ok(analyse(&gates, baseline.as_ref()))
}

/// Every gate file below a folder, in the order of paths.
///
/// # Errors
/// When the folder cannot be read.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let wrong = |error: std::io::Error| format!("error: {}: cannot be read: {error}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

pub fn run(file: &Path, baseline: Option<&Path>, format: Format) -> u8 {
    let report = match settle(file, baseline) {
        Ok(report) => report,
        Err(message) => {
            eprintln!("{message}");
            return WRONG;
        }
    };
    match format {
        Format::Text => print(&render_text(&report)),
        Format::Markdown => print(&render_markdown(&report)),
        Format::Json => match serde_json::to_string_pretty(&report) {
            Ok(text) => print(&(text + "\n")),
            Err(error) => eprintln!("error: the report cannot be written: {error}"),
        },
        Format::Junit => {
            let checks = report
                .checks()
                .into_iter()
                .map(|check| (check.name, if check.passed { Ok(()) } else { Err(check.message) }));
            match leasecheck_reports::junit::checks("leasecheck config", &checks.collect::<Vec<_>>()) {
                Ok(text) => print(&text),
                Err(error) => eprintln!("error: the report cannot be written: {error}"),
            }
        }
    }
    if report.verdict() == Verdict::Ok { OK } else { FAILED }
}
