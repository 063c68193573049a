//! A finding as a litmus file: the same shape over a few pages, once as recorded and once with the guard in place, so
//! that the people who maintain the code can explore every order of it.
//!
//! Only findings about an address, a hold or an order have a shape that is independent of the rest of the run; the
//! others stand for themselves.

use crate::format::{ArenaDef, Grow, Header};
use crate::report::{Finding, Report, Scene, Sketch};
use std::fmt::Write;

/// How a case differs from the file's other one.
struct Case {
    name: &'static str,
    expect: String,
    witness: &'static str,
    /// A rule that is off.
    off: Option<&'static str>,
    threads: [(&'static str, &'static str); 2],
}

/// The finding as the text of a litmus file, if it has a shape that fits into one. `name` becomes the claim's name.
#[must_use]
pub fn write(name: &str, header: &Header, report: &Report, finding: &Finding) -> Option<String> {
    let Sketch { arena, band, scene } = *finding.sketch.as_ref()?;
    let arena = header.arenas.get(arena)?;
    let band = arena.bands.get(band)?;
    if band.ids_of.is_some() {
        return None;
    }
    let mut out = String::new();
    let text = |text: &str| serde_json::Value::from(text).to_string();
    writeln!(out, "name   = {}", text(name)).ok()?;
    writeln!(out, "source = {}", text(&format!("{}:{}, {}", report.file, finding.line, report.producer))).ok()?;
    writeln!(out, "claim  = {}\n", text(&finding.message)).ok()?;
    layout(&mut out, arena).ok()?;
    for case in cases(scene) {
        let Case { name, expect, witness, off, threads } = case;
        writeln!(out, "\n[[case]]\nname    = {}\nexpect  = {expect}\nwitness = [{}]", text(name), text(witness))
            .ok()?;
        if let Some(rule) = off {
            writeln!(out, "rules.{rule} = false").ok()?;
        }
        writeln!(out, "setup = \"\"\"\nalloc {} 3 -> s\nwrite s\nfree s[1]\n\"\"\"", band.name).ok()?;
        for (thread, program) in threads {
            writeln!(out, "threads.{thread} = \"\"\"\n{program}\n\"\"\"").ok()?;
        }
    }
    Some(out)
}

/// The arena with envelopes of 4 and 8 bytes instead of the real ones.
fn layout(out: &mut String, arena: &ArenaDef) -> std::fmt::Result {
    writeln!(out, "[arena.{}]\nbytes = 48", arena.name)?;
    let smallest = arena.bands.iter().map(|band| band.envelope).min().unwrap_or(1);
    for (nth, band) in arena.bands.iter().take(2).enumerate() {
        let envelope = if band.envelope == smallest { 4 } else { 8 };
        let grow = match band.grow.unwrap_or(if nth == 0 { Grow::Up } else { Grow::Down }) {
            Grow::Up => "up",
            Grow::Down => "down",
        };
        let owner = band.ids_of.as_ref().map_or(String::new(), |owner| format!(", ids_of = \"{owner}\""));
        writeln!(out, "bands.{} = {{ envelope = {envelope}, page_tokens = 4, grow = \"{grow}\"{owner} }}", band.name)?;
    }
    Ok(())
}

/// The two cases of a scene.
fn cases(scene: Scene) -> [Case; 2] {
    let (code, guard, witnesses, recorded, designed) = match scene {
        Scene::MoveUnderLease => (
            "moved-under-lease",
            Some("compaction-waits-for-leases"),
            ["leased", "compaction-waited-for-lease"],
            [("holder", "lease acquire\nread s[2]\nlease release"), ("mover", "compact")],
            [("holder", "lease acquire\nread s[2]\nlease release"), ("mover", "compact")],
        ),
        Scene::MoveUnderEvent => (
            "moved-under-lease",
            Some("compaction-waits-for-events"),
            ["handed-off", "compaction-waited-for-event"],
            [
                ("holder", "lease acquire\ncopy: read s[2]\ncopy: record done\nlease hand off done"),
                ("mover", "compact"),
            ],
            [
                ("holder", "lease acquire\ncopy: read s[2]\ncopy: record done\nlease hand off done"),
                ("mover", "compact"),
            ],
        ),
        Scene::AddressAfterMove => (
            "stale-address",
            None,
            ["compacted", "compaction-waited-for-lease"],
            [("user", "translate s[2] -> p\nread s[2] at p"), ("mover", "compact")],
            [("user", "lease acquire\ntranslate s[2] -> p\nread s[2] at p\nlease release"), ("mover", "compact")],
        ),
        Scene::UseAfterFree => (
            "use-after-free",
            None,
            ["freed", "finished"],
            [("user", "read s[2]"), ("owner", "free s[2]")],
            [("user", "read s[2]\nset used"), ("owner", "await used\nfree s[2]")],
        ),
        Scene::Unordered { earlier, later } => {
            let (first, ordered) = match earlier {
                true => (
                    "translate s[2] -> p\none: write s[2] at p",
                    "translate s[2] -> p\none: write s[2] at p\none: record done\nset recorded",
                ),
                false => (
                    "translate s[2] -> p\none: read s[2] at p",
                    "translate s[2] -> p\none: read s[2] at p\none: record done\nset recorded",
                ),
            };
            let (second, waits) = match later {
                true => ("other: write s[2]", "await recorded\nother: wait done\nother: write s[2]"),
                false => ("other: read s[2]", "await recorded\nother: wait done\nother: read s[2]"),
            };
            let (recorded, designed) =
                ([("first", first), ("second", second)], [("first", ordered), ("second", waits)]);
            ("race", None, ["captured", "stream-waited"], recorded, designed)
        }
    };
    let recorded = Case {
        name: "as recorded",
        expect: format!("{{ reachable = \"{code}\" }}"),
        witness: witnesses[0],
        off: guard,
        threads: recorded,
    };
    let designed = Case {
        name: "with the guard",
        expect: "\"unreachable\"".into(),
        witness: witnesses[1],
        off: None,
        threads: designed,
    };
    [recorded, designed]
}
