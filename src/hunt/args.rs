//! What a hunt is asked, as written on the command line.

use super::wrong;
use leasecheck_core::Rule;
use leasecheck_sim::assumptions::Assumption;
use leasecheck_sim::hunt::schedulers::Choice;
use leasecheck_sim::hunt::{SCHEDULES, Settings};
use leasecheck_sim::litmus::nearest;
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

/// What to hunt, with what, for how long.
#[derive(clap::Args)]
pub struct Args {
    /// Seeds to run: `A..B`, or a git commit hash, for 100000 seeds from where its first 7 digits say. If not given,
    /// 0..100000, or all from 0 until the time of `--for` is over.
    #[arg(long, value_name = "A..B|HASH")]
    pub(super) seeds: Option<String>,
    /// Stop after this time, if the seeds are not run by then: `90s`, `10m`, `2h`. From a hash, seeds go on until then.
    #[arg(long = "for", value_name = "TIME")]
    pub(super) time: Option<String>,
    /// Worker threads; all cores if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) jobs: Option<u16>,
    /// Only part I of N of the seeds; `leasecheck merge` joins what the parts find.
    #[arg(long, value_name = "I/N")]
    pub(super) shard: Option<String>,
    /// Switch a rule off.
    #[arg(long = "rule", value_name = "NAME=off")]
    pub(super) rules: Vec<String>,
    /// Drop an assumption.
    #[arg(long = "assume", value_name = "NAME=off")]
    pub(super) assumptions: Vec<String>,
    /// Who decides which step is next: `mixed`, `uniform`, `pct`, `delay`.
    #[arg(long, value_name = "NAME", default_value = "mixed")]
    pub(super) scheduler: String,
    /// Folder for finds and for resuming.
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Go on where the campaign in the folder stopped.
    #[arg(long, requires = "out")]
    pub(super) resume: bool,
    /// Candidates that shrinking may try for each find.
    #[arg(long, value_name = "N", default_value_t = 3_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(super) shrink: u32,
}

/// Seeds from the text of `--seeds`. Where there is a time to stop at, only a range has an end of its own; otherwise
/// there are `count`.
pub fn seeds(text: Option<&str>, count: u64, timed: bool) -> Result<Range<u64>, String> {
    let explain = "write `--seeds A..B` with A < B, or a git commit hash of 7 to 40 digits";
    let from = |start: u64| start..if timed { u64::MAX - SCHEDULES } else { start + count };
    let Some(text) = text else { return Ok(from(0)) };
    let hash = (7..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if hash && text.len() < 40 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong(format!(
            "`{text}` could be a number or a hash; write `--seeds 0..{text}` for so many seeds, or all 40 digits of the hash"
        )));
    }
    if let Some((from, to)) = text.split_once("..") {
        let number = |text: &str| text.trim().parse::<u64>().ok();
        match (number(from), number(to)) {
            (Some(from), Some(to)) if from < to => Ok(from..to),
            (Some(_), Some(_)) => Err(wrong(format!("the seeds `{text}` are empty; {explain}"))),
            _ => Err(wrong(format!("`{text}` is no range of seeds; {explain}"))),
        }
    } else if hash {
        // Of 7 digits or all of them: the same commit, the same seeds.
        Ok(from(u64::from_str_radix(&text[..7], 16).unwrap_or(0) * SCHEDULES))
    } else {
        Err(wrong(format!("`{text}` is no range of seeds; {explain}")))
    }
}

/// A time from the text of `--for`.
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

pub fn part(text: &str) -> Result<(u64, u64), String> {
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
            let (word, list) = if what == "rule" { ("rule", "rules") } else { ("assumption", "assumptions") };
            wrong(format!("unknown {word} `{name}`{near}; `leasecheck list {list}` shows them all"))
        })
    };
    texts.iter().map(one).collect()
}

pub fn settings(args: &Args) -> Result<Settings, String> {
    let rules: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    let assumptions: Vec<&str> = Assumption::ALL.iter().map(|assumption| assumption.name()).collect();
    let scheduler = Choice::named(&args.scheduler).ok_or_else(|| {
        let known: Vec<&str> = Choice::ALL.iter().map(|choice| choice.name()).collect();
        wrong(format!("unknown scheduler `{}`; there are: {}", args.scheduler, known.join(", ")))
    })?;
    let rules_off = off(&args.rules, "rule", Rule::named, &rules)?;
    let assume_off = off(&args.assumptions, "assume", Assumption::named, &assumptions)?;
    Ok(Settings { rules_off, assume_off, scheduler, canary: false }.ordered())
}
