//! A litmus file as text again, in one form: what it means, without comments, layout and alternative spellings.
//!
//! Steps are printed by the syntax table that they were parsed by.

use super::file::At;
use super::parse::{Arg, BandRef, CondExpr, Name, PagesExpr, SYNTAXES, Stmt, ValueExpr, parse};
use super::read::{ArenaText, CaseText, FileText, Shared};
use super::steps::{Part, Step};
use super::{Diagnostic, Source};
use crate::program::{Compare, Expect};
use leasecheck_core::{Grow, Ids, Planner, Reuse};
use std::fmt::Write;
use std::ops::Range;

/// Text under way. Writing to a string cannot fail, so that results of `write!` are dropped.
struct Printer<'a> {
    source: &'a Source,
    out: String,
}

/// Prints a file.
pub(crate) fn print(source: &Source, file: &FileText) -> Result<String, Diagnostic> {
    let mut printer = Printer { source, out: String::new() };
    for (key, text) in [("name", &file.name), ("source", &file.source), ("claim", &file.claim)] {
        let _ = writeln!(printer.out, "{key} = {}", quoted(&text.value));
    }
    if !file.rdma.is_empty() {
        let _ = writeln!(printer.out, "rdma = {}", list(file.rdma.iter().map(|name| name.value.as_str())));
    }
    printer.shared(&file.top)?;
    file.arenas.iter().for_each(|arena| printer.arena(arena));
    file.cases.iter().try_for_each(|case| printer.case(case))?;
    Ok(printer.out)
}

/// A TOML string.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", words.map(quoted).collect::<Vec<_>>().join(", "))
}

const fn planner(planner: Planner) -> &'static str {
    match planner {
        Planner::Slide => "slide",
        Planner::Minimal => "minimal",
    }
}

impl Printer<'_> {
    fn shared(&mut self, shared: &Shared) -> Result<(), Diagnostic> {
        let reuse = shared.reuse.map(|reuse| match reuse {
            Reuse::AsDesigned => "as designed",
            Reuse::Never => "never",
            Reuse::AtOnce => "at once",
        });
        let start = shared.permuted.map(|permuted| if permuted { "permuted" } else { "identity" });
        for (key, word) in [("reuse", reuse), ("start", start), ("planner", shared.planner.map(planner))] {
            if let Some(word) = word {
                let _ = writeln!(self.out, "{key} = \"{word}\"");
            }
        }
        if let Some(names) = &shared.stored_under {
            let _ = writeln!(self.out, "stored_under = {}", list(names.iter().map(String::as_str)));
        }
        for (rule, on) in &shared.rules_off {
            let _ = writeln!(self.out, "rules.{} = {on}", rule.name());
        }
        for (assumption, on) in &shared.assume_off {
            let _ = writeln!(self.out, "assume.{} = {on}", assumption.name());
        }
        self.program("setup", shared.setup.as_ref())?;
        for (At { value: name, .. }, program) in &shared.threads {
            self.program(&format!("threads.{name}"), Some(program))?;
        }
        self.program("finally", shared.finally.as_ref())
    }

    fn program(&mut self, key: &str, program: Option<&Range<usize>>) -> Result<(), Diagnostic> {
        let Some(program) = program else { return Ok(()) };
        let steps = steps(self.source, program.clone())?;
        let _ = writeln!(self.out, "{key} = \"\"\"\n{steps}\"\"\"");
        Ok(())
    }

    fn arena(&mut self, arena: &ArenaText) {
        let (out, config) = (&mut self.out, &arena.config);
        let _ = writeln!(out, "\n[arena.{}]\nbytes = {}", arena.name.value, config.bytes);
        if config.sink {
            out.push_str("sink = true\n");
        }
        if config.planner != Planner::default() {
            let _ = writeln!(out, "planner = \"{}\"", planner(config.planner));
        }
        if arena.zeroed {
            out.push_str("zeroed = true\n");
        }
        if arena.gated.contains(&false) {
            let reached = config.bands.iter().zip(&arena.gated).filter(|(_, gated)| **gated);
            let _ = writeln!(out, "gate_reaches = {}", list(reached.map(|(band, _)| band.name.as_str())));
        }
        if let Some(stream) = &arena.moves_on {
            let _ = writeln!(out, "moves_on = {}", quoted(&stream.value));
        }
        for (gate, flags) in &arena.gates {
            let _ = writeln!(out, "gates.{} = {}", gate.value, list(flags.iter().map(|flag| flag.value.as_str())));
        }
        for (at, band) in config.bands.iter().enumerate() {
            let grow = match band.grow {
                Grow::Up => "up",
                Grow::Down => "down",
                Grow::Float => "float",
            };
            let _ = write!(
                out,
                "bands.{} = {{ envelope = {}, page_tokens = {}, layers = {}, grow = \"{grow}\"",
                band.name, band.envelope, band.page_tokens, band.layers
            );
            if arena.kernels[at] != 2 * band.layers {
                let _ = write!(out, ", kernels = {}", arena.kernels[at]);
            }
            if arena.index_bits[at] != 16 {
                let _ = write!(out, ", index_bits = {}", arena.index_bits[at]);
            }
            if arena.takes_kernel[at] {
                out.push_str(", takes = \"kernel\"");
            }
            if let Ids::Of(owner) = band.ids {
                let _ = write!(out, ", ids_of = \"{}\"", config.bands[usize::from(owner.0)].name);
            }
            out.push_str(" }\n");
        }
    }

    fn case(&mut self, case: &CaseText) -> Result<(), Diagnostic> {
        let expect = match case.expect {
            Expect::Unreachable => "\"unreachable\"".to_owned(),
            Expect::Reachable(code) => format!("{{ reachable = \"{}\" }}", code.name()),
            Expect::Never(code) => format!("{{ unreachable = \"{}\" }}", code.name()),
        };
        let witness = list(case.witness.iter().map(|mark| mark.name()));
        let name = quoted(&case.name.value);
        let _ = writeln!(self.out, "\n[[case]]\nname = {name}\nexpect = {expect}\nwitness = {witness}");
        self.shared(&case.own)
    }
}

