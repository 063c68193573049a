//! Accesses: the bytes that are touched, whose they are, and what orders them.

use super::arena::NOWHERE;
use super::pages::same_length;
use super::{Checker, Code, Place, say};
use crate::clocks::Agent;
use crate::format::{MemAlloc, MemFree, Pages, Places, ReadWrite, Role, Space};
use crate::history::{Found, Memory, NOBODY, Touch};
use crate::report::{Scene, Sketch};
use leasecheck_core::Rule;
use smallvec::SmallVec;

/// Where an access goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target<'a> {
    pub(super) place: Place,
    pub(super) at: Option<&'a Places>,
    pub(super) ids: Option<&'a Pages>,
    pub(super) space: Space,
}

/// Who accesses, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touching<'a> {
    pub(super) agent: Agent,
    pub(super) write: bool,
    /// Part of a transfer: whole pages, never the sink.
    pub(super) whole: bool,
    pub(super) sums: Option<&'a Places>,
}

/// The page of an access: band, id if known, physical page.
type Aim = (Option<u32>, u32);

impl Checker {
    pub(super) fn read_write(&mut self, e: &ReadWrite, write: bool) -> Result<(), String> {
        let agent = self.worker(e.th, e.s);
        let target = Target { place: self.place(&e.r#in)?, at: e.at.as_ref(), ids: e.ids.as_ref(), space: e.sp };
        self.queue(e.x, e.s, &target);
        self.access(&target, &Touching { agent, write, whole: false, sums: e.sum.as_ref() })?;
        Ok(())
    }

    /// An access. Returns the bytes that it touches.
    pub(super) fn access(&mut self, target: &Target<'_>, touching: &Touching<'_>) -> Result<u64, String> {
        match target.place.band {
            None => self.access_bytes(target, touching),
            Some(band) => self.access_pages(target, band, touching),
        }
    }

    fn access_bytes(&mut self, target: &Target<'_>, touching: &Touching<'_>) -> Result<u64, String> {
        let arena = target.place.arena;
        let Some(at) = target.at else { return Err("an access to an arena needs `at`".into()) };
        if at.len() % 2 != 0 || target.space != Space::Page {
            return Err("in an arena, `at` has pairs of a first byte and one past the last".into());
        }
        let mut bytes = 0;
        for pair in at.chunks_exact(2) {
            let (low, high) = (pair[0], pair[1]);
            let end = self.arenas[arena].bytes;
            if low >= high {
                return Err(format!("{low} to {high} is no range of bytes"));
            }
            self.check(Code::WrongSpace, high <= end, |checker| {
                say(
                    format!("bytes {low} to {high} are outside arena `{}`", checker.arenas[arena].name),
                    format!("bytes 0 to {end}"),
                )
            });
            if high > end {
                continue;
            }
            bytes += high - low;
            let page = self.arenas[arena].owner_of(low);
            if touching.whole
                && let Some((band, id)) = page
            {
                let envelope = self.arenas[arena].bands[band].envelope;
                self.check(Code::PartialPage, low % envelope == 0 && high % envelope == 0, |checker| {
                    let name = checker.page_name(arena, band, id);
                    say(format!("bytes {low} to {high} are part of a transfer and cut {name}, whose pages have {envelope} bytes"), "whole pages")
                        .guard(Rule::WholePages)
                });
            }
            let owner = page.map_or(NOBODY, |(band, id)| self.arenas[arena].bands[band].page(id).generation);
            self.touch(arena, page.map(|(band, _)| band), (low, high), touching, owner);
            if touching.write
                && let Some((band, id)) = page
                && let Some(page) = self.arenas[arena].bands[band].live_mut(id)
            {
                (page.written, page.sum) = (true, None);
            }
        }
        Ok(bytes)
    }

    /// The pages of an access, in the order in which they are named.
    fn aims(&mut self, target: &Target<'_>, band: usize) -> Result<SmallVec<[Aim; 4]>, String> {
        let state = &self.arenas[target.place.arena].bands[band];
        let mut aims: SmallVec<[Aim; 4]> = SmallVec::new();
        let Some(at) = target.at else {
            let Some(ids) = target.ids else { return Err("an access needs `at` or `ids`".into()) };
            for id in ids {
                aims.push((Some(*id), state.live(*id).map_or(NOWHERE, |page| page.at)));
            }
            return Ok(aims);
        };
        let (step, tokens) = match target.space {
            Space::Page => (1, 1),
            Space::Kernel => (state.multiplier, 1),
            Space::Token => (state.page_tokens, state.page_tokens),
        };
        let arena = target.place.arena;
        let count = at.len().div_ceil(tokens as usize);
        same_length(count, target.ids.map(Pages::len), "at")?;
        for (nth, page) in at.chunks(tokens as usize).enumerate() {
            let first = page[0];
            let whole =
                page.len() as u64 == tokens && (0..tokens).zip(page).all(|(offset, token)| *token == first + offset);
            let aligned = first % step == 0;
            if target.space == Space::Token {
                self.check(Code::PartialPage, whole && aligned, |checker| {
                    let name = checker.band_name(arena, band);
                    say(
                        format!(
                            "tokens {first} to {} of {name} are no whole page of {tokens} tokens",
                            page[page.len() - 1]
                        ),
                        "every token of a page",
                    )
                    .guard(Rule::WholePages)
                });
            }
            if target.space == Space::Kernel {
                self.check(Code::WrongSpace, aligned, |checker| {
                    let name = checker.band_name(arena, band);
                    say(
                        format!("{first} is no kernel-facing index of {name}: it is no multiple of {step}"),
                        format!("a multiple of {step}"),
                    )
                    .guard(Rule::ResolveAtBoundary)
                });
            }
            let at = u32::try_from(first / step).unwrap_or(NOWHERE);
            aims.push((target.ids.map(|ids| ids[nth]), at));
        }
        Ok(aims)
    }

    fn access_pages(&mut self, target: &Target<'_>, band: usize, touching: &Touching<'_>) -> Result<u64, String> {
        let arena = target.place.arena;
        let aims = self.aims(target, band)?;
        if let Some(sums) = touching.sums {
            same_length(aims.len(), Some(sums.len()), "sum")?;
        }
        let envelope = self.arenas[arena].bands[band].envelope;
        for (nth, (id, at)) in aims.iter().enumerate() {
            let state = &self.arenas[arena].bands[band];
            let (first, pages) = (state.first, state.pages);
            if *at == NOWHERE && target.at.is_none() {
                self.check_live(arena, band, id.unwrap_or_default(), "is accessed");
                continue;
            }
            self.check(Code::WrongSpace, *at < pages, |checker| {
                let name = checker.band_name(arena, band);
                say(
                    format!("physical page {at} is outside {name}, which has {pages} pages"),
                    format!("physical pages below {pages}"),
                )
                .guard(Rule::ResolveAtBoundary)
            });
            if *at >= pages {
                continue;
            }
            if touching.whole {
                self.check(Code::PartialPage, *at >= first, |checker| {
                    say(
                        format!(
                            "physical page {at} of {}, the sink, is part of a transfer",
                            checker.band_name(arena, band)
                        ),
                        "pages that are live",
                    )
                    .guard(Rule::NeverTheSink)
                });
            }
            if *at < first {
                continue;
            }
            let meant = match id {
                Some(id) => {
                    self.check_live(arena, band, *id, "is accessed");
                    self.check_address(arena, band, *id, *at);
                    Some(*id)
                }
                None => {
                    let freed = self.arenas[arena].bands[band].is_given_back(*at);
                    self.check(Code::UseAfterFree, !freed, |checker| {
                        let name = checker.band_name(arena, band);
                        say(format!("physical page {at} of {name} is accessed, and is nobody's since its page was given back"), "pages that are live")
                    });
                    self.arenas[arena].bands[band].occupant(*at)
                }
            };
            let page = meant.map(|id| *self.arenas[arena].bands[band].page(id));
            let owner = page.map_or(NOBODY, |page| page.generation);
            let bytes = self.arenas[arena].bands[band].bytes(*at);
            self.touch(arena, Some(band), bytes, touching, owner);
            if let (Some(id), Some(page)) = (meant, page.filter(|page| page.generation != 0 && page.at == *at)) {
                self.content(arena, band, (id, page.written, page.sum), touching, touching.sums.map(|sums| sums[nth]));
            }
        }
        Ok(aims.len() as u64 * envelope)
    }

    /// What is read of a page, or written to it.
    fn content(
        &mut self,
        arena: usize,
        band: usize,
        (id, written, known): (u32, bool, Option<u64>),
        touching: &Touching<'_>,
        sum: Option<u64>,
    ) {
        if touching.write {
            if let Some(page) = self.arenas[arena].bands[band].live_mut(id) {
                (page.written, page.sum) = (true, sum);
            }
            return;
        }
        self.check(Code::Uninitialized, written, |checker| {
            let name = checker.page_name(arena, band, id);
            let line = checker.arenas[arena].bands[band].page(id).line;
            say(
                format!("{name} is read, and nothing was written to it since it was handed out in line {line}"),
                "a write comes first",
            )
            .earlier(line)
        });
        if let (Some(found), Some(known)) = (sum, known) {
            self.check(Code::Content, found == known, |checker| {
                let page = checker.arenas[arena].bands[band].page(id);
                let name = checker.page_name(arena, band, id);
                say(
                    format!("{name} is read with checksum {found}, but {known} was written"),
                    format!("checksum {known}"),
                )
                .guard(Rule::MovesInSafeOrder)
                .earlier(page.moved)
            });
        }
    }

    /// The address still belongs to the id.
    fn check_address(&mut self, arena: usize, band: usize, id: u32, at: u32) {
        let state = &self.arenas[arena].bands[band];
        let page = *state.page(id);
        if page.generation == 0 || page.at == NOWHERE {
            return;
        }
        // Where it never was, the number is one of another kind.
        let raw = at == id && page.moved == 0;
        let kernel = state.multiplier > 1 && u64::from(at) == u64::from(page.at) * state.multiplier;
        let wrong_space = page.at != at && page.from != at && (raw || kernel);
        self.check(Code::WrongSpace, !wrong_space, |checker| {
            let name = checker.page_name(arena, band, id);
            let what = if raw {
                "its id was used as a physical page"
            } else {
                "its kernel-facing index was used as a physical page"
            };
            say(
                format!("{name} is accessed at physical page {at}, but it is at physical page {}: {what}", page.at),
                format!("physical page {}", page.at),
            )
            .guard(Rule::ResolveAtBoundary)
        });
        if wrong_space {
            return;
        }
        self.check(Code::StaleAddress, page.at == at, |checker| {
            let name = checker.page_name(arena, band, id);
            let since = if page.moved > 0 { format!(" since line {}", page.moved) } else { String::new() };
            say(
                format!("{name} is accessed at physical page {at}, but it is at physical page {}{since}", page.at),
                format!("physical page {}, or a lease that keeps the page at {at}", page.at),
            )
            .guard(Rule::LeasesCoverUse)
            .earlier(page.moved)
            .sketch(Sketch { arena, band, scene: Scene::AddressAfterMove })
        });
    }

    /// Bytes are touched: what orders this after what touched them before?
    fn touch(
        &mut self,
        arena: usize,
        band: Option<usize>,
        (low, high): (u64, u64),
        touching: &Touching<'_>,
        owner: u32,
    ) {
        let time = self.clocks.now(touching.agent);
        let mut touch = Touch { agent: touching.agent, time, line: self.line, owner, write: touching.write };
        let clock = self.clocks.clock(touching.agent);
        let found = self.arenas[arena].history.touch(low, high, touch, clock);
        let Found { unordered, role, freed, unwritten, .. } = found;
        if unordered.is_some() {
            touch.owner = found.owner;
        }
        if let Some(unwritten) = unwritten {
            // Pages know for themselves whether they were written.
            if unwritten == Role::Index && self.recorded(crate::format::Recorded::Writes) {
                self.check(Code::StaleIndex, false, |checker| {
                    let (name, place) =
                        (checker.clocks.name(touching.agent), checker.bytes_name(arena, band, low, high));
                    say(
                        format!("{name} reads indices at {place} that nothing was written to"),
                        "the producer comes first",
                    )
                    .guard(Rule::ResolveAfterProducer)
                });
            } else if band.is_none() {
                self.check(Code::Uninitialized, false, |checker| {
                    let (name, place) =
                        (checker.clocks.name(touching.agent), checker.bytes_name(arena, band, low, high));
                    say(
                        format!("{name} reads {place}, and nothing was written there since it was handed out"),
                        "a write comes first",
                    )
                });
            }
        } else if !touching.write && band.is_none() {
            self.check(Code::Uninitialized, true, |_| say(String::new(), ""));
        }
        if let Some(line) = freed {
            self.check(Code::UseAfterFree, false, |checker| {
                let (name, place) = (checker.clocks.name(touching.agent), checker.bytes_name(arena, band, low, high));
                say(format!("{name} touches {place}, which was given back in line {line}"), "memory that is handed out")
                    .earlier(line)
            });
        }
        let (code, holds) = match unordered {
            None => (Code::Race, true),
            Some(other) if role == Role::Index && !(other.write && touch.write) => (Code::StaleIndex, false),
            Some(other) if other.owner != touch.owner && other.owner != NOBODY => (Code::EarlyReuse, false),
            Some(_) => (Code::Race, false),
        };
        self.check(code, holds, |checker| checker.unordered(arena, band, (low, high), touch, unordered));
        if holds {
            // The same comparison speaks for reuse and for index buffers.
            self.times[Code::EarlyReuse as usize] += u64::from(touch.owner != NOBODY);
        }
    }

    fn bytes_name(&self, arena: usize, band: Option<usize>, low: u64, high: u64) -> String {
        match band {
            Some(band) if low.is_multiple_of(self.arenas[arena].bands[band].envelope) => {
                let at = low / self.arenas[arena].bands[band].envelope;
                format!("physical page {at} of {}", self.band_name(arena, band))
            }
            _ => format!("bytes {low} to {high} of {}", self.arenas[arena].name),
        }
    }

    fn unordered(
        &self,
        arena: usize,
        band: Option<usize>,
        (low, high): (u64, u64),
        touch: Touch,
        other: Option<Touch>,
    ) -> super::Say {
        let other = other.unwrap_or(touch);
        let verb = |write: bool| if write { "writes" } else { "reads" };
        let (mine, theirs) = (self.clocks.name(touch.agent), self.clocks.name(other.agent));
        let said = say(
            format!(
                "{mine} {} {}, {theirs} {} it in line {}, and nothing orders the two",
                verb(touch.write),
                self.bytes_name(arena, band, low, high),
                verb(other.write),
                other.line
            ),
            format!("{mine} waits for what {theirs} did in line {}", other.line),
        )
        .earlier(other.line);
        let said = match other.owner != touch.owner && other.owner != NOBODY {
            true => said.guard(Rule::ReuseAfterEvents),
            false => said,
        };
        match band {
            Some(band) if other.owner == touch.owner => said.sketch(Sketch {
                arena,
                band,
                scene: Scene::Unordered { earlier: other.write, later: touch.write },
            }),
            _ => said,
        }
    }

    /// A move reads a page's old place, after which its bytes are nobody's, and writes the new one.
    pub(super) fn touch_move(&mut self, arena: usize, band: usize, agent: Agent, (id, from, to): (u32, u32, u32)) {
        let state = &self.arenas[arena].bands[band];
        let (owner, pages) = (state.page(id).generation, state.pages);
        let (old, new) = (state.bytes(from), state.bytes(to));
        let time = self.clocks.now(agent);
        if from < pages {
            let touch = Touch { agent, time, line: self.line, owner, write: true };
            let found = self.arenas[arena].history.touch(old.0, old.1, touch, self.clocks.clock(agent));
            if self.recorded(crate::format::Recorded::Order) {
                self.check(Code::StaleAddress, found.unordered.is_none(), |checker| {
                    let other = found.unordered.unwrap_or(touch);
                    let (name, theirs) = (checker.page_name(arena, band, id), checker.clocks.name(other.agent));
                    say(
                        format!("{name} moves away from physical page {from}, {theirs} uses it there in line {}, and nothing orders the two", other.line),
                        format!("the move waits for what {theirs} did in line {}", other.line),
                    )
                    .guard(Rule::CompactionWaitsForEvents)
                    .earlier(other.line)
                });
            }
        }
        if to < pages {
            let touching = Touching { agent, write: true, whole: false, sums: None };
            self.touch(arena, Some(band), new, &touching, owner);
        }
    }

    pub(super) fn mem_alloc(&mut self, e: &MemAlloc) -> Result<(), String> {
        let arena = self.memory(&e.a, e.lo, e.hi)?;
        self.enter(arena, e.th);
        let owner = self.next_generation();
        self.arenas[arena].history.become_memory(e.lo, e.hi, Memory { owner, freed: None, role: e.role });
        Ok(())
    }

    pub(super) fn mem_free(&mut self, e: &MemFree) -> Result<(), String> {
        let arena = self.memory(&e.a, e.lo, e.hi)?;
        self.enter(arena, e.th);
        let memory = Memory { owner: NOBODY, freed: Some(self.line), role: Role::Data };
        let freed = self.arenas[arena].history.become_memory(e.lo, e.hi, memory);
        self.check(Code::DoubleFree, freed.is_none(), |checker| {
            let line = freed.unwrap_or_default();
            let place = checker.bytes_name(arena, None, e.lo, e.hi);
            say(format!("{place} is given back and was given back in line {line}"), "memory that is handed out")
                .earlier(line)
        });
        Ok(())
    }

    fn memory(&self, name: &crate::format::Name, low: u64, high: u64) -> Result<usize, String> {
        let arena = self.arena(name)?;
        if !self.arenas[arena].bands.is_empty() {
            return Err(format!("arena `{name}` has bands: its memory is handed out as pages"));
        }
        if low >= high || high > self.arenas[arena].bytes {
            return Err(format!(
                "{low} to {high} is no range of bytes of `{name}`, which has {}",
                self.arenas[arena].bytes
            ));
        }
        Ok(arena)
    }
}
