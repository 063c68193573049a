//! The core's arena and the model side by side, over real bytes.

use crate::call::{Call, FLAGS, event, pages, requests};
use crate::model::Model;
use leasecheck_core::{Arena, ArenaConfig, BandId, EventKey, Gates, Grow, LogicalPage, PhysicalPage, SINK};

/// Both, the bytes that the pages lie in, and the flags that gates watch.
pub struct Pair {
    /// The core's.
    pub arena: Arena,
    /// The naive one.
    pub model: Model,
    bytes: Vec<u8>,
    /// By band and id: what was last written to the page.
    contents: [Vec<u8>; 2],
    written: u8,
    /// The arena before the last call.
    before: Arena,
    calls: Vec<Call>,
    gates: Gates,
    masks: Vec<u64>,
    raised: u64,
}

impl Pair {
    /// Both empty; no pages may move while a gate is closed, which are given as masks of flags. `None` if both say
    /// that the layout is impossible.
    #[must_use]
    pub fn new(config: &ArenaConfig, masks: Vec<u64>) -> Option<Pair> {
        let (arena, model) = (Arena::new(config.clone()), Model::new(config));
        assert_eq!(arena.is_ok(), model.is_some(), "{arena:?}");
        let bytes = vec![0; config.bytes as usize];
        let gates = Gates::new(masks.clone());
        let (arena, model) = (arena.ok()?, model?);
        let (before, contents) = (arena.clone(), [0, 1].map(|_| vec![0; bytes.len()]));
        let pair =
            Pair { arena, model, bytes, contents, written: 0, before, calls: Vec::new(), gates, masks, raised: 0 };
        pair.compare();
        Some(pair)
    }

    /// Whether all gates are open.
    #[must_use]
    pub fn open(&self) -> bool {
        let raised = |mask: u64| (0..FLAGS).any(|flag| mask >> flag & 1 == 1 && self.raised >> flag & 1 == 1);
        let closed = (0..self.masks.len()).find(|gate| raised(self.masks[*gate]));
        assert_eq!(self.gates.closed(self.raised), closed);
        closed.is_none()
    }

    fn page(&self, band: u8, page: u32) -> std::ops::Range<usize> {
        let envelope = self.model.config().bands[usize::from(band)].envelope as usize;
        page as usize * envelope..(page as usize + 1) * envelope
    }

    fn write(&mut self, band: u8, id: u32) {
        let Some(page) = self.arena.translate(BandId(band), LogicalPage(id)) else { panic!("page {id} has no place") };
        self.written = self.written.wrapping_add(1);
        let bytes = self.page(band, page.0);
        self.bytes[bytes].fill(self.written);
        self.contents[usize::from(band)][id as usize] = self.written;
    }

    /// Makes the call on both and compares what they answer. A refused call must change nothing.
    pub fn make(&mut self, call: Call) {
        self.before.clone_from(&self.arena);
        self.calls.push(call.clone());
        let call = &call;
        let refused = match call {
            Call::Allocate(parts) => {
                let granted = self.arena.allocate(&requests(parts));
                assert_eq!(granted, self.model.allocate(&requests(parts)), "{call:?}");
                for ((band, _), ids) in parts.iter().zip(granted.iter().flatten()) {
                    ids.iter().for_each(|id| self.write(*band, id.0));
                }
                granted.is_err()
            }
            Call::Free { band, ids, after } => {
                let (band, ids, after) = (BandId(*band), pages(ids), event(*after));
                let freed = self.arena.free(band, &ids, after);
                assert_eq!(freed, self.model.free(band, &ids, after), "{call:?}");
                freed.is_err()
            }
            Call::Tombstone { band, ids, after } => {
                let (band, ids, after) = (BandId(*band), pages(ids), event(*after));
                let released = self.arena.tombstone(band, &ids, after);
                assert_eq!(released, self.model.tombstone(band, &ids, after), "{call:?}");
                released.is_err()
            }
            Call::Bind { band, ids } => {
                let (band, ids) = (BandId(*band), pages(ids));
                let bound = self.arena.bind(band, &ids);
                assert_eq!(bound, self.model.bind(band, &ids), "{call:?}");
                if bound.is_ok() {
                    ids.iter().for_each(|id| self.write(band.0, id.0));
                }
                bound.is_err()
            }
            Call::Clear(band) => {
                self.arena.clear(BandId(*band));
                self.model.clear(BandId(*band));
                false
            }
            Call::Complete(event) => {
                self.arena.event_completed(EventKey(*event));
                self.model.event_completed(EventKey(*event));
                false
            }
            Call::Compact { only, pinned, pend } => {
                self.compact(only.map(BandId), pinned, event(*pend));
                false
            }
            Call::Flag(flag, up) => {
                self.raised = if *up { self.raised | 1 << flag } else { self.raised & !(1 << flag) };
                false
            }
        };
        assert!(!refused || self.arena == self.before, "{call:?} was refused and changed the arena");
        self.compare();
    }

