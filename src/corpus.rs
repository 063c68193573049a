//! Finding and loading litmus files.

use leasecheck_sim::litmus::{LitmusFile, MAX_BYTES, Source, load};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Reads and compiles one litmus file.
///
/// # Errors
/// A text that says what is wrong, where, and what to do.
pub fn open(path: &Path) -> Result<LitmusFile, String> {
    let shown = path.display().to_string();
    let wrong = |why: String| format!("error: {shown}: {why}");
    if path.is_dir() {
        return Err(wrong(
            "is a folder; name litmus files, or check a whole folder with `leasecheck gate --corpus`".to_owned(),
        ));
    }
    let file = File::open(path).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let mut bytes = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    file.take(limit).read_to_end(&mut bytes).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("is not text (UTF-8); a litmus file is TOML".to_owned()))?;
    let source = Source { path: shown, text };
    load(&source).map_err(|diagnostic| diagnostic.render(&source))
}

/// Every litmus file below a folder, in the order of paths.
///
/// # Errors
/// When the folder cannot be read or has none.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| {
            format!(
                "error: {}: cannot be read: {error}\n  run in the root of the repository, or name the corpus with `--corpus DIR`",
                folder.display()
            )
        })?;
        for entry in entries {
            let entry = entry.map_err(|error| format!("error: {}: {error}", folder.display()))?;
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "toml") {
                found.push(path);
            }
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(format!("error: {}: holds no litmus file (`*.toml`)", folder.display()));
    }
    Ok(found)
}
