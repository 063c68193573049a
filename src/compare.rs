//! `leasecheck compare`: what a change fixes and what it breaks.

use crate::check::workers;
use crate::explorers::{Format, no_start, print_json, with_options, wrong};
use crate::hunt::seeds;
use crate::progress::Progress;
use crate::{BUDGET, FAILED, Limits, OK, WRONG, corpus, print};
use leasecheck_reports::compare as reports;
use leasecheck_reports::model::{FileError, case_report};
use leasecheck_sim::explore::{Variant, check};
use leasecheck_sim::hunt::SCHEDULES;
use leasecheck_sim::hunt::compare::{Alike, Compared, compare, token};
use leasecheck_sim::invariants::Code;
use leasecheck_sim::litmus::LitmusFile;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// A file and where it was read.
type Read = (LitmusFile, String);

/// Seeds that are run under both configurations, if none are named.
const SEEDS: u64 = 4_096;
/// Seeds between two looks at the clock.
const BATCH: u64 = 64 * SCHEDULES;

/// One design: a name, and a file or the corpus under a configuration.
struct Design {
    name: String,
    files: Vec<Read>,
    variant: Option<Variant>,
}

fn is_file(text: &str) -> bool {
    Path::new(text).exists() || Path::new(text).extension().is_some_and(|extension| extension == "toml")
}

fn read(path: &Path) -> Result<Read, String> {
    Ok((corpus::open(path)?, path.display().to_string()))
}

fn designs(a: &str, b: &str, folder: &Path) -> Result<[Design; 2], String> {
    if is_file(a) != is_file(b) {
        return Err(format!("error: `{a}` and `{b}`: name two litmus files, or two configurations"));
    }
    let of_file = |text: &str| {
        Ok::<Design, String>(Design { name: text.to_owned(), files: vec![read(Path::new(text))?], variant: None })
    };
    if is_file(a) {
        return Ok([of_file(a)?, of_file(b)?]);
    }
    let paths: Vec<PathBuf> = corpus::files(folder)?;
    let files = paths.iter().map(|path| read(path)).collect::<Result<Vec<Read>, String>>()?;
    let under = |text: &str| {
        let variant: Variant = text.parse().map_err(|error| format!("error: {error}"))?;
        let files = files.iter().map(|(file, path)| {
            let cases = file.cases.iter().map(|program| variant.apply(program)).collect();
            (LitmusFile { cases, ..file.clone() }, path.clone())
        });
        let (name, files) = (variant.to_string(), files.collect());
        Ok::<Design, String>(Design { name, files, variant: Some(variant) })
    };
    Ok([under(a)?, under(b)?])
}

fn side((file, path): &Read, case: usize, limits: Limits, progress: &Progress) -> Result<reports::Side, FileError> {
    let program = &file.cases[case];
    progress.say(&format!("{} / {}", file.name, program.name.1));
    let outcome = with_options(limits, progress, |options| check(program, options))
        .map_err(|error| no_start(path, program, &error))?;
    let report = case_report(file, path, case, &outcome).map_err(|misfit| FileError {
        file: path.clone(),
        message: format!("error: {path}: case `{}`: {misfit}", program.name.1),
    })?;
    Ok(reports::side(&report))
}

/// The place of a case: its file, and its number in the file.
type Place = (usize, usize);

/// The places of the cases that both designs have, and the names of those that only one has.
struct Matched {
    both: Vec<(String, Place, Place)>,
    only_a: Vec<String>,
    only_b: Vec<String>,
}

