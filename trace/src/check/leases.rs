//! Lines about holding pages still, and about moving them: leases, compactions, gates, moves.

use super::arena::{NOWHERE, Who};
use super::pages::same_length;
use super::{Checker, Code, say};
use crate::format::{CompactEnd, Gate, HandOff, Lease, Move, Out, Pages, Release, Turn};
use crate::report::{Scene, Sketch};
use leasecheck_core::{Outcome, PhysicalPage, Rule};
use std::collections::BTreeSet;

/// What a holder waits for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    arena: usize,
    /// For a compaction; otherwise for a lease.
    compaction: bool,
    line: u64,
}

/// Who: the holder, or else the thread.
fn who(holder: Option<u64>, thread: Option<u64>) -> Who {
    holder.or(thread)
}

impl Checker {
    fn holder_name(&self, number: Who) -> String {
        self.clocks.thread_name(number)
    }

    pub(super) fn lease_ask(&mut self, e: &Turn) -> Result<(), String> {
        let arena = self.arena(&e.a)?;
        let number = who(e.h, e.th);
        let holder = self.arenas[arena].holder(number);
        if self.arenas[arena].leases.depth(holder) == 0 {
            self.waits.insert(number, Wait { arena, compaction: false, line: self.line });
            self.check_deadlock(number);
        }
        Ok(())
    }

    pub(super) fn lease(&mut self, e: &Lease) -> Result<(), String> {
        let arena = self.arena(&e.a)?;
        self.enter(arena, e.th);
        let number = who(e.h, e.th);
        self.waits.remove(&number);
        let state = &mut self.arenas[arena];
        let holder = state.holder(number);
        let first = state.leases.depth(holder) == 0;
        if first {
            state.granted.insert(holder, self.line);
            let waiting = state.leases.waiting().iter().find(|other| **other != holder).copied();
            let asked = waiting.map(|other| state.number_of(other));
            let line = asked.and_then(|asked| self.waits.get(&asked)).map_or(0, |wait| wait.line);
            self.check(Code::Starvation, asked.is_none(), |checker| {
                let name = checker.holder_name(asked.unwrap_or_default());
                say(
                    format!("a lease is granted although the compaction of {name} has been waiting since line {line}"),
                    "the lease waits for the compaction to end",
                )
                .guard(Rule::CompactionHoldsBackLeases)
                .earlier(line)
            });
        }
        let state = &mut self.arenas[arena];
        state.leases.acquire(holder, None);
        let depth = state.leases.depth(holder);
        self.check_depth(e.depth, depth);
        Ok(())
    }

    fn check_depth(&mut self, said: Option<u32>, depth: u32) {
        if let Some(said) = said {
            self.check(Code::Conservation, said == depth, |_| {
                say(format!("the holder is said to hold {said} leases"), format!("{depth} leases"))
                    .guard(Rule::LeasesReentrant)
            });
        }
    }

    /// A lease is given back. Returns whether there was one.
    fn give_lease_back(&mut self, arena: usize, number: Who, out: Out, event: Option<u64>) -> bool {
        let holder = self.arenas[arena].holder(number);
        let held = self.arenas[arena].leases.depth(holder) > 0;
        if self.enabled[Code::MovedUnderLease as usize] {
            self.check(Code::DoubleFree, held == (out == Out::Ok), |checker| {
                let name = checker.holder_name(number);
                if held {
                    say(format!("{name} holds a lease and could not give it back"), "the lease is given back")
                } else {
                    say(format!("{name} gives a lease back and holds none"), "the call is refused and changes nothing")
                }
            });
        }
        if !held || out != Out::Ok {
            return false;
        }
        match event {
            None => {
                let _ = self.arenas[arena].leases.release(holder);
            }
            Some(event) => {
                let key = self.arenas[arena].key(event);
                let _ = self.arenas[arena].leases.hand_off(holder, key);
            }
        }
        true
    }

    pub(super) fn release(&mut self, e: &Release) -> Result<(), String> {
        let arena = self.arena(&e.a)?;
        self.enter(arena, e.th);
        let number = who(e.h, e.th);
        if self.give_lease_back(arena, number, e.out, None) {
            let holder = self.arenas[arena].holder(number);
            self.check_depth(e.depth, self.arenas[arena].leases.depth(holder));
        }
        self.arenas[arena].drop_idle(number);
        Ok(())
    }

