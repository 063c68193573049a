//! The second oracle: an arena as a map from bytes to owners.
//!
//! Written to be obviously right: nothing is counted incrementally, nothing is indexed. Spans, holes, gaps, free ids
//! and placements are read off the bytes each time, a request fits if its pages can be placed one after the other, and
//! a plan is made by moving pages in a copy. Only what a layout fixes for good is worked out once, and lists are on the
//! stack: fuzzers make a hundred thousand calls a second.
//!
//! Arenas with float bands are in [`crate::chain_model`]: where a float grows is the arena's choice, which the model
//! follows after having checked it.

use leasecheck_core::{
    ArenaConfig, BandConfig, BandId, EventKey, Grow, Ids, LogicalPage, Move, PageError, PhysicalPage, Planner, Refusal,
    Request, Reuse,
};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;
use std::sync::Arc;

/// A list that needs no memory of its own where arenas are as small as those of fuzzers.
pub type Few<T> = SmallVec<[T; 32]>;

/// Whose a byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Nobody's.
    Free,
    /// In the sink, or in a tail that no page reaches.
    Outside,
    /// A live page: its band and id.
    Live(u8, u32),
    /// Freed in this band, and not reusable before these events, a bit for each.
    Pending(u8, u32),
    /// Used once in this band, never again.
    Retired(u8),
}

impl Owner {
    fn band(self) -> Option<u8> {
        match self {
            Owner::Free | Owner::Outside => None,
            Owner::Live(band, _) | Owner::Pending(band, _) | Owner::Retired(band) => Some(band),
        }
    }
}

/// A band: pages with their numbers, from its own end.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Pages from the own end to the first one that is somebody's, of a float; 0 otherwise.
    pub base: u32,
    /// Pages from the own end to the last one that is somebody's.
    pub span: u32,
    /// How many free pages there are between the two.
    pub holes: u32,
    /// Ids of live pages, and the pages.
    pub live: Few<(u32, u32)>,
    /// Pages that wait, and an event that they wait for, for each.
    pub pending: Few<(u32, u32)>,
    /// Pages that are never used again.
    pub retired: u32,
}

/// What a plan does.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The moves, in order.
    pub moves: Few<Move>,
    /// The arena after it, with nothing pending on account of it.
    pub after: Model,
}

/// What the layout says about a band.
#[derive(Clone, Copy, Debug)]
struct Grid {
    /// The first page that shares no byte with the sink, which is as large as the largest page.
    first: u32,
    /// One past the last page.
    pages: u32,
    envelope: u32,
    up: bool,
}

/// The arena.
#[derive(Clone, Debug)]
pub struct Model {
    pub(crate) config: Arc<ArenaConfig>,
    grids: Arc<[Grid]>,
    /// The bands from the lowest to the highest, if there is a float; none otherwise.
    pub(crate) chain: SmallVec<[u8; 4]>,
    pub(crate) bytes: Vec<Owner>,
    /// Every id that was handed out, by band.
    pub(crate) spent: Vec<(u8, u32)>,
    /// Pages in the order in which they became holes, by band.
    pub(crate) recent: Vec<(u8, u32)>,
}

