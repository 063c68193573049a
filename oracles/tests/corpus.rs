//! Every input of `fuzz/corpus` and `fuzz/crashes` through its target, on stable.

use leasecheck_oracles::TARGETS;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

fn inputs(folder: &str, target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz").join(folder).join(target);
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("the corpus can be read").path()).collect();
    paths.sort();
    paths
}

#[test]
fn every_input_of_the_corpora_is_fine() {
    let mut wrong = Vec::new();
    for target in TARGETS {
        let corpus = inputs("corpus", target.name);
        assert!(!corpus.is_empty(), "fuzz/corpus/{} is empty", target.name);
        for path in corpus.iter().chain(&inputs("crashes", target.name)) {
            let bytes = std::fs::read(path).expect("the corpus can be read");
            if catch_unwind(|| (target.run)(&bytes)).is_err() {
                wrong.push(format!("cargo run -p leasecheck-oracles -- {} {}", target.name, path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "these inputs fail:\n{}", wrong.join("\n"));
}
