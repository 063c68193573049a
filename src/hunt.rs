//! `leasecheck hunt` and `leasecheck merge`: campaigns of random runs, and what they leave on disk.
//!
//! A folder of a campaign holds `campaign.json` (what it is and how far it is), `finds.jsonl` (one find a line) and a
//! litmus file for each find. It is complete after every save, so that a campaign that was stopped in any way can be
//! resumed or merged.

use crate::pictures::Pictures;
use crate::progress::{Progress, now};
use crate::{BUDGET, FAILED, Format, OK, WRONG, check, print, why};
use leasecheck_core::Rule;
use leasecheck_sim::assumptions::Assumption;
use leasecheck_sim::explore::{self, Token};
use leasecheck_sim::hunt::schedulers::Choice;
use leasecheck_sim::hunt::{
    Blame, Budget, Canary, Case, Effort, Finds, Identity, RunToken, Runner, SCHEDULES, Settings, Tally, VERSION,
    campaign, canary, gaps, prepare, program_text, run_seed, write_up,
};
use leasecheck_sim::invariants::Code;
use leasecheck_sim::litmus::nearest;
use leasecheck_sim::marks::Mark;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs of a campaign that is given neither an end nor a time.
const DEFAULT_RUNS: u64 = 100_000;
/// Seeds between two saves.
const SAVE_EVERY: u64 = 256 * SCHEDULES;
/// Version of the folder's files.
const FOLDER: u32 = 1;

/// What to hunt, with what, for how long.
#[derive(clap::Args)]
pub struct Args {
    /// Seeds to run: `A..B`, or a git commit hash to begin at.
    #[arg(long, value_name = "A..B|HASH", default_value = "0..100000")]
    seeds: String,
    /// Stop after this time: `90s`, `10m`, `2h`. Seeds go on from the first of `--seeds` until then.
    #[arg(long = "for", value_name = "TIME")]
    time: Option<String>,
    /// Worker threads; all cores if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Only part I of N of the seeds; `leasecheck merge` joins what the parts find.
    #[arg(long, value_name = "I/N")]
    shard: Option<String>,
    /// Switch a rule off.
    #[arg(long = "rule", value_name = "NAME=off")]
    rules: Vec<String>,
    /// Drop an assumption.
    #[arg(long = "assume", value_name = "NAME=off")]
    assumptions: Vec<String>,
    /// Who decides which step is next: `mixed`, `uniform`, `pct`, `delay`.
    #[arg(long, value_name = "NAME", default_value = "mixed")]
    scheduler: String,
    /// Folder for finds and for resuming.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Go on where the campaign in the folder stopped.
    #[arg(long, requires = "out")]
    resume: bool,
    /// Candidates that shrinking may try for each find.
    #[arg(long, value_name = "N", default_value_t = 3_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    shrink: u32,
}

/// What a folder says about its campaign.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    folder: u32,
    hunt: u32,
    settings: String,
    from: u64,
    to: u64,
    shard: Option<(u64, u64)>,
    /// The first seed that is still to be run.
    next: u64,
    runs: u64,
    steps: u64,
    failures: u64,
    unusable: u64,
    canary: (u64, u64),
    marks: BTreeMap<String, u64>,
    invariants: BTreeMap<String, u64>,
}

fn wrong(message: String) -> String {
    format!("error: {message}")
}

/// Seeds from the text of `--seeds`.
pub fn seeds(text: &str, open_end: bool) -> Result<Range<u64>, String> {
    let explain = "write `--seeds A..B` with A < B, or a git commit hash of 7 to 40 digits";
    let range = if let Some((from, to)) = text.split_once("..") {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        match (number(from), number(to)) {
            (Some(from), Some(to)) if from < to => from..to,
            (Some(_), Some(_)) => return Err(wrong(format!("the seeds `{text}` are empty; {explain}"))),
            _ => return Err(wrong(format!("`{text}` is no range of seeds; {explain}"))),
        }
    } else if (7..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        // 13 digits leave room for more runs than anyone makes.
        let from = u64::from_str_radix(&text[..text.len().min(13)], 16).unwrap_or(0) * SCHEDULES;
        from..from + DEFAULT_RUNS
    } else {
        return Err(wrong(format!("`{text}` is no range of seeds; {explain}")));
    };
    Ok(if open_end { range.start..u64::MAX - SCHEDULES } else { range })
}