impl Model {
    /// An empty arena, of a few pages. `None` if a band has no page outside the sink.
    ///
    /// # Panics
    /// If a band has more than 128 pages.
    #[must_use]
    pub fn new(config: &ArenaConfig) -> Option<Model> {
        let bytes = vec![Owner::Free; config.bytes as usize];
        let largest = config.bands.iter().map(|band| band.envelope).max().unwrap_or(0);
        let grid = |band: &BandConfig| Grid {
            first: if config.sink { largest.div_ceil(band.envelope) as u32 } else { 0 },
            pages: (config.bytes / band.envelope) as u32,
            envelope: band.envelope as u32,
            up: band.grow != Grow::Down,
        };
        let grids = config.bands.iter().map(grid).collect();
        let grown = |grow: Grow| (0..).zip(&config.bands).filter(move |(_, band)| band.grow == grow).map(|(at, _)| at);
        let mut chain = SmallVec::new();
        if grown(Grow::Float).next().is_some() {
            chain.extend(grown(Grow::Up).chain(grown(Grow::Float)).chain(grown(Grow::Down)));
        }
        let config = Arc::new(config.clone());
        let mut model = Model { config, grids, chain, bytes, spent: Vec::new(), recent: Vec::new() };
        if model.bands().any(|band| model.pages(band) <= model.first(band)) {
            return None;
        }
        assert!(model.bands().all(|band| model.pages(band) <= u128::BITS), "the model is for few pages");
        if model.is_chain() {
            return Some(model);
        }
        // What lies before the first page of the lower band, or behind the last page of the upper one, is no use.
        let lower = model.bands().find(|band| model.grows_up(*band)).unwrap_or(0);
        let upper = model.bands().find(|band| !model.grows_up(*band)).unwrap_or(0);
        let start = u64::from(model.first(lower)) * model.envelope(lower);
        let end = u64::from(model.pages(upper)) * model.envelope(upper);
        for (at, owner) in model.bytes.iter_mut().enumerate() {
            if (at as u64) < start || (at as u64) >= end {
                *owner = Owner::Outside;
            }
        }
        Some(model)
    }

    /// The layout.
    #[must_use]
    pub fn config(&self) -> &ArenaConfig {
        &self.config
    }

    /// The bands.
    pub fn bands(&self) -> impl Iterator<Item = u8> + use<> {
        0..self.config.bands.len() as u8
    }

    /// Whether there is a float band.
    #[must_use]
    pub fn is_chain(&self) -> bool {
        !self.chain.is_empty()
    }

    pub(crate) fn floats(&self, band: u8) -> bool {
        self.config.bands[usize::from(band)].grow == Grow::Float
    }

    fn grid(&self, band: u8) -> Grid {
        self.grids[usize::from(band)]
    }

    pub(crate) fn envelope(&self, band: u8) -> u64 {
        self.grid(band).envelope.into()
    }

    /// Whether its own end is the lower one.
    #[must_use]
    pub fn grows_up(&self, band: u8) -> bool {
        self.grid(band).up
    }

    pub(crate) fn owner_band(&self, band: u8) -> Option<u8> {
        match self.config.bands[usize::from(band)].ids {
            Ids::Own => None,
            Ids::Of(owner) => Some(owner.0),
        }
    }

    /// The band, and those that bind its ids.
    fn with_bound(&self, band: u8) -> SmallVec<[u8; 4]> {
        self.bands().filter(|other| *other == band || self.owner_band(*other) == Some(band)).collect()
    }

    /// Pages on the band's grid.
    #[must_use]
    pub fn pages(&self, band: u8) -> u32 {
        self.grid(band).pages
    }

    /// The first page that shares no byte with the sink.
    #[must_use]
    pub fn first(&self, band: u8) -> u32 {
        self.grid(band).first
    }

    /// The band's pages, from its own end.
    pub(crate) fn order(&self, band: u8) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + use<> {
        let Grid { first, pages, up, .. } = self.grid(band);
        (first..pages).map(move |page| if up { page } else { first + pages - 1 - page })
    }

    /// Where a page is.
    #[must_use]
    pub fn page_bytes(&self, band: u8, page: u32) -> Range<usize> {
        let envelope = self.grid(band).envelope;
        (page * envelope) as usize..((page + 1) * envelope) as usize
    }

    pub(crate) fn own(&mut self, band: u8, page: u32, owner: Owner) {
        let bytes = self.page_bytes(band, page);
        self.bytes[bytes].fill(owner);
    }

    /// Whose the page is; the band's pages never share bytes with each other, so that one byte tells.
    pub(crate) fn owner(&self, band: u8, page: u32) -> Owner {
        owner(&self.bytes, band, page * self.grid(band).envelope)
    }

