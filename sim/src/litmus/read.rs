//! What the tables of a litmus file mean: arenas, cases and what cases inherit from the top of the file.

use super::compile::{self, compile};
use super::diagnostics::{Diagnostic, Lines, Source};
use super::file::{At, Table};
use super::steps::RESERVED;
use super::{LitmusFile, parse};
use crate::assumptions::{Assumption, Assumptions};
use crate::invariants::Code;
use crate::marks::Mark;
use crate::program::{Expect, Program, limits};
use leasecheck_core::{Arena, ArenaConfig, BandConfig, BandId, Grow, Ids, Planner, Reuse, Rule, Rules};
use std::ops::Range;

/// An arena as the file describes it.
#[derive(Clone, Debug)]
pub(crate) struct ArenaText {
    pub(crate) name: At<String>,
    pub(crate) config: ArenaConfig,
    pub(crate) gates: Vec<(At<String>, Vec<At<String>>)>,
    pub(crate) moves_on: Option<At<String>>,
    /// Per band: whether gates are wired to it.
    pub(crate) gated: Vec<bool>,
    /// Per band: bits of the page numbers that kernels take.
    pub(crate) index_bits: Vec<u8>,
    /// Per band: the kernel multiplier.
    pub(crate) kernels: Vec<u32>,
    /// Per band: whether accesses take captured numbers as kernel-facing indices.
    pub(crate) takes_kernel: Vec<bool>,
    pub(crate) zeroed: bool,
}

/// What the top of the file and a case both can say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared {
    pub(crate) setup: Option<Range<usize>>,
    pub(crate) finally: Option<Range<usize>>,
    pub(crate) threads: Vec<(At<String>, Range<usize>)>,
    pub(crate) rules_off: Vec<(Rule, bool)>,
    pub(crate) assume_off: Vec<(Assumption, bool)>,
    pub(crate) reuse: Option<Reuse>,
    pub(crate) permuted: Option<bool>,
    pub(crate) planner: Option<Planner>,
    pub(crate) stored_under: Option<Vec<String>>,
}

/// A case as the file describes it.
#[derive(Clone, Debug)]
pub(crate) struct CaseText {
    pub(crate) name: At<String>,
    pub(crate) expect: Expect,
    pub(crate) witness: Vec<Mark>,
    pub(crate) own: Shared,
}

/// A file, its tables taken apart, its programs not yet parsed.
#[derive(Debug)]
pub(crate) struct FileText {
    pub(crate) name: At<String>,
    pub(crate) source: At<String>,
    pub(crate) claim: At<String>,
    pub(crate) arenas: Vec<ArenaText>,
    pub(crate) rdma: Vec<At<String>>,
    pub(crate) top: Shared,
    pub(crate) cases: Vec<CaseText>,
}

/// Takes the tables of a file apart.
pub(crate) fn tables(mut root: Table<'_, '_>) -> Result<FileText, Diagnostic> {
    let name = short_name(root.required("name")?)?;
    let source = printable(root.required("source")?, limits::TEXT)?;
    let claim = printable(root.required("claim")?, limits::TEXT)?;
    let arenas = arenas(&mut root)?;
    let rdma = root.strings("rdma")?.unwrap_or_default();
    let top = shared(&mut root)?;
    let case_tables = root.tables("case", "a case")?;
    root.finish()?;
    if case_tables.is_empty() {
        return Err(Diagnostic::new(name.span, "a claim without a case", "add at least one `[[case]]`"));
    }
    if case_tables.len() > limits::CASES {
        let message = format!("{} cases", case_tables.len());
        return Err(Diagnostic::new(name.span, message, format!("at most {} in a file", limits::CASES)));
    }
    let mut cases: Vec<CaseText> = Vec::new();
    for mut table in case_tables {
        let name = one_line(table.required("name")?)?;
        if cases.iter().any(|other| other.name.value == name.value) {
            return Err(Diagnostic::new(name.span, "two cases have the same name", "choose another name"));
        }
        let expect = expect(&mut table)?;
        let witness = witness(&mut table)?;
        let own = shared(&mut table)?;
        table.finish()?;
        cases.push(CaseText { name, expect, witness, own });
    }
    Ok(FileText { name, source, claim, arenas, rdma, top, cases })
}