    pub(super) fn hand_off(&mut self, e: &HandOff) -> Result<(), String> {
        let arena = self.arena(&e.a)?;
        self.enter(arena, e.th);
        let number = who(e.h, e.th);
        if self.give_lease_back(arena, number, e.out, Some(e.ev)) {
            if let Some(queue) = &e.key
                && let Some(earlier) = self.arenas[arena].queues.insert(queue.to_string(), e.ev)
                && earlier != e.ev
            {
                let queue = self.arenas[arena].queues.remove_entry(queue.0.as_str());
                self.arenas[arena].uncover(earlier);
                self.arenas[arena].queues.extend(queue);
            }
            if !self.outstanding(e.ev) {
                self.arenas[arena].uncover(e.ev);
            }
            let holder = self.arenas[arena].holder(number);
            self.check_depth(e.depth, self.arenas[arena].leases.depth(holder));
        }
        self.arenas[arena].drop_idle(number);
        Ok(())
    }

    pub(super) fn compact_ask(&mut self, e: &Turn) -> Result<(), String> {
        let arena = self.arena(&e.a)?;
        let number = who(e.h, e.th);
        let holder = self.arenas[arena].holder(number);
        if let Outcome::Refused(_) = self.arenas[arena].leases.request_compaction(holder) {
            // It has to give up; a move will tell if it does not.
            return Ok(());
        }
        self.waits.insert(number, Wait { arena, compaction: true, line: self.line });
        self.check_deadlock(number);
        Ok(())
    }

    pub(super) fn compact_begin(&mut self, e: &Turn) -> Result<(), String> {
        let arena = self.arena(&e.a)?;
        self.enter(arena, e.th);
        let number = who(e.h, e.th);
        self.waits.remove(&number);
        let holder = self.arenas[arena].holder(number);
        self.arenas[arena].leases.request_compaction(holder);
        Ok(())
    }

    pub(super) fn compact_end(&mut self, e: &CompactEnd) -> Result<(), String> {
        let arena = self.arena(&e.a)?;
        self.enter(arena, e.th);
        let holder = self.arenas[arena].holder(who(e.h, e.th));
        // A `clear` has ended the compaction that was asked for it: nothing moves then.
        let compacts = self.arenas[arena].leases.waiting().contains(&holder);
        if let Some(beside) = self.arenas[arena].beside.as_mut().filter(|_| compacts) {
            if e.out == Out::Ok {
                if let Some(missing) = beside.end() {
                    self.not_moved(arena, missing);
                }
            } else if beside.moving() {
                self.part(arena);
            }
        }
        self.compaction_over(arena, who(e.h, e.th));
        Ok(())
    }

    /// The holder waits to move pages no more.
    pub(super) fn compaction_over(&mut self, arena: usize, number: Who) {
        let holder = self.arenas[arena].holder(number);
        self.arenas[arena].leases.end_compaction(holder);
        if self.waits.get(&number).is_some_and(|wait| wait.compaction && wait.arena == arena) {
            self.waits.remove(&number);
        }
        self.arenas[arena].drop_idle(number);
    }

    pub(super) fn gate(&mut self, e: &Gate, close: bool) -> Result<(), String> {
        let arena = self.arena(&e.a)?;
        self.enter(arena, e.th);
        let gates = &mut self.arenas[arena].gates;
        if close {
            gates.insert(e.g.to_string());
        } else {
            gates.remove(e.g.0.as_str());
        }
        Ok(())
    }

    /// Nothing holds the pages of the arena still. `what` happens to them otherwise.
    pub(super) fn check_cover(&mut self, arena: usize, what: impl Fn(&Checker) -> String) {
        let state = &self.arenas[arena];
        let (lease, event) = (state.lease(), state.handed_off());
        let band = 0;
        self.check(Code::MovedUnderLease, lease.is_none() && event.is_none(), |checker| match (lease, event) {
            (Some((number, line)), _) => say(
                format!("{} while {} holds the lease of line {line}", what(checker), checker.holder_name(number)),
                "pages move after the lease has been given back",
            )
            .guard(Rule::CompactionWaitsForLeases)
            .earlier(line)
            .sketch(Sketch { arena, band, scene: Scene::MoveUnderLease }),
            (None, event) => say(
                format!(
                    "{} although event {}, to which a lease was handed off, has not completed",
                    what(checker),
                    event.unwrap_or_default()
                ),
                "pages move after the event has completed",
            )
            .guard(Rule::CompactionWaitsForEvents)
            .sketch(Sketch { arena, band, scene: Scene::MoveUnderEvent }),
        });
    }

