//! Lines about pages: allocate, free, bind, look up, move, ask.

use super::arena::NOWHERE;
use super::design::Granted;
use super::{Checker, Code, say};
use crate::format::{
    Admit, Alloc, Available, Bands, Clear, Empty, FreeBytes, GiveBack, Out, Pages, Pinned, Placed, Recorded, State,
};
use leasecheck_core::{Admission, BandId, LogicalPage, Request, Rule};

/// The lengths of two lists that belong together.
pub(super) fn same_length(ids: usize, other: Option<usize>, what: &str) -> Result<(), String> {
    match other {
        Some(other) if other != ids => {
            Err(format!("`ids` has {ids} entries and `{what}` has {other}; they belong together"))
        }
        _ => Ok(()),
    }
}

impl Checker {
    pub(super) fn next_generation(&mut self) -> u32 {
        // Generation 0 means nobody; after 4 billion hand-outs a number may be that of something long gone.
        self.generation = self.generation.wrapping_add(1).max(1);
        self.generation
    }

    fn requests(&self, bands: &Bands, pages: &Pages) -> Result<(usize, Vec<Request>), String> {
        if bands.len() != pages.len() {
            return Err(format!("`b` has {} entries and `n` has {}; they belong together", bands.len(), pages.len()));
        }
        let mut requests = Vec::with_capacity(bands.len());
        let mut home = None;
        for (name, pages) in bands.iter().zip(pages) {
            let (arena, band) = self.band(name)?;
            if *home.get_or_insert(arena) != arena {
                return Err("the requests of one call are about bands of one arena".into());
            }
            requests.push(Request { band: BandId(band as u8), pages: *pages });
        }
        home.map(|arena| (arena, requests)).ok_or_else(|| "the call has no request".into())
    }

    pub(super) fn alloc(&mut self, e: &Alloc) -> Result<(), String> {
        let (arena, requests) = self.requests(&e.b, &e.n)?;
        self.enter(arena, e.th);
        self.settle(arena);
        let Some(ids) = e.ids.as_ref().filter(|_| e.out == Out::Ok) else {
            if e.out == Out::Ok && self.recorded(Recorded::Pages) {
                return Err("`ids` is missing, although the first line promises that `pages` is complete".into());
            }
            if e.out != Out::Ok {
                self.not_granted(arena, &requests, e);
            }
            return Ok(());
        };
        same_length(ids.len(), e.at.as_ref().map(Pages::len), "at")?;
        let wanted: u64 = requests.iter().map(|request| u64::from(request.pages)).sum();
        self.check(Code::Admission, ids.len() as u64 == wanted, |_| {
            say(
                format!("{wanted} pages were asked for and {} were handed out", ids.len()),
                "all pages that were asked for, or none",
            )
            .guard(Rule::AllocAllOrNothing)
        });
        let mut next = 0;
        for request in &requests {
            let band = usize::from(request.band.0);
            self.arenas[arena].bands[band].failed = None;
            for _ in 0..request.pages {
                let Some(id) = ids.get(next) else { break };
                let at = e.at.as_ref().map_or(NOWHERE, |at| at[next]);
                self.bring(arena, band, *id, at);
                next += 1;
            }
        }
        if let Some(beside) = &mut self.arenas[arena].beside {
            let granted = Granted { requests: &requests, ids, at: e.at.as_ref() };
            if let Err(differs) = beside.granted(&granted) {
                self.differs(arena, differs);
            }
        }
        Ok(())
    }

