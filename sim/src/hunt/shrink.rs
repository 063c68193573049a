//! Shrinking a failing run to the smallest program and the fewest context switches that fail in the same way.
//!
//! A candidate counts only if it has the same [`Identity`]: same invariant, same pair of steps. Where something was
//! switched off, the candidate must also be clean with everything on, or it has drifted to a program whose callers
//! break the contract and that proves nothing about the rule.
//!
//! The budget is a number of candidates, not of seconds, so that the result is the same everywhere.

use super::draft::{Draft, Stmt};
use super::draws::Draws;
use super::edits::{forget, identify, joined, names, pairs, tidy, variants};
use super::find::Blame;
use super::identity::{self, Identity};
use super::run::{Ready, Runner};
use super::schedulers::{Follow, Pct, Scheduler, Uniform};
use super::settings::Settings;
use crate::explore::replay;
use crate::invariants::Violation;
use crate::program::Program;
use crate::world::Step;
use std::collections::BTreeSet;

/// Purpose of the draws that look for a failing schedule of a candidate.
const SEARCH: u64 = 3;
/// Schedules that are tried for one candidate, besides the one that failed before.
const SCHEDULES: u64 = 32;
/// Steps of a program of which all pairs are tried.
const SMALL: usize = 24;
/// Schedules in which a candidate must be clean with everything on.
const CLEAN: u64 = 128;

/// How much a shrink may try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Candidates.
    pub candidates: usize,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { candidates: 3_000 }
    }
}

/// A shrunk failure.
#[derive(Clone, Debug)]
pub struct Shrunk {
    pub(crate) draft: Draft,
    /// The program.
    pub program: Program,
    /// A schedule that fails.
    pub schedule: Vec<Step>,
    /// What it violates.
    pub violation: Violation,
    /// Steps of the program before and after.
    pub steps: (usize, usize),
    /// Candidates that were tried.
    pub tried: usize,
    /// Whether nothing is left to try; the budget ended otherwise.
    pub complete: bool,
}

/// Changes of the running agent in a schedule.
fn switches(schedule: &[Step]) -> usize {
    schedule.windows(2).filter(|pair| pair[0].agent != pair[1].agent).count()
}

struct Shrinker<'a> {
    identity: &'a Identity,
    /// What a candidate must fail because of.
    blame: (&'a Settings, Blame),
    /// Whether the run as found had marks.
    marked: bool,
    /// The best failing run: who took which step, by name, so that it can be followed in a program that has lost some.
    trace: Vec<(String, String, u8)>,
    best: Shrunk,
    runner: Runner,
    left: usize,
}