pub fn time(text: &str) -> Result<Duration, String> {
    let split = text.len() - text.bytes().rev().take_while(u8::is_ascii_alphabetic).count();
    let (number, unit) = text.split_at(split);
    let scale = match unit {
        "s" | "" => 1,
        "m" => 60,
        "h" => 3_600,
        _ => 0,
    };
    match number.parse::<u64>().ok().and_then(|number| number.checked_mul(scale)).filter(|seconds| *seconds > 0) {
        Some(seconds) => Ok(Duration::from_secs(seconds)),
        None => Err(wrong(format!("`{text}` is no time; write `90s`, `10m` or `2h`"))),
    }
}

fn part(text: &str) -> Result<(u64, u64), String> {
    let explain = "write `--shard I/N` with I from 1 to N";
    let both = text.split_once('/').and_then(|(nth, of)| Some((nth.parse::<u64>().ok()?, of.parse::<u64>().ok()?)));
    match both {
        Some((nth, of)) if nth >= 1 && nth <= of => Ok((nth - 1, of)),
        _ => Err(wrong(format!("`{text}` is no shard; {explain}"))),
    }
}

/// The names in `NAME=off` arguments.
fn off<T>(texts: &[String], what: &str, named: impl Fn(&str) -> Option<T>, known: &[&str]) -> Result<Vec<T>, String> {
    let one = |text: &String| {
        let Some(name) = text.strip_suffix("=off") else {
            return Err(wrong(format!("`{text}`: write `--{what} NAME=off`")));
        };
        named(name).ok_or_else(|| {
            let near =
                nearest(name, known.iter().copied()).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            let list = if what == "rule" { "rules" } else { "assumptions" };
            wrong(format!("unknown {what} `{name}`{near} `leasecheck list {list}` shows them all"))
        })
    };
    texts.iter().map(one).collect()
}

fn settings(args: &Args) -> Result<Settings, String> {
    let rules: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    let assumptions: Vec<&str> = Assumption::ALL.iter().map(|assumption| assumption.name()).collect();
    let scheduler = Choice::named(&args.scheduler).ok_or_else(|| {
        let known: Vec<&str> = Choice::ALL.iter().map(|choice| choice.name()).collect();
        wrong(format!("unknown scheduler `{}`; there are: {}", args.scheduler, known.join(", ")))
    })?;
    Ok(Settings {
        rules_off: off(&args.rules, "rule", Rule::named, &rules)?,
        assume_off: off(&args.assumptions, "assume", Assumption::named, &assumptions)?,
        scheduler,
        canary: false,
    })
}

/// A campaign's folder.
struct Folder {
    path: PathBuf,
    lines: Vec<Case>,
}

fn save_file(path: &Path, text: &str) -> Result<(), String> {
    // Written beside and renamed, so that a campaign that is killed leaves whole files.
    let beside = path.with_extension("part");
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|error| {
        wrong(format!("{}: cannot be written: {error}; name another folder with `--out DIR`", path.display()))
    })
}

