//! The arena: allocate, free, clear, bind. Pure: no I/O, no clock, no threads; a failed operation changes nothing.
//!
//! Blocking, leases and gates are not here: an arena says what *could* be done ([`Arena::admission`]), a
//! [`crate::LeaseTable`] says whether pages may move now.

use crate::band::{Band, NONE};
use crate::config::{ArenaConfig, BandConfig, ConfigError, Geometry, Grow, Ids, MAX_BANDS, Reuse};
use crate::ids::{BandId, EventKey, LogicalPage, PhysicalPage};
use crate::rules::Rule;
use std::fmt;
use std::sync::Arc;

/// So many pages of one band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The band.
    pub band: BandId,
    /// Pages.
    pub pages: u32,
}

/// Why a request cannot be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The arena has no such band.
    NoSuchBand(BandId),
    /// Fewer free ids than pages asked for.
    Ids {
        /// The band that owns the ids.
        band: BandId,
        /// Pages asked for.
        wanted: u32,
        /// Ids that are free.
        free: u32,
    },
    /// Not enough bytes, even after a compaction where one is possible.
    Bytes {
        /// Bytes by which the bands would have to grow.
        wanted: u64,
        /// Bytes between the frontiers.
        free: u64,
    },
    /// A band that binds another band's ids was asked for more pages than ids are asked for before it.
    Unowned(BandId),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoSuchBand(band) => write!(f, "there is no band {band}"),
            Refusal::Ids { band, wanted, free } => {
                write!(f, "band {band} has {free} free ids, {wanted} pages were asked for")
            }
            Refusal::Bytes { wanted, free } => {
                write!(f, "{wanted} more bytes are needed, {free} are free between the frontiers")
            }
            Refusal::Unowned(band) => {
                write!(f, "band {band} binds ids of another band, and too few are asked for before it")
            }
        }
    }
}

impl std::error::Error for Refusal {}

/// The answer to "would this fit?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Holes and the gap suffice; nothing has to move.
    FitsNow,
    /// It fits once holes are closed.
    FitsPacked,
    /// It does not fit, whatever is moved.
    Refused(Refusal),
}

impl Admission {
    /// Whether the request can be served, by moving pages if need be.
    #[must_use]
    #[inline]
    pub fn admitted(self) -> bool {
        !matches!(self, Admission::Refused(_))
    }
}