    /// The band's pages, from its own end, and whose they are.
    pub(crate) fn owners(&self, band: u8) -> impl DoubleEndedIterator<Item = (u32, Owner)> + ExactSizeIterator + '_ {
        let (bytes, envelope) = (self.bytes.as_slice(), self.grid(band).envelope);
        self.order(band).map(move |page| (page, owner(bytes, band, page * envelope)))
    }

    /// The band, read off the bytes.
    #[must_use]
    pub fn view(&self, band: u8) -> View {
        let mut view = View::default();
        (view.base, view.span) = (self.base(band), self.span(band));
        for (page, owner) in self.within(band, view.base, view.span) {
            match owner {
                Owner::Free | Owner::Outside => view.holes += 1,
                Owner::Live(_, id) => view.live.push((id, page)),
                Owner::Pending(_, events) => view.pending.extend(each(events).map(|event| (page, event))),
                Owner::Retired(_) => view.retired += 1,
            }
        }
        view
    }

    /// Pages from the own end to the first one that is somebody's, of a float; 0 otherwise.
    fn base(&self, band: u8) -> u32 {
        let first = || self.owners(band).position(|(_, owner)| owner != Owner::Free);
        if self.floats(band) { first().unwrap_or(0) as u32 } else { 0 }
    }

    /// Pages from the own end to the last one that is somebody's.
    #[must_use]
    pub fn span(&self, band: u8) -> u32 {
        self.owners(band).rposition(|(_, owner)| owner != Owner::Free).map_or(0, |at| at as u32 + 1)
    }

    /// The pages that the band takes, holes included, from its own end: those between two distances from it.
    fn within(&self, band: u8, base: u32, span: u32) -> impl Iterator<Item = (u32, Owner)> + '_ {
        self.owners(band).take(span as usize).skip(base as usize)
    }

    /// The free pages among those from the own end, or from a float's first one, to the frontier.
    fn free_within(&self, band: u8) -> impl Iterator<Item = u32> + '_ {
        let within = self.within(band, self.base(band), self.span(band));
        within.filter(|(_, owner)| *owner == Owner::Free).map(|(page, _)| page)
    }

    /// The same as a range of page numbers.
    #[must_use]
    pub fn extent(&self, band: u8) -> Range<u32> {
        self.range(band, self.base(band), self.span(band))
    }

    /// The page numbers between two distances from the own end.
    #[must_use]
    pub fn range(&self, band: u8, base: u32, span: u32) -> Range<u32> {
        let Grid { first, pages, up, .. } = self.grid(band);
        if up { first + base..first + span } else { pages - span..pages - base }
    }

    /// Free pages among them.
    #[must_use]
    pub fn holes(&self, band: u8) -> Few<u32> {
        self.free_within(band).collect()
    }

    /// The hole that is nearest to the own end.
    fn first_hole(&self, band: u8) -> Option<u32> {
        self.free_within(band).next()
    }

    /// Live pages and where they are, from the own end.
    pub fn live(&self, band: u8) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.owners(band).filter_map(|(page, owner)| match owner {
            Owner::Live(_, id) => Some((id, page)),
            _ => None,
        })
    }

    /// Where the page is.
    #[must_use]
    pub fn place(&self, band: u8, id: u32) -> Option<u32> {
        self.live(band).find(|(other, _)| *other == id).map(|(_, page)| page)
    }

    /// Ids that can be handed out.
    pub fn free_ids(&self, band: u8) -> impl Iterator<Item = u32> + use<> {
        let Grid { first, pages, .. } = self.grid(band);
        // A band that binds another's ids has none.
        let end = if self.owner_band(band).is_none() { pages } else { first };
        let mut taken = 0_u128;
        if end > first {
            self.live(band).for_each(|(id, _)| taken |= 1 << id);
            if self.config.reuse == Reuse::Never {
                self.spent.iter().filter(|(other, _)| *other == band).for_each(|(_, id)| taken |= 1 << id);
            }
        }
        (first..end).filter(move |id| taken >> id & 1 == 0)
    }

    /// The bytes of an extent of the band.
    #[must_use]
    pub fn claim(&self, band: u8, extent: Range<u32>) -> Range<usize> {
        let envelope = self.grid(band).envelope;
        (extent.start * envelope) as usize..(extent.end * envelope) as usize
    }

    /// Bytes that no band has claimed.
    #[must_use]
    pub fn gap(&self) -> u64 {
        let mut free: Few<bool> = self.bytes.iter().map(|owner| *owner != Owner::Outside).collect();
        self.bands().for_each(|band| free[self.claim(band, self.extent(band))].fill(false));
        free.into_iter().filter(|free| *free).count() as u64
    }

    /// The hole that an allocation takes next.
    pub(crate) fn next_hole(&mut self, band: u8) -> Option<u32> {
        if self.config.reuse == Reuse::AtOnce {
            let holes = self.holes(band);
            let last = self.recent.iter().rposition(|(other, page)| *other == band && holes.contains(page));
            if let Some(last) = last {
                return Some(self.recent.remove(last).1);
            }
        }
        self.first_hole(band)
    }

    /// The page that an allocation takes next.
    fn next_page(&mut self, band: u8) -> Option<u32> {
        if let Some(hole) = self.next_hole(band) {
            return Some(hole);
        }
        let page = self.order(band).nth(self.span(band) as usize)?;
        self.is_vacant(page, band, &self.others(band)).then_some(page)
    }

    /// What the other bands claim.
    fn others(&self, band: u8) -> SmallVec<[Range<usize>; 4]> {
        self.bands().filter(|other| *other != band).map(|other| self.claim(other, self.extent(other))).collect()
    }

    /// Whether the page's bytes are nobody's and in nobody's claim.
    fn is_vacant(&self, page: u32, band: u8, others: &[Range<usize>]) -> bool {
        let bytes = self.page_bytes(band, page);
        self.bytes[bytes.clone()].iter().all(|owner| *owner == Owner::Free)
            && !others.iter().any(|other| other.start < bytes.end && bytes.start < other.end)
    }

    /// The id that an allocation gives to a page.
    pub(crate) fn next_id(&self, band: u8, page: u32) -> Option<u32> {
        let mut free = self.free_ids(band);
        let lowest = free.next()?;
        let near = self.config.permuted && lowest <= page;
        Some(if near { free.find(|id| *id > page).unwrap_or(lowest) } else { lowest })
    }

    fn place_one(&mut self, band: u8, id: Option<u32>) -> Option<u32> {
        let page = self.next_page(band)?;
        let id = match id {
            Some(id) => id,
            None => self.next_id(band, page)?,
        };
        self.occupy(band, page, id);
        Some(id)
    }

    pub(crate) fn occupy(&mut self, band: u8, page: u32, id: u32) {
        self.own(band, page, Owner::Live(band, id));
        if self.config.reuse == Reuse::Never {
            self.spent.push((band, id));
        }
    }

    /// Why `wanted` pages of each band do not fit: the first band for which the bytes do not suffice.
    fn bytes_refusal(&self, wanted: &[u32]) -> Refusal {
        let (mut sum, free) = (0, self.gap());
        for (band, wanted) in self.bands().zip(wanted) {
            let grow = wanted.saturating_sub(self.holes(band).len() as u32);
            sum += u64::from(grow) * self.envelope(band);
            if sum > free || grow > self.pages(band) - self.first(band) - self.span(band) {
                break;
            }
        }
        Refusal::Bytes { wanted: sum, free }
    }

    /// Whether the requests make sense, and enough ids are free; the pages of each band.
    ///
    /// # Errors
    /// As the arena's, but for what does not fit.
    pub fn totals(&self, requests: &[Request]) -> Result<Few<u32>, Refusal> {
        let mut wanted: Few<u32> = smallvec![0; self.config.bands.len()];
        for Request { band, pages } in requests {
            let Some(sum) = wanted.get_mut(usize::from(band.0)) else { return Err(Refusal::NoSuchBand(*band)) };
            *sum = sum.saturating_add(*pages);
            let bound = *sum;
            if self.owner_band(band.0).is_some_and(|owner| bound > wanted[usize::from(owner)]) {
                return Err(Refusal::Unowned(*band));
            }
        }
        for band in self.bands().filter(|band| self.owner_band(*band).is_none()) {
            let (wanted, free) = (wanted[usize::from(band)], self.free_ids(band).count() as u32);
            if wanted > free {
                return Err(Refusal::Ids { band: BandId(band), wanted, free });
            }
        }
        Ok(wanted)
    }

    /// A band that binds takes the last ids of the same call that have no page in it yet.
    pub(crate) fn unbound(&self, earlier: &[Request], granted: &[Vec<LogicalPage>], band: u8) -> Few<u32> {
        let Some(owner) = self.owner_band(band) else { return Few::new() };
        let of_owner = earlier.iter().zip(granted).filter(|(request, _)| request.band.0 == owner);
        let ids = of_owner.flat_map(|(_, ids)| ids.iter().map(|id| id.0));
        ids.filter(|id| self.place(band, *id).is_none()).collect()
    }

    /// Allocates all or nothing.
    ///
    /// # Errors
    /// As the arena's.
    pub fn allocate(&mut self, requests: &[Request]) -> Result<Vec<Vec<LogicalPage>>, Refusal> {
        let wanted = self.totals(requests)?;
        let before = self.clone();
        let mut granted: Vec<Vec<LogicalPage>> = Vec::new();
        for (nth, Request { band, pages }) in requests.iter().enumerate() {
            let unbound = self.unbound(&requests[..nth], &granted, band.0);
            let mut ids = Vec::new();
            for at in 0..*pages as usize {
                let bound = self.owner_band(band.0).map(|_| unbound[unbound.len() - *pages as usize + at]);
                match self.place_one(band.0, bound) {
                    Some(id) => ids.push(LogicalPage(id)),
                    None => {
                        *self = before;
                        return Err(self.bytes_refusal(&wanted));
                    }
                }
            }
            granted.push(ids);
        }
        Ok(granted)
    }

    fn check_live(&self, band: BandId, ids: &[LogicalPage]) -> Result<(), PageError> {
        if usize::from(band.0) >= self.config.bands.len() {
            return Err(PageError::NoSuchBand(band));
        }
        if let Some(dead) = ids.iter().find(|id| self.place(band.0, id.0).is_none()) {
            return Err(PageError::NotLive(band, *dead));
        }
        let twice = ids.iter().filter(|id| ids.iter().filter(|other| other == id).count() > 1).min();
        twice.map_or(Ok(()), |id| Err(PageError::Twice(band, *id)))
    }

    fn give_back(&mut self, band: u8, page: u32) {
        if self.config.reuse == Reuse::Never {
            self.own(band, page, Owner::Retired(band));
        } else {
            self.own(band, page, Owner::Free);
            self.recent.push((band, page));
        }
    }

    fn vacate(&mut self, band: u8, id: u32, after: Option<EventKey>) {
        let Some(page) = self.place(band, id) else { return };
        match after {
            Some(event) => self.own(band, page, Owner::Pending(band, 1 << event.0)),
            None => self.give_back(band, page),
        }
    }

    /// Forgets the order in which pages became holes, for those that are none any more.
    pub(crate) fn settle(&mut self) {
        if self.config.reuse != Reuse::AtOnce {
            return self.recent.clear();
        }
        for band in self.bands() {
            let holes = self.holes(band);
            self.recent.retain(|(other, page)| *other != band || holes.contains(page));
        }
    }

    /// Gives pages back, and what is bound to their ids.
    ///
    /// # Errors
    /// As the arena's.
    pub fn free(&mut self, band: BandId, ids: &[LogicalPage], after: Option<EventKey>) -> Result<(), PageError> {
        self.check_live(band, ids)?;
        for id in ids {
            for other in self.with_bound(band.0) {
                self.vacate(other, id.0, after);
            }
        }
        self.settle();
        Ok(())
    }

    /// Releases bindings.
    ///
    /// # Errors
    /// As the arena's.
    pub fn tombstone(&mut self, band: BandId, ids: &[LogicalPage], after: Option<EventKey>) -> Result<(), PageError> {
        self.check_live(band, ids)?;
        if self.owner_band(band.0).is_none() {
            return Err(PageError::OwnsIds(band));
        }
        ids.iter().for_each(|id| self.vacate(band.0, id.0, after));
        self.settle();
        Ok(())
    }

    /// Binds a page to each id.
    ///
    /// # Errors
    /// As the arena's.
    pub fn bind(&mut self, band: BandId, ids: &[LogicalPage]) -> Result<(), PageError> {
        self.check_bind(band, ids)?;
        let before = self.clone();
        for id in ids {
            if self.place_one(band.0, Some(id.0)).is_none() {
                *self = before;
                let mut wanted = vec![0; self.config.bands.len()];
                wanted[usize::from(band.0)] = ids.len() as u32;
                return Err(PageError::Full(self.bytes_refusal(&wanted)));
            }
        }
        Ok(())
    }

    /// Whether the ids can be bound, if there is room.
    ///
    /// # Errors
    /// As the arena's, but for what does not fit.
    pub fn check_bind(&self, band: BandId, ids: &[LogicalPage]) -> Result<(), PageError> {
        if usize::from(band.0) >= self.config.bands.len() {
            return Err(PageError::NoSuchBand(band));
        }
        let Some(owner) = self.owner_band(band.0) else { return Err(PageError::OwnsIds(band)) };
        self.check_live(BandId(owner), ids)?;
        if let Some(bound) = ids.iter().find(|id| self.place(band.0, id.0).is_some()) {
            return Err(PageError::AlreadyBound(band, *bound));
        }
        Ok(())
    }

    /// Gives everything in the band back, pending pages too, and what is bound to its ids.
    pub fn clear(&mut self, band: BandId) {
        for other in self.with_bound(band.0) {
            for page in self.extent(other) {
                let never = self.config.reuse == Reuse::Never;
                self.own(other, page, if never { Owner::Retired(other) } else { Owner::Free });
            }
            self.recent.retain(|(at, _)| *at != other);
        }
    }

    /// The pages that waited for the event, and wait for no other, can be reused.
    pub fn event_completed(&mut self, event: EventKey) {
        for band in self.bands() {
            for page in self.order(band) {
                match self.owner(band, page) {
                    Owner::Pending(_, events) if events == 1 << event.0 => self.give_back(band, page),
                    Owner::Pending(_, events) => self.own(band, page, Owner::Pending(band, events & !(1 << event.0))),
                    _ => {}
                }
            }
        }
        self.settle();
    }

    /// Those of the pages that wait, wait for this event as well.
    pub fn await_also(&mut self, band: BandId, pages: &[PhysicalPage], event: EventKey) {
        for page in self.order(band.0).filter(|page| pages.contains(&PhysicalPage(*page))) {
            if let Owner::Pending(band, events) = self.owner(band.0, page) {
                self.own(band, page, Owner::Pending(band, events | 1 << event.0));
            }
        }
    }

    fn movable_pages(&self, band: u8, movable: &dyn Fn(BandId, LogicalPage) -> bool) -> Few<(u32, u32)> {
        self.live(band).filter(|(id, _)| movable(BandId(band), LogicalPage(*id))).collect()
    }

    pub(crate) fn distance(&self, band: u8, page: u32) -> u32 {
        if self.grows_up(band) { page - self.first(band) } else { self.pages(band) - 1 - page }
    }

    /// The move that the planner makes next, of those pages that it has not looked at yet.
    fn next_move(&self, band: u8, left: &mut Few<(u32, u32)>) -> Option<(u32, u32, u32)> {
        while !left.is_empty() {
            let slide = self.config.planner == Planner::Slide;
            let (id, from) = left.remove(if slide { 0 } else { left.len() - 1 });
            let hole = self.first_hole(band)?;
            if self.distance(band, hole) < self.distance(band, from) {
                return Some((id, from, hole));
            }
            if !slide {
                return None;
            }
        }
        None
    }

    /// Plans to close the holes of every band, or of one.
    #[must_use]
    pub fn plan(&self, only: Option<BandId>, movable: &dyn Fn(BandId, LogicalPage) -> bool) -> Planned {
        let mut planned = Planned { moves: Few::new(), after: self.clone() };
        for band in self.bands().filter(|band| only.is_none_or(|only| only.0 == *band)) {
            let mut left = self.movable_pages(band, movable);
            while let Some((id, from, to)) = planned.after.next_move(band, &mut left) {
                planned.after.own(band, from, Owner::Free);
                planned.after.own(band, to, Owner::Live(band, id));
                let (from, to) = (PhysicalPage(from), PhysicalPage(to));
                planned.moves.push(Move { band: BandId(band), id: LogicalPage(id), from, to });
            }
        }
        planned
    }

    /// Makes a plan's moves; pages that were left wait for the event.
    pub fn commit(&mut self, planned: &Planned, pend: Option<EventKey>) {
        *self = planned.after.clone();
        for step in &planned.moves {
            let (band, page) = (step.band.0, step.from.0);
            if let Some(event) = pend
                && self.owner(band, page) == Owner::Free
            {
                self.own(band, page, Owner::Pending(band, 1 << event.0));
            }
        }
        self.settle();
    }

    /// The most pages of the band, and of it alone, that can be placed as things are.
    #[must_use]
    pub fn available(&self, band: u8) -> u32 {
        let ids = match self.owner_band(band) {
            None => self.free_ids(band).count() as u32,
            Some(_) => u32::MAX,
        };
        let (beyond, others) = (self.order(band).skip(self.span(band) as usize), self.others(band));
        let room = self.holes(band).len() + beyond.take_while(|page| self.is_vacant(*page, band, &others)).count();
        ids.min(room as u32)
    }

    /// Whether the requests can be served as things are: holes are taken first, then pages beyond the frontier. Those
    /// have to be nobody's, and no band may reach into another's.
    #[must_use]
    pub fn fits(&self, requests: &[Request]) -> bool {
        let Ok(wanted) = self.totals(requests) else { return false };
        let mut claims: SmallVec<[Range<usize>; 4]> = SmallVec::new();
        for (band, wanted) in self.bands().zip(wanted) {
            let (span, grow) = (self.span(band), wanted.saturating_sub(self.holes(band).len() as u32));
            let beyond = self.order(band).skip(span as usize);
            let vacant = |page: &u32| self.is_vacant(*page, band, &claims);
            if beyond.take(grow as usize).take_while(vacant).count() < grow as usize {
                return false;
            }
            let claim = self.claim(band, self.range(band, self.base(band), span + grow));
            if claims.iter().any(|other| other.start < claim.end && claim.start < other.end) {
                return false;
            }
            claims.push(claim);
        }
        true
    }
}

/// Whose a byte is, as far as this band is concerned.
fn owner(bytes: &[Owner], band: u8, byte: u32) -> Owner {
    let owner = bytes[byte as usize];
    if owner.band() == Some(band) { owner } else { Owner::Free }
}

/// The events that the bits stand for.
fn each(events: u32) -> impl Iterator<Item = u32> {
    (0..u32::BITS).filter(move |event| events >> event & 1 == 1)
}
