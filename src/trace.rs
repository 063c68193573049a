//! `leasecheck trace`: traces of real runs, held against the design.

use crate::{FAILED, Format, OK, WRONG, print};
use leasecheck_trace::{Report, check, header, litmus, text};
use serde::Serialize;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Args {
    /// Traces; `docs/trace-format.md` says how they are written.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write findings about addresses, leases and order as litmus files into this folder.
    #[arg(long, value_name = "DIR")]
    litmus: Option<PathBuf>,
    /// How results are written to the standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Serialize)]
struct Output {
    /// Version of this model.
    version: u32,
    traces: Vec<Report>,
}

pub fn run(args: &Args) -> u8 {
    let mut traces = Vec::new();
    let mut code = OK;
    for path in &args.files {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) => {
                eprintln!("error: {}: cannot be read: {error}", path.display());
                code = WRONG;
                continue;
            }
        };
        let report = check(&path.display().to_string(), BufReader::with_capacity(1 << 18, file));
        code = code.max(match &report {
            Report { broken: Some(_), .. } => WRONG,
            Report { found: 0, .. } => OK,
            Report { .. } => FAILED,
        });
        if let Some(folder) = &args.litmus
            && let Err(message) = write_litmus(folder, path, &report)
        {
            eprintln!("error: {message}");
            code = WRONG;
        }
        if matches!(args.format, Format::Text | Format::Markdown) {
            print(&text::render(&report));
        }
        traces.push(report);
    }
    match args.format {
        Format::Text | Format::Markdown => {}
        Format::Json => match leasecheck_reports::json::render(&Output { version: 1, traces }) {
            Ok(text) => print(&text),
            Err(error) => eprintln!("error: the report cannot be written: {error}"),
        },
        Format::Junit => {
            let checks = traces.iter().map(|report| {
                let text = text::render(report);
                (report.file.clone(), if report.accepted() { Ok(()) } else { Err(text) })
            });
            match leasecheck_reports::junit::checks("leasecheck trace", &checks.collect::<Vec<_>>()) {
                Ok(text) => print(&text),
                Err(error) => eprintln!("error: the report cannot be written: {error}"),
            }
        }
    }
    code
}

/// One litmus file for each kind of finding that has a shape of its own.
fn write_litmus(folder: &Path, path: &Path, report: &Report) -> Result<(), String> {
    if report.findings.iter().all(|finding| finding.sketch.is_none()) {
        return Ok(());
    }
    let again = File::open(path).map_err(|error| error.to_string()).and_then(|file| header(BufReader::new(file)));
    let header = again.map_err(|error| {
        let path = path.display();
        format!("{path}: litmus files need a file that can be read twice, not a pipe; the second time: {error}")
    })?;
    let stem = path.file_stem().map_or("trace".into(), |stem| stem.to_string_lossy());
    let stem: String =
        stem.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let mut written = Vec::new();
    for finding in &report.findings {
        if finding.sketch.is_none() || written.contains(&&finding.sketch) {
            continue;
        }
        let name = format!("{stem}-line-{}", finding.line);
        if let Some(text) = litmus::write(&name, &header, report, finding) {
            let target = folder.join(format!("{name}.toml"));
            std::fs::create_dir_all(folder)
                .and_then(|()| std::fs::write(&target, text))
                .map_err(|error| format!("{}: cannot be written: {error}", target.display()))?;
            eprintln!("wrote {}", target.display());
            written.push(&finding.sketch);
        }
    }
    Ok(())
}
