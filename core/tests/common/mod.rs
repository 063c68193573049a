//! What several tests need: layouts to draw from, and a [`Lab`]: an arena with real bytes, in which every page
//! carries a tag that only it has, checked from first principles after every operation.

#![allow(dead_code, missing_docs)]

use leasecheck_core::*;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::{BTreeMap, BTreeSet};

pub const A: BandId = BandId(0);
pub const B: BandId = BandId(1);

/// So many cases, the same on every run; `PROPTEST_CASES` makes them fewer, for those who run the tests a thousand times.
pub fn cases(count: u32) -> ProptestConfig {
    let most = std::env::var("PROPTEST_CASES").ok().and_then(|most| most.parse().ok());
    let count = count.min(most.unwrap_or(count));
    let rng_seed = RngSeed::Fixed(0x1ea5_ec4e);
    ProptestConfig { cases: count, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

pub fn everything(_: BandId, _: LogicalPage) -> bool {
    true
}

pub fn band(name: &str, envelope: u64, grow: Grow, ids: Ids) -> BandConfig {
    BandConfig { name: name.into(), envelope, page_tokens: 4, layers: 1, grow, ids }
}

/// The design, with all rules on.
pub fn config(bytes: u64, bands: Vec<BandConfig>) -> ArenaConfig {
    let (reuse, planner) = (Reuse::AsDesigned, Planner::Minimal);
    ArenaConfig { bytes, bands, sink: false, reuse, permuted: false, planner, rules: Rules::all() }
}

/// A host arena: `a` grows up with envelope `a`, `b` down with envelope `b`.
pub fn two_ended(bytes: u64, a: u64, b: u64) -> ArenaConfig {
    config(bytes, vec![band("a", a, Grow::Up, Ids::Own), band("b", b, Grow::Down, Ids::Own)])
}

/// A device pool: `a` owns the ids, `b` binds them; a sink.
pub fn device(bytes: u64, a: u64, b: u64) -> ArenaConfig {
    let bands = vec![band("a", a, Grow::Up, Ids::Own), band("b", b, Grow::Down, Ids::Of(A))];
    ArenaConfig { sink: true, ..config(bytes, bands) }
}

pub fn reuses() -> impl Strategy<Value = Reuse> {
    prop_oneof![3 => Just(Reuse::AsDesigned), 1 => Just(Reuse::Never), 1 => Just(Reuse::AtOnce)]
}

pub fn planners() -> impl Strategy<Value = Planner> {
    prop_oneof![Just(Planner::Slide), Just(Planner::Minimal)]
}

/// Every kind of possible layout: one band or two, either order and direction, own or bound ids, envelopes that need
/// not divide each other or the arena, with and without a sink.
pub fn layouts() -> impl Strategy<Value = ArenaConfig> {
    let bands = (1_u64..24, 1_u64..24, any::<bool>(), 0_u8..4);
    let choices = (any::<bool>(), reuses(), any::<bool>(), planners());
    (40_u64..260, bands, choices).prop_filter_map("no room", |(bytes, (a, b, up, kind), choices)| {
        let (first, second) = if up { (Grow::Up, Grow::Down) } else { (Grow::Down, Grow::Up) };
        let mut bands = vec![band("a", a, first, Ids::Own)];
        match kind {
            0 => {}
            1 => bands.push(band("b", b, second, Ids::Of(A))),
            _ => bands.push(band("b", b, second, Ids::Own)),
        }
        let (sink, reuse, permuted, planner) = choices;
        let layout = ArenaConfig { sink, reuse, permuted, planner, ..config(bytes, bands) };
        Arena::new(layout.clone()).ok().map(|_| layout)
    })
}

/// What to do next, in numbers that every layout can make sense of.
#[derive(Clone, Debug)]
pub enum Op {
    Allocate(Vec<(u8, u32)>),
    /// Free or, in a band that binds ids, release: these of the live pages, after that event.
    Free(u8, Vec<u16>, Option<u32>),
    Bind(Vec<u16>),
    Clear(u8),
    Fire(u32),
    /// Compact; pages whose id has a bit in the mask are pinned; moved-from pages pend on the event.
    Compact(u8, u32, Option<u32>),
}

pub fn events() -> impl Strategy<Value = Option<u32>> {
    prop_oneof![2 => Just(None), 1 => (0_u32..3).prop_map(Some)]
}

pub fn ops() -> impl Strategy<Value = Op> {
    let pages = prop_oneof![8 => 0_u32..6, 1 => 6_u32..40];
    prop_oneof![
        6 => prop::collection::vec((0_u8..2, pages), 1..4).prop_map(Op::Allocate),
        5 => (0_u8..2, prop::collection::vec(any::<u16>(), 1..5), events()).prop_map(|(b, p, e)| Op::Free(b, p, e)),
        2 => prop::collection::vec(any::<u16>(), 1..4).prop_map(Op::Bind),
        1 => (0_u8..12).prop_map(Op::Clear),
        2 => (0_u32..3).prop_map(Op::Fire),
        3 => (0_u8..3, any::<u32>(), events()).prop_map(|(b, pins, e)| Op::Compact(b, pins & pins >> 7, e)),
    ]
}

pub fn pinned(pins: u32, id: LogicalPage) -> bool {
    pins >> (id.0 % 32) & 1 == 1
}

#[derive(Clone)]
pub struct Lab {
    pub arena: Arena,
    pub bytes: Vec<u8>,
    pub tags: BTreeMap<(BandId, LogicalPage), u64>,
    next_tag: u64,
}

impl Lab {
    pub fn new(config: ArenaConfig) -> Lab {
        let bytes = vec![0; config.bytes as usize];
        Lab { arena: Arena::new(config).unwrap(), bytes, tags: BTreeMap::new(), next_tag: 1 }
    }

    pub fn range(&self, band: BandId, page: PhysicalPage) -> std::ops::Range<usize> {
        let envelope = self.arena.config().bands[band.0 as usize].envelope as usize;
        let start = page.0 as usize * envelope;
        start..start + envelope
    }

    fn content(tag: u64, offset: usize) -> u8 {
        (tag.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(offset as u32 * 7) >> 32) as u8
    }

    pub fn write(&mut self, band: BandId, id: LogicalPage) {
        let tag = self.next_tag;
        self.next_tag += 1;
        let range = self.range(band, self.arena.translate(band, id).unwrap());
        for (offset, byte) in self.bytes[range].iter_mut().enumerate() {
            *byte = Lab::content(tag, offset);
        }
        self.tags.insert((band, id), tag);
    }

    /// Does what the operation says, as far as it makes sense here, and checks everything that must hold.
    pub fn run(&mut self, op: &Op) {
        let bands = self.arena.config().bands.len() as u8;
        match op {
            Op::Allocate(parts) => {
                let part = |(band, pages): &(u8, u32)| Request { band: BandId(band % bands), pages: *pages };
                self.allocate(&parts.iter().map(part).collect::<Vec<_>>());
            }
            Op::Free(band, picks, after) => {
                let band = BandId(band % bands);
                let ids = self.pick(band, picks);
                let releases = self.arena.config().bands[band.0 as usize].ids != Ids::Own;
                let freed = if releases {
                    self.arena.tombstone(band, &ids, after.map(EventKey))
                } else {
                    self.arena.free(band, &ids, after.map(EventKey))
                };
                freed.unwrap();
                let bound = !releases && self.binds_ids();
                self.tags.retain(|(at, id), _| !(ids.contains(id) && (*at == band || bound)));
            }
            Op::Bind(picks) if self.binds_ids() => {
                let mut ids = self.pick(A, picks);
                ids.retain(|id| self.arena.translate(B, *id).is_none());
                let free = self.arena.available_now(B);
                let before = self.arena.clone();
                if self.arena.bind(B, &ids).is_ok() {
                    assert!(ids.len() as u32 <= free);
                    ids.iter().for_each(|id| self.write(B, *id));
                } else {
                    assert!(ids.len() as u32 > free, "{} pages are available, {} did not fit", free, ids.len());
                    assert!(before == self.arena, "a refused binding changed the arena");
                }
            }
            Op::Bind(_) => {}
            Op::Clear(band) if *band < bands => {
                let band = BandId(*band);
                self.arena.clear(band);
                let bound = band == A && self.binds_ids();
                self.tags.retain(|(at, _), _| *at != band && !bound);
            }
            Op::Clear(_) => {}
            Op::Fire(event) => self.arena.event_completed(EventKey(*event)),
            Op::Compact(band, pins, pend) => {
                let movable = |_: BandId, id: LogicalPage| !pinned(*pins, id);
                let plan = if *band < bands {
                    self.arena.plan_one(BandId(*band), &movable)
                } else {
                    self.arena.plan(&movable)
                };
                self.execute(&plan, pend.map(EventKey));
            }
        }
        self.check();
    }

    /// Whether the second band binds the first one's ids.
    pub fn binds_ids(&self) -> bool {
        self.arena.config().bands.get(1).is_some_and(|band| band.ids != Ids::Own)
    }

    /// Different live pages of the band, one for each number.
    pub fn pick(&self, band: BandId, picks: &[u16]) -> Vec<LogicalPage> {
        let mut live: Vec<LogicalPage> = self.arena.placements(band).map(|(id, _)| id).collect();
        let take = |pick: &u16| (!live.is_empty()).then(|| live.swap_remove(*pick as usize % live.len()));
        picks.iter().map_while(take).collect()
    }

    /// Allocates (all or nothing) and writes a new tag into every page.
    pub fn allocate(&mut self, requests: &[Request]) -> Option<Vec<Vec<LogicalPage>>> {
        let before = self.arena.clone();
        match self.arena.allocate(requests) {
            Ok(granted) => {
                assert_eq!(granted.len(), requests.len());
                for (request, ids) in requests.iter().zip(&granted) {
                    assert_eq!(ids.len(), request.pages as usize);
                    for id in ids {
                        assert!(before.translate(request.band, *id).is_none(), "page {id} was live already");
                        assert!(!self.tags.contains_key(&(request.band, *id)), "page {id} handed out twice");
                        self.write(request.band, *id);
                    }
                }
                Some(granted)
            }
            Err(_) => {
                assert!(before == self.arena, "a refused allocation changed the arena");
                None
            }
        }
    }

    /// Copies the bytes, one move after the other, and commits.
    pub fn execute(&mut self, plan: &Plan, pend: Option<EventKey>) {
        let envelopes: Vec<u64> = self.arena.config().bands.iter().map(|band| band.envelope).collect();
        for step in plan.moves() {
            let envelope = envelopes[step.band.0 as usize] as usize;
            let from = step.from.0 as usize * envelope;
            self.bytes.copy_within(from..from + envelope, step.to.0 as usize * envelope);
        }
        let before: Vec<(BandId, LogicalPage)> = self.tags.keys().copied().collect();
        self.arena.commit(plan, pend);
        let bands = (0..envelopes.len() as u8).map(BandId);
        let after: Vec<(BandId, LogicalPage)> =
            bands.flat_map(|band| self.arena.placements(band).map(move |(id, _)| (band, id))).collect();
        assert_eq!(before, after, "a compaction keeps ids");
    }

    pub fn distance(&self, band: BandId, page: PhysicalPage) -> u32 {
        match self.arena.config().bands[band.0 as usize].grow {
            Grow::Up | Grow::Float => page.0 - self.arena.first_page(band).0,
            Grow::Down => self.arena.pages(band) - 1 - page.0,
        }
    }

    /// Contents, disjointness, conservation, watermarks and frontiers.
    pub fn check(&self) {
        let arena = &self.arena;
        let reuse = arena.config().reuse;
        let mut owner_of_byte = vec![None; self.bytes.len()];
        let sink = if arena.config().sink { arena.config().bands.iter().map(|band| band.envelope).max() } else { None };
        let (mut low, mut high) = (0, self.bytes.len() as u64);
        for (band, config) in arena.bands() {
            let mut occupied = BTreeSet::new();
            let live: Vec<(LogicalPage, PhysicalPage)> = arena.placements(band).collect();
            for (id, page) in &live {
                let range = self.range(band, *page);
                assert!(range.start as u64 >= sink.unwrap_or(0), "page {id} lies in the sink");
                let tag = self.tags.get(&(band, *id)).unwrap_or_else(|| panic!("page {id} came from nowhere"));
                for (offset, at) in range.enumerate() {
                    assert_eq!(self.bytes[at], Lab::content(*tag, offset), "content of {id} in {band}");
                    assert_eq!(owner_of_byte[at].replace((band, *id)), None, "two pages at byte {at}");
                }
                assert!(occupied.insert(self.distance(band, *page)));
                assert_eq!(arena.translate(band, *id), Some(*page));
            }
            for (page, _) in arena.pending(band) {
                for at in self.range(band, page) {
                    assert_eq!(owner_of_byte[at].replace((band, LogicalPage(u32::MAX))), None, "byte {at} is pending");
                }
                assert!(occupied.insert(self.distance(band, page)));
            }
            let pending = arena.pending(band).count() as u32;
            let tags = self.tags.keys().filter(|(at, _)| *at == band).count();
            assert_eq!(live.len(), tags, "a page got lost");
            assert_eq!(arena.live(band) as usize, live.len());
            let span = arena.span(band);
            assert!(span <= arena.capacity(band));
            assert_eq!(arena.live(band) + arena.holes(band) + pending + arena.retired(band), span, "conservation");
            assert!(reuse == Reuse::Never || arena.retired(band) == 0);
            assert!(reuse != Reuse::Never || arena.holes(band) == 0);
            if config.grow == Grow::Float {
                let extent = arena.extent(band);
                assert_eq!(extent.len() as u32, span);
                if reuse != Reuse::Never && span > 0 {
                    let first = arena.first_page(band).0;
                    assert!(occupied.contains(&(extent.start - first)), "the lower frontier lies over a hole");
                    assert!(occupied.contains(&(extent.end - 1 - first)), "the upper frontier lies over a hole");
                }
            } else if reuse != Reuse::Never && span > 0 {
                assert!(occupied.contains(&(span - 1)), "the frontier lies over a hole");
            }
            if config.ids == Ids::Own && reuse != Reuse::Never {
                let free: BTreeSet<LogicalPage> = arena.free_ids(band).collect();
                assert_eq!(free.len() + live.len(), arena.capacity(band) as usize, "ids");
                assert!(live.iter().all(|(id, _)| !free.contains(id)));
            }
            // The frontier in bytes, from the watermark alone.
            match config.grow {
                Grow::Up => {
                    assert_eq!(arena.watermark(band), i64::from(arena.first_page(band).0 + span));
                    low = arena.watermark(band) as u64 * config.envelope;
                }
                Grow::Down => {
                    assert_eq!(arena.watermark(band), i64::from(arena.pages(band)) - 1 - i64::from(span));
                    high = (arena.watermark(band) + 1) as u64 * config.envelope;
                }
                Grow::Float => {}
            }
        }
        // In a chain, a band without pages takes no bytes, also none that its grid cannot reach.
        assert!(
            low <= high || arena.is_chain() || arena.bands().all(|(band, _)| arena.span(band) == 0),
            "frontiers cross: {low} > {high}"
        );
    }
}
