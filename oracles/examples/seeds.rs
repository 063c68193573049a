//! Writes the first inputs of the corpora, from the litmus corpus and the recorded traces:
//! `cargo run -p leasecheck-oracles --example seeds`.

use arbitrary::Unstructured;
use leasecheck_core::Ids;
use leasecheck_oracles::call::{Kind, call, layout};
use leasecheck_oracles::pair::Pair;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// What a trace or a litmus file does, without ids.
enum Loose {
    Alloc(Vec<(u8, u8)>),
    Free(u8, u8),
    Tombstone(u8),
    Bind(u8),
    Clear(u8),
    Complete(u8),
    Compact,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn write(target: &str, name: &str, bytes: &[u8]) {
    let folder = root().join("fuzz/corpus").join(target);
    fs::create_dir_all(&folder).expect("the corpus can be written");
    fs::write(folder.join(format!("seed-{name}")), bytes).expect("the corpus can be written");
}

/// The bytes that a target decodes as these calls.
fn encode(header: &[u8], kind: Kind, calls: &[Loose]) -> Vec<u8> {
    let mut bytes = header.to_vec();
    let config = layout(&mut Unstructured::new(header), kind).expect("a whole layout");
    if kind == Kind::Pool {
        bytes.push(0x21);
    }
    let mut pair = Pair::new(&config, vec![1, 2]).expect("a possible layout");
    let bound = pair.arena.config().bands.get(1).is_some_and(|band| band.ids != Ids::Own);
    for loose in calls {
        let live = |band: u8| pair.model.live(band).count();
        let some = |band: u8, count: u8| {
            let mut bytes = vec![(count.clamp(1, 4) - 1) | 0x10];
            let many = usize::from(count.clamp(1, 4)).min(live(band));
            bytes.extend((0..many).filter(|at| live(band) - at > 1).map(|at| at as u8));
            bytes
        };
        let one = match loose {
            Loose::Alloc(parts) => {
                let parts = &parts[..parts.len().min(3)];
                let mut one = vec![0, parts.len() as u8 - 1];
                one.extend(parts.iter().flat_map(|(band, pages)| [*band, *pages % 16]));
                one
            }
            Loose::Free(band, _) if bound && *band == 1 => continue,
            Loose::Free(band, count) => [vec![5, *band], some(*band, *count), vec![3]].concat(),
            Loose::Tombstone(count) => [vec![8, 1], some(1, *count), vec![3]].concat(),
            Loose::Bind(count) => [vec![10, 1], some(0, *count)].concat(),
            Loose::Clear(band) => vec![11, 1, *band],
            Loose::Complete(event) => vec![12, event % 3],
            Loose::Compact => vec![13, 2, 0, event_after(live(0))],
        };
        let call = call(&mut Unstructured::new(&one), &pair.model, kind).expect("a whole call");
        pair.make(call);
        bytes.extend(one);
    }
    bytes
}

/// Compactions pend now and then.
fn event_after(live: usize) -> u8 {
    if live.is_multiple_of(2) { 3 } else { 0 }
}

fn trace(name: &str) -> Vec<Loose> {
    let text = fs::read_to_string(root().join("tests/traces").join(name)).expect("the traces can be read");
    let band = |value: &Value| u8::from(value == "full");
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines
        .filter_map(|line| match line["op"].as_str()? {
            "alloc_many" => {
                let parts = line["req"].as_array()?.iter();
                // Tokens, two a page.
                let part = |part: &Value| Some((band(&part[0]), (part[1].as_u64()? / 2).min(15) as u8));
                Some(Loose::Alloc(parts.map(part).collect::<Option<_>>()?)).filter(|loose| match loose {
                    Loose::Alloc(parts) => !parts.is_empty(),
                    _ => true,
                })
            }
            "free" => Some(Loose::Free(band(&line["side"]), line["pages"].as_array()?.len().min(4) as u8)),
            "clear" => Some(Loose::Clear(band(&line["side"]))),
            "event_fired" => Some(Loose::Complete(line["event"].as_u64()? as u8)),
            "compact_begin" => Some(Loose::Compact),
            _ => None,
        })
        .collect()
}

fn lease_calls(name: &str) -> Vec<u8> {
    let text = fs::read_to_string(root().join("tests/traces").join(name)).expect("the traces can be read");
    let mut bytes = Vec::new();
    for line in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let holder = (line["th"].as_u64().unwrap_or(0) % 4) as u8;
        let event = (line["event"].as_u64().unwrap_or(0) % 3) as u8;
        match line["op"].as_str() {
            Some("acquire_layout") => bytes.extend([6, holder]),
            Some("release_layout") if line["event"].is_null() => bytes.extend([9, holder]),
            Some("release_layout") => bytes.extend([14, holder + 4 * event]),
            Some("event_fired") => bytes.extend([17, 4 * event]),
            Some("compact_wait") => bytes.extend([22, holder]),
            Some("compact_end") => bytes.extend([25, holder]),
            _ => {}
        }
    }
    bytes
}