impl Shrinker<'_> {
    fn run(&mut self, ready: &Ready, scheduler: &mut impl Scheduler) -> Option<(Violation, Vec<Step>)> {
        let end = self.runner.run(ready, true, scheduler);
        // A counterexample without any mark has no witness to name in a litmus file.
        let violation = end.violation.filter(|_| !self.marked || end.marks.iter().next().is_some())?;
        Some((violation, self.runner.schedule.clone()))
    }

    fn same(&self, ready: &Ready, failure: &Option<(Violation, Vec<Step>)>) -> bool {
        failure.as_ref().is_some_and(|(violation, steps)| {
            violation.code == self.identity.code && identity::of(&ready.program, steps, violation) == *self.identity
        })
    }

    /// A run of the candidate that fails in the same way.
    fn fails(&mut self, ready: &Ready) -> Option<(Violation, Vec<Step>)> {
        // Steps that were dropped are left out first; then all are kept, for steps that were only made simpler.
        for all in [false, true] {
            let before = translated(&self.trace, &ready.program, all);
            let followed = self.run(ready, &mut Follow::new(&before));
            if self.same(ready, &followed) {
                return followed;
            }
        }
        for nth in 0..SCHEDULES {
            let mut draws = Draws::new(nth, SEARCH);
            let failure = if nth % 2 == 0 {
                self.run(ready, &mut Uniform::new(draws))
            } else {
                let changes = draws.between(1, 4);
                self.run(ready, &mut Pct::new(draws, changes, ready.program.code.len()))
            };
            if self.same(ready, &failure) {
                return failure;
            }
        }
        None
    }

    /// Tries one candidate, and keeps it if it fails in the same way.
    fn attempt(&mut self, candidate: Draft) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.best.tried += 1;
        let Ok(program) = candidate.compile() else { return false };
        let Ok(ready) = Ready::new(program) else { return false };
        let Some((violation, schedule)) = self.fails(&ready) else { return false };
        let (settings, blame) = self.blame;
        if let Some(back) = blame.given_back(&candidate, settings) {
            let Some(ready) = back.compile().ok().and_then(|program| Ready::new(program).ok()) else { return false };
            if !clean(&mut self.runner, &ready, &schedule) {
                return false;
            }
        }
        self.best.steps.1 = candidate.steps();
        self.best.draft = candidate;
        self.trace = trace(&ready.program, &schedule);
        self.best.program = ready.program;
        self.best.violation = violation;
        self.best.schedule = schedule;
        true
    }

    /// Every list of steps of the draft, as a path: the program, then the places of the blocks in it.
    fn lists(draft: &Draft) -> Vec<Vec<usize>> {
        fn below(steps: &[Stmt], path: &[usize], out: &mut Vec<Vec<usize>>) {
            out.push(path.to_vec());
            for (at, stmt) in steps.iter().enumerate().filter(|(_, stmt)| !stmt.block.is_empty()) {
                let mut path = path.to_vec();
                path.push(at);
                below(&stmt.block, &path, out);
            }
        }
        let mut out = Vec::new();
        below(&draft.setup, &[0], &mut out);
        below(&draft.finally, &[1], &mut out);
        for (at, (_, steps)) in draft.threads.iter().enumerate() {
            below(steps, &[at + 2], &mut out);
        }
        out
    }

    fn list<'d>(draft: &'d mut Draft, path: &[usize]) -> Option<&'d mut Vec<Stmt>> {
        let (first, rest) = path.split_first()?;
        let mut steps = match first {
            0 => &mut draft.setup,
            1 => &mut draft.finally,
            at => &mut draft.threads.get_mut(at - 2)?.1,
        };
        for at in rest {
            steps = &mut steps.get_mut(*at)?.block;
        }
        Some(steps)
    }

    /// Of several rules that are off, leaves off those that have to do with it.
    fn rules(&mut self) {
        for at in (0..self.best.draft.rules_off.len()).rev() {
            if self.best.draft.rules_off.len() > 1 {
                self.change(|draft| {
                    draft.rules_off.remove(at);
                });
            }
        }
    }

    /// Drops whole threads.
    fn threads(&mut self) -> bool {
        let mut any = false;
        for at in (0..self.best.draft.threads.len()).rev() {
            let mut candidate = self.best.draft.clone();
            candidate.threads.remove(at);
            any |= self.attempt(candidate);
        }
        any
    }

    /// Drops everything that is said about one name: pages, an event, a flag, a stream.
    fn drop_names(&mut self) -> bool {
        let mut any = false;
        for name in names(&self.best.draft) {
            let mut candidate = self.best.draft.clone();
            forget(&mut candidate, &name);
            tidy(&mut candidate);
            any |= candidate != self.best.draft && self.attempt(candidate);
        }
        any
    }

    /// Drops two steps at once, in a program that is small already: what one takes and the other gives back.
    fn drop_pairs(&mut self) -> bool {
        let places = |draft: &Draft| -> Vec<(Vec<usize>, usize)> {
            let lists = Shrinker::lists(draft).into_iter();
            lists
                .flat_map(|path| {
                    let count = Shrinker::list(&mut draft.clone(), &path).map_or(0, |steps| steps.len());
                    (0..count).map(move |at| (path.clone(), at))
                })
                .collect()
        };
        let mut any = false;
        let mut all = places(&self.best.draft);
        let mut at = (0, 1);
        while all.len() <= SMALL && at.0 + 1 < all.len() && self.left > 0 {
            let mut candidate = self.best.draft.clone();
            // The later one first, so that the place of the earlier one stays.
            for (path, nth) in [&all[at.1], &all[at.0]] {
                if let Some(steps) = Shrinker::list(&mut candidate, path).filter(|steps| *nth < steps.len()) {
                    steps.remove(*nth);
                }
            }
            tidy(&mut candidate);
            if self.attempt(candidate) {
                any = true;
                all = places(&self.best.draft);
                at = (0, 1);
            } else {
                at = if at.1 + 1 < all.len() { (at.0, at.1 + 1) } else { (at.0 + 1, at.0 + 2) };
            }
        }
        any
    }

    /// Drops runs of steps of this length from every list.
    fn drop_steps(&mut self, length: usize) -> bool {
        let mut any = false;
        for path in Shrinker::lists(&self.best.draft).into_iter().rev() {
            let count = Shrinker::list(&mut self.best.draft.clone(), &path).map_or(0, |steps| steps.len());
            let mut end = count;
            while end >= length && self.left > 0 {
                let mut candidate = self.best.draft.clone();
                let Some(steps) = Shrinker::list(&mut candidate, &path).filter(|steps| end <= steps.len()) else {
                    break;
                };
                steps.drain(end - length..end);
                tidy(&mut candidate);
                let dropped = self.attempt(candidate);
                any |= dropped;
                end = if dropped { end - length } else { end - 1 };
            }
        }
        any
    }

    /// Replaces blocks by what is in them.
    fn unwrap_blocks(&mut self) -> bool {
        let mut any = false;
        for path in Shrinker::lists(&self.best.draft).into_iter().rev().filter(|path| path.len() > 1) {
            let mut candidate = self.best.draft.clone();
            let Some((at, above)) = path.split_last() else { continue };
            let Some(steps) = Shrinker::list(&mut candidate, above) else { continue };
            let Some(block) = steps.get_mut(*at).map(|stmt| std::mem::take(&mut stmt.block)) else { continue };
            steps.splice(*at..=*at, block);
            any |= self.attempt(candidate);
        }
        any
    }

    /// Moves the steps of a thread to the end of another one, so that fewer threads are left.
    fn join_threads(&mut self) -> bool {
        let mut any = false;
        for from in (1..self.best.draft.threads.len()).rev() {
            for to in 0..from {
                let mut candidate = self.best.draft.clone();
                let steps = candidate.threads.remove(from).1;
                candidate.threads[to].1.extend(steps);
                if self.attempt(candidate) {
                    any = true;
                    break;
                }
            }
        }
        any
    }

    /// Makes the arenas simpler and smaller.
    fn layout(&mut self) -> bool {
        let mut any = false;
        any |= self.change(|draft| draft.permuted = false);
        any |= self.change(|draft| draft.reuse = None);
        for at in (0..self.best.draft.assume_off.len()).rev() {
            any |= self.change(|draft| {
                draft.assume_off.remove(at);
            });
        }
        for at in (0..self.best.draft.arenas.len()).rev() {
            any |= self.change(|draft| {
                draft.arenas.remove(at);
            });
        }
        for at in 0..self.best.draft.arenas.len() {
            any |= self.change(|draft| draft.arenas[at].gate.clear());
            any |= self.change(|draft| draft.arenas[at].slide = false);
            any |= self.change(|draft| draft.arenas[at].sink = false);
            any |= self.change(|draft| draft.arenas[at].moves_on = None);
            for band in (0..self.best.draft.arenas[at].bands.len()).rev() {
                any |= self.change(|draft| {
                    draft.arenas[at].bands.remove(band);
                });
            }
            for step in [8, 4, 1] {
                while self.change(|draft| draft.arenas[at].bytes = draft.arenas[at].bytes.saturating_sub(step)) {
                    any = true;
                }
            }
        }
        any
    }

    /// Makes one step of two that do the same to different things.
    fn join_steps(&mut self) -> bool {
        let mut any = false;
        for path in Shrinker::lists(&self.best.draft) {
            let mut pair = (0, 1);
            while self.left > 0 {
                let Some(steps) = Shrinker::list(&mut self.best.draft, &path) else { break };
                let (Some(one), Some(other)) = (steps.get(pair.0), steps.get(pair.1)) else {
                    if pair.0 + 2 >= steps.len() {
                        break;
                    }
                    pair = (pair.0 + 1, pair.0 + 2);
                    continue;
                };
                let joined = joined(one, other);
                let places = if joined.is_some() { vec![pair, (pair.1, pair.0)] } else { Vec::new() };
                let tried = places.into_iter().any(|(keep, drop)| {
                    let mut candidate = self.best.draft.clone();
                    if let (Some(steps), Some(text)) = (Shrinker::list(&mut candidate, &path), joined.clone()) {
                        steps[keep].text = text;
                        steps.remove(drop);
                    }
                    self.attempt(candidate)
                });
                any |= tried;
                if !tried {
                    pair.1 += 1;
                }
            }
        }
        any
    }

    /// Lets one name stand for two, and drops the step that gave the other its meaning.
    fn join_names(&mut self) -> bool {
        let mut any = false;
        for (one, other) in pairs(&names(&self.best.draft)) {
            let mut candidate = self.best.draft.clone();
            if !identify(&mut candidate, &one, &other) {
                continue;
            }
            tidy(&mut candidate);
            any |= self.attempt(candidate);
        }
        any
    }

    fn change(&mut self, change: impl FnOnce(&mut Draft)) -> bool {
        let mut candidate = self.best.draft.clone();
        change(&mut candidate);
        candidate != self.best.draft && self.attempt(candidate)
    }

    /// Makes single steps simpler: fewer pages, fewer names in a list, nothing that may be left out.
    fn simpler(&mut self) -> bool {
        let mut any = false;
        for path in Shrinker::lists(&self.best.draft) {
            let count = Shrinker::list(&mut self.best.draft.clone(), &path).map_or(0, |steps| steps.len());
            for at in 0..count {
                let text = Shrinker::list(&mut self.best.draft.clone(), &path)
                    .and_then(|steps| steps.get(at))
                    .map_or(String::new(), |stmt| stmt.text.clone());
                for simpler in variants(&text) {
                    let mut candidate = self.best.draft.clone();
                    if let Some(stmt) = Shrinker::list(&mut candidate, &path).and_then(|steps| steps.get_mut(at)) {
                        stmt.text = simpler;
                    }
                    if self.attempt(candidate) {
                        any = true;
                        break;
                    }
                }
            }
        }
        any
    }

    /// Lets agents run longer before the next one does, as long as the run fails in the same way.
    fn calm(&mut self) {
        let Ok(ready) = Ready::new(self.best.program.clone()) else { return };
        let mut at = 0;
        while at + 1 < self.best.schedule.len() && self.left > 0 {
            let steps = &self.best.schedule;
            let later = steps[at + 1..].iter().position(|step| step.agent == steps[at].agent).map(|gap| at + 1 + gap);
            if let Some(later) = later.filter(|later| *later > at + 1) {
                let mut candidate = steps.clone();
                let step = candidate.remove(later);
                candidate.insert(at + 1, step);
                self.left -= 1;
                self.best.tried += 1;
                let failure = self.run(&ready, &mut Follow::new(&candidate));
                if self.same(&ready, &failure)
                    && let Some((violation, schedule)) = failure
                    && (switches(&schedule), schedule.len()) < (switches(&self.best.schedule), self.best.schedule.len())
                {
                    self.best.violation = violation;
                    self.best.schedule = schedule;
                    continue;
                }
            }
            at += 1;
        }
    }
}

