//! What `gate --report DIR` writes: the page with everything that the gate knows, and the same cases for machines.

use crate::check::Settled;
use crate::conform::Compared;
use crate::gate::{Ablated, Check, Configuration};
use crate::models::Modelled;
use crate::pictures::write_in;
use leasecheck_config::{Answer, render_text};
use leasecheck_conform::Known;
use leasecheck_reports::html::gate::{Line, More, Section, checked, marks};
use leasecheck_reports::why::Chances;
use leasecheck_reports::{html, json, junit, markdown, sarif};
use std::collections::BTreeMap;
use std::path::Path;

/// Where a repository keeps its table of known differences and its fuzz targets, if it has any.
const KNOWN: &str = "adapters/sglang/known-differences.toml";
const FUZZ: &str = "fuzz";

/// Everything that the gate has found.
pub struct Found<'a> {
    pub settled: &'a Settled,
    /// For each case, how likely its violation is after each step.
    pub chances: &'a [Option<Chances>],
    /// The text of the golden values.
    pub golden: &'a str,
    pub checks: &'a [Check],
    pub ablated: &'a [Ablated],
    pub models: &'a Modelled,
    pub configurations: &'a [Configuration],
}

/// Writes the reports into a folder, and nothing outside it.
pub fn write(folder: &Path, found: &Found<'_>) -> Result<(), String> {
    let (report, checks) = (&found.settled.report, found.checks);
    let files = [
        ("index.html", page(folder, found)?),
        ("report.sarif", sarif::render(report, checks)?),
        ("report.json", json::render(report).map_err(|error| error.to_string())?),
        ("junit.xml", junit::render(report, checks, &found.settled.seconds)?),
        ("report.md", markdown::render(report, checks)),
    ];
    files.iter().try_for_each(|(name, text)| write_in(folder, name, text))
}

/// The state counts that were written down, by claim and case.
fn golden_states(text: &str) -> BTreeMap<(&str, &str), u64> {
    text.lines().filter_map(golden_line).collect()
}

fn golden_line(line: &str) -> Option<((&str, &str), u64)> {
    let mut parts = line.split('\t');
    let (claim, case, _, states) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    Some(((claim, case), states.parse().ok()?))
}

#[expect(clippy::float_arithmetic, reason = "times are for people; no result depends on them")]
fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1e4).round() / 10.0
}

fn page(folder: &Path, found: &Found<'_>) -> Result<String, String> {
    let golden = golden_states(found.golden);
    let cases = found.settled.report.cases.iter().zip(&found.settled.seconds);
    let more = cases.map(|(case, seconds)| {
        let golden = golden.get(&(case.claim.as_str(), case.case.as_str())).copied();
        More { states: case.states, golden, ms: milliseconds(*seconds) }
    });
    // These have tables of their own.
    let known = ["rule ", "model ", "gate file ", "hunt without ", "mark "];
    let mut others = found.checks.to_vec();
    others.retain(|(name, _)| !known.iter().any(|known| name.starts_with(known)));
    let sections = [
        checked("Other checks", "", &others),
        ablation(found.ablated),
        models(found.models),
        configurations(found.configurations),
        checked("The hunt notices every part that is missing", "hunt without ", found.checks),
        checked("The hunt shows every mark that it can", "mark ", found.checks),
        marks(&found.settled.report),
    ];
    let optional = [known_differences(Path::new(KNOWN)), compared(folder), corpora(Path::new(FUZZ))];
    let sections = sections.into_iter().chain(optional.into_iter().flatten()).collect();
    html::gate::render(&found.settled.report, more.collect(), found.chances, sections)
}

fn section<const N: usize>(title: &str, head: [&str; N], rows: Vec<Line>) -> Section {
    Section { title: title.to_owned(), head: head.map(str::to_owned).to_vec(), rows }
}

fn ablation(ablated: &[Ablated]) -> Section {
    let rows = ablated.iter().map(|Ablated { rule, red }| {
        let shown = red.as_ref().map_or("no case turns red".to_owned(), |(claim, case)| format!("{claim} / {case}"));
        Line::new(red.is_some(), vec![rule.name().to_owned(), rule.doc().to_owned(), shown])
    });
    let head = ["rule", "what it asks", "turns red without it, for example"];
    section("Ablation: every rule switched off must be noticed", head, rows.collect())
}