/// Compiles every case of a file.
pub(crate) fn compile_all(source: &Source, mut file: FileText) -> Result<LitmusFile, Diagnostic> {
    let lines = Lines::new(&source.text);
    let cases = std::mem::take(&mut file.cases).into_iter();
    let cases = cases.map(|text| case(source, &lines, &file, text)).collect::<Result<_, _>>()?;
    Ok(LitmusFile { name: file.name.value, source: file.source.value, claim: file.claim.value, cases })
}

pub(crate) fn case(source: &Source, lines: &Lines, file: &FileText, text: CaseText) -> Result<Program, Diagnostic> {
    let FileText { arenas, rdma, top, .. } = file;
    let CaseText { name, expect, witness, own } = text;
    let mut threads = top.threads.clone();
    for (name, program) in own.threads {
        match threads.iter_mut().find(|(other, _)| other.value == name.value) {
            Some(slot) => slot.1 = program,
            None => threads.push((name, program)),
        }
    }
    if threads.is_empty() {
        return Err(Diagnostic::new(name.span, "a case without threads", "add `threads.NAME = \"\"\"…\"\"\"`"));
    }
    few_threads(&threads)?;
    let mut rules = Rules::all();
    for (rule, on) in top.rules_off.iter().chain(&own.rules_off) {
        if !on {
            rules = rules.without(*rule);
        }
    }
    let mut assume = Assumptions::all();
    for (assumption, on) in top.assume_off.iter().chain(&own.assume_off) {
        if !on {
            assume = assume.without(*assumption);
        }
    }
    let mut arenas = arenas.clone();
    for arena in &mut arenas {
        arena.config.rules = rules;
        arena.config.reuse = own.reuse.or(top.reuse).unwrap_or_default();
        arena.config.permuted = own.permuted.or(top.permuted).unwrap_or(false);
        if let Some(planner) = own.planner.or(top.planner) {
            arena.config.planner = planner;
        }
    }
    let program = |range: &Range<usize>| parse::parse(&source.text, range.clone());
    let text = compile::CaseText {
        source,
        lines,
        name: (file.name.value.clone(), name.value),
        span: name.span,
        arenas,
        rdma: rdma.clone(),
        setup: own.setup.or(top.setup.clone()).as_ref().map(program).transpose()?.unwrap_or_default(),
        finally: own.finally.or(top.finally.clone()).as_ref().map(program).transpose()?,
        threads: threads.iter().map(|(name, range)| Ok((name.clone(), program(range)?))).collect::<Result<_, _>>()?,
        rules,
        assume,
        expect,
        witness,
        stored_under: own.stored_under.or(top.stored_under.clone()).unwrap_or_default(),
    };
    compile(text)
}

fn few_threads(threads: &[(At<String>, Range<usize>)]) -> Result<(), Diagnostic> {
    let Some((first, _)) = threads.get(limits::AGENTS) else { return Ok(()) };
    let message = format!("{} threads", threads.len());
    Err(Diagnostic::new(first.span.clone(), message, format!("at most {}", limits::AGENTS)))
}

/// Text that a terminal can show.
fn printable(text: At<String>, most: usize) -> Result<At<String>, Diagnostic> {
    if text.value.trim().is_empty() {
        return Err(Diagnostic::new(text.span, "an empty text", "expected some words"));
    }
    if text.value.len() > most {
        let message = format!("a text of {} bytes", text.value.len());
        return Err(Diagnostic::new(text.span, message, format!("at most {most}")));
    }
    if text.value.chars().any(|letter| letter.is_control() && letter != '\n') {
        return Err(Diagnostic::new(text.span, "a text with control characters", "expected letters that can be shown"));
    }
    Ok(text)
}