    pub(super) fn moves(&mut self, e: &Move) -> Result<(), String> {
        let (arena, band) = self.band(&e.b)?;
        same_length(e.ids.len(), Some(e.to.len()), "to")?;
        same_length(e.ids.len(), e.from.as_ref().map(Pages::len), "from")?;
        let thread = self.enter(arena, e.th);
        let agent = match e.s {
            None => thread,
            Some(_) => self.worker(e.th, e.s),
        };
        self.check_cover(arena, |checker| {
            let name = checker.page_name(arena, band, e.ids.first().copied().unwrap_or_default());
            format!("{name} moves")
        });
        let gate = self.arenas[arena].gates.first().cloned();
        self.check(Code::MovedUnderLease, gate.is_none(), |checker| {
            let name = checker.page_name(arena, band, e.ids.first().copied().unwrap_or_default());
            say(
                format!("{name} moves while gate `{}` is closed", gate.unwrap_or_default()),
                "no move while a gate is closed",
            )
            .guard(Rule::CompactionRespectsGates)
        });
        let event = e.ev.filter(|event| self.outstanding(*event));
        for (nth, (id, to)) in e.ids.iter().zip(&e.to).enumerate() {
            let page = *self.arenas[arena].bands[band].page(*id);
            self.check_live(arena, band, *id, "moves");
            if page.generation == 0 {
                continue;
            }
            let from = e.from.as_ref().map_or(page.at, |from| from[nth]);
            self.check(Code::Mapping, from == page.at || page.at == NOWHERE, |checker| {
                let name = checker.page_name(arena, band, *id);
                say(
                    format!("{name} moves away from physical page {from}, but it is at physical page {}", page.at),
                    format!("{name} moves away from physical page {}", page.at),
                )
                .guard(Rule::CompactionRechecksPlan)
                .earlier(page.line.max(page.moved))
            });
            self.check(Code::MovedUnderLease, page.pins == 0, |checker| {
                let name = checker.page_name(arena, band, *id);
                say(format!("{name} moves although it is pinned"), "pinned pages stay")
                    .guard(Rule::CompactionRespectsPins)
            });
            if page.at == NOWHERE {
                self.arenas[arena].bands[band].found(*id, from);
            }
            self.may_stand(arena, band, *id, *to, Rule::MovesInSafeOrder);
            self.check_planned(arena, band, *id, *to);
            self.touch_move(arena, band, agent, (*id, page.at, *to));
            self.arenas[arena].bands[band].move_to(*id, *to, event, self.line);
        }
        Ok(())
    }

    /// The move is the design's next one.
    fn check_planned(&mut self, arena: usize, band: usize, id: u32, to: u32) {
        let Some(beside) = &mut self.arenas[arena].beside else { return };
        let planned = beside.next_move(band);
        let holds = planned.is_some_and(|step| step.id.0 == id && step.to == PhysicalPage(to));
        self.answer(arena, Code::Mapping, holds, |checker| {
            let name = checker.page_name(arena, band, id);
            let allowed = match planned {
                Some(step) => {
                    format!("{} moves to physical page {}", checker.page_name(arena, band, step.id.0), step.to)
                }
                None => format!("no page of {} moves any more", checker.band_name(arena, band)),
            };
            say(format!("{name} moves to physical page {to}"), allowed).guard(Rule::CompactionRechecksPlan)
        });
    }

    /// Nobody waits in a circle.
    fn check_deadlock(&mut self, start: Who) {
        let mut reached: BTreeSet<Who> = BTreeSet::new();
        let mut next = vec![start];
        let mut circle = false;
        while let Some(number) = next.pop() {
            for other in self.waits_for(number) {
                circle |= other == start;
                if reached.insert(other) {
                    next.push(other);
                }
            }
        }
        self.check(Code::Deadlock, !circle, |checker| {
            let name = checker.holder_name(start);
            let waiting = reached.iter().filter(|other| **other != start && checker.waits.contains_key(*other));
            let others: Vec<String> = waiting.map(|other| checker.holder_name(*other)).collect();
            say(
                format!("{name} waits for {}, and they wait for it", others.join(" and ")),
                "leases of several arenas are taken in one order",
            )
            .guard(Rule::LeaseEachLayoutOnce)
        });
    }

    /// The holders that could end the wait of a holder.
    fn waits_for(&self, number: Who) -> Vec<Who> {
        let Some(wait) = self.waits.get(&number) else { return Vec::new() };
        let state = &self.arenas[wait.arena];
        let others = if wait.compaction {
            state.leases.holders().map(|holder| state.number_of(holder)).collect::<Vec<Who>>()
        } else {
            state.leases.waiting().iter().map(|holder| state.number_of(*holder)).collect()
        };
        others.into_iter().filter(|other| *other != number).collect()
    }

    /// The run is over: nobody may still wait for what has come.
    pub(super) fn end(&mut self) {
        for (number, wait) in self.waits.clone() {
            let state = &self.arenas[wait.arena];
            let open = if wait.compaction { state.leases.may_compact() } else { state.leases.waiting().is_empty() };
            self.check(Code::LostWakeup, !open, |checker| {
                let name = checker.holder_name(number);
                let what = if wait.compaction { "to move pages" } else { "for a lease" };
                say(
                    format!("{name} has waited {what} since line {} and nothing is in the way any more", wait.line),
                    "it goes on",
                )
                .guard(Rule::CompletionWakesWaiters)
                .earlier(wait.line)
            });
        }
        for arena in 0..self.arenas.len() {
            self.settle(arena);
        }
    }
}