    /// An allocation that got nothing.
    fn not_granted(&mut self, arena: usize, requests: &[Request], e: &Alloc) {
        for request in requests {
            self.arenas[arena].bands[usize::from(request.band.0)].failed = Some(self.line);
        }
        let holder = self.arenas[arena].holder(e.th);
        let Some(beside) = &self.arenas[arena].beside else { return };
        let admission = beside.admission(requests, false);
        // Who holds a lease itself cannot wait for a compaction.
        let own_lease = admission == Admission::FitsPacked && self.arenas[arena].leases.depth(holder) > 0;
        let (refused, raised) = (e.out == Out::Refused, e.err.clone());
        self.answer(arena, Code::Admission, !admission.admitted() || own_lease, |_| {
            let how = match raised {
                Some(error) if !refused => format!("raised {error}"),
                _ if refused => "was refused".to_owned(),
                _ => "raised".to_owned(),
            };
            let fits = if admission == Admission::FitsNow { "as things are" } else { "once pages have moved" };
            say(format!("the allocation {how} although it fits {fits}"), "the allocation is served")
                .guard(Rule::RefusalMeansInfeasible)
        });
    }

    /// An id gets a page: nobody else's id, nobody else's bytes.
    fn bring(&mut self, arena: usize, band: usize, id: u32, at: u32) {
        let generation = self.next_generation();
        let state = &self.arenas[arena].bands[band];
        let (known, ids, before) = (state.is_id(id), state.ids, state.page(id).line);
        let live = state.live(id).is_some();
        self.check(Code::Mapping, known && !live, |checker| {
            let name = checker.page_name(arena, band, id);
            if known {
                say(format!("{name} is handed out and has been live since line {before}"), "an id that is free")
                    .earlier(before)
            } else {
                say(format!("{name} is handed out, but the band has ids below {ids} only"), "an id of the band")
            }
            .guard(Rule::FreesAreChecked)
        });
        let owner = self.arenas[arena].bands[band].owner;
        if let Some(owner) = owner {
            let owned = self.arenas[arena].bands[owner].live(id).is_some();
            self.check(Code::UseAfterFree, owned, |checker| {
                let owner = checker.page_name(arena, owner, id);
                say(format!("a page is bound to {owner}, which is not live"), "binding live ids only")
                    .guard(Rule::FreesAreChecked)
            });
        }
        if at != NOWHERE {
            self.may_stand(arena, band, id, at, Rule::JointBytes);
        }
        self.arenas[arena].bands[band].bring(id, at, generation, self.line);
    }

    /// Page `at` can become that of `id`: it lies in its band, and nobody else's bytes are there.
    pub(super) fn may_stand(&mut self, arena: usize, band: usize, id: u32, at: u32, guard: Rule) {
        let state = &self.arenas[arena].bands[band];
        let (first, pages) = (state.first, state.pages);
        self.check(Code::Overlap, at < pages && at >= first, |checker| {
            let name = checker.page_name(arena, band, id);
            let where_ = if at < first { "the sink" } else { "outside the band" };
            say(
                format!("{name} is at physical page {at}, which is {where_}"),
                format!("physical pages {first} to {} of {}", pages.saturating_sub(1), checker.band_name(arena, band)),
            )
            .guard(if at < first { Rule::NeverTheSink } else { guard })
        });
        let state = &self.arenas[arena].bands[band];
        let same = state.occupant(at).filter(|other| *other != id).map(|other| (band, other));
        let other = same.or_else(|| self.arenas[arena].overlapping(band, at));
        self.check(Code::Overlap, other.is_none(), |checker| {
            let (other_band, other) = other.unwrap_or((band, id));
            let page = checker.arenas[arena].bands[other_band].page(other);
            let (name, there) = (checker.page_name(arena, band, id), checker.page_name(arena, other_band, other));
            say(
                format!(
                    "{name} is at physical page {at}, where {there} is live since line {}",
                    page.line.max(page.moved)
                ),
                "a place that no live page shares bytes with",
            )
            .guard(guard)
            .earlier(page.line.max(page.moved))
        });
        let pending = self.arenas[arena].bands[band].pending.get(&at).copied();
        self.check(Code::EarlyReuse, pending.is_none_or(|event| !self.outstanding(event)), |checker| {
            let name = checker.page_name(arena, band, id);
            let event = pending.unwrap_or_default();
            say(
                format!("{name} is at physical page {at}, which waits for event {event}, and that has not completed"),
                format!("physical page {at} is not reused before event {event} has completed"),
            )
            .guard(Rule::ReuseAfterEvents)
        });
    }

