//! Every file in `tests/config/` of the repository: the answers it is known to give, byte for byte.
//!
//! To update the golden files after a change that is meant:
//! `cargo test -p leasecheck-config --test golden -- --ignored write`

use std::path::{Path, PathBuf};

use leasecheck_config::{Answer, Report, analyse, load, parse, render_markdown, render_text};

const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/config");
const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(FILES).expect("tests/config is there");
    let paths = entries.map(|entry| entry.expect("its entries can be listed").path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|kind| kind == "toml")).collect();
    files.sort();
    files
}

fn report(path: &Path) -> Report {
    let file = load(path).unwrap_or_else(|wrong| panic!("{wrong}"));
    let baseline = file.baseline().map(|baseline| load(baseline).unwrap_or_else(|wrong| panic!("{wrong}")));
    analyse(&file, baseline.as_ref())
}

fn named(name: &str) -> Report {
    report(&Path::new(FILES).join(name))
}

fn golden(path: &Path, text: &str, write: bool) {
    if write {
        std::fs::write(path, text).expect("the golden file can be written");
        return;
    }
    let expected = std::fs::read_to_string(path).unwrap_or_default();
    assert!(expected == text, "{} differs; it is now:\n{text}", path.display());
}

fn all(write: bool) {
    for file in files() {
        let report = report(&file);
        assert!(report.as_expected(), "{}\n{}", file.display(), render_text(&report));
        golden(&file.with_extension("txt"), &render_text(&report), write);
    }
    let seed = named("sglang-36731.toml");
    golden(&Path::new(GOLDEN).join("sglang-36731.md"), &render_markdown(&seed), write);
    let json = serde_json::to_string_pretty(&seed).expect("a report serialises");
    golden(&Path::new(GOLDEN).join("sglang-36731.json"), &(json + "\n"), write);
}

#[test]
fn every_file_gives_the_answers_it_is_known_to_give() {
    assert!(files().len() >= 10);
    all(false);
}

#[test]
#[ignore = "writes the golden files"]
fn write() {
    all(true);
}

fn gates(report: &Report, feature: usize) -> Vec<Vec<String>> {
    let blocked = report.features[feature].blocked.as_ref().expect("the feature is not reachable");
    blocked.sets.iter().map(|set| set.iter().map(|gate| gate.name.clone()).collect()).collect()
}

/// S18: the two blocks admit only models that the factory refuses. The reviewer's proposal was to drop the
/// hybrid-SWA check of each block; the analysis says what that would let through.
#[test]
fn s18_names_the_conflicting_gates_and_what_dropping_one_would_reach() {
    let report = named("sglang-36731.toml");
    let block =
        |name: &str| vec!["pool factory".to_owned(), format!("{name}: no Mamba"), format!("{name}: no hybrid SWA")];
    assert_eq!(gates(&report, 0), [block("host-pool retraction")]);
    assert_eq!(gates(&report, 1), [block("decode offload")]);
    for feature in &report.features {
        let dropped = &feature.blocked.as_ref().expect("blocked").dropped;
        let proposal = dropped.iter().find(|dropped| dropped.gate.ends_with("no hybrid SWA")).expect("it conflicts");
        assert!(
            proposal.example.as_ref().expect("it becomes reachable").0.iter().any(|set| set.option == "hybrid_swa")
        );
    }
}

/// S19: the new rejection of `write_through` hits decode servers with static pools, and only those.
#[test]
fn s19_is_found_against_the_baseline() {
    let report = named("sglang-36731.toml");
    let comparison = report.comparison.as_ref().expect("the file names a baseline");
    assert_eq!(comparison.newly_rejected.configurations.exact(), Some("48"));
    assert!(comparison.newly_rejected.fewest);
    for group in &comparison.newly_rejected.groups {
        assert_eq!(group.gates[0].name, "decode radix cache with a host pool does not write through");
        let described = |option: &str| {
            group.description.iter().find(|common| common.option == option).map(|common| common.values.len())
        };
        assert_eq!((described("unified_memory"), described("hicache_write_policy")), (Some(1), Some(1)));
    }
    assert_eq!(comparison.newly_accepted.example, None);
}

/// S20: each unsafe combination is rejected; automatic retraction never picks the host pool under unified memory.
#[test]
fn s20_is_confirmed() {
    let report = named("sglang-36731.toml");
    let answers: Vec<Answer> =
        report.musts.iter().filter(|must| must.name.starts_with("S20")).map(|must| must.answer).collect();
    assert_eq!(answers, [Answer::Yes; 6]);
    // The same questions fail without the gates: they do not hold by accident.
    let text = std::fs::read_to_string(Path::new(FILES).join("sglang-36731.toml")).expect("the file is there");
    let (head, gates) = text.split_once("[[gate]]").expect("it has gates");
    let (_, rest) = gates.split_once("[[feature]]").expect("features follow the gates");
    let open = parse("open.toml", &format!("{head}[[feature]]{rest}")).expect("it is still a gate file");
    let report = analyse(&open, None);
    let answers: Vec<Answer> =
        report.musts.iter().filter(|must| must.name.starts_with("S20")).map(|must| must.answer).collect();
    assert_eq!(answers, [Answer::No; 6]);
}
