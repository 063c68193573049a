//! A litmus case that is still being written: what the generator builds and the shrinker takes apart.
//!
//! A draft is turned into a [`Program`] only by writing it as a litmus file and loading that file, so that whatever a
//! hunt finds is a litmus file by construction.

use crate::assumptions::Assumption;
use crate::invariants::Code;
use crate::litmus::{Source, load};
use crate::marks::Mark;
use crate::program::Program;
use leasecheck_core::Rule;
use std::fmt::Write;

/// One step, or the head of a block (`if x`, `while x`) and the steps in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stmt {
    pub(crate) text: String,
    pub(crate) block: Vec<Stmt>,
}

impl Stmt {
    pub(crate) fn new(text: impl Into<String>) -> Stmt {
        Stmt { text: text.into(), block: Vec::new() }
    }

    /// Steps, those in blocks included.
    pub(crate) fn count(all: &[Stmt]) -> usize {
        all.iter().map(|stmt| 1 + Stmt::count(&stmt.block)).sum()
    }

    fn render(all: &[Stmt], depth: usize, out: &mut String) {
        for stmt in all {
            let indent = "  ".repeat(depth);
            // Writing to a string cannot fail.
            if stmt.block.is_empty() {
                let _ = writeln!(out, "{indent}{}", stmt.text);
            } else {
                let _ = writeln!(out, "{indent}{} {{", stmt.text);
                Stmt::render(&stmt.block, depth + 1, out);
                let _ = writeln!(out, "{indent}}}");
            }
        }
    }
}

/// One band of an arena.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BandDraft {
    pub(crate) name: &'static str,
    pub(crate) envelope: usize,
    pub(crate) page_tokens: usize,
    /// As written: `up`, `down` or `float`.
    pub(crate) grow: &'static str,
    pub(crate) ids_of: Option<&'static str>,
    pub(crate) index_bits: Option<usize>,
    pub(crate) takes_kernel: bool,
}

/// One arena.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ArenaDraft {
    pub(crate) name: &'static str,
    pub(crate) bytes: usize,
    pub(crate) sink: bool,
    pub(crate) slide: bool,
    pub(crate) moves_on: Option<&'static str>,
    /// Flags that close the arena's only gate, `busy`.
    pub(crate) gate: Vec<String>,
    /// The band to which a design that does not reach them all has wired the gate.
    pub(crate) gate_reaches: Option<&'static str>,
    pub(crate) zeroed: bool,
    pub(crate) bands: Vec<BandDraft>,
}

/// A case being written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) arenas: Vec<ArenaDraft>,
    pub(crate) setup: Vec<Stmt>,
    pub(crate) finally: Vec<Stmt>,
    pub(crate) threads: Vec<(String, Vec<Stmt>)>,
    pub(crate) rules_off: Vec<Rule>,
    pub(crate) assume_off: Vec<Assumption>,
    pub(crate) reuse: Option<&'static str>,
    pub(crate) permuted: bool,
    /// The attribute that makes the stored name of a key in a design that does not name everything.
    pub(crate) stored_under: Option<&'static str>,
}

/// What a case claims, for rendering.
pub(crate) struct Claim<'a> {
    pub(crate) name: &'a str,
    pub(crate) source: &'a str,
    pub(crate) claim: &'a str,
    pub(crate) expect: Option<Code>,
    pub(crate) witness: &'a [Mark],
}

impl Claim<'static> {
    /// For drafts of which only the program matters.
    const NONE: Claim<'static> =
        Claim { name: "hunted", source: "leasecheck hunt", claim: "No violation", expect: None, witness: &[] };
}

fn quoted(words: impl Iterator<Item = impl AsRef<str>>) -> String {
    words.map(|word| format!("\"{}\"", word.as_ref())).collect::<Vec<_>>().join(", ")
}