    pub(super) fn free(&mut self, e: &GiveBack) -> Result<(), String> {
        let (arena, band) = self.band(&e.b)?;
        self.enter(arena, e.th);
        self.settle(arena);
        self.give_back(arena, band, &e.ids, e.ev, e.out);
        if e.out == Out::Ok
            && let Some(beside) = &mut self.arenas[arena].beside
        {
            let ids: Vec<_> = e.ids.iter().map(|id| LogicalPage(*id)).collect();
            if beside.arena.free(BandId(band as u8), &ids, None).is_err() {
                // The invariants have named it.
                self.part(arena);
            }
        }
        Ok(())
    }

    pub(super) fn tombstone(&mut self, e: &GiveBack) -> Result<(), String> {
        let (arena, band) = self.band(&e.b)?;
        self.enter(arena, e.th);
        self.give_back(arena, band, &e.ids, e.ev, e.out);
        Ok(())
    }

    /// Pages are given back, or a call to do so fails.
    fn give_back(&mut self, arena: usize, band: usize, ids: &Pages, event: Option<u64>, out: Out) {
        let state = &self.arenas[arena].bands[band];
        if out != Out::Ok {
            let mut sorted = ids.clone();
            sorted.sort_unstable();
            let twice = sorted.windows(2).any(|pair| pair[0] == pair[1]);
            let fine = !ids.is_empty() && !twice && ids.iter().all(|id| state.live(*id).is_some());
            self.check(Code::Leak, !fine, |checker| {
                let name = checker.page_name(arena, band, ids[0]);
                say(format!("{name} is live and could not be given back"), "live pages are given back")
                    .guard(Rule::FreesAreChecked)
            });
            self.arenas[arena].bands[band].failed = Some(self.line);
            return;
        }
        self.arenas[arena].bands[band].failed = None;
        let event = event.filter(|event| self.outstanding(*event));
        for id in ids {
            let page = *self.arenas[arena].bands[band].page(*id);
            self.check(Code::DoubleFree, page.generation != 0, |checker| {
                let name = checker.page_name(arena, band, *id);
                let since = match page.line {
                    0 => "was never handed out".to_owned(),
                    line => format!("was given back in line {line}"),
                };
                say(format!("{name} is given back and {since}"), "the call is refused and changes nothing")
                    .guard(Rule::FreesAreChecked)
                    .earlier(page.line)
            });
            for bound in 0..self.arenas[arena].bands.len() {
                if bound == band || self.arenas[arena].bands[bound].owner == Some(band) {
                    self.arenas[arena].bands[bound].take(*id, event, self.line);
                }
            }
        }
    }

    pub(super) fn clear(&mut self, e: &Clear) -> Result<(), String> {
        let (arena, band) = self.band(&e.b)?;
        self.enter(arena, e.th);
        self.settle(arena);
        self.check_cover(arena, |checker| format!("{} is cleared", checker.band_name(arena, band)));
        for bound in 0..self.arenas[arena].bands.len() {
            if bound == band || self.arenas[arena].bands[bound].owner == Some(band) {
                let ids: Vec<u32> = self.arenas[arena].bands[bound].live_ids().collect();
                for id in ids {
                    self.arenas[arena].bands[bound].take(id, None, self.line);
                }
                self.arenas[arena].bands[bound].pending.clear();
            }
        }
        self.arenas[arena].bands[band].failed = None;
        if let Some(beside) = &mut self.arenas[arena].beside {
            beside.arena.clear(BandId(band as u8));
        }
        self.compaction_over(arena, e.th);
        Ok(())
    }

