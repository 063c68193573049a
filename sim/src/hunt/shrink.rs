//! Shrinking a failing run to the smallest program and the fewest context switches that fail in the same way.
//!
//! A candidate counts only if it has the same [`Identity`]: same invariant, same pair of steps. Where something was
//! switched off, the candidate must also be clean with everything on, or it has drifted to a program whose callers
//! break the contract and that proves nothing about the rule.
//!
//! The budget is a number of candidates, not of seconds, so that the result is the same everywhere.

use super::draft::{Draft, Stmt};
use super::draws::Draws;
use super::identity::{self, Identity};
use super::run::{Ready, Runner};
use super::schedulers::{Follow, Pct, Scheduler, Uniform};
use crate::explore::replay;
use crate::invariants::Violation;
use crate::program::Program;
use crate::world::Step;

/// Purpose of the draws that look for a failing schedule of a candidate.
const SEARCH: u64 = 3;
/// Schedules that are tried for one candidate, besides the one that failed before.
const SCHEDULES: u64 = 32;
/// Schedules in which a candidate must be clean with everything on.
const CLEAN: u64 = 48;

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
    /// What the campaign switched off, which a candidate must fail because of.
    blamed: bool,
    swarm_assumptions: usize,
    /// Whether the run as found had marks.
    marked: bool,
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
        let before = std::mem::take(&mut self.best.schedule);
        let followed = self.run(ready, &mut Follow::new(&before));
        self.best.schedule = before;
        if self.same(ready, &followed) {
            return followed;
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

    /// Whether the candidate is clean once everything is on.
    fn clean_with_all_on(&mut self, candidate: &Draft, failing: &[Step]) -> bool {
        let mut on = candidate.clone();
        on.rules_off.clear();
        on.assume_off.truncate(0);
        on.assume_off.extend(candidate.assume_off.iter().skip(self.swarm_assumptions));
        let Some(ready) = on.compile().ok().and_then(|program| Ready::new(program).ok()) else { return false };
        if self.runner.run(&ready, true, &mut Follow::new(failing)).violation.is_some() {
            return false;
        }
        (0..CLEAN).all(|nth| {
            let draws = Draws::new(nth, SEARCH);
            self.runner.run(&ready, false, &mut Uniform::new(draws)).violation.is_none()
        })
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
        if self.blamed && !self.clean_with_all_on(&candidate, &schedule) {
            return false;
        }
        self.best.steps.1 = candidate.steps();
        self.best.draft = candidate;
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
        let simpler: [fn(&mut Draft); 3] =
            [|draft| draft.permuted = false, |draft| draft.reuse = None, |draft| draft.assume_off.clear()];
        for simplify in simpler {
            any |= self.change(simplify);
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

    fn change(&mut self, change: impl FnOnce(&mut Draft)) -> bool {
        let mut candidate = self.best.draft.clone();
        change(&mut candidate);
        candidate != self.best.draft && self.attempt(candidate)
    }

    /// Lowers the numbers of pages in allocations.
    fn sizes(&mut self) -> bool {
        let mut any = false;
        for path in Shrinker::lists(&self.best.draft) {
            let count = Shrinker::list(&mut self.best.draft.clone(), &path).map_or(0, |steps| steps.len());
            for at in 0..count {
                let mut candidate = self.best.draft.clone();
                let Some(stmt) = Shrinker::list(&mut candidate, &path).and_then(|steps| steps.get_mut(at)) else {
                    break;
                };
                if !stmt.text.contains("alloc") {
                    continue;
                }
                stmt.text = lowered(&stmt.text);
                if candidate != self.best.draft {
                    any |= self.attempt(candidate);
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

/// The text with its last number above 1 lowered by one.
fn lowered(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let number = |word: &str| word.trim_end_matches(',').parse::<u32>().ok().filter(|number| *number > 1);
    if let Some((word, number)) = words.iter_mut().rev().find_map(|word| number(word).map(|number| (word, number))) {
        let comma = if word.ends_with(',') { "," } else { "" };
        *word = format!("{}{comma}", number - 1);
    }
    words.join(" ")
}

/// Takes away blocks and threads that have become empty.
fn tidy(draft: &mut Draft) {
    fn heads(steps: &mut Vec<Stmt>) {
        for stmt in steps.iter_mut() {
            heads(&mut stmt.block);
        }
        let head = |stmt: &Stmt| ["if ", "while ", "repeat "].iter().any(|word| stmt.text.starts_with(word));
        steps.retain(|stmt| !stmt.block.is_empty() || !head(stmt));
    }
    heads(&mut draft.setup);
    heads(&mut draft.finally);
    for (_, steps) in &mut draft.threads {
        heads(steps);
    }
    draft.threads.retain(|(_, steps)| !steps.is_empty());
}

/// Shrinks a failing run. `blamed` says that the campaign switched something off; the first `swarm_assumptions`
/// dropped assumptions of the draft are the campaign's.
pub(crate) fn shrink(
    (draft, program): (Draft, Program),
    (identity, violation, schedule): (&Identity, Violation, Vec<Step>),
    (blamed, swarm_assumptions): (bool, usize),
    effort: Effort,
) -> Shrunk {
    let steps = draft.steps();
    let best = Shrunk { draft, program, schedule, violation, steps: (steps, steps), tried: 0, complete: false };
    let marked = replay::marks(&best.program, &best.schedule).iter().next().is_some();
    let runner = Runner::default();
    let mut shrinker = Shrinker { identity, blamed, swarm_assumptions, marked, best, runner, left: effort.candidates };
    loop {
        let mut any = shrinker.threads();
        for length in [16, 8, 4, 2, 1] {
            any |= shrinker.drop_steps(length);
        }
        any |= shrinker.unwrap_blocks();
        any |= shrinker.join_threads();
        any |= shrinker.layout();
        any |= shrinker.sizes();
        if !any || shrinker.left == 0 {
            break;
        }
    }
    shrinker.best.complete = shrinker.left > 0;
    shrinker.calm();
    shrinker.best
}
