//! What several tests need: the corpus, explorations without progress, and property tests that are the same on every
//! run.

#![allow(dead_code, missing_docs)]

use leasecheck_sim::explore::{Options, explore};
use leasecheck_sim::litmus::{LitmusFile, Source, load};
use leasecheck_sim::program::Program;
use leasecheck_sim::verdict::Outcome;
use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

/// So many cases, the same on every run.
pub fn cases(count: u32) -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(0x1ea5_ec4e);
    ProptestConfig { cases: count, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

/// Every litmus file of the repository, its path and its text, in the order of paths.
pub fn corpus_texts() -> Vec<(String, String)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/litmus")];
    let mut paths: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the corpus can be read") {
            let path = entry.expect("the corpus can be read").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "toml") {
                paths.push(path);
            }
        }
    }
    paths.sort();
    assert!(!paths.is_empty(), "the corpus is empty");
    paths.iter().map(|path| (path.display().to_string(), std::fs::read_to_string(path).expect("UTF-8"))).collect()
}

/// Every litmus file of the repository, in the order of paths.
pub fn corpus() -> Vec<LitmusFile> {
    corpus_texts().iter().map(|(path, text)| parse(path, text)).collect()
}

/// Every case of the corpus.
pub fn programs() -> Vec<Program> {
    corpus().into_iter().flat_map(|file| file.cases).collect()
}

/// A litmus file that must be right.
pub fn parse(path: &str, text: &str) -> LitmusFile {
    let source = Source { path: path.to_owned(), text: text.to_owned() };
    load(&source).unwrap_or_else(|wrong| panic!("{}", wrong.render(&source)))
}

/// `claim / case`.
pub fn title(program: &Program) -> String {
    format!("{} / {}", program.name.0, program.name.1)
}

/// Explores a case that can start, up to so many states.
pub fn search(program: &Program, reduce: bool, limit_states: u64) -> Outcome {
    let progress = AtomicU64::new(0);
    let options = Options { limit_states, limit_memory: 1 << 32, reduce, interrupted: &|| false, progress: &progress };
    explore(program, &options).unwrap_or_else(|error| panic!("{} cannot start: {error:?}", title(program)))
}
