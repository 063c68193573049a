//! `leasecheck models`: the thread-safe shell under loom and shuttle, beside the protocol that SGLang ships.

use crate::explorers::Format;
use crate::progress::{Progress, now};
use crate::{FAILED, OK, WRONG, print};
use leasecheck_models::{Options, Report, Row, list, run_with};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Results, and the seconds of each model.
#[derive(Default)]
pub struct Modelled {
    pub report: Report,
    seconds: BTreeMap<String, f64>,
}

impl Modelled {
    /// The table, with times.
    pub fn table(&self) -> String {
        self.report.table_with("seconds", |row| self.seconds_of(row))
    }

    /// How long a model took.
    pub fn seconds_of(&self, row: &Row) -> String {
        let key = key(&row.model, row.tool.name(), row.subject.name());
        self.seconds.get(&key).map_or(String::new(), |seconds| format!("{seconds:.1}"))
    }
}

fn key(model: &str, tool: &str, subject: &str) -> String {
    format!("{model} {tool} {subject}")
}

/// Runs the models, and says on a terminal which.
pub fn settle(options: &Options, progress: &Progress) -> Modelled {
    let started = Mutex::new(BTreeMap::new());
    let seconds = Mutex::new(BTreeMap::new());
    // A poisoned lock would mean that telling the time panicked; the times are only for people.
    let report = run_with(options, &|told| match told {
        leasecheck_models::Progress::Began(entry) => {
            progress.say(&format!("{} on {}", entry.model, entry.subject.name()));
            if let Ok(mut started) = started.lock() {
                started.insert(key(&entry.model, entry.tool.name(), entry.subject.name()), now());
            }
        }
        leasecheck_models::Progress::Ended(row) => {
            let key = key(&row.model, row.tool.name(), row.subject.name());
            if let (Ok(started), Ok(mut seconds)) = (started.lock(), seconds.lock())
                && let Some(began) = started.get(&key)
            {
                seconds.insert(key, began.elapsed().as_secs_f64());
            }
        }
    });
    Modelled { report, seconds: seconds.into_inner().unwrap_or_default() }
}

pub fn run(only: Option<String>, preemptions: Option<u32>, iterations: Option<u64>, jobs: usize, format: Format) -> u8 {
    let options = Options { only, preemptions, iterations, jobs };
    let progress = Progress::start(None);
    let modelled = settle(&options, &progress);
    progress.end();
    if modelled.report.rows.is_empty() {
        let names: Vec<String> = list().into_iter().map(|entry| entry.model).collect();
        eprintln!(
            "error: no model has `{}` in its name; there are: {}",
            options.only.unwrap_or_default(),
            names.join(", ")
        );
        return WRONG;
    }
    match format {
        Format::Json => match serde_json::to_string_pretty(&modelled.report) {
            Ok(text) => print(&(text + "\n")),
            Err(error) => eprintln!("error: the report cannot be written: {error}"),
        },
        Format::Text => print(&format!("{}\n{}", modelled.table(), modelled.report.failures(false))),
    }
    if modelled.report.ok() { OK } else { FAILED }
}

/// Replays an execution of a model.
pub fn replay(token: &str, format: Format) -> u8 {
    let row = match leasecheck_models::replay(token) {
        Ok(row) => row,
        Err(error) => {
            eprintln!("error: {error}");
            return WRONG;
        }
    };
    let report = Report { rows: vec![row] };
    match format {
        Format::Json => match serde_json::to_string_pretty(&report) {
            Ok(text) => print(&(text + "\n")),
            Err(error) => eprintln!("error: the run cannot be written: {error}"),
        },
        Format::Text => print(&format!("{}\n{}", report.table(), report.failures(true))),
    }
    if report.rows.iter().any(|row| row.verdict.failure().is_some()) { FAILED } else { OK }
}
