//! How many distinct states a second one core explores, and how many stateright does over the same step relation in
//! the same run: on the three largest cases of the corpus, nothing left out, and on one large claim.
//!
//! `cargo bench -p leasecheck-sim` prints the rates. Run with `--test` (as the test `bench.rs` does in its own way) it
//! only checks that both engines count the same.

#[path = "support/large.rs"]
mod large;
#[path = "support/litmus_model.rs"]
mod litmus_model;
#[path = "support/rates.rs"]
mod rates;
#[path = "support/seconds.rs"]
mod seconds;

use leasecheck_sim::program::Program;
use rates::{compare, explored, load_text};
use std::path::{Path, PathBuf};

/// The litmus files under a folder.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the corpus can be read") {
        let path = entry.expect("the corpus can be read").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "toml") {
            found.push(path);
        }
    }
}

/// Every case of the corpus, with its number of states.
fn corpus() -> Vec<(u64, Program)> {
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/litmus"), &mut paths);
    let mut sized = Vec::new();
    for path in paths.iter().filter(|path| path.file_name().is_some_and(|name| name != "entries.toml")) {
        let text = std::fs::read_to_string(path).expect("litmus files are text");
        for program in load_text(&text) {
            sized.push((explored(&program), program));
        }
    }
    sized.sort_by_key(|(states, program)| (std::cmp::Reverse(*states), program.name.clone()));
    sized
}

fn main() {
    let tiny = std::env::args().any(|argument| argument == "--test");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one worker");
    pool.install(|| {
        for (states, program) in corpus().into_iter().take(if tiny { 1 } else { 3 }) {
            let repeats = if tiny { 1 } else { (1_500_000 / states.max(1)).max(1) };
            println!("{}", compare(&program, repeats));
        }
        for program in load_text(&large::large(if tiny { 1 } else { 3 })) {
            println!("{}", compare(&program, 1));
        }
    });
}
