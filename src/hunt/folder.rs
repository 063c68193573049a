//! What a campaign leaves on disk: `campaign.json` (what it is and how far it is), `finds.jsonl` (one find a line) and a
//! litmus file for each find. A folder is complete after every save, so that a campaign that was stopped in any way can
//! be resumed or merged.

use super::wrong;
use leasecheck_sim::hunt::{Case, Tally, VERSION};
use leasecheck_sim::invariants::Code;
use leasecheck_sim::marks::Mark;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Version of the folder's files.
pub const FOLDER: u32 = 1;

/// What a folder says about its campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub folder: u32,
    pub hunt: u32,
    pub settings: String,
    pub from: u64,
    pub to: u64,
    pub shard: Option<(u64, u64)>,
    /// The first seed that is still to be run.
    pub next: u64,
    pub runs: u64,
    pub steps: u64,
    pub failures: u64,
    pub unusable: u64,
    pub canary: (u64, u64),
    pub marks: BTreeMap<String, u64>,
    pub invariants: BTreeMap<String, u64>,
    /// What a joined campaign lacks to be one that can be resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// A campaign's folder.
pub struct Folder {
    pub path: PathBuf,
    pub lines: Vec<Case>,
}

fn save_file(path: &Path, text: &str) -> Result<(), String> {
    // Written beside and renamed, so that a campaign that is killed leaves whole files.
    let beside = path.with_extension("part");
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|error| {
        wrong(format!("{}: cannot be written: {error}; name another folder with `--out DIR`", path.display()))
    })
}

pub fn load(path: &Path) -> Result<(Record, Vec<Case>), String> {
    let at = path.join("campaign.json");
    let text = std::fs::read_to_string(&at).map_err(|error| {
        wrong(format!("{}: cannot be read: {error}; is this a folder of `hunt --out`?", at.display()))
    })?;
    let value: serde_json::Value = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("{}: is not what `hunt` writes: {error}", at.display())))?;
    let version = |key: &str| value.get(key).and_then(serde_json::Value::as_u64);
    if version("folder") != Some(FOLDER.into()) || version("hunt") != Some(VERSION.into()) {
        return Err(wrong(format!(
            "{}: belongs to another version of leasecheck, whose seeds stand for other runs; begin anew in an empty folder",
            path.display()
        )));
    }
    let record: Record = serde_json::from_value(value)
        .map_err(|error| wrong(format!("{}: is not what `hunt` writes: {error}", at.display())))?;
    let at = path.join("finds.jsonl");
    let text =
        std::fs::read_to_string(&at).map_err(|error| wrong(format!("{}: cannot be read: {error}", at.display())))?;
    let mut cases = Vec::new();
    for line in text.lines() {
        let mut case: Case = serde_json::from_str(line)
            .map_err(|error| wrong(format!("{}: is not what `hunt` writes: {error}", at.display())))?;
        // A folder may come from anywhere; a name in it must not lead out of it, nor out of the one that is written.
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if case.name.is_empty() || case.name.len() > 200 || !case.name.chars().all(plain) {
            return Err(wrong(format!("{}: has a find whose name is no file name", at.display())));
        }
        let file = path.join(format!("{}.toml", case.name));
        case.litmus = std::fs::read_to_string(&file)
            .map_err(|error| wrong(format!("{}: cannot be read: {error}", file.display())))?;
        cases.push(case);
    }
    Ok((record, cases))
}

impl Folder {
    pub fn save(&self, record: &Record) -> Result<(), String> {
        let json = |error: serde_json::Error| wrong(format!("{}: {error}", self.path.display()));
        let mut lines = String::new();
        for case in &self.lines {
            lines.push_str(&serde_json::to_string(case).map_err(json)?);
            lines.push('\n');
            save_file(&self.path.join(format!("{}.toml", case.name)), &case.litmus)?;
        }
        save_file(&self.path.join("finds.jsonl"), &lines)?;
        let record = serde_json::to_string_pretty(record).map_err(json)?;
        save_file(&self.path.join("campaign.json"), &(record + "\n"))
    }

    pub fn create(path: &Path) -> Result<Folder, String> {
        std::fs::create_dir_all(path).map_err(|error| {
            wrong(format!("{}: cannot be made: {error}; name another folder with `--out DIR`", path.display()))
        })?;
        Ok(Folder { path: path.to_owned(), lines: Vec::new() })
    }

    /// Whether it holds a campaign already.
    pub fn is_taken(&self) -> bool {
        self.path.join("campaign.json").exists()
    }
}

fn counted<T: Copy>(all: &[T], counts: &[u64], name: impl Fn(T) -> &'static str) -> BTreeMap<String, u64> {
    let pairs = all.iter().zip(counts).filter(|(_, count)| **count > 0);
    pairs.map(|(one, count)| (name(*one).to_owned(), *count)).collect()
}

fn uncounted<T: Copy>(all: &[T], counts: &BTreeMap<String, u64>, name: impl Fn(T) -> &'static str) -> Vec<u64> {
    all.iter().map(|one| counts.get(name(*one)).copied().unwrap_or(0)).collect()
}

impl Record {
    pub fn fill(&mut self, tally: &Tally) {
        (self.runs, self.steps) = (tally.runs, tally.steps);
        (self.failures, self.unusable) = (tally.failures, tally.unusable);
        self.marks = counted(Mark::ALL, &tally.marks, Mark::name);
        self.invariants = counted(Code::ALL, &tally.codes, Code::name);
    }

    pub fn tally(&self) -> Tally {
        Tally {
            runs: self.runs,
            steps: self.steps,
            failures: self.failures,
            unusable: self.unusable,
            marks: uncounted(Mark::ALL, &self.marks, Mark::name),
            codes: uncounted(Code::ALL, &self.invariants, Code::name),
        }
    }
}