/// Steps of a litmus program that an arena can do.
fn steps(program: &str) -> Vec<Loose> {
    let band = |word: &str| u8::from(word.ends_with("swa"));
    let one = |line: &str| {
        let line = line.trim().trim_start_matches("try ");
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        Some(match verb {
            "alloc" => {
                let requests = rest.split("->").next()?.split(',');
                let part = |part: &str| {
                    let (name, pages) = part.trim().split_once(' ')?;
                    Some((band(name), pages.trim().parse::<u8>().ok()?.min(15)))
                };
                Loose::Alloc(requests.map(part).collect::<Option<_>>()?)
            }
            "free" => Loose::Free(0, 2),
            "clear" => Loose::Clear(band(rest)),
            "compact" | "flush" => Loose::Compact,
            "bind" => Loose::Bind(1),
            "tombstone" => Loose::Tombstone(1),
            "sync" => Loose::Complete(0),
            _ => return None,
        })
    };
    program.lines().filter_map(one).collect()
}

fn litmus_files() -> Vec<(String, String)> {
    let mut folders = vec![root().join("tests/litmus")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("the litmus corpus can be read").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "toml") {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                files.push((name, fs::read_to_string(path).expect("UTF-8")));
            }
        }
    }
    files.sort();
    files
}

fn main() {
    // 25 bytes, envelopes 1 and 3, the first band up; `slide` as the recorded arena, or `minimal`.
    let (slide, minimal) = ([19, 0, 2, 0x08, 0], [19, 0, 2, 0x00, 0]);
    for name in ["small", "medium", "threaded"] {
        let calls = trace(&format!("{name}.jsonl"));
        for (nth, calls) in calls.chunks(20).take(8).enumerate() {
            let header = if nth % 2 == 0 { slide } else { minimal };
            write("arena_ops", &format!("{name}-{nth}"), &encode(&header, Kind::Arena, calls));
            let header = [[0, 0, 0, nth as u8 % 20].as_slice(), &header].concat();
            let asked = [0, 0, 3, 1, 0, 1, 2, 1, 1, 1].repeat(4);
            let state = encode(&header[4..], Kind::Arena, calls);
            write("admission", &format!("{name}-{nth}"), &[&header[..4], &state, &asked].concat());
        }
        for (nth, calls) in lease_calls(&format!("{name}.jsonl")).chunks(96).take(6).enumerate() {
            write("lease_table", &format!("{name}-{nth}"), calls);
        }
    }
    for (name, text) in litmus_files() {
        write("litmus_parser", &name, text.as_bytes());
        for (nth, program) in text.split("\"\"\"").skip(1).step_by(2).enumerate() {
            let renamed =
                program.replace("device.", "d.").replace("host.", "h.").replace("full", "a").replace("swa", "b");
            write("litmus_parser", &format!("{name}-{nth}"), renamed.as_bytes());
            let calls = steps(program);
            if calls.len() > 2 {
                // A pool of 34 bytes with envelopes 2 and 1, a sink.
                let calls = &calls[..calls.len().min(24)];
                write("device_pool", &format!("{name}-{nth}"), &encode(&[28, 1, 0, 0, 0], Kind::Pool, calls));
            }
        }
    }
    let compared = ["==", "!=", "<", "<=", ">", ">="].map(|with| format!("if n {with} 1 {{\n  check m {with} n\n}}\n"));
    write("litmus_parser", "comparisons", format!("let n = 1\nlet m = n\n{}", compared.concat()).as_bytes());
    let lines = fs::read_to_string(root().join("trace/tests/trace/format.rs")).expect("the tests can be read");
    for (nth, line) in lines.split("r#\"").skip(1).filter_map(|rest| rest.split("\"#").next()).enumerate() {
        write("trace_parser", &format!("line-{nth}"), line.as_bytes());
    }
    // Whole pages, a sliding window with a tombstone, one that is bound in part.
    write("swa_select", "window", &[4, 0, 5, 0, 6, 0, 7]);
    write("swa_select", "tombstoned-page", &[4, 0, 5, 9, 0, 7]);
    write("swa_select", "ten-of-twelve", &[4, 0, 5, 0, 6, 0, 7, 11, 3, 0, 11, 7, 0]);
    write("transfer_keys", "zero-pages", &[8, 0, 1, 1, 1, 1, 2, 33, 34, 0, 0, 0, 1, 35, 0, 0, 0, 4, 0, 0, 0]);
    write("transfer_keys", "tail", &[8, 3, 2, 1, 2, 1, 1, 33, 1, 0, 0, 0, 35, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0]);
}
