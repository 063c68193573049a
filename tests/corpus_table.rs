//! `tests/litmus/README.md` is the table of the public reports that the corpus is about: made from `tests/entries.toml`
//! and the golden verdicts, and compared here.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// How many of the reports must be inside.
const INSIDE: usize = 80;

const HEAD: &str = "\
# Public reports as claims

Every report of the collection that this corpus is about: the file that states it, the invariants that its cases reach,
and how many states its cases have together. Most files have the case as reported, the case as fixed, and the fixes that
do not hold. `config` links the gate file of a report that is about configuration as well. Reports that no file states
have the reason.

The other folders have files that stand for no entry here: `seed` for the review that this project began with, `design`
for the rules, `regressions` for mistakes of this project.

Made by `cargo test --test corpus_table -- --ignored` from `tests/entries.toml` and `golden.tsv`.
";

fn tests() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The pairs of a table in the order in which they stand in the file.
fn in_order<'a>(table: &'a DeTable<'_>) -> Vec<(&'a str, &'a Spanned<DeValue<'a>>)> {
    let mut pairs: Vec<_> = table.iter().collect();
    pairs.sort_by_key(|(key, _)| key.span().start);
    pairs.into_iter().map(|(key, value)| (key.get_ref().as_ref(), value)).collect()
}

/// Where an entry is stated, or why it is not.
enum Place {
    File(String),
    Outside(String),
}

struct Section {
    title: String,
    entries: Vec<(String, Place)>,
}

fn sections() -> Vec<Section> {
    let text = read(&tests().join("entries.toml"));
    let table = DeTable::parse(&text).expect("tests/entries.toml is TOML");
    let place = |entry: &str, value: &DeValue<'_>| match value {
        DeValue::String(file) => Place::File(file.to_string()),
        DeValue::Table(table) => match table.get("outside").map(Spanned::get_ref) {
            Some(DeValue::String(reason)) if !reason.is_empty() => Place::Outside(reason.to_string()),
            _ => panic!("{entry}: expected a file or {{ outside = \"reason\" }}"),
        },
        _ => panic!("{entry}: expected a file or {{ outside = \"reason\" }}"),
    };
    in_order(table.get_ref())
        .into_iter()
        .map(|(title, section)| {
            let DeValue::Table(entries) = section.get_ref() else { panic!("{title}: expected a table of entries") };
            let entries = in_order(entries);
            Section {
                title: title.to_owned(),
                entries: entries
                    .into_iter()
                    .map(|(entry, value)| (entry.to_owned(), place(entry, value.get_ref())))
                    .collect(),
            }
        })
        .collect()
}

/// What the golden verdicts say about a claim.
#[derive(Default)]
struct Golden {
    reached: Vec<String>,
    cases: usize,
    holding: usize,
    states: u64,
}

fn golden(claim: &str) -> Golden {
    let mut golden = Golden::default();
    for line in read(&tests().join("litmus/golden.tsv")).lines().filter(|line| !line.starts_with('#')) {
        let [name, _, verdict, states] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("golden.tsv: {line}");
        };
        if name != claim {
            continue;
        }
        golden.cases += 1;
        golden.states += states.parse::<u64>().unwrap_or_else(|error| panic!("golden.tsv: {line}: {error}"));
        match verdict.strip_prefix("reachable: ") {
            Some(code) if golden.reached.iter().all(|reached| reached != code) => golden.reached.push(code.to_owned()),
            Some(_) => {}
            None => golden.holding += 1,
        }
    }
    golden
}

