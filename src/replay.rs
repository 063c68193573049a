//! `leasecheck replay`: shows the run that a token stands for.

use crate::explorers::Format;
use crate::pictures::Pictures;
use crate::progress::Progress;
use crate::{FAILED, OK, WRONG, check, corpus, print, why};
use leasecheck_reports::{model, text};
use leasecheck_sim::explore::{Token, replay};
use leasecheck_sim::litmus::LitmusFile;
use std::path::{Path, PathBuf};

pub fn find(token: &Token, file: Option<&Path>, folder: &Path) -> Result<(LitmusFile, PathBuf), u8> {
    if let Some(path) = file {
        return Ok((check::one(path)?, path.to_owned()));
    }
    let files = corpus::files(folder).map_err(|message| {
        eprintln!("{message}");
        WRONG
    })?;
    let readable = files.into_iter().filter_map(|path| Some((corpus::open(&path).ok()?, path)));
    let found = { readable }.find(|(file, _)| file.name == token.claim);
    found.ok_or_else(|| {
        eprintln!(
            "error: no litmus file below {} states the claim `{}`; name the file: leasecheck replay TOKEN FILE",
            folder.display(),
            token.claim
        );
        WRONG
    })
}

pub fn run(token: &str, file: Option<&Path>, folder: &Path, (pictures, format): (&Pictures, Format)) -> u8 {
    let token: Token = match token.parse() {
        Ok(token) => token,
        Err(error) => {
            eprintln!("error: {error}");
            return WRONG;
        }
    };
    let (file, path) = match find(&token, file, folder) {
        Ok(file) => file,
        Err(code) => return code,
    };
    let Some(program) = file.cases.get(token.case) else {
        eprintln!(
            "error: `{}` has {} cases, and the token is about case {}",
            file.name,
            file.cases.len(),
            token.case + 1
        );
        return WRONG;
    };
    let replayed = match replay::run(program, &token.steps) {
        Ok(replayed) => replayed,
        Err(misfit) => {
            eprintln!("error: {misfit}");
            return WRONG;
        }
    };
    let report = model::counterexample(program, &replayed, &token, &path.display().to_string(), true);
    match format {
        Format::Text => print(&format!("{} / {}\n\n{}\n", program.name.0, program.name.1, text::run(&report))),
        Format::Json => match serde_json::to_string_pretty(&report) {
            Ok(text) => print(&(text + "\n")),
            Err(error) => eprintln!("error: the run cannot be written: {error}"),
        },
    }
    let shown = path.display().to_string();
    let case = model::replayed(program, (&file.source, &file.claim), &shown, report);
    let found = case.counterexample.as_ref().filter(|_| pictures.has_page());
    let chances = found.and_then(|found| {
        let progress = Progress::start(None);
        let chances = why::chances(program, found, &progress);
        progress.end();
        chances
    });
    if let Err(message) = pictures.write(&[case], &[chances]) {
        eprintln!("{message}");
        return WRONG;
    }
    if replayed.violation.is_some() { FAILED } else { OK }
}
