//! Joining campaigns that ran other seeds, or other shards of the same, with the same settings.

use super::folder::{Folder, Record, load};
use super::{summary, wrong};
use crate::{BUDGET, FAILED, OK, WRONG, print};
use leasecheck_sim::hunt::{Canary, Case, Tally};
use std::path::{Path, PathBuf};

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

/// Whether two campaigns have run a seed both.
fn overlap(one: &Record, other: &Record) -> bool {
    let meet = one.from < other.next && other.from < one.next;
    let apart =
        matches!((one.shard, other.shard), (Some((nth, of)), Some((other, parts))) if of == parts && nth != other);
    meet && !apart
}

/// What is missing for the records to be one campaign from the first seed to the last, if anything is. The records are
/// in the order of seeds.
fn missing(records: &[(String, Record)]) -> Option<String> {
    let mut reached: Option<u64> = None;
    for part in records.chunk_by(|(_, one), (_, other)| (one.from, one.to) == (other.from, other.to)) {
        let first = &part[0].1;
        if let Some(gap) = reached.filter(|reached| *reached < first.from) {
            return Some(format!("the seeds {gap}..{} are missing", first.from));
        }
        for nth in 0..first.shard.map_or(0, |(_, of)| of) {
            let of = first.shard.map_or(0, |(_, of)| of);
            match part.iter().find(|(_, record)| record.shard == Some((nth, of))) {
                None => {
                    return Some(format!(
                        "shard {}/{of} of the seeds {}..{} is missing",
                        nth + 1,
                        first.from,
                        first.to
                    ));
                }
                Some((path, record)) if record.next < record.to => {
                    return Some(format!("{path} has stopped before seed {}: resume it first", record.next));
                }
                Some(_) => {}
            }
        }
        reached = Some(first.next);
    }
    None
}

fn merged(folders: &[PathBuf], out: Option<&Path>) -> Result<u8, String> {
    let mut records: Vec<(String, Record)> = Vec::new();
    let mut total = Tally::default();
    let mut lines: Vec<Case> = Vec::new();
    for path in folders {
        let (record, cases) = load(path)?;
        let shown = path.display().to_string();
        for (other, before) in &records {
            if before.settings != record.settings {
                return Err(wrong(format!(
                    "{shown}: has the settings `{}`, {other} has `{}`: merge only campaigns of the same settings",
                    record.settings, before.settings
                )));
            }
            if overlap(before, &record) {
                return Err(wrong(format!(
                    "{shown}: has run seeds that {other} has run too, which would count twice; leave one of them out"
                )));
            }
        }
        total.add(&record.tally());
        records.push((shown, record));
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
    lines.sort_by(|one, other| (&one.invariant, &one.pair).cmp(&(&other.invariant, &other.pair)));
    records.sort_by_key(|(_, record)| (record.from, record.to, record.shard));
    let missing = missing(&records);
    let (Some((_, first)), Some((_, last))) = (records.first(), records.last()) else {
        return Err(wrong("no folder to merge".to_owned()));
    };
    // The shards of one campaign have one canary.
    let canaries = records.chunk_by(|(_, one), (_, other)| one.from == other.from).map(|part| part[0].1.canary);
    let canary = canaries.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let mut record =
        Record { shard: None, to: last.to, next: last.next, canary, missing: missing.clone(), ..first.clone() };
    record.fill(&total);
    if let Some(out) = out {
        let folder = Folder { lines: lines.clone(), ..Folder::create(out)? };
        if folder.is_taken() {
            return Err(wrong(format!("{}: already holds a campaign; name an empty folder", out.display())));
        }
        folder.save(&record)?;
    }
    print(&summary(&record, &lines, &total, None));
    if let Some(missing) = &missing {
        print(&format!("incomplete: {missing}\n"));
    }
    let (runs, failures) = record.canary;
    Ok(match () {
        () if !lines.is_empty() || !(Canary { runs, failures }).alive() => FAILED,
        () if missing.is_some() || record.next < record.to => BUDGET,
        () => OK,
    })
}