/// Prints a step program, which stands there in a file.
pub(crate) fn steps(source: &Source, program: Range<usize>) -> Result<String, Diagnostic> {
    let mut out = String::new();
    block(&mut out, &parse(&source.text, program)?, 0);
    Ok(out)
}

fn block(out: &mut String, steps: &[Stmt], depth: usize) {
    let indent = "  ".repeat(depth);
    for stmt in steps {
        let mut words = Vec::new();
        if let Some((_, parts)) = SYNTAXES.iter().find(|(def, _)| def.step == stmt.step) {
            step(parts, &mut stmt.args.iter(), &mut words);
        }
        let queue = stmt.stream.as_ref().map_or(String::new(), |stream| format!("{}: ", stream.text));
        let _ = writeln!(out, "{indent}{queue}{}", words.join(" "));
        if matches!(stmt.step, Step::If | Step::While | Step::Repeat) {
            block(out, &stmt.block, depth + 1);
            if !stmt.otherwise.is_empty() {
                let _ = writeln!(out, "{indent}}} else {{");
                block(out, &stmt.otherwise, depth + 1);
            }
            let _ = writeln!(out, "{indent}}}");
        }
    }
}

/// The words of a step: its syntax, with the arguments in the slots.
fn step<'a>(parts: &[Part], args: &mut (impl Iterator<Item = &'a Arg> + Clone), words: &mut Vec<String>) {
    for part in parts {
        match part {
            Part::Word(word) | Part::Symbol(word) => words.push((*word).to_owned()),
            Part::Slot(_) => words.extend(args.next().map(arg)),
            Part::Optional(group) => {
                let slots = group.iter().filter(|part| matches!(part, Part::Slot(_))).count();
                match args.clone().next() {
                    Some(Arg::Absent) => drop(args.nth(slots.max(1) - 1)),
                    _ => {
                        if slots == 0 {
                            args.next();
                        }
                        step(group, args, words);
                    }
                }
            }
        }
    }
}

fn joined<T>(all: &[T], one: impl Fn(&T) -> String) -> String {
    all.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn arg(arg: &Arg) -> String {
    match arg {
        Arg::Absent | Arg::Present => String::new(),
        Arg::Name(name) => name.text.clone(),
        Arg::Names(names) => joined(names, |name: &Name| name.text.clone()),
        Arg::Band(place) => band(place),
        Arg::Requests(requests) => joined(requests, |(place, pages)| format!("{} {pages}", band(place))),
        Arg::Pages(all) => joined(all, pages),
        Arg::Number(number) => number.to_string(),
        Arg::Key(name, None) => name.text.clone(),
        Arg::Key(name, Some(at)) => format!("{}[{at}]", name.text),
        Arg::Attributes(all) => joined(all, |(name, what)| format!("{} {what}", name.text)),
        Arg::Cond(cond) => condition(cond),
        Arg::Value(of) => value(of),
    }
}

fn band(place: &BandRef) -> String {
    match &place.arena {
        Some(arena) => format!("{}.{}", arena.text, place.band.text),
        None => place.band.text.clone(),
    }
}

fn pages(pages: &PagesExpr) -> String {
    let place = pages.band.as_ref().map_or(String::new(), |place| format!("{} ", band(place)));
    let range = match pages.range {
        None => String::new(),
        Some((from, to)) if u16::from(to) == u16::from(from) + 1 => format!("[{from}]"),
        Some((from, to)) => format!("[{from}..{to}]"),
    };
    format!("{place}{}{range}", pages.name.text)
}

fn value(of: &ValueExpr) -> String {
    match of {
        ValueExpr::Number(number) => number.to_string(),
        ValueExpr::Name(name) => name.text.clone(),
    }
}

fn condition(cond: &CondExpr) -> String {
    let left = value(&cond.left);
    let zero = matches!(cond.right, ValueExpr::Number(0));
    let compare = match cond.compare {
        Compare::Ne if zero => return left,
        Compare::Eq if zero => return format!("not {left}"),
        Compare::Eq => "==",
        Compare::Ne => "!=",
        Compare::Lt => "<",
        Compare::Le => "<=",
        Compare::Gt => ">",
        Compare::Ge => ">=",
    };
    format!("{left} {compare} {}", value(&cond.right))
}