/// Who takes which step in a run.
fn trace(program: &Program, schedule: &[Step]) -> Vec<(String, String, u8)> {
    let Ok(run) = replay::run(program, schedule) else { return Vec::new() };
    let name = |step: &Step| program.agents[usize::from(step.agent)].name.clone();
    run.rows.into_iter().map(|row| (name(&row.step), row.text, row.step.choice)).collect()
}

/// A run of another program as a schedule of this one: without the agents, and unless `all` are kept the steps, that
/// this one does not have.
fn translated(trace: &[(String, String, u8)], program: &Program, all: bool) -> Vec<Step> {
    let known: BTreeSet<&str> = program.code.iter().map(|instr| instr.text.as_str()).collect();
    // What the world does for a step has a text of its own.
    let derived = |text: &str| ["moves of ", "bytes of ", "wait "].iter().any(|word| text.starts_with(word));
    let steps = trace.iter().filter(|(_, text, _)| all || known.contains(text.as_str()) || derived(text));
    let step = |(name, _, choice): &(String, String, u8)| {
        let agent = program.agents.iter().position(|agent| agent.name == *name)?;
        Some(Step { agent: agent as u8, choice: *choice })
    };
    steps.filter_map(step).collect()
}

/// Whether a program is clean under the schedule that made a variant of it fail, and under some others.
pub(crate) fn clean(runner: &mut Runner, ready: &Ready, failing: &[Step]) -> bool {
    if runner.run(ready, true, &mut Follow::new(failing)).violation.is_some() {
        return false;
    }
    (0..CLEAN).all(|nth| {
        let mut draws = Draws::new(nth, SEARCH);
        // Priorities, too: they let an agent be late that uniform choices never make late.
        let end = if nth % 2 == 0 {
            runner.run(ready, false, &mut Uniform::new(draws))
        } else {
            let changes = draws.between(1, 4);
            runner.run(ready, false, &mut Pct::new(draws, changes, ready.program.code.len()))
        };
        end.violation.is_none()
    })
}