fn models(models: &Modelled) -> Section {
    let rows = models.report.rows.iter().map(|row| {
        let cells = vec![
            row.model.clone(),
            row.subject.name().to_owned(),
            row.tool.name().to_owned(),
            row.executions.to_string(),
            row.bound.clone(),
            models.seconds_of(row),
            row.verdict.words(),
        ];
        let detail = row.verdict.failure().map_or(String::new(), |failure| {
            let waits: String = failure.waits.iter().map(|wait| format!("  {wait}\n")).collect();
            format!("{}\n  {}\n{waits}  replay: leasecheck replay {}", failure.lanes, failure.message, failure.token)
        });
        Line { ok: row.verdict.ok(), cells, detail }
    });
    let head = ["model", "on", "tool", "executions", "bound", "seconds", "verdict"];
    section("Models of the thread-safe shell", head, rows.collect())
}

fn configurations(found: &[Configuration]) -> Section {
    let mut rows = Vec::new();
    for (path, result) in found {
        let file = path.display().to_string();
        let report = match result {
            Ok(report) => report,
            Err(message) => {
                let cells = vec![file, "cannot be used".to_owned(), String::new(), String::new()];
                rows.push(Line { ok: false, cells, detail: message.clone() });
                continue;
            }
        };
        let about = report.about.clone().unwrap_or_default();
        let cells = vec![file.clone(), report.name.clone(), "everything that was found".to_owned(), about];
        rows.push(Line { ok: report.as_expected(), cells, detail: render_text(report) });
        for must in &report.musts {
            let answer = match must.answer {
                Answer::Yes => "yes",
                Answer::No => "no",
                Answer::Vacuous => "vacuous",
                Answer::NotChecked => "not checked",
            };
            let known = if must.as_expected && must.answer != Answer::Yes { ", as the file says" } else { "" };
            let cells = vec![file.clone(), must.name.clone(), format!("{answer}{known}"), must.message.clone()];
            rows.push(Line::new(must.as_expected, cells));
        }
    }
    section("Configuration gates", ["gate file", "must", "answer", "why"], rows)
}

/// The table of known differences, if there is one.
fn known_differences(path: &Path) -> Option<Section> {
    let text = std::fs::read_to_string(path).ok()?;
    let rows = match Known::parse(&text) {
        Ok(known) => (known.entries().iter())
            .map(|entry| {
                let cells = vec![entry.name.clone(), entry.ops.join(", "), entry.at.clone(), entry.reason.clone()];
                Line { ok: true, cells, detail: entry.see.clone() }
            })
            .collect(),
        Err(error) => {
            let cells = vec![path.display().to_string(), String::new(), String::new(), error.to_string()];
            vec![Line::new(false, cells)]
        }
    };
    let head = ["difference", "shows after", "in", "why"];
    Some(section("Conformance: what SGLang does otherwise, and is known", head, rows))
}

/// What `conform --out` has left in the folder, if it has.
fn compared(folder: &Path) -> Option<Section> {
    let rows = Compared::all(folder).into_iter().map(|compared| {
        let known: Vec<String> = compared.known.iter().map(|(name, count)| format!("{name}: {count}")).collect();
        let mut other =
            compared.stale.iter().map(|name| format!("{name} does not differ any more")).collect::<Vec<_>>();
        other.extend(compared.difference.as_ref().map(|_| "a difference that is not known".to_owned()));
        let cells = vec![
            compared.name.clone(),
            format!("{}..{}", compared.seeds.0, compared.seeds.1),
            compared.sequences.to_string(),
            compared.operations.to_string(),
            known.join("; "),
            if other.is_empty() { "none".to_owned() } else { other.join("; ") },
        ];
        Line { ok: compared.ok(), cells, detail: compared.difference.unwrap_or_default() }
    });
    let rows: Vec<Line> = rows.collect();
    let head = ["driver", "seeds", "sequences", "operations", "sequences ended by known differences", "others"];
    (!rows.is_empty()).then(|| section("Conformance: runs whose results are in this folder", head, rows))
}