fn load(path: &Path) -> Result<(Record, Vec<Case>), String> {
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
    fn save(&self, record: &Record) -> Result<(), String> {
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

    fn create(path: &Path) -> Result<Folder, String> {
        std::fs::create_dir_all(path).map_err(|error| {
            wrong(format!("{}: cannot be made: {error}; name another folder with `--out DIR`", path.display()))
        })?;
        Ok(Folder { path: path.to_owned(), lines: Vec::new() })
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
    fn fill(&mut self, tally: &Tally) {
        (self.runs, self.steps) = (tally.runs, tally.steps);
        (self.failures, self.unusable) = (tally.failures, tally.unusable);
        self.marks = counted(Mark::ALL, &tally.marks, Mark::name);
        self.invariants = counted(Code::ALL, &tally.codes, Code::name);
    }

    fn tally(&self) -> Tally {
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

/// The identity that a line stands for.
fn identity(case: &Case) -> Option<Identity> {
    Some(Identity { code: Code::named(&case.invariant)?, pair: case.pair.clone() })
}

/// Runs a campaign.
pub fn run(args: &Args) -> u8 {
    match hunt(args) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            WRONG
        }
    }
}

fn hunt(args: &Args) -> Result<u8, String> {
    let limit = args.time.as_deref().map(time).transpose()?;
    let range = seeds(&args.seeds, limit.is_some())?;
    let shard = args.shard.as_deref().map(part).transpose()?;
    let settings = settings(args)?;
    let mut record = Record {
        folder: FOLDER,
        hunt: VERSION,
        settings: settings.to_string(),
        from: range.start,
        to: range.end,
        shard,
        next: range.start,
        runs: 0,
        steps: 0,
        failures: 0,
        unusable: 0,
        canary: (0, 0),
        marks: BTreeMap::new(),
        invariants: BTreeMap::new(),
    };
    let mut folder = args.out.as_deref().map(Folder::create).transpose()?;
    if let Some(folder) = &mut folder {
        if args.resume {
            let (old, lines) = load(&folder.path)?;
            if (&old.settings, old.from, old.shard) != (&record.settings, record.from, record.shard) {
                return Err(wrong(format!(
                    "{}: is a campaign of other seeds, shards or settings (`{}` from seed {}); resume it with the same arguments, or begin anew in an empty folder",
                    folder.path.display(),
                    old.settings,
                    old.from
                )));
            }
            let to = record.to;
            record = Record { to, ..old };
            folder.lines = lines;
        } else if folder.path.join("campaign.json").exists() {
            return Err(wrong(format!(
                "{}: already holds a campaign; go on with it by `--resume`, or name an empty folder",
                folder.path.display()
            )));
        }
        folder.save(&record)?;
    }
    check::workers_of(args.jobs)?;
    let progress = Progress::start(limit.map(|limit| limit.as_secs()));
    progress.say("canary");
    let alive = canary(range.start);
    record.canary = (alive.runs, alive.failures);
    let mut lines = folder.as_mut().map(|folder| std::mem::take(&mut folder.lines)).unwrap_or_default();
    let mut total = record.tally();
    let started = now();
    let effort = Effort { candidates: args.shrink as usize };
    while record.next < record.to && !progress.interrupted() {
        let end = record.next.saturating_add(SAVE_EVERY * shard.map_or(1, |(_, of)| of)).min(record.to);
        let interrupted = || progress.interrupted();
        let budget = Budget { shard, interrupted: Some(&interrupted), ..Budget::default() };
        let finds = campaign(&settings, record.next..end, &budget);
        record.next = finds.next.unwrap_or(end);
        total.add(&finds.tally);
        take_in(&settings, &finds, effort, &mut lines, &progress);
        record.fill(&total);
        let seconds = started.elapsed().as_secs_f64().max(0.001);
        let marks = record.marks.len();
        progress.say(&format!(
            "{} runs, {:.0} runs/s, {:.0} steps/s, {marks} marks, {} failures in {} finds",
            total.runs,
            per_second(total.runs, seconds),
            per_second(total.steps, seconds),
            total.failures,
            lines.len()
        ));
        if let Some(folder) = &mut folder {
            folder.lines.clone_from(&lines);
            folder.save(&record)?;
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    progress.end();
    print(&summary(&record, &lines, &total, Some(seconds)));
    let complete = record.next >= record.to;
    let timed = limit.is_some();
    Ok(match () {
        () if !lines.is_empty() || !alive.alive() => FAILED,
        () if complete || timed => OK,
        () => BUDGET,
    })
}

/// Writes up what is new and counts what is known.
fn take_in(settings: &Settings, finds: &Finds, effort: Effort, lines: &mut Vec<Case>, progress: &Progress) {
    for (id, found) in &finds.finds {
        if let Some(line) = lines.iter_mut().find(|line| identity(line).as_ref() == Some(id)) {
            line.count += found.count;
            continue;
        }
        progress.say(&format!("shrinking {} of seed {}", id.code.name(), found.seed));
        lines.extend(write_up(settings, id, found, Blame::Everything, effort));
    }
    lines.sort_by(|one, other| (&one.invariant, &one.pair).cmp(&(&other.invariant, &other.pair)));
}

#[expect(clippy::float_arithmetic, reason = "rates are for people; nothing that is kept depends on them")]
fn per_second(count: u64, seconds: f64) -> f64 {
    count as f64 / seconds.max(0.001)
}

fn summary(record: &Record, lines: &[Case], total: &Tally, seconds: Option<f64>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let rate = seconds.map_or(String::new(), |seconds| {
        let (runs, steps) = (per_second(total.runs, seconds), per_second(total.steps, seconds));
        format!(" in {seconds:.1} s ({runs:.0} runs/s, {steps:.0} steps/s)")
    });
    let _ = writeln!(out, "{} runs, {} steps{rate}; settings {}", total.runs, total.steps, record.settings);
    let (runs, failures) = record.canary;
    let canary = Canary { runs, failures };
    let verdict = if canary.alive() { "as it must" } else { "it should be about one in a hundred: the hunt is BLIND" };
    let _ = writeln!(out, "canary: {failures} of {runs} runs failed, {verdict}");
    if total.unusable > 0 {
        let _ = writeln!(out, "{} programs could not start", total.unusable);
    }
    let gaps: Vec<&str> = gaps(total).into_iter().map(Mark::name).collect();
    let _ = writeln!(
        out,
        "marks: {} of {} seen; not reached: {}",
        record.marks.len(),
        Mark::ALL.len(),
        if gaps.is_empty() { "none that should be".to_owned() } else { gaps.join(", ") }
    );
    for (name, count) in &record.invariants {
        let _ = writeln!(out, "  {name}: {count} runs");
    }
    for case in lines {
        let shrunk = if case.shrunk { "" } else { ", shrinking ended with its budget" };
        let confirmed = if case.confirmed { "" } else { ", NOT confirmed by an exhaustive check" };
        let _ = writeln!(
            out,
            "\n{}: {}\n  {} / {}, {} runs, first {}\n  {} steps, from {}{shrunk}{confirmed}",
            case.invariant,
            case.message,
            case.pair[0],
            case.pair[1],
            case.count,
            case.token,
            case.steps.1,
            case.steps.0
        );
    }
    if record.next < record.to {
        let _ = writeln!(out, "stopped before seed {}", record.next);
    }
    out
}

/// Whether a token names a hunted run.
pub fn is_token(text: &str) -> bool {
    text.starts_with('h') && text[1..].starts_with(|first: char| first.is_ascii_digit())
}

/// Shows the run that a token of a campaign stands for: its program, then its steps.
pub fn replay(text: &str, pictures: &Pictures, format: Format) -> u8 {
    match replayed(text, pictures, format) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            WRONG
        }
    }
}

fn replayed(text: &str, pictures: &Pictures, format: Format) -> Result<u8, String> {
    let token: RunToken = text.parse().map_err(wrong)?;
    let ready = prepare(&token.settings, token.seed).map_err(wrong)?;
    let mut runner = Runner::default();
    run_seed(&mut runner, &ready, &token.settings, token.seed, true);
    let run = explore::replay::run(&ready.program, &runner.schedule).map_err(|misfit| wrong(misfit.to_string()))?;
    let schedule = Token { claim: ready.program.name.0.clone(), case: 0, steps: runner.schedule };
    let mut report = leasecheck_reports::model::counterexample(&ready.program, &run, &schedule, text, true);
    report.replay = format!("leasecheck replay {text}");
    match format {
        Format::Json => {
            let json = serde_json::to_string_pretty(&report).map_err(|error| wrong(error.to_string()))?;
            print(&(json + "\n"));
        }
        _ => {
            let program = program_text(&token.settings, token.seed);
            print(&format!("{program}\n{}\n", leasecheck_reports::text::run(&report)));
        }
    }
    let about = ("a hunt", "a random program that the hunt has drawn");
    let progress = Progress::start(None);
    let chances = pictures.has_page().then(|| why::chances(&ready.program, &report, &progress)).flatten();
    progress.end();
    let case = leasecheck_reports::model::replayed(&ready.program, about, text, report);
    pictures.write(&[case], &[chances])?;
    Ok(if run.violation.is_some() { FAILED } else { OK })
}

/// Joins the folders of several campaigns, or of the shards of one.
pub fn merge(folders: &[PathBuf], out: Option<&Path>) -> u8 {
    match merged(folders, out) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("{message}");
            WRONG
        }
    }
}

