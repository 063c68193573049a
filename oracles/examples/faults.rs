//! Shows that the targets find faults: `cargo run -p leasecheck-oracles --example faults [SECONDS]`.
//!
//! `fuzz/faults.jsonl` has one fault a line: a place in the code and what stands there when the fault is on, with
//! `FAULT` for "it is on". All are put into a *copy* of the sources, which is built once; then the fitting target runs
//! random inputs with one fault after the other on, for a minute of CPU time each at most. Prints a table; exit code 1 if
//! a fault is not found, or if a target fails with all of them off.

use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

#[derive(Deserialize)]
struct Fault {
    name: String,
    target: String,
    file: String,
    old: String,
    new: String,
}

/// What the copy's core gets in addition.
const SWITCH: &str = r#"
/// Whether this fault is on.
pub fn fault(name: &str) -> bool {
    static ON: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    ON.get_or_init(|| std::env::var("LEASECHECK_FAULT").ok()).as_deref() == Some(name)
}
"#;

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        std::fs::create_dir_all(to).expect("a copy can be written");
        for entry in std::fs::read_dir(from).expect("the sources can be read").flatten() {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        std::fs::copy(from, to).expect("a copy can be written");
    }
}

fn put_in(copy: &Path, fault: &Fault) -> Result<(), String> {
    let path = copy.join(&fault.file);
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", fault.file))?;
    let places = text.matches(&fault.old).count();
    if places != 1 {
        return Err(format!(
            "`{}` stands in {places} places of {}: fuzz/faults.jsonl is out of date",
            fault.old, fault.file
        ));
    }
    let core = if fault.file.starts_with("core/") { "crate" } else { "leasecheck_core" };
    let new = fault.new.replace("FAULT", &format!("{core}::fault({:?})", fault.name));
    std::fs::write(&path, text.replace(&fault.old, &new)).map_err(|error| format!("{}: {error}", fault.file))
}

fn build(root: &Path, copy_of: &Path) -> Result<PathBuf, String> {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml")).map_err(|error| error.to_string())?;
    // A workspace of what is needed only.
    let (workspace, _) = manifest.split_once("[package]\n").ok_or("no [package] in Cargo.toml")?;
    let workspace: String =
        workspace.lines().filter(|line| !line.starts_with("exclude")).fold(String::new(), |text, line| {
            let line = if line.starts_with("members") {
                "members = [\"core\", \"oracles\", \"oracles/naive\", \"sim\", \"trace\"]"
            } else {
                line
            };
            text + line + "\n"
        });
    std::fs::write(copy_of.join("Cargo.toml"), workspace).map_err(|error| error.to_string())?;
    let core = copy_of.join("core/src/lib.rs");
    let text = std::fs::read_to_string(&core).map_err(|error| error.to_string())?;
    std::fs::write(&core, text + SWITCH).map_err(|error| error.to_string())?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from).join("faults");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--release", "--quiet", "-p", "leasecheck-oracles", "--bin", "leasecheck-oracles"])
        .current_dir(copy_of)
        .env("CARGO_TARGET_DIR", &target)
        .output()
        .map_err(|error| error.to_string())?;
    if built.status.success() {
        Ok(target.join("release/leasecheck-oracles"))
    } else {
        Err(format!("the copy with the faults cannot be built:\n{}", String::from_utf8_lossy(&built.stderr)))
    }
}

fn main() -> ExitCode {
    match faults() {
        Ok(0) => ExitCode::SUCCESS,
        Ok(missed) => {
            println!("{missed} not as they should be");
            ExitCode::from(1)
        }
        Err(wrong) => {
            eprintln!("{wrong}");
            ExitCode::from(2)
        }
    }
}

fn faults() -> Result<usize, String> {
    let seconds = std::env::args().nth(1).unwrap_or_else(|| "60".to_owned());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let list = std::fs::read_to_string(root.join("fuzz/faults.jsonl")).map_err(|error| error.to_string())?;
    let parse = |line: &str| serde_json::from_str(line).map_err(|error| format!("fuzz/faults.jsonl: {error}"));
    let faults: Vec<Fault> = list.lines().map(parse).collect::<Result<_, _>>()?;
    let copy_of = std::env::temp_dir().join(format!("leasecheck-faults-{}", std::process::id()));
    std::fs::create_dir_all(&copy_of).map_err(|error| error.to_string())?;
    for part in ["Cargo.lock", "core", "sim", "oracles", "trace", "rust-toolchain.toml"] {
        copy(&root.join(part), &copy_of.join(part));
    }
    let binary = faults.iter().try_for_each(|fault| put_in(&copy_of, fault)).and_then(|()| build(&root, &copy_of));
    let missed = binary.map(|binary| {
        let run = |target: &str, fault: &str, seconds: &str| {
            let corpus = root.join("fuzz/corpus").join(target);
            let mut command = Command::new(&binary);
            command.args([target, "--random", "1", seconds]).arg(corpus).env("LEASECHECK_FAULT", fault);
            let output = command.env("RUST_BACKTRACE", "0").output().expect("the runner runs");
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            // `TARGET: fails after N runs, S s` or `TARGET: N runs in S s`
            let numbers = |word: &str| word.trim_end_matches(',').parse::<f64>().is_ok();
            let numbers: Vec<&str> = said.split(' ').filter(|word| numbers(word)).take(2).collect();
            (output.status.code(), numbers.join(" | ").replace(',', ""))
        };
        let mut missed = 0;
        println!("| fault | target | | executions | seconds |\n| --- | --- | --- | ---: | ---: |");
        let row = |name: &str, target: &str, verdict: &str, said: &str| {
            println!("| {name} | `{target}` | {verdict} | {said} |");
        };
        for fault in &faults {
            let (code, said) = run(&fault.target, &fault.name, &seconds);
            row(&fault.name, &fault.target, if code == Some(1) { "found" } else { "MISSED" }, &said);
            missed += usize::from(code != Some(1));
        }
        let mut targets: Vec<&str> = faults.iter().map(|fault| fault.target.as_str()).collect();
        targets.sort_unstable();
        targets.dedup();
        for target in targets {
            let (code, said) = run(target, "", "3");
            row("none", target, if code == Some(0) { "silent" } else { "ALARM" }, &said);
            missed += usize::from(code != Some(0));
        }
        missed
    });
    std::fs::remove_dir_all(&copy_of).map_err(|error| error.to_string())?;
    missed
}
