//! The data model that every renderer starts from. It holds nothing that differs from run to run.

use crate::picture::{
    self, ChangeReport, EndReport, HoldReport, LeftReport, LineReport, MissingReport, MoveReport, OrderReport,
    TouchReport,
};
use leasecheck_sim::explore::Token;
use leasecheck_sim::explore::picture::{Hold, HoldKind};
use leasecheck_sim::explore::replay::{Misfit, Picture, Place, Row, RowKind, Run, run};
use leasecheck_sim::litmus::LitmusFile;
use leasecheck_sim::program::{Expect, Program};
use leasecheck_sim::verdict::{Limit, Outcome, Standing, Verdict, collision_bits};
use leasecheck_sim::world::Note;
use schemars::JsonSchema;
use serde::Serialize;

/// Version of the JSON form. It changes when a field changes its meaning or goes away.
pub const VERSION: u32 = 1;

/// Results of a run of the tool.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// Version of this form.
    pub version: u32,
    /// The cases, in the order in which they were given.
    pub cases: Vec<CaseReport>,
    /// Files that could not be read, with the reason.
    pub errors: Vec<FileError>,
}

/// A file that could not be used.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct FileError {
    /// Path as given.
    pub file: String,
    /// The whole error text.
    pub message: String,
}

/// One case and its verdict.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CaseReport {
    /// Name of the claim.
    pub claim: String,
    /// Name of the case.
    pub case: String,
    /// Path of the litmus file, as given.
    pub file: String,
    /// Line of the case's first step in the litmus file, 0 if it has none.
    pub line: u32,
    /// Where the report stands that the claim comes from.
    pub source: String,
    /// The claim, in a sentence.
    pub statement: String,
    /// `unreachable`, or `reachable: CODE`.
    pub expected: String,
    /// `reachable`, `unreachable`, `truncated` or `vacuous`.
    pub verdict: String,
    /// `as claimed`, `failed` or `unknown`.
    pub standing: String,
    /// Why the case does not stand as claimed; empty if it does.
    pub why: String,
    /// Distinct states.
    pub states: u64,
    /// Of a verdict without a counterexample: the probability that it is wrong because two states had the same hash is
    /// below this.
    pub collision_below: Option<String>,
    /// Steps taken.
    pub steps: u64,
    /// Longest distance from the start.
    pub depth: u32,
    /// Distinct states at each distance from the start.
    pub levels: Vec<u64>,
    /// Whether independent orders were left out.
    pub reduced: bool,
    /// Rules that are off.
    pub rules_off: Vec<String>,
    /// Assumptions that were dropped.
    pub assumptions_off: Vec<String>,
    /// Behaviours that were reached.
    pub marks: Vec<String>,
    /// Other invariants that were seen violated on the way.
    pub also: Vec<String>,
    /// The program.
    pub program: Vec<LineReport>,
    /// The run that violates, if one was found.
    pub counterexample: Option<CounterexampleReport>,
}

/// A run that violates an invariant.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CounterexampleReport {
    /// The invariant.
    pub code: String,
    /// What is violated, in a sentence.
    pub message: String,
    /// Earlier steps that matter and the order that is missing.
    pub because: Vec<String>,
    /// Whether no shorter run exists.
    pub shortest: bool,
    /// Whether the last step is what violates it. Otherwise the state is wrong that the last step leads to: two steps
    /// that conflict can both come next (they are the ends of `missing`), or nothing goes on.
    pub by_step: bool,
    /// The happens-before edge that is missing, where the violation is about one.
    pub missing: Option<MissingReport>,
    /// Names of the agents, in the order of their numbers.
    pub agents: Vec<String>,
    /// What each agent is: `thread`, `stream`, `rdma` or `finally`.
    pub kinds: Vec<&'static str>,
    /// The steps.
    pub rows: Vec<RowReport>,
    /// What was still to be done when the run ended.
    pub left: Vec<LeftReport>,
    /// Who held layouts still, and how long.
    pub holds: Vec<HoldReport>,
    /// What carried order from one agent's step to another's.
    pub orders: Vec<OrderReport>,
    /// Arenas at the start and when the last step begins.
    pub arenas: Vec<ArenaReport>,
    /// The program of the case.
    pub program: Vec<LineReport>,
    /// Rules that are off.
    pub rules_off: Vec<String>,
    /// Assumptions that were dropped.
    pub assumptions_off: Vec<String>,
    /// The token that replays it.
    pub token: String,
    /// The command that replays it.
    pub replay: String,
}

