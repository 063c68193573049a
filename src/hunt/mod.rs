//! `leasecheck hunt` and `leasecheck merge`: campaigns of random runs, and what becomes of them.

mod args;
mod folder;
mod merge;

pub use args::{Args, seeds, time};
pub use merge::merge;

use crate::explorers::Format;
use crate::pictures::Pictures;
use crate::progress::{Progress, now};
use crate::{BUDGET, FAILED, OK, WRONG, check, print, why};
use args::{part, settings};
use folder::{FOLDER, Folder, Record, load};
use leasecheck_sim::explore::{self, Token};
use leasecheck_sim::hunt::{
    Blame, Budget, Canary, Case, Effort, Finds, Identity, RunToken, Runner, SCHEDULES, Settings, Tally, VERSION,
    campaign, canary, gaps, prepare, program_text, run_seed, write_up,
};
use leasecheck_sim::invariants::Code;
use leasecheck_sim::marks::Mark;
use leasecheck_sim::program::Program;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Runs of a campaign that is given neither an end nor a time.
const DEFAULT_RUNS: u64 = 100_000;
/// Seeds between two saves.
const SAVE_EVERY: u64 = 256 * SCHEDULES;

fn wrong(message: String) -> String {
    format!("error: {message}")
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
    let range = seeds(args.seeds.as_deref(), DEFAULT_RUNS, limit.is_some())?;
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
        missing: None,
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
            if let Some(missing) = &old.missing {
                return Err(wrong(format!(
                    "{}: is joined from parts, and cannot be resumed: {missing}",
                    folder.path.display()
                )));
            }
            if record.to < old.next {
                return Err(wrong(format!(
                    "{}: is at seed {} already, behind the end of `--seeds`; give it a later end",
                    folder.path.display(),
                    old.next
                )));
            }
            let to = record.to;
            record = Record { to, ..old };
            folder.lines = lines;
        } else if folder.is_taken() {
            return Err(wrong(format!(
                "{}: already holds a campaign; go on with it by `--resume`, or name an empty folder",
                folder.path.display()
            )));
        }
        folder.save(&record)?;
    }
    check::workers_of(args.jobs)?;
    let mut progress = Progress::start(None);
    if record.canary.0 == 0 {
        progress.say("canary");
        let Canary { runs, failures } = canary(range.start);
        record.canary = (runs, failures);
    }
    // The time is the campaign's: however short it is, some of it must be left for seeds.
    progress.limit(limit.map(|limit| limit.as_secs()));
    let mut lines = folder.as_mut().map(|folder| std::mem::take(&mut folder.lines)).unwrap_or_default();
    let mut total = record.tally();
    let before = (total.runs, total.steps);
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
            "{} runs, {:.0} runs/s, {:.0} steps/s, {marks} marks, {} failures in {} finds{}",
            total.runs,
            per_second(total.runs - before.0, seconds),
            per_second(total.steps - before.1, seconds),
            total.failures,
            lines.len(),
            record.invariants.iter().map(|(name, count)| format!(", {name} {count}")).collect::<String>()
        ));
        if let Some(folder) = &mut folder {
            folder.lines.clone_from(&lines);
            folder.save(&record)?;
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    progress.end();
    print(&summary(&record, &lines, &total, Some((before, seconds))));
    let (runs, failures) = record.canary;
    // With something switched off, a set-up may fail; with nothing, the generator is at fault. Programs none of which
    // starts say nothing about any.
    let blind = total.unusable > 0 && (settings.off() == "-" || total.steps == 0);
    let timed = limit.is_some() && total.runs > 0;
    Ok(match () {
        () if !lines.is_empty() || blind || !(Canary { runs, failures }).alive() => FAILED,
        () if record.next >= record.to || timed => OK,
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

/// What came of a campaign. `pace` is how many runs and steps it had before now, and the seconds since.
fn summary(record: &Record, lines: &[Case], total: &Tally, pace: Option<((u64, u64), f64)>) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let rate = pace.map_or(String::new(), |((runs, steps), seconds)| {
        let again = if runs > 0 { format!(", {} of them now,", total.runs - runs) } else { String::new() };
        let (runs, steps) = (per_second(total.runs - runs, seconds), per_second(total.steps - steps, seconds));
        format!("{again} in {seconds:.1} s ({runs:.0} runs/s, {steps:.0} steps/s)")
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

/// A hunted run, taken again: its token, its program and its steps.
pub fn again(text: &str) -> Result<(RunToken, Program, Token), String> {
    let token: RunToken = text.parse().map_err(wrong)?;
    let ready = prepare(&token.settings, token.seed).map_err(wrong)?;
    let mut runner = Runner::default();
    run_seed(&mut runner, &ready, &token.settings, token.seed, true);
    let schedule = Token { claim: ready.program.name.0.clone(), case: 0, steps: runner.schedule };
    Ok((token, ready.program, schedule))
}

/// The command that shows a hunted run.
pub fn replay_command(token: &str) -> String {
    format!("leasecheck replay {token}")
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
    let (token, program, schedule) = again(text)?;
    let run = explore::replay::run(&program, &schedule.steps).map_err(|misfit| wrong(misfit.to_string()))?;
    let mut report = leasecheck_reports::model::counterexample(&program, &run, &schedule, text, true);
    report.replay = replay_command(text);
    match format {
        Format::Json => {
            let json = serde_json::to_string_pretty(&report).map_err(|error| wrong(error.to_string()))?;
            print(&(json + "\n"));
        }
        Format::Text => {
            let drawn = program_text(&token.settings, token.seed);
            print(&format!("{drawn}\n{}\n", leasecheck_reports::text::run(&report)));
        }
    }
    let about = ("a hunt", "a random program that the hunt has drawn");
    let progress = Progress::start(None);
    let chances = pictures.has_page().then(|| why::chances(&program, &report, &progress)).flatten();
    progress.end();
    let case = leasecheck_reports::model::replayed(&program, about, text, report);
    pictures.write(&[case], &[chances])?;
    Ok(if run.violation.is_some() { FAILED } else { OK })
}