fn table() -> String {
    let mut text = HEAD.to_owned();
    let sections = sections();
    let all = sections.iter().flat_map(|section| &section.entries);
    let inside = all.clone().filter(|(_, place)| matches!(place, Place::File(_))).count();
    writeln!(text, "\n{inside} of {} reports are inside.", all.count()).expect("a string takes everything");
    for section in sections.iter().filter(|section| !section.entries.is_empty()) {
        let head = "| entry | file | reached | cases | of them hold | states |\n| --- | --- | --- | --- | --- | --- |";
        writeln!(text, "\n## {}\n\n{head}", section.title).expect("a string takes everything");
        for (entry, place) in &section.entries {
            let config = tests().join(format!("config/{entry}.toml")).exists();
            let config = if config { format!(", [config](../config/{entry}.toml)") } else { String::new() };
            match place {
                Place::File(file) => {
                    let golden = golden(entry);
                    let (reached, cases, holding) = (golden.reached.join(", "), golden.cases, golden.holding);
                    let states = golden.states;
                    writeln!(
                        text,
                        "| {entry} | [litmus]({file}){config} | {reached} | {cases} | {holding} | {states} |"
                    )
                }
                Place::Outside(reason) => writeln!(text, "| {entry} | outside{config}: {reason} | | | | |"),
            }
            .expect("a string takes everything");
        }
    }
    text
}

#[test]
fn the_table_is_up_to_date() {
    let readme = read(&tests().join("litmus/README.md"));
    assert!(readme == table(), "tests/litmus/README.md: run `cargo test --test corpus_table -- --ignored`");
}

#[test]
#[ignore = "writes tests/litmus/README.md"]
fn update_the_table() {
    std::fs::write(tests().join("litmus/README.md"), table()).expect("README.md can be written");
}

#[test]
fn every_report_has_its_file_with_the_case_as_reported_and_as_fixed() {
    let mut files = BTreeSet::new();
    let (mut entries, mut inside) = (BTreeSet::new(), 0);
    for (entry, place) in sections().into_iter().flat_map(|section| section.entries) {
        let Place::File(file) = place else {
            assert!(entries.insert(entry.clone()), "{entry} stands in the table twice");
            continue;
        };
        inside += 1;
        let text = read(&tests().join("litmus").join(&file));
        let claim = DeTable::parse(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let name = claim.get_ref().get("name").map(|name| name.get_ref().as_str());
        assert_eq!(name, Some(Some(entry.as_str())), "{file} is named after its entry");
        let golden = golden(&entry);
        assert!(!golden.reached.is_empty(), "{file}: no case reaches what was reported");
        assert!(golden.holding > 0, "{file}: no case holds");
        files.insert(file);
        assert!(entries.insert(entry.clone()), "{entry} stands in the table twice");
    }
    assert!(inside >= INSIDE, "{inside} reports are inside, {INSIDE} must be");
    let folders: BTreeSet<&str> = files.iter().filter_map(|file| Some(file.split_once('/')?.0)).collect();
    for folder in folders {
        for file in std::fs::read_dir(tests().join("litmus").join(folder)).expect("the corpus can be read") {
            let file = file.expect("the corpus can be read").file_name().to_string_lossy().into_owned();
            let file = format!("{folder}/{file}");
            assert!(files.contains(&file), "{file} stands for no entry of tests/entries.toml");
        }
    }
}

/// The tables of `docs/patterns.md` name cases of the corpus and their verdicts.
#[test]
fn the_patterns_are_true() {
    let golden = read(&tests().join("litmus/golden.tsv"));
    let text = read(&tests().join("../docs/patterns.md"));
    let rows = text.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let mut compared = 0;
    for row in rows {
        let [fix, claim, case, verdict] = row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>()[..]
        else {
            panic!("docs/patterns.md: {row}");
        };
        let verdict = if verdict == "holds" { "unreachable".to_owned() } else { format!("reachable: {verdict}") };
        let expected = format!("{}\t{case}\t{verdict}\t", claim.trim_matches('`'));
        assert!(
            golden.lines().any(|line| line.starts_with(&expected)),
            "docs/patterns.md, `{fix}`: golden.tsv has no case {expected:?}"
        );
        compared += 1;
    }
    assert!(compared > 0, "docs/patterns.md has no table");
}
