//! `leasecheck conform`: the same operations on a foreign allocator and on core.

use crate::pictures::write_in;
use crate::progress::{Progress, now};
use crate::{BUDGET, FAILED, OK, WRONG, hunt, print};
use leasecheck_conform::{Campaign, Finding, Kind, Known, Report, Settings, Trouble, parse, render};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Sequences that are run if neither an end nor a time is given.
const DEFAULT_RUNS: u64 = 1_000;

/// What to drive, with what, for how long.
#[derive(clap::Args)]
pub struct Args {
    /// The command that starts the driver; `docs/conform.md` says what it must speak.
    #[arg(long, value_name = "CMD")]
    driver: String,
    /// Seeds to run: `A..B`. If not given, 0..1000, or all from 0 until the time of `--for` is over.
    #[arg(long, value_name = "A..B")]
    seeds: Option<String>,
    /// Stop after this time, if the seeds are not run by then: `90s`, `10m`, `2h`.
    #[arg(long = "for", value_name = "TIME")]
    time: Option<String>,
    /// Table of known differences.
    #[arg(long, value_name = "FILE")]
    known: Option<PathBuf>,
    /// Run the sequence of this file instead.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seeds", "time"])]
    replay: Option<PathBuf>,
    /// Folder for the result, which the page of `gate --report DIR` shows, and the sequence that shows a difference.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Seconds that the driver may take for one answer.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3_600))]
    timeout: u64,
    /// Sequences that shrinking may try.
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    shrink: u32,
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("error: {}: {error}", path.display()))
}

/// What a run of this command came to, as `--out` leaves it in a folder, where the page of a gate finds it.
#[derive(Serialize, Deserialize)]
pub struct Compared {
    /// What was driven.
    pub name: String,
    /// The first seed, and one past the last that was run.
    pub seeds: (u64, u64),
    /// Sequences that were run.
    pub sequences: u64,
    /// Operations compared.
    pub operations: u64,
    /// Known differences, and how many sequences ended with them.
    pub known: BTreeMap<String, u64>,
    /// Known differences that do not differ any more.
    pub stale: Vec<String>,
    /// The first difference that is not known.
    pub difference: Option<String>,
}

impl Compared {
    /// Whether core and the driver do the same, but for what is known.
    pub fn ok(&self) -> bool {
        self.stale.is_empty() && self.difference.is_none()
    }

    /// Every result in a folder, in the order of file names. A file that is no result is left out.
    pub fn all(folder: &Path) -> Vec<Compared> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort();
        let name = |path: &Path| path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
        paths.retain(|path| name(path).starts_with("conform-") && name(path).ends_with(".json"));
        paths.iter().filter_map(|path| serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()).collect()
    }

    /// Leaves the result in a folder.
    fn write(&self, folder: &Path) -> Result<(), String> {
        // The name comes from the driver: nothing in it may lead out of the folder.
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' };
        let name: String = self.name.chars().take(60).map(plain).collect();
        let text = serde_json::to_string_pretty(self).map_err(|error| error.to_string())? + "\n";
        write_in(folder, &format!("conform-{name}.json"), &text)
    }
}

/// Runs the command and returns the exit code.
pub fn run(args: &Args) -> u8 {
    match try_run(args) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            WRONG
        }
    }
}

fn try_run(args: &Args) -> Result<u8, String> {
    let trouble = |error: Trouble| format!("error: {error}");
    let known = match &args.known {
        Some(path) => {
            let table = Known::parse(&read(path)?);
            table.map_err(|error| format!("error: {}: {error}", path.display()))?
        }
        None => Known::default(),
    };
    let seeds = hunt::seeds(args.seeds.as_deref(), DEFAULT_RUNS, args.time.is_some())?;
    let time = args.time.as_deref().map(hunt::time).transpose()?;
    let sequence = match &args.replay {
        Some(path) => Some(parse(&read(path)?).map_err(|error| format!("error: {}: {error}", path.display()))?),
        None => None,
    };
    let settings = Settings {
        command: args.driver.clone(),
        timeout: Duration::from_secs(args.timeout),
        known,
        shrink: args.shrink,
    };
    let mut campaign = Campaign::start(settings).map_err(trouble)?;
    if let Some(steps) = sequence {
        let (difference, known) = campaign.replay(&steps).map_err(trouble)?;
        let Some(difference) = difference else {
            print(&format!("{}: {} steps, no difference\n", campaign.hello().name, steps.len()));
            return Ok(OK);
        };
        print(&format!("{difference}\n"));
        if let Some(name) = known {
            print(&format!("this is the known difference `{name}`\n"));
            return Ok(OK);
        }
        return Ok(if difference.kind == Kind::Rubbish { WRONG } else { FAILED });
    }
    let progress = Progress::start(None);
    progress.say("sequences");
    let deadline = time.map(|time| now() + time);
    let stop = || progress.interrupted() || deadline.is_some_and(|deadline| now() >= deadline);
    let count = |report: &Report| progress.states.store(report.sequences, std::sync::atomic::Ordering::Relaxed);
    let report = campaign.run(seeds.clone(), &stop, &count);
    progress.end();
    let report = report.map_err(trouble)?;
    if let Some(folder) = &args.out {
        let name = campaign.hello().name.clone();
        let difference = report.finding.as_ref().map(|finding| finding.difference.to_string());
        let Report { sequences, operations, known, stale, next_seed, .. } = report.clone();
        let seeds = (seeds.start, next_seed);
        Compared { name, seeds, sequences, operations, known, stale, difference }.write(folder)?;
    }
    print(&summary(&campaign.hello().name, &report));
    if let Some(finding) = &report.finding {
        print(&describe(args, &campaign.hello().name, finding)?);
        return Ok(if finding.difference.kind == Kind::Rubbish { WRONG } else { FAILED });
    }
    if !report.stale.is_empty() {
        return Ok(FAILED);
    }
    let unfinished = args.time.is_none() && report.next_seed < seeds.end;
    Ok(if unfinished { BUDGET } else { OK })
}

fn summary(name: &str, report: &Report) -> String {
    let Report { sequences, operations, known, stale, .. } = report;
    let mut text = format!("{name}: {sequences} sequences, {operations} operations compared\n");
    for (name, count) in known {
        let _ = writeln!(text, "  known difference `{name}` ended {count} sequences");
    }
    for name in stale {
        let _ = writeln!(text, "  known difference `{name}` does not differ any more: take it out of the table");
    }
    if report.finding.is_none() {
        let _ = writeln!(text, "no {}difference", if known.is_empty() { "" } else { "other " });
    }
    text
}

fn describe(args: &Args, name: &str, finding: &Finding) -> Result<String, String> {
    let Finding { seed, difference, steps } = finding;
    let mut text = format!("\n{difference}\n\n");
    for (at, step) in steps.iter().enumerate() {
        let line = serde_json::to_string(step).map_err(|error| error.to_string())?;
        let _ = writeln!(text, "  {at:>3}  {line}");
    }
    let driver = format!("leasecheck conform --driver '{}'", args.driver);
    if let Some(folder) = &args.out {
        let file = match seed {
            Some(seed) => folder.join(format!("conform-{seed}.jsonl")),
            None => folder.join("conform-known.jsonl"),
        };
        let written = std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&file, render(name, *seed, Some(difference), steps)));
        written.map_err(|error| format!("{text}\nerror: {}: {error}", file.display()))?;
        let _ = writeln!(text, "\n  replay: {driver} --replay {}", file.display());
    } else if let Some(seed) = seed {
        let _ = writeln!(text, "\n  again: {driver} --seeds {seed}..{}", seed + 1);
    }
    Ok(text)
}