impl CounterexampleReport {
    /// The two steps that conflict, where the run ends because both can come next.
    #[must_use]
    pub fn next(&self) -> Option<[&EndReport; 2]> {
        let missing = self.missing.as_ref().filter(|_| !self.by_step)?;
        Some([&missing.before, &missing.after])
    }

    /// The line of the litmus file that the violation is about, if it is about one.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        let next = self.next().map(|[_, after]| after.line);
        next.or_else(|| self.rows.last().map(|row| row.line)).filter(|line| *line > 0)
    }

    /// Whether the row is the one that violates.
    pub(crate) fn is_wrong(&self, step: usize) -> bool {
        self.by_step && !self.code.is_empty() && step == self.rows.len()
    }

    /// Whether an agent is a queue: what it does is executed, not just done.
    pub(crate) fn is_queue(&self, agent: u8) -> bool {
        self.kinds.get(usize::from(agent)).is_some_and(|kind| ["stream", "rdma"].contains(kind))
    }
}

/// One step of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RowReport {
    /// Number of the agent that takes it.
    pub agent: u8,
    /// `host`, `queued` or `run`.
    pub kind: &'static str,
    /// The queue that the operation goes to, if it is queued.
    pub queue: Option<u8>,
    /// As in the litmus file.
    pub text: String,
    /// Line in the litmus file.
    pub line: u32,
    /// What happened besides, in words.
    pub notes: Vec<String>,
    /// Per arena: what holds its layout after the step: `lease`, `event`, or nothing.
    pub held: Vec<Option<&'static str>>,
    /// The step that queued what this one runs, from 1.
    pub queued: Option<usize>,
    /// Bytes that it touched.
    pub touched: Vec<TouchReport>,
    /// Pages that it moved.
    pub moves: Vec<MoveReport>,
    /// Pages that are something else afterwards.
    pub changes: Vec<ChangeReport>,
}

/// An arena before and after.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ArenaReport {
    /// Its name.
    pub name: String,
    /// Its size, in bytes.
    pub bytes: u64,
    /// The bands.
    pub bands: Vec<BandReport>,
}

/// A band before and after: per page `sink`, `hole`, `pending`, `free`, or the id of a live page.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BandReport {
    /// Its name.
    pub name: String,
    /// Bytes of a page: page `p` is at `p` times this.
    pub envelope: u64,
    /// The end that it grows away from: `up` from byte 0, `down` from the top.
    pub grow: &'static str,
    /// At the start of the case.
    pub before: Vec<String>,
    /// When the last step begins.
    pub after: Vec<String>,
}

/// The words of a claim's expectation.
#[must_use]
pub fn expected(program: &Program) -> String {
    match program.expect {
        Expect::Unreachable => "unreachable".to_owned(),
        Expect::Reachable(code) => format!("reachable: {}", code.name()),
        Expect::Never(code) => format!("unreachable: {}", code.name()),
    }
}

/// The words of a standing.
#[must_use]
pub fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::AsClaimed => "as claimed",
        Standing::Failed => "failed",
        Standing::Unknown => "unknown",
    }
}

/// Makes the report of one case.
///
/// # Errors
/// When the counterexample does not replay, which would be a defect of the explorer.
pub fn case_report(file: &LitmusFile, path: &str, case: usize, outcome: &Outcome) -> Result<CaseReport, Misfit> {
    let program = &file.cases[case];
    let counterexample = match &outcome.verdict {
        Verdict::Reachable(found) => {
            let run = run(program, &found.steps)?;
            let token = Token { claim: file.name.clone(), case, steps: found.steps.clone() };
            Some(counterexample(program, &run, &token, path, found.shortest))
        }
        _ => None,
    };
    let names = |marks: &mut dyn Iterator<Item = leasecheck_sim::marks::Mark>| {
        marks.map(|mark| mark.name().to_owned()).collect()
    };
    Ok(CaseReport {
        claim: file.name.clone(),
        case: program.name.1.clone(),
        file: path.to_owned(),
        line: picture::first_line(program),
        source: file.source.clone(),
        statement: file.claim.clone(),
        expected: expected(program),
        verdict: outcome.verdict.word().to_owned(),
        standing: standing(outcome.standing(program)).to_owned(),
        why: why(program, outcome),
        states: outcome.states,
        collision_below: match outcome.verdict {
            Verdict::Unreachable => Some(format!("2^-{}", collision_bits(outcome.states))),
            _ => None,
        },
        steps: outcome.steps,
        depth: outcome.depth,
        levels: outcome.levels.clone(),
        reduced: outcome.reduced,
        rules_off: program.rules.off().map(|rule| rule.name().to_owned()).collect(),
        assumptions_off: program.assume.off().map(|assumption| assumption.name().to_owned()).collect(),
        marks: names(&mut outcome.marks.iter()),
        also: outcome.also.iter().map(|code| code.name().to_owned()).collect(),
        program: picture::program(program),
        counterexample,
    })
}