/// Shrinks a failing run. Every candidate that is kept fails because of what is blamed.
pub(crate) fn shrink(
    (draft, program): (Draft, Program),
    (identity, violation, schedule): (&Identity, Violation, Vec<Step>),
    blame: (&Settings, Blame),
    effort: Effort,
) -> Shrunk {
    let steps = draft.steps();
    let best = Shrunk { draft, program, schedule, violation, steps: (steps, steps), tried: 0, complete: false };
    let marked = replay::marks(&best.program, &best.schedule).iter().next().is_some();
    let (runner, trace) = (Runner::default(), trace(&best.program, &best.schedule));
    let mut shrinker = Shrinker { identity, blame, marked, trace, best, runner, left: effort.candidates };
    shrinker.rules();
    loop {
        let mut any = shrinker.threads();
        any |= shrinker.drop_names();
        for length in [16, 8, 4, 2, 1] {
            any |= shrinker.drop_steps(length);
        }
        any |= shrinker.unwrap_blocks();
        any |= shrinker.join_threads();
        any |= shrinker.layout();
        any |= shrinker.simpler();
        any |= shrinker.join_steps();
        any = any || shrinker.join_names();
        any = any || shrinker.drop_pairs();
        if !any || shrinker.left == 0 {
            break;
        }
    }
    shrinker.best.complete = shrinker.left > 0;
    shrinker.calm();
    shrinker.best
}