    pub(super) fn bind(&mut self, e: &Placed) -> Result<(), String> {
        let (arena, band) = self.band(&e.b)?;
        self.enter(arena, e.th);
        same_length(e.ids.len(), e.at.as_ref().map(Pages::len), "at")?;
        self.arenas[arena].bands[band].failed = (e.out != Out::Ok).then_some(self.line);
        if e.out == Out::Ok {
            for (nth, id) in e.ids.iter().enumerate() {
                self.bring(arena, band, *id, e.at.as_ref().map_or(NOWHERE, |at| at[nth]));
            }
        }
        Ok(())
    }

    pub(super) fn translate(&mut self, e: &Placed) -> Result<(), String> {
        let (arena, band) = self.band(&e.b)?;
        self.enter(arena, e.th);
        same_length(e.ids.len(), e.at.as_ref().map(Pages::len), "at")?;
        let state = &self.arenas[arena].bands[band];
        if e.out != Out::Ok {
            let live = !e.ids.is_empty() && e.ids.iter().all(|id| state.live(*id).is_some());
            self.check(Code::Mapping, !live, |checker| {
                let name = checker.page_name(arena, band, e.ids[0]);
                say(format!("{name} is live and could not be looked up"), "live ids are looked up")
            });
            return Ok(());
        }
        for (nth, id) in e.ids.iter().enumerate() {
            let page = *self.arenas[arena].bands[band].page(*id);
            self.check_live(arena, band, *id, "is looked up");
            let Some(at) = e.at.as_ref().map(|at| at[nth]) else { continue };
            if page.generation == 0 {
                continue;
            }
            if page.at == NOWHERE {
                self.may_stand(arena, band, *id, at, Rule::JointBytes);
                self.arenas[arena].bands[band].found(*id, at);
                continue;
            }
            self.check(Code::Mapping, page.at == at, |checker| {
                let name = checker.page_name(arena, band, *id);
                say(
                    format!(
                        "{name} is looked up at physical page {at}, but it is at physical page {} since line {}",
                        page.at,
                        page.line.max(page.moved)
                    ),
                    format!("physical page {}", page.at),
                )
                .guard(Rule::ResolveAtBoundary)
                .earlier(page.line.max(page.moved))
            });
        }
        Ok(())
    }

    /// An id is used: it must be live.
    pub(super) fn check_live(&mut self, arena: usize, band: usize, id: u32, what: &str) {
        let page = *self.arenas[arena].bands[band].page(id);
        self.check(Code::UseAfterFree, page.generation != 0, |checker| {
            let name = checker.page_name(arena, band, id);
            let since = match page.line {
                0 => "it was never handed out".to_owned(),
                line => format!("it was given back in line {line}"),
            };
            let sketch = crate::report::Sketch { arena, band, scene: crate::report::Scene::UseAfterFree };
            let said = say(format!("{name} {what}, but {since}"), "only ids that are live")
                .guard(Rule::FreesAreChecked)
                .earlier(page.line);
            if page.line > 0 { said.sketch(sketch) } else { said }
        });
    }

    pub(super) fn admit(&mut self, e: &Admit) -> Result<(), String> {
        let (arena, requests) = self.requests(&e.b, &e.n)?;
        self.enter(arena, e.th);
        self.settle(arena);
        if let Some(beside) = &self.arenas[arena].beside {
            let admission = beside.admission(&requests, e.empty);
            let admitted = admission.admitted();
            self.answer(arena, Code::Admission, admitted == e.res, |_| {
                let (answer, guard) = if e.res {
                    ("admitted", Rule::CreditOnlyRealisable)
                } else {
                    ("refused", Rule::RefusalMeansInfeasible)
                };
                let why = match admission {
                    Admission::Refused(refusal) => format!("it does not fit: {refusal}"),
                    Admission::FitsNow => "it fits as things are".to_owned(),
                    Admission::FitsPacked => "it fits once pages have moved".to_owned(),
                };
                say(format!("the request is {answer}, but {why}"), format!("the answer `{admitted}`")).guard(guard)
            });
        }
        Ok(())
    }