    fn compact(&mut self, only: Option<BandId>, pinned: &[u32], pend: Option<EventKey>) {
        let open = self.open();
        let movable = |_: BandId, id: LogicalPage| open && !pinned.contains(&id.0);
        let plan = match only {
            Some(band) => self.arena.plan_one(band, &movable),
            None => self.arena.plan(&movable),
        };
        let planned = self.model.plan(only, &movable);
        assert_eq!(plan.moves(), planned.moves);
        assert!(open || planned.moves.is_empty());
        for band in self.model.bands() {
            let at = usize::from(band);
            assert_eq!(plan.spans()[at], planned.after.span(band), "span of band {band} after the plan");
            assert_eq!(plan.holes()[at], planned.after.holes(band).len() as u32, "holes of band {band} after the plan");
        }
        for step in plan.moves() {
            let (from, to) = (self.page(step.band.0, step.from.0), self.page(step.band.0, step.to.0));
            self.bytes.copy_within(from, to.start);
        }
        self.arena.commit(&plan, pend);
        self.model.commit(&planned, pend);
    }

    /// Compares everything that can be asked, and the bytes.
    pub fn compare(&self) {
        let (arena, model) = (&self.arena, &self.model);
        for at in model.bands() {
            let (band, mut view) = (BandId(at), model.view(at));
            assert_eq!((arena.pages(band), arena.first_page(band)), (model.pages(at), PhysicalPage(model.first(at))));
            assert_eq!(arena.span(band), view.span, "span of band {band}");
            let up = arena.config().bands[usize::from(at)].grow == Grow::Up;
            let watermark = if up { model.first(at) + view.span } else { model.pages(at) - view.span };
            assert_eq!(arena.watermark(band), i64::from(watermark) - i64::from(!up));
            assert_eq!(arena.holes(band), view.holes.len() as u32, "holes of band {band}");
            assert_eq!(arena.retired(band), view.retired, "retired pages of band {band}");
            let pending = arena.pending(band).map(|(page, event)| (page.0, event.0));
            assert!(pending.eq(view.pending), "pending pages of band {band}");
            assert!(arena.free_ids(band).map(|id| id.0).eq(model.free_ids(at)), "free ids of band {band}");
            view.live.sort_unstable();
            assert_eq!(arena.live(band), view.live.len() as u32, "live pages of band {band}");
            let placed = arena.placements(band).map(|(id, page)| (id.0, page.0));
            assert!(placed.eq(view.live.iter().copied()), "placements in band {band}");
            for (id, page) in view.live {
                let content = self.contents[usize::from(at)][id as usize];
                assert!(self.bytes[self.page(at, page)].iter().all(|byte| *byte == content), "content of page {id}");
                assert_eq!(arena.translate_or_sink(band, LogicalPage(id)), PhysicalPage(page));
            }
        }
        assert_eq!(arena.translate_or_sink(BandId(0), LogicalPage(u32::MAX)), SINK);
    }

    /// Compares capacities, and what survives packing: asked once, at the end of a run.
    pub fn finish(&self) {
        assert_eq!(self.arena.gap(), self.model.gap(), "gap");
        for band in self.model.bands() {
            assert_eq!(self.arena.available_now(BandId(band)), self.model.available(band), "room in band {band}");
        }
        let mut packed = Vec::new();
        self.arena.pack(&mut packed);
        let mut again = self.arena.emptied();
        assert!(again.unpack(&packed).is_empty() && again == self.arena, "packed and unpacked");
    }
}

impl Drop for Pair {
    /// A failure comes with the calls that led to it.
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("layout: {:?}\ngates: {:?}", self.model.config(), self.masks);
            for call in &self.calls {
                eprintln!("{}", serde_json::to_string(call).unwrap_or_default());
            }
        }
    }
}