/// Why pages could not be freed, bound or released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageError {
    /// The arena has no such band.
    NoSuchBand(BandId),
    /// The id has no page in the band.
    NotLive(BandId, LogicalPage),
    /// The id appears twice in one call.
    Twice(BandId, LogicalPage),
    /// The id already has a page in the band.
    AlreadyBound(BandId, LogicalPage),
    /// The band owns its ids; nothing can be bound or released in it.
    OwnsIds(BandId),
    /// No page is left for the binding.
    Full(Refusal),
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PageError::NoSuchBand(band) => write!(f, "there is no band {band}"),
            PageError::NotLive(band, id) => write!(f, "page {id} is not live in band {band}"),
            PageError::Twice(band, id) => write!(f, "page {id} of band {band} is named twice"),
            PageError::AlreadyBound(band, id) => write!(f, "page {id} is already bound in band {band}"),
            PageError::OwnsIds(band) => {
                write!(f, "band {band} owns its ids: allocate and free them instead of binding and releasing")
            }
            PageError::Full(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for PageError {}

/// One contiguous byte range shared by several bands.
#[derive(Debug, PartialEq, Eq)]
pub struct Arena {
    pub(crate) config: Arc<ArenaConfig>,
    pub(crate) geometry: Arc<Geometry>,
    pub(crate) bands: Vec<Band>,
}

impl Clone for Arena {
    fn clone(&self) -> Arena {
        Arena { config: Arc::clone(&self.config), geometry: Arc::clone(&self.geometry), bands: self.bands.clone() }
    }

    fn clone_from(&mut self, source: &Arena) {
        if !Arc::ptr_eq(&self.config, &source.config) {
            *self = source.clone();
            return;
        }
        for (band, other) in self.bands.iter_mut().zip(&source.bands) {
            band.clone_from(other);
        }
    }
}

impl Arena {
    /// An empty arena.
    ///
    /// # Errors
    /// When the layout is impossible.
    pub fn new(config: ArenaConfig) -> Result<Arena, ConfigError> {
        let geometry = config.geometry()?;
        let bands = Arena::bands_of(&config, &geometry);
        Ok(Arena { config: Arc::new(config), geometry: Arc::new(geometry), bands })
    }

    fn bands_of(config: &ArenaConfig, geometry: &Geometry) -> Vec<Band> {
        let band = |(at, band): (usize, &BandConfig)| {
            let (owner, first) = match band.ids {
                Ids::Own => (at, Some(geometry.first[at])),
                Ids::Of(owner) => (owner.0 as usize, None),
            };
            Band::new(geometry.pages[owner], first, geometry.pages[at] - geometry.first[at], config.reuse)
        };
        config.bands.iter().enumerate().map(band).collect()
    }

    /// The layout that the arena was made from.
    #[must_use]
    #[inline]
    pub fn config(&self) -> &ArenaConfig {
        &self.config
    }

    /// The bands, in the order of their ids.
    #[inline]
    pub fn bands(&self) -> impl Iterator<Item = (BandId, &BandConfig)> {
        self.config.bands.iter().enumerate().map(|(at, band)| (BandId(at as u8), band))
    }

    /// The band of that name.
    #[must_use]
    pub fn band_named(&self, name: &str) -> Option<BandId> {
        self.bands().find(|(_, band)| band.name == name).map(|(id, _)| id)
    }

    /// Pages on the band's grid, the sink included.
    #[must_use]
    #[inline]
    pub fn pages(&self, band: BandId) -> u32 {
        self.geometry.pages.get(band.0 as usize).copied().unwrap_or(0)
    }

    /// The first page that is not part of the sink.
    #[must_use]
    pub fn first_page(&self, band: BandId) -> PhysicalPage {
        PhysicalPage(self.geometry.first.get(band.0 as usize).copied().unwrap_or(0))
    }

    /// Pages that the band has room for, the sink excluded.
    #[must_use]
    pub fn capacity(&self, band: BandId) -> u32 {
        self.pages(band) - self.first_page(band).0
    }

    /// Pages that are live in the band.
    #[must_use]
    #[inline]
    pub fn live(&self, band: BandId) -> u32 {
        self.bands[band.0 as usize].live
    }

    /// Free pages inside the watermark.
    #[must_use]
    #[inline]
    pub fn holes(&self, band: BandId) -> u32 {
        self.bands[band.0 as usize].holes.len()
    }

    /// Pages that wait for events: one for each page and event.
    pub fn pending(&self, band: BandId) -> impl Iterator<Item = (PhysicalPage, EventKey)> + '_ {
        self.bands[band.0 as usize].pending.iter().map(move |(at, event)| (self.page_at(band, *at), *event))
    }

    /// How many pages wait for events.
    #[must_use]
    #[inline]
    pub fn pending_pages(&self, band: BandId) -> u32 {
        self.bands[band.0 as usize].pending_pages()
    }

    /// Pages that are never handed out again ([`Reuse::Never`]).
    #[must_use]
    #[inline]
    pub fn retired(&self, band: BandId) -> u32 {
        self.bands[band.0 as usize].retired.len()
    }

    /// Pages between the band's own end and its frontier; between its two frontiers, of a float.
    #[must_use]
    #[inline]
    pub fn span(&self, band: BandId) -> u32 {
        self.bands[band.0 as usize].span - self.bands[band.0 as usize].base
    }

    /// The watermark as SGLang counts it: the first page not consumed of a band that grows up, the last page not
    /// consumed of one that grows down (−1 when all are).
    #[must_use]
    pub fn watermark(&self, band: BandId) -> i64 {
        let span = i64::from(self.bands[band.0 as usize].span);
        match self.config.bands[band.0 as usize].grow {
            Grow::Up | Grow::Float => i64::from(self.first_page(band).0) + span,
            Grow::Down => i64::from(self.pages(band)) - 1 - span,
        }
    }

    /// Ids that the band can hand out, lowest first.
    pub fn free_ids(&self, band: BandId) -> impl Iterator<Item = LogicalPage> + '_ {
        self.bands[band.0 as usize].ids.iter().map(LogicalPage)
    }

    /// Every live page of the band, by id.
    #[inline]
    pub fn placements(&self, band: BandId) -> impl Iterator<Item = (LogicalPage, PhysicalPage)> + '_ {
        let live = (0_u32..).zip(&self.bands[band.0 as usize].map).filter(|(_, at)| **at != NONE);
        let (downwards, end) = self.end(band);
        live.map(move |(id, at)| (LogicalPage(id), PhysicalPage(if downwards { end - 1 - at } else { end + at })))
    }

    /// Where the page is now. The answer is valid until pages move: under a lease, or before anything else runs.
    #[must_use]
    #[inline]
    pub fn translate(&self, band: BandId, id: LogicalPage) -> Option<PhysicalPage> {
        let at = self.bands.get(band.0 as usize)?.distance(id)?;
        Some(self.page_at(band, at))
    }

    /// The page that is `distance` pages from the band's own end.
    #[inline]
    pub(crate) fn page_at(&self, band: BandId, distance: u32) -> PhysicalPage {
        let (downwards, end) = self.end(band);
        PhysicalPage(if downwards { end - 1 - distance } else { end + distance })
    }

    /// Whether the band grows downwards, and where it begins: the page at distance 0, or behind it if downwards.
    #[inline]
    fn end(&self, band: BandId) -> (bool, u32) {
        let at = band.0 as usize;
        match self.config.bands[at].grow {
            Grow::Up | Grow::Float => (false, self.geometry.first[at]),
            Grow::Down => (true, self.geometry.pages[at]),
        }
    }

    /// Bytes between the frontiers, or between the only frontier and the far end.
    #[must_use]
    pub fn gap(&self) -> u64 {
        let mut spans = [0; MAX_BANDS];
        for (span, band) in spans.iter_mut().zip(&self.bands) {
            *span = band.span;
        }
        self.gap_with(&spans)
    }

    pub(crate) fn gap_with(&self, spans: &[u32; MAX_BANDS]) -> u64 {
        let (mut low, mut high) = (self.geometry.low, self.geometry.high);
        for (at, band) in self.config.bands.iter().enumerate() {
            match band.grow {
                Grow::Up => low = u64::from(self.geometry.first[at] + spans[at]) * band.envelope,
                Grow::Down => high = u64::from(self.geometry.pages[at] - spans[at]) * band.envelope,
                // Of the bytes between the ends, those that no float takes are free.
                Grow::Float => {}
            }
        }
        let float = |(at, band): (usize, &BandConfig)| match band.grow {
            Grow::Float => u64::from(spans[at] - self.bands[at].base.min(spans[at])) * band.envelope,
            Grow::Up | Grow::Down => 0,
        };
        let floats: u64 = match self.is_chain() {
            true => self.config.bands.iter().enumerate().map(float).sum(),
            false => 0,
        };
        high.saturating_sub(low).saturating_sub(floats)
    }

    /// Pages per band, summed over the requests. Every request of a band that binds another band's ids must find
    /// that many ids among the owner's requests before it, less those that earlier requests of the band bind.
    pub(crate) fn totals(&self, requests: &[Request]) -> Result<[u32; MAX_BANDS], Refusal> {
        let mut wanted = [0_u32; MAX_BANDS];
        for request in requests {
            let at = request.band.0 as usize;
            let Some(band) = self.config.bands.get(at) else { return Err(Refusal::NoSuchBand(request.band)) };
            wanted[at] = wanted[at].saturating_add(request.pages);
            if let Ids::Of(owner) = band.ids
                && wanted[at] > wanted[owner.0 as usize]
            {
                return Err(Refusal::Unowned(request.band));
            }
        }
        for (at, band) in self.config.bands.iter().enumerate() {
            let free = self.bands[at].ids.len();
            if band.ids == Ids::Own && wanted[at] > free {
                return Err(Refusal::Ids { band: BandId(at as u8), wanted: wanted[at], free });
            }
        }
        Ok(wanted)
    }

    /// Whether `wanted` fits into `holes` and the gap that `spans` leave.
    pub(crate) fn price(
        &self,
        wanted: &[u32; MAX_BANDS],
        holes: &[u32; MAX_BANDS],
        spans: &[u32; MAX_BANDS],
    ) -> Result<(), Refusal> {
        let gap = self.gap_with(spans);
        let joint = self.config.rules.on(Rule::JointBytes);
        let mut sum = 0_u64;
        for at in 0..self.bands.len() {
            let grow = wanted[at].saturating_sub(holes[at]);
            let bytes = u64::from(grow).saturating_mul(self.config.bands[at].envelope);
            sum = sum.saturating_add(bytes);
            let room = self.geometry.pages[at] - self.geometry.first[at] - spans[at];
            let priced = if joint { sum } else { bytes };
            if grow > room || priced > gap {
                return Err(Refusal::Bytes { wanted: sum.max(bytes), free: gap });
            }
        }
        Ok(())
    }

    /// Whether the request fits, and whether pages would have to move for it. `movable` says which pages a
    /// compaction may move now (none, while a gate is closed). Exact: admitted ⇔ allocatable.
    #[must_use]
    pub fn admission(&self, requests: &[Request], movable: impl Fn(BandId, LogicalPage) -> bool) -> Admission {
        let wanted = match self.totals(requests) {
            Ok(wanted) => wanted,
            Err(refusal) => return Admission::Refused(refusal),
        };
        if !self.config.rules.on(Rule::RefusalMeansInfeasible)
            && let Err(refusal) = self.static_limits(&wanted)
        {
            return Admission::Refused(refusal);
        }
        let refusal = match self.fits_now(&wanted) {
            Ok(()) => return Admission::FitsNow,
            Err(refusal) => refusal,
        };
        if self.is_chain() {
            let fits = self.chain_fits(&wanted, &movable);
            return if fits { Admission::FitsPacked } else { Admission::Refused(refusal) };
        }
        if self.bands.iter().all(|band| band.holes.len() == 0) {
            return Admission::Refused(refusal);
        }
        let plan = self.plan(&movable);
        let mut holes = [0; MAX_BANDS];
        for (usable, left) in holes.iter_mut().zip(plan.holes()) {
            *usable = self.usable(*left);
        }
        let mut spans = [0; MAX_BANDS];
        spans[..self.bands.len()].copy_from_slice(plan.spans());
        match self.price(&wanted, &holes, &spans) {
            Ok(()) => Admission::FitsPacked,
            Err(refusal) => Admission::Refused(refusal),
        }
    }

    /// Whether `first` fits and, once it is allocated, `then` as well: by moving pages that `movable` admits, if
    /// need be. Capacity is additive (a page taken from a hole is a page less to pack), so this is the admission of
    /// both together, as long as the pages of `first` are movable themselves.
    #[must_use]
    pub fn fits_then(
        &self,
        first: &[Request],
        then: &[Request],
        movable: impl Fn(BandId, LogicalPage) -> bool,
    ) -> bool {
        let both: Vec<Request> = first.iter().chain(then).copied().collect();
        self.admission(&both, movable).admitted()
    }

    /// An arena of the same layout with nothing in it: what would fit if everything were freed.
    #[must_use]
    pub fn emptied(&self) -> Arena {
        let mut empty = self.clone();
        empty.bands = Arena::bands_of(&self.config, &self.geometry);
        empty
    }

    pub(crate) fn fits_now(&self, wanted: &[u32; MAX_BANDS]) -> Result<(), Refusal> {
        if self.is_chain() {
            let bytes = |(pages, band): (&u32, &BandConfig)| u64::from(*pages).saturating_mul(band.envelope);
            let refusal = || {
                let wanted = wanted.iter().zip(&self.config.bands).map(bytes).fold(0, u64::saturating_add);
                Refusal::Bytes { wanted, free: self.gap() }
            };
            return self.growth(wanted).map(drop).ok_or_else(refusal);
        }
        let (mut holes, mut spans) = ([0; MAX_BANDS], [0; MAX_BANDS]);
        for (at, band) in self.bands.iter().enumerate() {
            holes[at] = self.usable(band.holes.len());
            spans[at] = band.span;
        }
        self.price(wanted, &holes, &spans)
    }

    /// Holes that an allocation may take.
    pub(crate) fn usable(&self, holes: u32) -> u32 {
        if self.config.rules.on(Rule::HolesBeforeMoves) { holes } else { 0 }
    }

    /// What a design without a joint budget does: every band has its fixed share of the bytes.
    fn static_limits(&self, wanted: &[u32; MAX_BANDS]) -> Result<(), Refusal> {
        let share = self.config.bytes / self.bands.len() as u64;
        for (at, band) in self.bands.iter().enumerate() {
            let pages = u64::from(band.live) + u64::from(wanted[at]);
            let wanted = pages.saturating_mul(self.config.bands[at].envelope);
            if wanted > share {
                return Err(Refusal::Bytes { wanted, free: share });
            }
        }
        Ok(())
    }

    /// Allocates for all requests or for none, from holes and the gap only: nothing moves. Returns the logical
    /// pages of each request; a request for a band that binds another band's ids gets the last ids that the same
    /// call has allocated for its owner before it and not bound yet.
    ///
    /// # Errors
    /// When the request does not fit as things are. [`Arena::admission`] says whether a compaction would help.
    pub fn allocate(&mut self, requests: &[Request]) -> Result<Vec<Vec<LogicalPage>>, Refusal> {
        let wanted = self.totals(requests)?;
        if self.config.rules.on(Rule::AllocAllOrNothing) {
            self.fits_now(&wanted)?;
        }
        let mut growth = if self.is_chain() { self.growth(&wanted) } else { None };
        let mut granted: Vec<Vec<LogicalPage>> = Vec::with_capacity(requests.len());
        for (nth, request) in requests.iter().enumerate() {
            if !self.config.rules.on(Rule::AllocAllOrNothing) {
                let mut one = [0; MAX_BANDS];
                one[request.band.0 as usize] = request.pages;
                self.fits_now(&one)?;
                growth = if self.is_chain() { self.growth(&one) } else { None };
            }
            let at = request.band.0 as usize;
            let count = request.pages as usize;
            let bound = match self.config.bands[at].ids {
                Ids::Own => None,
                Ids::Of(owner) => {
                    // `totals` has checked that there are enough.
                    let before = requests[..nth].iter().zip(&granted).filter(|(earlier, _)| earlier.band == owner);
                    let ids: Vec<LogicalPage> = (before.flat_map(|(_, ids)| ids.iter().copied()))
                        .filter(|id| self.bands[at].distance(*id).is_none())
                        .collect();
                    if ids.len() < count {
                        return Err(Refusal::Unowned(request.band));
                    }
                    Some(ids[ids.len() - count..].to_vec())
                }
            };
            let mut ids = Vec::with_capacity(count);
            for index in 0..count {
                let Some(distance) = self.take_page(request.band, growth.map(|growth| growth[at])) else {
                    return Err(Refusal::Bytes { wanted: 0, free: self.gap() });
                };
                let id = match &bound {
                    Some(bound) => bound[index].0,
                    None => match self.take_id(request.band, distance) {
                        Some(id) => id,
                        None => return Err(Refusal::Ids { band: request.band, wanted: request.pages, free: 0 }),
                    },
                };
                self.bands[at].place(id, distance);
                ids.push(LogicalPage(id));
            }
            granted.push(ids);
        }
        self.recount();
        Ok(granted)
    }

    /// Holes nearest the band's own end first, then outward from the frontier; as far as `growth` says, if it does.
    pub(crate) fn take_page(&mut self, band: BandId, growth: Option<(u32, u32)>) -> Option<u32> {
        let (base, capacity) = growth.unwrap_or((0, self.capacity(band)));
        let use_holes = self.config.rules.on(Rule::HolesBeforeMoves);
        let band = &mut self.bands[band.0 as usize];
        if use_holes {
            while let Some(recent) = band.recent.pop() {
                if band.holes.remove(recent) {
                    return Some(recent);
                }
            }
            if let Some(hole) = band.holes.pop_first() {
                return Some(hole);
            }
        }
        if band.span == band.base && growth.is_some() {
            (band.base, band.span) = (base, base);
        }
        if band.base > base && growth.is_some() {
            band.base -= 1;
            return Some(band.base);
        }
        if band.span >= capacity {
            return None;
        }
        band.span += 1;
        Some(band.span - 1)
    }

    /// The lowest free id; in a permuted arena the next one that differs from the page's number.
    fn take_id(&mut self, band: BandId, distance: u32) -> Option<u32> {
        let page = self.page_at(band, distance).0;
        let permuted = self.config.permuted;
        let ids = &mut self.bands[band.0 as usize].ids;
        if permuted && let Some(id) = ids.first_from(page + 1) {
            ids.remove(id);
            return Some(id);
        }
        ids.pop_first()
    }

    /// Gives pages back. Their ids can be handed out again at once; so can their bytes, unless `after` names the
    /// event of the last work that can still touch them. Freeing an id also releases what other bands have bound
    /// for it.
    ///
    /// # Errors
    /// When an id is not live, or named twice. Nothing has changed then.
    pub fn free(&mut self, band: BandId, ids: &[LogicalPage], after: Option<EventKey>) -> Result<(), PageError> {
        self.check_live(band, ids)?;
        for id in ids {
            for at in 0..self.bands.len() {
                if at == band.0 as usize || self.config.bands[at].ids == Ids::Of(band) {
                    self.vacate(at, *id, after);
                }
            }
            if self.config.reuse != Reuse::Never && self.config.bands[band.0 as usize].ids == Ids::Own {
                self.bands[band.0 as usize].ids.insert(id.0);
            }
        }
        self.settle();
        Ok(())
    }

    pub(crate) fn check_live(&self, band: BandId, ids: &[LogicalPage]) -> Result<(), PageError> {
        let state = self.bands.get(band.0 as usize).ok_or(PageError::NoSuchBand(band))?;
        if let Some(dead) = ids.iter().find(|id| state.distance(**id).is_none()) {
            return Err(PageError::NotLive(band, *dead));
        }
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(PageError::Twice(band, pair[0])),
            None => Ok(()),
        }
    }

    pub(crate) fn vacate(&mut self, at: usize, id: LogicalPage, after: Option<EventKey>) {
        let after = after.filter(|_| self.config.rules.on(Rule::ReuseAfterEvents));
        let band = &mut self.bands[at];
        let Some(distance) = band.remove(id) else { return };
        match after {
            Some(event) => band.pend(distance, event),
            None => band.vacate(distance, self.config.reuse),
        }
    }

    /// Draws every watermark back over the holes at its frontier.
    pub(crate) fn settle(&mut self) {
        for (band, config) in self.bands.iter_mut().zip(&self.config.bands) {
            match config.grow {
                Grow::Float => band.absorb_both(),
                Grow::Up | Grow::Down => band.absorb(),
            }
            let holes = &band.holes;
            band.recent.retain(|at| holes.contains(*at));
        }
        self.recount();
    }

    /// Counts live pages afresh where the table may lead to pages that are not (see
    /// [`Rule::TombstoneClearsBinding`]): everywhere else, counting as pages come and go is exact.
    pub(crate) fn recount(&mut self) {
        if self.config.rules.on(Rule::TombstoneClearsBinding) {
            return;
        }
        for band in &mut self.bands {
            band.live = band.occupants().iter().filter(|id| **id != NONE).count() as u32;
        }
    }

    /// Gives every page of the band back, pending ones too: the caller has waited for their events. With
    /// [`Reuse::Never`], none of the pages and ids is handed out again, nor the holes between them.
    pub fn clear(&mut self, band: BandId) {
        for at in 0..self.bands.len() {
            if at == band.0 as usize || self.config.bands[at].ids == Ids::Of(band) {
                if self.config.reuse == Reuse::Never {
                    let band = &mut self.bands[at];
                    band.map.fill(NONE);
                    band.pending.clear();
                    band.holes.clear();
                    band.live = 0;
                    for at in band.base..band.span {
                        band.retired.insert(at);
                    }
                    continue;
                }
                let (ids, capacity) = (self.bands[at].map.len() as u32, self.capacity(BandId(at as u8)));
                let first = (self.config.bands[at].ids == Ids::Own).then_some(self.geometry.first[at]);
                self.bands[at] = Band::new(ids, first, capacity, self.config.reuse);
            }
        }
    }

    /// These pending pages wait for `event` as well: they can be reused when every event has completed. Pages that
    /// are not pending are left alone.
    pub fn await_also(&mut self, band: BandId, pages: &[PhysicalPage], event: EventKey) {
        if !self.config.rules.on(Rule::ReuseAfterEveryEvent) {
            return;
        }
        let at = band.0 as usize;
        let waiting = self.bands[at].pending.iter().map(|(distance, _)| *distance);
        let chosen: Vec<u32> = waiting.filter(|distance| pages.contains(&self.page_at(band, *distance))).collect();
        for distance in chosen {
            self.bands[at].pend(distance, event);
        }
    }

    /// The pages that waited for `event`, and wait for no other, can be reused.
    pub fn event_completed(&mut self, event: EventKey) {
        for band in &mut self.bands {
            if band.pending.iter().all(|(_, key)| *key != event) {
                continue;
            }
            let fired = band.pending.extract_if(.., |(_, key)| *key == event).map(|(at, _)| at);
            let fired: Vec<u32> = fired.collect();
            for at in fired {
                if !band.is_pending(at) {
                    band.vacate(at, self.config.reuse);
                }
            }
        }
        self.settle();
    }

    /// Pages of the band that could be allocated now, without moving anything.
    #[must_use]
    pub fn available_now(&self, band: BandId) -> u32 {
        if self.is_chain() {
            return self.most(band, &|_, _| false);
        }
        let state = &self.bands[band.0 as usize];
        self.room(band, self.usable(state.holes.len()), state.span, self.gap())
    }

    /// Pages of the band that could be allocated if every page that `movable` admits were moved as planned.
    #[must_use]
    pub fn available(&self, band: BandId, movable: impl Fn(BandId, LogicalPage) -> bool) -> u32 {
        if self.is_chain() {
            return self.most(band, &movable);
        }
        let plan = self.plan(&movable);
        let mut spans = [0; MAX_BANDS];
        spans[..self.bands.len()].copy_from_slice(plan.spans());
        let at = band.0 as usize;
        let packed = self.room(band, self.usable(plan.holes()[at]), spans[at], self.gap_with(&spans));
        packed.max(self.available_now(band))
    }

    /// The most pages of the band that fit into the chain.
    fn most(&self, band: BandId, movable: &impl Fn(BandId, LogicalPage) -> bool) -> u32 {
        let at = band.0 as usize;
        let fits = |pages: u32| {
            let mut wanted = [0; MAX_BANDS];
            wanted[at] = pages;
            self.chain_fits(&wanted, movable)
        };
        let ids = match self.config.bands[at].ids {
            Ids::Own => self.bands[at].ids.len(),
            Ids::Of(_) => u32::MAX,
        };
        let (mut fit, mut not) = (0, self.capacity(band).min(ids) + 1);
        while not - fit > 1 {
            let middle = fit + (not - fit) / 2;
            if fits(middle) {
                fit = middle;
            } else {
                not = middle;
            }
        }
        fit
    }

    fn room(&self, band: BandId, holes: u32, span: u32, gap: u64) -> u32 {
        let at = band.0 as usize;
        let grow = (gap / self.config.bands[at].envelope).min(u64::from(self.capacity(band) - span)) as u32;
        let ids = match self.config.bands[at].ids {
            Ids::Own => self.bands[at].ids.len(),
            Ids::Of(_) => u32::MAX,
        };
        (holes + grow).min(ids)
    }
}