    pub(super) fn available(&mut self, e: &Available) -> Result<(), String> {
        let (arena, band) = self.band(&e.b)?;
        self.enter(arena, e.th);
        self.settle(arena);
        if let Some(beside) = &self.arenas[arena].beside {
            let available = beside.available(band);
            self.answer(arena, Code::Admission, available == e.res, |checker| {
                let guard = if e.res > available { Rule::CreditOnlyRealisable } else { Rule::RefusalMeansInfeasible };
                let name = checker.band_name(arena, band);
                say(format!("{} pages of {name} are said to be available", e.res), format!("{available} pages"))
                    .guard(guard)
            });
        }
        Ok(())
    }

    pub(super) fn free_bytes(&mut self, e: &FreeBytes) -> Result<(), String> {
        let arena = self.arena(&e.a)?;
        self.enter(arena, e.th);
        self.settle(arena);
        if let Some(beside) = &self.arenas[arena].beside {
            let free = beside.free_bytes();
            self.answer(arena, Code::Conservation, free == e.res, |_| {
                say(
                    format!("{} bytes are said to be free", e.res),
                    format!("{free} bytes, between the frontiers and in holes"),
                )
            });
        }
        Ok(())
    }

    pub(super) fn state(&mut self, e: &State) -> Result<(), String> {
        let (arena, band) = self.band(&e.b)?;
        self.enter(arena, e.th);
        self.settle(arena);
        let state = &self.arenas[arena].bands[band];
        let failed = state.failed;
        let mut facts = vec![
            ("live pages", e.live.map(i64::from), Some(i64::from(state.live))),
            ("pending pages", e.pending.map(i64::from), Some(state.pending.len() as i64)),
        ];
        if let Some(beside) = &self.arenas[arena].beside {
            let id = BandId(band as u8);
            facts.push(("holes", e.holes.map(i64::from), Some(i64::from(beside.arena.holes(id)))));
            facts.push(("as watermark", e.wm, Some(beside.arena.watermark(id))));
        }
        for (what, said, known) in facts {
            let (Some(said), Some(known)) = (said, known) else { continue };
            let (code, guard) = match failed {
                Some(_) => (Code::NotAtomic, Rule::AllocAllOrNothing),
                None => (Code::Conservation, Rule::FreesAreChecked),
            };
            self.answer(arena, code, said == known, |checker| {
                let name = checker.band_name(arena, band);
                let after =
                    failed.map_or(String::new(), |line| format!(" after the call of line {line}, which failed,"));
                say(format!("{name} has {said} {what}{after} by its owner's count"), format!("{known} {what}"))
                    .guard(guard)
                    .earlier(failed.unwrap_or(0))
            });
        }
        self.arenas[arena].bands[band].failed = None;
        Ok(())
    }

    pub(super) fn empty(&mut self, e: &Empty) -> Result<(), String> {
        let (arena, band) = self.band(&e.b)?;
        self.enter(arena, e.th);
        let state = &self.arenas[arena].bands[band];
        let (live, left) = (state.live, state.live_ids().next());
        self.check(Code::Leak, live == 0, |checker| {
            let id = left.unwrap_or_default();
            let line = checker.arenas[arena].bands[band].page(id).line;
            let name = checker.page_name(arena, band, id);
            say(
                format!("{live} pages were not given back; the first is {name}, handed out in line {line}"),
                "no live page",
            )
            .earlier(line)
        });
        Ok(())
    }

    pub(super) fn pin(&mut self, e: &Pinned, pin: bool) -> Result<(), String> {
        let (arena, band) = self.band(&e.b)?;
        self.enter(arena, e.th);
        for id in &e.ids {
            self.check_live(arena, band, *id, if pin { "is pinned" } else { "is unpinned" });
            if let Some(page) = self.arenas[arena].bands[band].live_mut(*id) {
                page.pins = if pin { page.pins + 1 } else { page.pins.saturating_sub(1) };
            }
        }
        Ok(())
    }
}