/// The name of a claim or case.
fn one_line(name: At<String>) -> Result<At<String>, Diagnostic> {
    if name.value.contains('\n') {
        return Err(Diagnostic::new(name.span, "a name of several lines", "expected one line"));
    }
    printable(name, limits::TITLE)
}

/// The name of a claim, which is part of replay tokens.
fn short_name(name: At<String>) -> Result<At<String>, Diagnostic> {
    let name = one_line(name)?;
    if name.value.chars().all(|letter| letter.is_alphanumeric() || "-_.".contains(letter)) {
        return Ok(name);
    }
    Err(Diagnostic::new(name.span, "a claim's name is one word", "expected letters, digits, `-`, `_` and `.`"))
}

/// A name that step programs can write.
fn word_name(name: &At<String>) -> Result<(), Diagnostic> {
    let word = name.value.as_str();
    let letters = |part: &str| part.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    let starts = word.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let words = word.split('-').all(|part| !part.is_empty() && letters(part));
    if starts && words && word.len() <= limits::NAME && !RESERVED.contains(&word) {
        return Ok(());
    }
    let expected = format!("expected letters, digits, `_` and single `-`, at most {}", limits::NAME);
    Err(Diagnostic::new(name.span.clone(), "a name that no step can write", expected))
}

fn shared(table: &mut Table<'_, '_>) -> Result<Shared, Diagnostic> {
    let mut shared = Shared {
        setup: table.program("setup")?,
        finally: table.program("finally")?,
        threads: match table.table("threads", "threads")? {
            Some(threads) => threads.named_programs()?,
            None => Vec::new(),
        },
        ..Shared::default()
    };
    few_threads(&shared.threads)?;
    shared.threads.iter().try_for_each(|(name, _)| word_name(name))?;
    if let Some(rules) = table.table("rules", "rules")? {
        for (name, on) in rules.named_flags()? {
            let rule = Rule::named(&name.value).ok_or_else(|| {
                Diagnostic::new(name.span, format!("unknown rule `{}`", name.value), "not a rule")
                    .help("`leasecheck list rules` shows them all")
                    .nearest(&name.value, Rule::ALL.iter().map(|rule| rule.name()))
            })?;
            shared.rules_off.push((rule, on));
        }
    }
    if let Some(assume) = table.table("assume", "assumptions")? {
        for (name, on) in assume.named_flags()? {
            let assumption = Assumption::named(&name.value).ok_or_else(|| {
                Diagnostic::new(name.span, format!("unknown assumption `{}`", name.value), "not an assumption")
                    .help("`leasecheck list assumptions` shows them all")
                    .nearest(&name.value, Assumption::ALL.iter().map(|assumption| assumption.name()))
            })?;
            shared.assume_off.push((assumption, on));
        }
    }
    shared.reuse = word(
        table,
        "reuse",
        &[("as designed", Reuse::AsDesigned), ("never", Reuse::Never), ("at once", Reuse::AtOnce)],
    )?;
    shared.permuted = word(table, "start", &[("identity", false), ("permuted", true)])?;
    shared.planner = planner(table)?;
    let stored_under = table.strings("stored_under")?;
    shared.stored_under = stored_under.map(|names| names.into_iter().map(|name| name.value).collect());
    Ok(shared)
}

fn planner(table: &mut Table<'_, '_>) -> Result<Option<Planner>, Diagnostic> {
    word(table, "planner", &[("minimal", Planner::Minimal), ("slide", Planner::Slide)])
}