fn merged(folders: &[PathBuf], out: Option<&Path>) -> Result<u8, String> {
    let mut all: Option<Record> = None;
    let mut total = Tally::default();
    let mut lines: Vec<Case> = Vec::new();
    for path in folders {
        let (record, cases) = load(path)?;
        total.add(&record.tally());
        match &mut all {
            None => all = Some(Record { shard: None, ..record }),
            Some(first) if first.settings != record.settings => {
                return Err(wrong(format!(
                    "{}: has the settings `{}`, the folders before it `{}`: merge only campaigns of the same settings",
                    path.display(),
                    record.settings,
                    first.settings
                )));
            }
            Some(first) => {
                // The shards of one campaign have one canary.
                if first.from != record.from {
                    first.canary.0 += record.canary.0;
                    first.canary.1 += record.canary.1;
                }
                first.from = first.from.min(record.from);
                first.to = first.to.max(record.to);
                first.next = first.next.min(record.next);
            }
        }
        for case in cases {
            match lines.iter_mut().find(|line| (&line.invariant, &line.pair) == (&case.invariant, &case.pair)) {
                None => lines.push(case),
                Some(line) => {
                    let count = line.count + case.count;
                    if case.seed < line.seed {
                        *line = case;
                    }
                    line.count = count;
                }
            }
        }
    }
    let Some(mut record) = all else { return Err(wrong("no folder to merge".to_owned())) };
    lines.sort_by(|one, other| (&one.invariant, &one.pair).cmp(&(&other.invariant, &other.pair)));
    record.fill(&total);
    if let Some(out) = out {
        let folder = Folder { lines: lines.clone(), ..Folder::create(out)? };
        folder.save(&record)?;
    }
    print(&summary(&record, &lines, &total, None));
    Ok(if lines.is_empty() { OK } else { FAILED })
}