impl Draft {
    /// Steps of all programs.
    pub(crate) fn steps(&self) -> usize {
        let threads: usize = self.threads.iter().map(|(_, steps)| Stmt::count(steps)).sum();
        threads + Stmt::count(&self.setup) + Stmt::count(&self.finally)
    }

    /// The litmus file. `witness` must not be empty in a file for people; `finished` stands in where there is none.
    pub(crate) fn render(&self, claim: &Claim<'_>) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ =
            writeln!(out, "name   = \"{}\"\nsource = \"{}\"\nclaim  = \"{}\"", claim.name, claim.source, claim.claim);
        if let Some(attribute) = self.stored_under {
            let _ = writeln!(out, "stored_under = [\"{attribute}\"]");
        }
        for arena in &self.arenas {
            let _ = writeln!(out, "\n[arena.{}]\nbytes = {}", arena.name, arena.bytes);
            if arena.sink {
                out.push_str("sink = true\n");
            }
            if arena.slide {
                out.push_str("planner = \"slide\"\n");
            }
            if arena.zeroed {
                out.push_str("zeroed = true\n");
            }
            if let Some(stream) = arena.moves_on {
                let _ = writeln!(out, "moves_on = \"{stream}\"");
            }
            for band in &arena.bands {
                let ids = band.ids_of.map_or(String::new(), |owner| format!(", ids_of = \"{owner}\""));
                let bits = band.index_bits.map_or(String::new(), |bits| format!(", index_bits = {bits}"));
                let takes = if band.takes_kernel { ", takes = \"kernel\"" } else { "" };
                let _ = writeln!(
                    out,
                    "bands.{} = {{ envelope = {}, page_tokens = {}, grow = \"{}\"{ids}{bits}{takes} }}",
                    band.name, band.envelope, band.page_tokens, band.grow
                );
            }
            if !arena.gate.is_empty() {
                let _ = writeln!(out, "gates.busy = [{}]", quoted(arena.gate.iter()));
                if let Some(band) = arena.gate_reaches {
                    let _ = writeln!(out, "gate_reaches = [\"{band}\"]");
                }
            }
        }
        let expect = match claim.expect {
            None => "\"unreachable\"".to_owned(),
            Some(code) => format!("{{ reachable = \"{}\" }}", code.name()),
        };
        let witness = match claim.witness {
            [] => quoted([Mark::Finished.name()].iter()),
            marks => quoted(marks.iter().map(|mark| mark.name())),
        };
        let _ = writeln!(out, "\n[[case]]\nname    = \"found\"\nexpect  = {expect}\nwitness = [{witness}]");
        if let Some(reuse) = self.reuse {
            let _ = writeln!(out, "reuse   = \"{reuse}\"");
        }
        if self.permuted {
            out.push_str("start   = \"permuted\"\n");
        }
        for rule in &self.rules_off {
            let _ = writeln!(out, "rules.{} = false", rule.name());
        }
        for assumption in &self.assume_off {
            let _ = writeln!(out, "assume.{} = false", assumption.name());
        }
        let setup = ("setup".to_owned(), &self.setup);
        let finally = ("finally".to_owned(), &self.finally);
        let threads = self.threads.iter().map(|(name, steps)| (format!("threads.{name}"), steps));
        for (name, steps) in [setup].into_iter().chain(threads).chain([finally]) {
            if !steps.is_empty() {
                let _ = writeln!(out, "{name} = \"\"\"");
                Stmt::render(steps, 0, &mut out);
                out.push_str("\"\"\"\n");
            }
        }
        out
    }

    /// Loads the draft as the litmus file that it is; the complaint if it is none.
    pub(crate) fn compile(&self) -> Result<Program, String> {
        let source = Source { path: "hunted".to_owned(), text: self.render(&Claim::NONE) };
        let mut file = load(&source).map_err(|diagnostic| diagnostic.render(&source))?;
        file.cases.pop().ok_or_else(|| "no case".to_owned())
    }
}