/// A key whose value is one of a few words.
fn word<T: Copy>(
    table: &mut Table<'_, '_>,
    key: &'static str,
    words: &[(&'static str, T)],
) -> Result<Option<T>, Diagnostic> {
    let Some(value) = table.string(key)? else { return Ok(None) };
    match words.iter().find(|(word, _)| *word == value.value) {
        Some((_, meaning)) => Ok(Some(*meaning)),
        None => {
            let known = words.iter().map(|(word, _)| format!("`{word}`")).collect::<Vec<_>>().join(" or ");
            Err(Diagnostic::new(value.span, format!("unknown {key} `{}`", value.value), format!("expected {known}"))
                .nearest(&value.value, words.iter().map(|(word, _)| *word)))
        }
    }
}

fn expect(table: &mut Table<'_, '_>) -> Result<Expect, Diagnostic> {
    let missing = Diagnostic::new(table.span.clone(), "a case needs `expect`", "what does it claim?")
        .help("`expect = \"unreachable\"` or `expect = { reachable = \"CODE\" }`; `leasecheck list invariants` shows the codes");
    let (word, code) = table.choice("expect")?.ok_or(missing)?;
    match (word.value.as_str(), code) {
        ("unreachable", None) => Ok(Expect::Unreachable),
        (word @ ("reachable" | "unreachable"), Some(code)) => match Code::named(&code.value) {
            Some(code) if word == "unreachable" => Ok(Expect::Never(code)),
            Some(code) => Ok(Expect::Reachable(code)),
            None => Err(Diagnostic::new(code.span, format!("unknown invariant `{}`", code.value), "not an invariant")
                .help("`leasecheck list invariants` shows them all")
                .nearest(&code.value, Code::ALL.iter().map(|code| code.name()))),
        },
        _ => Err(Diagnostic::new(
            word.span,
            "an expectation of another kind",
            "expected `\"unreachable\"`, `{ reachable = \"CODE\" }` or `{ unreachable = \"CODE\" }`",
        )),
    }
}

fn witness(table: &mut Table<'_, '_>) -> Result<Vec<Mark>, Diagnostic> {
    let missing = Diagnostic::new(
        table.span.clone(),
        "a case needs a `witness`",
        "what must have happened for its verdict to mean anything?",
    )
    .help("`witness = [\"MARK\", …]`; `leasecheck list marks` shows them all");
    let marks = table.strings("witness")?.filter(|marks| !marks.is_empty()).ok_or(missing)?;
    let one = |name: &At<String>| {
        Mark::named(&name.value).ok_or_else(|| {
            Diagnostic::new(name.span.clone(), format!("unknown mark `{}`", name.value), "not a mark")
                .help("`leasecheck list marks` shows them all")
                .nearest(&name.value, Mark::ALL.iter().map(|mark| mark.name()))
        })
    };
    marks.iter().map(one).collect()
}

fn arenas(root: &mut Table<'_, '_>) -> Result<Vec<ArenaText>, Diagnostic> {
    let missing = Diagnostic::new(root.span.clone(), "a claim needs an arena", "add `[arena.NAME]`");
    let tables = root.table("arena", "arenas")?.ok_or(missing.clone())?.named_tables("an arena")?;
    if tables.is_empty() {
        return Err(missing);
    }
    if tables.len() > limits::ARENAS {
        let message = format!("{} arenas", tables.len());
        return Err(Diagnostic::new(
            tables[limits::ARENAS].0.span.clone(),
            message,
            format!("at most {}", limits::ARENAS),
        ));
    }
    tables.into_iter().map(|(name, table)| arena(name, table)).collect()
}

fn arena(name: At<String>, mut table: Table<'_, '_>) -> Result<ArenaText, Diagnostic> {
    word_name(&name)?;
    let bytes = table
        .number("bytes", 1 << 40)?
        .ok_or_else(|| Diagnostic::new(name.span.clone(), "an arena needs `bytes`", "add `bytes = 48`, say"))?;
    let sink = table.flag("sink")?.unwrap_or(false);
    let planner = planner(&mut table)?.unwrap_or_default();
    let zeroed = table.flag("zeroed")?.unwrap_or(false);
    let gate_reaches = table.strings("gate_reaches")?;
    let moves_on = table.string("moves_on")?;
    let gates = table.table("gates", "gates")?.map(Table::named_lists).transpose()?.unwrap_or_default();
    let band_tables = table.table("bands", "bands")?.map(|bands| bands.named_tables("a band")).transpose()?;
    let band_tables = band_tables.unwrap_or_default();
    table.finish()?;
    for (gate, flags) in &gates {
        word_name(gate)?;
        flags.iter().try_for_each(word_name)?;
    }
    band_tables.iter().try_for_each(|(band, _)| word_name(band))?;
    if let Some((band, _)) = band_tables.get(limits::BANDS) {
        let message = format!("{} bands", band_tables.len());
        return Err(Diagnostic::new(band.span.clone(), message, format!("at most {}", limits::BANDS)));
    }
    let mut bands = Vec::new();
    let (mut index_bits, mut kernels, mut takes_kernel) = (Vec::new(), Vec::new(), Vec::new());
    let mut owners: Vec<(usize, At<String>)> = Vec::new();
    for (at, (band_name, mut band)) in band_tables.into_iter().enumerate() {
        let envelope = band.number("envelope", 1 << 40)?;
        let page_tokens = band.number("page_tokens", 1 << 20)?;
        let layers = band.number("layers", 1 << 20)?.map_or(1, |layers| layers.value as u32);
        kernels.push(band.number("kernels", 1 << 20)?.map_or(2 * layers, |kernels| kernels.value.max(1) as u32));
        takes_kernel.push(word(&mut band, "takes", &[("physical", false), ("kernel", true)])?.unwrap_or(false));
        index_bits.push(band.number("index_bits", 16)?.map_or(16, |bits| bits.value as u8));
        let grow = word(&mut band, "grow", &[("up", Grow::Up), ("down", Grow::Down), ("float", Grow::Float)])?;
        if let Some(owner) = band.string("ids_of")? {
            owners.push((at, owner));
        }
        band.finish()?;
        let missing = |key: &str| {
            Diagnostic::new(band_name.span.clone(), format!("band `{}` needs `{key}`", band_name.value), "add it here")
        };
        bands.push(BandConfig {
            name: band_name.value.clone(),
            envelope: envelope.ok_or_else(|| missing("envelope"))?.value,
            page_tokens: page_tokens.ok_or_else(|| missing("page_tokens"))?.value as u32,
            layers,
            grow: grow.ok_or_else(|| missing("grow"))?,
            ids: Ids::Own,
        });
    }
    for (at, owner) in owners {
        let position = bands.iter().position(|band| band.name == owner.value).ok_or_else(|| {
            Diagnostic::new(owner.span.clone(), format!("unknown band `{}`", owner.value), "not a band of this arena")
                .nearest(&owner.value, bands.iter().map(|band| band.name.as_str()))
        })?;
        bands[at].ids = Ids::Of(BandId(position as u8));
    }
    let config = ArenaConfig {
        bytes: bytes.value,
        bands,
        sink,
        reuse: Reuse::AsDesigned,
        permuted: false,
        planner,
        rules: Rules::all(),
    };
    let arena = Arena::new(config.clone())
        .map_err(|error| Diagnostic::new(name.span.clone(), error.to_string(), "in this arena"))?;
    if let Some((band, def)) = arena.bands().find(|(band, _)| arena.pages(*band) > limits::PAGES) {
        let message = format!("band `{}` has {} pages", def.name, arena.pages(band));
        return Err(Diagnostic::new(name.span.clone(), message, format!("at most {} in a litmus file", limits::PAGES))
            .help("claims are about few pages: scale the sizes down"));
    }
    let mut gated = vec![gate_reaches.is_none(); config.bands.len()];
    for reached in gate_reaches.unwrap_or_default() {
        let known = config.bands.iter().map(|band| band.name.as_str());
        match config.bands.iter().position(|band| band.name == reached.value) {
            Some(at) => gated[at] = true,
            None => {
                let message = format!("unknown band `{}`", reached.value);
                return Err(
                    Diagnostic::new(reached.span, message, "not a band of this arena").nearest(&reached.value, known)
                );
            }
        }
    }
    Ok(ArenaText { name, config, gates, moves_on, gated, index_bits, kernels, takes_kernel, zeroed })
}
