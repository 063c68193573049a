//! The data model as the script of a page reads it: the same facts, small enough for runs of many thousand steps.

use crate::model::{CaseReport, CounterexampleReport};
use crate::picture::{EndReport, LineReport};
use crate::plain::{plain, short};
use leasecheck_core::Rule;
use leasecheck_sim::assumptions::Assumption;
use leasecheck_sim::invariants::Code;
use leasecheck_sim::litmus::steps::STEPS;
use leasecheck_sim::litmus::{meaning, usage};
use serde::Serialize;
use std::collections::BTreeMap;

/// The longest text that is shown.
const LONGEST: usize = 2_000;

/// A case as the page shows it.
#[derive(Serialize)]
pub struct Case {
    claim: String,
    case: String,
    file: String,
    source: String,
    statement: String,
    expected: String,
    verdict: String,
    /// The word of the verdict and the invariant.
    result: String,
    standing: String,
    why: String,
    size: String,
    /// Names of rules that are off.
    rules_off: Vec<String>,
    /// Names of assumptions that were dropped.
    assumptions_off: Vec<String>,
    /// The program, where no run has it.
    listing: Option<Vec<Line>>,
    run: Option<Run>,
}

/// What every case of a page has in common: name and meaning of what the design and its language are made of.
#[derive(Serialize)]
pub struct Vocabulary {
    rules: Vec<(&'static str, &'static str)>,
    assumptions: Vec<(&'static str, &'static str)>,
    /// How a step is written, and what it does; lines of programs point here.
    steps: Vec<(String, &'static str)>,
}

impl Vocabulary {
    /// All of it.
    #[must_use]
    pub fn new() -> Vocabulary {
        Vocabulary {
            rules: Rule::ALL.iter().map(|rule| (rule.name(), rule.doc())).collect(),
            assumptions: Assumption::ALL.iter().map(|one| (one.name(), one.doc())).collect(),
            steps: STEPS.iter().map(|def| (usage(def), def.doc)).collect(),
        }
    }
}

impl Default for Vocabulary {
    fn default() -> Self {
        Vocabulary::new()
    }
}

/// Thread, line, depth, text, and the number of the step in the vocabulary or −1.
type Line = (String, u32, u32, String, i16);

fn listing(program: &[LineReport]) -> Vec<Line> {
    let number = |text: &str| {
        let step = meaning(text)?.step;
        STEPS.iter().position(|def| def.step == step)
    };
    let line = |line: &LineReport| {
        let meaning = number(&line.text).map_or(-1, |at| at as i16);
        (shown(&line.thread), line.line, line.depth, shown(&line.text), meaning)
    };
    program.iter().map(line).collect()
}

/// Arena, band, id, from, to.
type Move = (u8, u8, u8, u16, u16);
/// Arena, band, id, first byte, one past the last, whether written.
type Touch = (u8, u8, u8, u64, u64, u8);

/// A run. Agents, arenas and bands are numbers; steps are numbers from 1, and 0 stands for none.
#[derive(Serialize)]
pub struct Run {
    code: String,
    doc: String,
    message: String,
    because: Vec<String>,
    /// Whether the last step violates, rather than the state that it leads to.
    by_step: bool,
    missing: Option<Missing>,
    /// Two steps that can both come next, and conflict: agent, the step that queued it, text, line.
    next: Vec<(u8, usize, String, u32)>,
    agents: Vec<(String, &'static str)>,
    /// Texts that rows point at.
    texts: Vec<String>,
    /// Agent, kind (0 host, 1 queued, 2 run), queue or −1, text, line, the step that queued it.
    rows: Vec<(u8, u8, i16, usize, u32, usize)>,
    notes: BTreeMap<usize, Vec<String>>,
    /// Arena, band, page, state.
    changes: BTreeMap<usize, Vec<(u8, u8, u16, i16)>>,
    moves: BTreeMap<usize, Vec<Move>>,
    touched: BTreeMap<usize, Vec<Touch>>,
    /// Agent, the step that queued it, text, line.
    left: Vec<(u8, usize, String, u32)>,
    /// Arena, kind, name, agent, from, to.
    holds: Vec<(u8, &'static str, String, u8, usize, usize)>,
    /// From, to, kind, name.
    orders: Vec<(usize, usize, &'static str, String)>,
    arenas: Vec<Arena>,
    program: Vec<Line>,
    replay: String,
}

#[derive(Serialize)]
struct Missing {
    sentence: String,
    symmetric: bool,
    before: End,
    after: End,
    late: Vec<u32>,
}

#[derive(Serialize)]
struct End {
    agent: u8,
    queued: usize,
    ran: usize,
    text: String,
    /// Arena, first byte, one past the last.
    bytes: Option<(u8, u64, u64)>,
}

#[derive(Serialize)]
struct Arena {
    name: String,
    bytes: u64,
    bands: Vec<Band>,
}

#[derive(Serialize)]
struct Band {
    name: String,
    envelope: u64,
    grow: &'static str,
    start: Vec<i16>,
}

fn shown(text: &str) -> String {
    short(text, LONGEST)
}

/// A page's state as a number: the id of a live page, or a negative number.
pub(crate) fn state(word: &str) -> i16 {
    match word {
        "sink" => -1,
        "hole" => -2,
        "pending" => -3,
        "free" => -4,
        id => id.parse().unwrap_or(-4),
    }
}

fn end(end: &EndReport) -> End {
    let bytes = end.bytes.as_ref().map(|bytes| (bytes.arena, bytes.low, bytes.high));
    let (queued, ran) = (end.queued.unwrap_or(0), end.ran.unwrap_or(0));
    End { agent: end.agent, queued, ran, text: shown(&end.text), bytes }
}

/// A case of a report.
#[must_use]
pub fn case(report: &CaseReport) -> Case {
    let run = report.counterexample.as_ref().map(run);
    let size = match &report.counterexample {
        Some(found) if found.shortest => format!("A run of {} steps does it, and no shorter one", found.rows.len()),
        Some(found) => format!("A run of {} steps does it; there may be a shorter one", found.rows.len()),
        None if report.verdict == "unreachable" => {
            format!("Every order of steps was explored: {} states, {} steps deep", report.states, report.depth)
        }
        None => format!("{} states were explored", report.states),
    };
    let code = report.counterexample.as_ref().map_or(String::new(), |found| format!(": {}", found.code));
    Case {
        claim: shown(&report.claim),
        case: shown(&report.case),
        file: shown(&report.file),
        source: shown(&report.source),
        statement: shown(&report.statement),
        expected: shown(&report.expected),
        result: shown(&format!("{}{code}", report.verdict)),
        verdict: shown(&report.verdict),
        standing: report.standing.clone(),
        why: shown(&report.why),
        size,
        rules_off: report.rules_off.clone(),
        assumptions_off: report.assumptions_off.clone(),
        listing: run.is_none().then(|| listing(&report.program)),
        run,
    }
}

/// A run of a report.
#[must_use]
pub fn run(found: &CounterexampleReport) -> Run {
    let mut texts: Vec<String> = Vec::new();
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut rows = Vec::new();
    let (mut notes, mut changes) = (BTreeMap::new(), BTreeMap::new());
    let (mut moves, mut touched) = (BTreeMap::new(), BTreeMap::new());
    for (at, row) in found.rows.iter().enumerate() {
        let step = at + 1;
        let text = shown(&row.text);
        let text = *known.entry(text.clone()).or_insert_with(|| {
            texts.push(text);
            texts.len() - 1
        });
        let kind = match row.kind {
            "host" => 0,
            "queued" => 1,
            _ => 2,
        };
        let queue = row.queue.map_or(-1, i16::from);
        rows.push((row.agent, kind, queue, text, row.line, row.queued.unwrap_or(0)));
        if !row.notes.is_empty() {
            notes.insert(step, row.notes.iter().map(|note| shown(note)).collect());
        }
        if !row.changes.is_empty() {
            let all = row.changes.iter().map(|one| (one.arena, one.band, one.page, state(&one.state)));
            changes.insert(step, all.collect());
        }
        if !row.moves.is_empty() {
            moves.insert(step, row.moves.iter().map(|one| (one.arena, one.band, one.id, one.from, one.to)).collect());
        }
        if !row.touched.is_empty() {
            let all = row.touched.iter().map(|one| (one.arena, one.band, one.id, one.low, one.high, one.write.into()));
            touched.insert(step, all.collect());
        }
    }
    let code = Code::named(&found.code);
    let arenas = found.arenas.iter().map(|arena| Arena {
        name: shown(&arena.name),
        bytes: arena.bytes,
        bands: (arena.bands.iter())
            .map(|band| Band {
                name: shown(&band.name),
                envelope: band.envelope,
                grow: band.grow,
                start: band.before.iter().map(|word| state(word)).collect(),
            })
            .collect(),
    });
    Run {
        code: shown(&found.code),
        doc: code.map_or(String::new(), |code| code.doc().to_owned()),
        message: shown(&found.message),
        because: found.because.iter().map(|reason| shown(reason)).collect(),
        by_step: found.by_step,
        next: (found.next().into_iter().flatten())
            .map(|end| (end.agent, end.queued.unwrap_or(0), shown(&end.text), end.line))
            .collect(),
        missing: found.missing.as_ref().map(|missing| Missing {
            sentence: shown(&missing.sentence),
            symmetric: missing.symmetric,
            before: end(&missing.before),
            after: end(&missing.after),
            late: missing.late.clone(),
        }),
        agents: found.agents.iter().zip(&found.kinds).map(|(name, kind)| (shown(name), *kind)).collect(),
        texts,
        rows,
        notes,
        changes,
        moves,
        touched,
        left: found.left.iter().map(|one| (one.agent, one.queued.unwrap_or(0), shown(&one.text), one.line)).collect(),
        holds: (found.holds.iter())
            .map(|hold| (hold.arena, hold.kind, shown(&hold.name), hold.agent, hold.from, hold.to.unwrap_or(0)))
            .collect(),
        orders: found.orders.iter().map(|one| (one.from, one.to, one.kind, shown(&one.name))).collect(),
        arenas: arenas.collect(),
        program: listing(&found.program),
        replay: plain(&found.replay),
    }
}

/// Data as JSON that can stand in a script element: nothing in it ends the element or starts a comment.
///
/// # Errors
/// When it cannot be written, which no report has.
pub fn json(data: &impl Serialize) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string(data)?;
    Ok(text.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e"))
}