/// Fuzz targets with their corpora and the crashes that became inputs, if there are any.
fn corpora(folder: &Path) -> Option<Section> {
    let names = |path: &Path| -> Vec<(String, u64)> {
        let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
        let one = |entry: std::fs::DirEntry| {
            (entry.file_name().to_string_lossy().into_owned(), entry.metadata().map_or(0, |about| about.len()))
        };
        let mut names: Vec<_> = entries.flatten().map(one).collect();
        names.sort();
        names
    };
    let targets = names(&folder.join("fuzz_targets"));
    let rows = targets.iter().filter_map(|(file, _)| file.strip_suffix(".rs")).map(|target| {
        let inputs = names(&folder.join("corpus").join(target));
        let crashes: Vec<String> =
            names(&folder.join("crashes").join(target)).into_iter().map(|(name, _)| name).collect();
        let bytes: u64 = inputs.iter().map(|(_, bytes)| bytes).sum();
        let crashes = if crashes.is_empty() { "none so far".to_owned() } else { crashes.join(", ") };
        Line::new(true, vec![target.to_owned(), inputs.len().to_string(), bytes.to_string(), crashes])
    });
    let rows: Vec<Line> = rows.collect();
    let head = ["target", "inputs", "bytes", "crashes that became inputs"];
    (!rows.is_empty()).then(|| section("Fuzz targets and their corpora", head, rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::check::settle;
    use crate::progress::Progress;
    use std::path::PathBuf;

    const LIMITS: Limits = Limits { limit_states: 10_000, limit_seconds: None, limit_memory: 64, jobs: None };

    /// Every file below a folder.
    fn files(folder: &Path) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).expect("a folder").flatten();
        let mut files: Vec<PathBuf> = entries
            .flat_map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { vec![entry.path()] })
            .collect();
        files.sort();
        files
    }

    fn write_all(folder: &Path, settled: &Settled) {
        let progress = Progress::start(None);
        let found = Found {
            settled,
            chances: &settled.chances(&progress),
            golden: "",
            checks: &[("../../check".to_owned(), Err("../../why".to_owned()))],
            ablated: &[],
            models: &Modelled::default(),
            configurations: &[(PathBuf::from("../../gate.toml"), Err("../../why".to_owned()))],
        };
        write(folder, &found).expect("it can be written");
    }

    #[test]
    fn whatever_names_say_only_the_named_folder_is_written() {
        let around = tempfile::tempdir().expect("a folder");
        let path = |name: &str| around.path().join(name);
        let seed = include_str!("../tests/litmus/seed/index-read-before-producer-wait.toml");
        let long = "n".repeat(150);
        let names = ["../../x", "/tmp/x", "..", "C:\\\\x", "a\\u0000b", "\\n", long.as_str()];
        for (nth, name) in names.iter().enumerate() {
            let text = seed.replace("as reported", name).replacen("claim  = \"", &format!("claim = \"{name}"), 1);
            let text = text.replacen("source = \"", &format!("source = \"{name}"), 1);
            std::fs::write(path(&format!("{nth}.toml")), text).expect("a file");
        }
        let litmus: Vec<PathBuf> = (0..names.len()).map(|nth| path(&format!("{nth}.toml"))).collect();
        let settled = settle(&litmus, None, false, LIMITS, &Progress::start(None));
        let runs = settled.report.cases.iter().filter(|case| case.counterexample.is_some()).count();
        assert!(runs >= 4, "{runs} runs; {:?}", settled.report.errors);

        // Links of the names that are written, one of them to nowhere, are replaced.
        std::fs::create_dir(path("out")).expect("a folder");
        std::fs::write(path("victim"), "as it was").expect("a file");
        #[cfg(unix)]
        for (name, to) in [("index.html", "victim"), ("report.md", "nowhere"), (".junit.xml.part", "victim")] {
            std::os::unix::fs::symlink(path(to), path("out").join(name)).expect("a link");
        }
        write_all(&path("out"), &settled);
        assert_eq!(std::fs::read_to_string(path("victim")).expect("a file"), "as it was");
        let reports = ["index.html", "junit.xml", "report.json", "report.md", "report.sarif"];
        let mut expected: Vec<PathBuf> = reports.iter().map(|name| path("out").join(name)).collect();
        expected.extend(litmus.iter().cloned().chain([path("victim")]));
        expected.sort();
        assert_eq!(files(around.path()), expected);
        assert!(!path("out").join("index.html").is_symlink());
    }

    #[test]
    fn what_conform_leaves_in_the_folder_is_shown() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(compared(folder.path()).is_none());
        let result =
            r#"{"name":"n","seeds":[0,9],"sequences":9,"operations":99,"known":{"k":2},"stale":[],"difference":"d"}"#;
        std::fs::write(folder.path().join("conform-n.json"), result).expect("a file");
        std::fs::write(folder.path().join("conform-other.json"), "{").expect("a file");
        let section = compared(folder.path()).expect("a result");
        assert_eq!(section.rows.len(), 1);
        assert!(!section.rows[0].ok && section.rows[0].detail == "d");
        assert_eq!(section.rows[0].cells[4..], ["k: 2", "a difference that is not known"]);
    }

    #[test]
    fn the_tables_of_this_repository_are_read() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let known = known_differences(&root.join(KNOWN)).expect("a table");
        assert!(known.rows.len() > 5 && known.rows.iter().all(|row| row.ok && row.cells[3].len() > 20));
        let corpora = corpora(&root.join(FUZZ)).expect("targets");
        assert!(corpora.rows.iter().any(|row| row.cells[0] == "litmus_parser" && row.cells[1] != "0"));
        assert!(known_differences(&root.join("no such file")).is_none());
    }
}