/// Makes the report of a run that was replayed, not searched for: it says nothing about other runs.
#[must_use]
pub fn replayed(
    program: &Program,
    (source, statement): (&str, &str),
    path: &str,
    run: CounterexampleReport,
) -> CaseReport {
    let violated = !run.code.is_empty();
    CaseReport {
        claim: program.name.0.clone(),
        case: program.name.1.clone(),
        file: path.to_owned(),
        line: picture::first_line(program),
        source: source.to_owned(),
        statement: statement.to_owned(),
        expected: expected(program),
        verdict: if violated { "reachable" } else { "replayed" }.to_owned(),
        standing: if violated && expected(program) == format!("reachable: {}", run.code) {
            "as claimed"
        } else {
            "unknown"
        }
        .to_owned(),
        why: "one run was replayed, and says nothing about others".to_owned(),
        states: 0,
        collision_below: None,
        steps: run.rows.len() as u64,
        depth: 0,
        levels: Vec::new(),
        reduced: false,
        rules_off: run.rules_off.clone(),
        assumptions_off: run.assumptions_off.clone(),
        marks: Vec::new(),
        also: Vec::new(),
        program: run.program.clone(),
        counterexample: Some(run),
    }
}

fn why(program: &Program, outcome: &Outcome) -> String {
    let missing = |marks: Vec<leasecheck_sim::marks::Mark>| {
        marks.iter().map(|mark| format!("`{}`", mark.name())).collect::<Vec<_>>().join(", ")
    };
    match (&outcome.verdict, program.expect) {
        (Verdict::Truncated { limit, left }, _) => match limit {
            Limit::States(limit) => {
                format!("the limit of {limit} states was reached with {left} states still to explore")
            }
            Limit::Memory(limit) => {
                format!("the limit of {} MiB was reached with {left} states still to explore", limit >> 20)
            }
            Limit::Interrupted => format!("stopped with {left} states still to explore"),
        },
        (Verdict::Vacuous { missing: marks }, _) => {
            let never: Vec<String> = outcome
                .never_ran
                .iter()
                .map(|pc| {
                    format!("`{}` (line {})", program.code[usize::from(*pc)].text, program.code[usize::from(*pc)].line)
                })
                .collect();
            let steps =
                if never.is_empty() { String::new() } else { format!("; steps never reached: {}", never.join(", ")) };
            let seen = missing(outcome.marks.iter().collect());
            let seen = if seen.is_empty() { String::new() } else { format!("; marks that were: {seen}") };
            let missed = missing(marks.clone());
            format!("everything was explored and the witness was never reached: {missed}{steps}{seen}")
        }
        (Verdict::Unreachable, Expect::Reachable(code)) => format!("no run violates `{}`", code.name()),
        (Verdict::Reachable(found), Expect::Unreachable | Expect::Never(_)) => {
            format!("a run violates `{}`", found.violation.code.name())
        }
        (Verdict::Reachable(found), Expect::Reachable(code)) if found.violation.code != code => {
            format!("no run violates `{}`; one violates `{}`", code.name(), found.violation.code.name())
        }
        (Verdict::Reachable(_), Expect::Reachable(_)) => {
            let marks = outcome.missing(program);
            if marks.is_empty() {
                String::new()
            } else {
                let reached = missing(outcome.marks.iter().collect());
                let reached = if reached.is_empty() { "nothing that has a mark".to_owned() } else { reached };
                format!(
                    "the shortest counterexample does not reach the witness {}; it reaches {reached}",
                    missing(marks)
                )
            }
        }
        (Verdict::Unreachable, Expect::Unreachable | Expect::Never(_)) => String::new(),
    }
}