/// Cases go together by claim and name; in two files that are about different claims, by name alone.
fn matched(a: &Design, b: &Design, single: bool) -> Matched {
    let places = |design: &Design| -> Vec<(String, Place)> {
        let files = design.files.iter().enumerate();
        files
            .flat_map(|(at, (file, _))| {
                let name = |case: &str| if single { case.to_owned() } else { format!("{} / {case}", file.name) };
                let cases = file.cases.iter().enumerate();
                cases.map(move |(case, program)| (name(&program.name.1), (at, case))).collect::<Vec<_>>()
            })
            .collect()
    };
    let (mut of_a, mut of_b) = (places(a), places(b));
    if single && of_a.len() == 1 && of_b.len() == 1 && of_a[0].0 != of_b[0].0 {
        // One case each: whatever they are called, these two are compared.
        let name = format!("{} → {}", of_a[0].0, of_b[0].0);
        of_a[0].0.clone_from(&name);
        of_b[0].0 = name;
    }
    let mut matched = Matched { both: Vec::new(), only_a: Vec::new(), only_b: Vec::new() };
    for (name, place) in of_a {
        match of_b.iter().position(|(other, _)| *other == name) {
            Some(at) => matched.both.push((name, place, of_b.remove(at).1)),
            None => matched.only_a.push(name),
        }
    }
    matched.only_b = of_b.into_iter().map(|(name, _)| name).collect();
    matched
}

/// Runs the seeds under both.
fn hunt(a: &Variant, b: &Variant, seeds: Range<u64>, progress: &Progress) -> reports::Hunt {
    let mut all = Compared::default();
    let mut at = seeds.start;
    while at < seeds.end && !progress.interrupted() {
        progress.say(&format!("seeds from {at}"));
        let end = at.saturating_add(BATCH).min(seeds.end);
        all.add(compare([a, b], &(at..end)));
        at = end;
    }
    let show = |ends: &[Option<Code>; 2], first: u64| {
        let failing = if ends[1].is_some() { b } else { a };
        match token(failing, first) {
            Some(token) => format!("leasecheck replay {token}"),
            None => format!("leasecheck compare {a} {b} --seeds {first}..{}", first + 1),
        }
    };
    let runs = |(ends, Alike { runs, first }): (&[Option<Code>; 2], &Alike)| {
        let [a, b] = ends.map(|code| code.map(|code| code.name().to_owned()));
        reports::Runs { change: reports::change(&a, &b), a, b, count: *runs, show: show(ends, *first) }
    };
    reports::Hunt {
        seeds: (seeds.start, at),
        asked: (at < seeds.end).then_some(seeds.end),
        unusable: all.unusable,
        runs: all.ends.iter().map(runs).collect(),
    }
}

pub fn run(a: &str, b: &str, asked: Option<&str>, folder: &Path, limits: Limits, format: Format) -> u8 {
    if asked.is_some() && is_file(a) {
        return wrong("error: `--seeds` is for configurations; a litmus file has no seeds");
    }
    let seeds = match seeds(asked, SEEDS, false) {
        Ok(seeds) => seeds,
        Err(message) => return wrong(&message),
    };
    let [a_design, b_design] = match workers(limits).and_then(|()| designs(a, b, folder)) {
        Ok(designs) => designs,
        Err(message) => return wrong(&message),
    };
    let progress = Progress::start(limits.limit_seconds);
    let mut report = reports::report(&a_design.name, &b_design.name);
    let matched = matched(&a_design, &b_design, is_file(a));
    (report.only_a, report.only_b) = (matched.only_a, matched.only_b);
    for (name, in_a, in_b) in matched.both {
        let sides = side(&a_design.files[in_a.0], in_a.1, limits, &progress)
            .and_then(|a| Ok((a, side(&b_design.files[in_b.0], in_b.1, limits, &progress)?)));
        match sides {
            Ok((a, b)) => report.cases.push(reports::compared(name, a, b)),
            Err(error) => report.errors.push(error),
        }
    }
    if let (Some(a), Some(b)) = (&a_design.variant, &b_design.variant) {
        report.hunt = Some(hunt(a, b, seeds, &progress));
    }
    progress.end();
    match format {
        Format::Text => print(&reports::render(&report)),
        Format::Json => print_json(&report),
    }
    report.errors.iter().for_each(|error| eprintln!("{}", error.message));
    let runs = || report.hunt.iter().flat_map(|hunt| &hunt.runs);
    let any = |change: &str| {
        report.cases.iter().any(|case| case.change == change) || runs().any(|runs| runs.change == change)
    };
    let cut = report.hunt.as_ref().is_some_and(|hunt| hunt.asked.is_some());
    if !report.errors.is_empty() {
        WRONG
    } else if any("broken") {
        FAILED
    } else if any("unknown") || cut {
        BUDGET
    } else {
        OK
    }
}