pub(crate) fn place(place: Place) -> String {
    match place {
        Place::Sink => "sink".to_owned(),
        Place::Live(id) => id.to_string(),
        Place::Hole => "hole".to_owned(),
        Place::Pending => "pending".to_owned(),
        Place::Outside => "free".to_owned(),
    }
}

/// A path as one word of a shell's command line.
pub(crate) fn shell_word(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:".contains(c);
    if !path.is_empty() && path.chars().all(plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', "'\\''"))
    }
}

/// The command that replays a run of a case in the file at `path`.
pub(crate) fn replay(token: &Token, path: &str) -> String {
    format!("leasecheck replay {token} {}", shell_word(path))
}

/// Makes the report of a run of the case in the file at `path`.
#[must_use]
pub fn counterexample(program: &Program, run: &Run, token: &Token, path: &str, shortest: bool) -> CounterexampleReport {
    let rows = run.rows.iter().enumerate().map(|(at, row)| row_report(program, run, at, row)).collect();
    let pictured = |before: &Picture, after: &Picture, at: usize| ArenaReport {
        name: program.arenas[at].name.clone(),
        bytes: program.arenas[at].config.bytes,
        bands: before
            .bands
            .iter()
            .zip(&after.bands)
            .zip(&program.arenas[at].config.bands)
            .map(|((before, after), band)| BandReport {
                name: band.name.clone(),
                envelope: band.envelope,
                grow: picture::grow(band.grow),
                before: before.iter().copied().map(place).collect(),
                after: after.iter().copied().map(place).collect(),
            })
            .collect(),
    };
    let arenas = run.before.iter().zip(&run.after).enumerate().map(|(at, (before, after))| pictured(before, after, at));
    CounterexampleReport {
        code: run.violation.as_ref().map_or(String::new(), |violation| violation.code.name().to_owned()),
        message: run.violation.as_ref().map_or(String::new(), |violation| violation.message.clone()),
        because: run.because.clone(),
        shortest,
        by_step: run.by_step,
        missing: run.missing.as_ref().map(|missing| picture::missing(program, missing)),
        agents: program.agents.iter().map(|agent| agent.name.clone()).collect(),
        kinds: program.agents.iter().map(|agent| picture::kind(agent.kind)).collect(),
        rows,
        left: picture::left(program, run),
        holds: picture::holds(program, run),
        orders: picture::orders(program, run),
        arenas: arenas.collect(),
        program: picture::program(program),
        rules_off: program.rules.off().map(|rule| rule.name().to_owned()).collect(),
        assumptions_off: program.assume.off().map(|assumption| assumption.name().to_owned()).collect(),
        token: token.to_string(),
        replay: replay(token, path),
    }
}

fn row_report(program: &Program, run: &Run, at: usize, row: &Row) -> RowReport {
    let mut notes = Vec::new();
    for note in &row.notes {
        match note {
            Note::Moved { arena, band, id, from, to } => {
                notes.push(format!("page {id} of {} moves from {from} to {to}", program.band_name(*arena, *band)));
            }
            Note::Said(text) => notes.push(text.clone()),
            _ => {}
        }
    }
    let held = (0..program.arenas.len()).map(|arena| {
        let now =
            |hold: &&Hold| usize::from(hold.arena) == arena && hold.from <= at && hold.to.is_none_or(|to| to > at);
        let kinds = || run.holds.iter().filter(now).map(|hold| hold.kind);
        let leased = kinds().any(|kind| kind == HoldKind::Lease).then_some("lease");
        leased.or_else(|| kinds().any(|kind| matches!(kind, HoldKind::Event(_))).then_some("event"))
    });
    let (kind, queue) = match row.kind {
        RowKind::Host => ("host", None),
        RowKind::Queued(queue) => ("queued", Some(queue)),
        RowKind::Run => ("run", None),
    };
    RowReport {
        agent: row.step.agent,
        kind,
        queue,
        text: row.text.clone(),
        line: row.line,
        notes,
        held: held.collect(),
        queued: row.queued_at.map(|queued| queued + 1),
        touched: picture::touched(program, row),
        moves: picture::moves(row),
        changes: picture::changes(row),
    }
}
