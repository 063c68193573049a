//! The core's arena and the model side by side, over real bytes.

use crate::call::{Call, FLAGS, event, pages, requests};
use crate::model::Model;
use leasecheck_core::{
    Arena, ArenaConfig, BandId, EventKey, Gates, Grow, LogicalPage, Move, PageError, PhysicalPage, Refusal, Request,
    SINK,
};
use std::rc::Rc;

/// Both, the bytes that the pages lie in, and the flags that gates watch.
pub struct Pair {
    /// The core's.
    pub arena: Arena,
    /// The naive one.
    pub model: Model,
    bytes: Vec<u8>,
    /// By band and id: what was last written to the page.
    contents: Vec<u8>,
    written: u8,
    /// The arena before the last call.
    before: Arena,
    calls: Vec<Rc<Call>>,
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
        let (before, contents) = (arena.clone(), vec![0; bytes.len() * config.bands.len()]);
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

    fn content(&self, band: u8, id: u32) -> usize {
        usize::from(band) * self.bytes.len() + id as usize
    }

    fn write(&mut self, band: u8, id: u32) {
        let Some(page) = self.arena.translate(BandId(band), LogicalPage(id)) else { panic!("page {id} has no place") };
        self.written = self.written.wrapping_add(1);
        let bytes = self.page(band, page.0);
        self.bytes[bytes].fill(self.written);
        let at = self.content(band, id);
        self.contents[at] = self.written;
    }

    /// Makes the call on both and compares what they answer. A refused call must change nothing.
    pub fn make(&mut self, call: Call) {
        let call = Rc::new(call);
        self.calls.push(Rc::clone(&call));
        if let Call::Allocate(_) | Call::Free { .. } | Call::Tombstone { .. } | Call::Bind { .. } = &*call {
            self.before.clone_from(&self.arena);
        }
        let refused = match &*call {
            Call::Allocate(parts) => {
                let granted = self.allocate(&requests(parts));
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
                let bound = self.bind(band, &ids);
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
            Call::MakeRoom { wanted, pinned } => {
                self.make_room(&requests(wanted), pinned);
                false
            }
            Call::AwaitAlso { band, pages, event } => {
                let (band, event) = (BandId(*band), EventKey(*event));
                let pages: Vec<PhysicalPage> = pages.iter().copied().map(PhysicalPage).collect();
                self.arena.await_also(band, &pages, event);
                self.model.await_also(band, &pages, event);
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

    fn allocate(&mut self, asked: &[Request]) -> Result<Vec<Vec<LogicalPage>>, Refusal> {
        let fits = self.model.is_chain().then(|| self.model.could_serve(asked, &|_, _| false));
        let granted = self.arena.allocate(asked);
        let Some(fits) = fits else {
            assert_eq!(granted, self.model.allocate(asked), "{asked:?}");
            return granted;
        };
        match (&granted, self.model.totals(asked)) {
            (Ok(ids), Ok(_)) if fits => {
                let place = |band: u8, id: u32| place(&self.arena, band, id);
                self.model.granted(asked, ids, &place);
            }
            // How many bytes are missing is for people.
            (Err(Refusal::Bytes { .. }), Ok(_)) if !fits => {}
            (Err(refusal), Err(expected)) => assert_eq!(*refusal, expected, "{asked:?}"),
            (granted, _) => panic!("{asked:?}: {granted:?}, and there is {}room", if fits { "" } else { "no " }),
        }
        granted
    }

    fn bind(&mut self, band: BandId, ids: &[LogicalPage]) -> Result<(), PageError> {
        let bound = self.arena.bind(band, ids);
        if !self.model.is_chain() {
            assert_eq!(bound, self.model.bind(band, ids), "{ids:?}");
            return bound;
        }
        let sense = self.model.check_bind(band, ids);
        let fits = sense.is_ok() && {
            let mut wanted = vec![0; self.model.config().bands.len()];
            wanted[usize::from(band.0)] = ids.len() as u32;
            self.model.has_room(&wanted, &|_, _| false)
        };
        match (bound, sense) {
            (Ok(()), Ok(())) if fits => {
                let place = |band: u8, id: u32| place(&self.arena, band, id);
                self.model.bound(band, ids, &place);
            }
            (Err(PageError::Full(Refusal::Bytes { .. })), Ok(())) if !fits => {}
            (bound, sense) => {
                assert!(
                    bound.is_err() && bound == sense,
                    "{ids:?}: {bound:?}, and there is {}room",
                    if fits { "" } else { "no " }
                );
            }
        }
        bound
    }

    fn carry_out(&mut self, moves: &[Move]) {
        for step in moves {
            let (from, to) = (self.page(step.band.0, step.from.0), self.page(step.band.0, step.to.0));
            self.bytes.copy_within(from, to.start);
        }
    }

    fn make_room(&mut self, asked: &[Request], pinned: &[u32]) {
        let open = self.open();
        let movable = |_: BandId, id: LogicalPage| open && !pinned.contains(&id.0);
        let plan = self.arena.plan_for(asked, &movable);
        let could = self.model.could_serve(asked, &movable);
        self.carry_out(plan.moves());
        let mut after = self.model.clone();
        after.moved(plan.moves(), &movable);
        for band in self.model.bands() {
            let at = usize::from(band);
            assert_eq!(plan.spans()[at], after.span(band), "span of band {band} after the plan");
            assert_eq!(plan.holes()[at], after.holes(band).len() as u32, "holes of band {band} after the plan");
        }
        assert_eq!(could, after.could_serve(asked, &|_, _| false), "room was made for {asked:?}");
        self.model = after;
        self.arena.commit(&plan, None);
    }

    fn compact(&mut self, only: Option<BandId>, pinned: &[u32], pend: Option<EventKey>) {
        let open = self.open();
        let movable = |_: BandId, id: LogicalPage| open && !pinned.contains(&id.0);
        let plan = match only {
            Some(band) => self.arena.plan_one(band, &movable),
            None => self.arena.plan(&movable),
        };
        let planned = self.model.plan(only, &movable);
        assert_eq!(plan.moves(), planned.moves.as_slice());
        assert!(open || planned.moves.is_empty());
        for band in self.model.bands() {
            let at = usize::from(band);
            assert_eq!(plan.spans()[at], planned.after.span(band), "span of band {band} after the plan");
            assert_eq!(plan.holes()[at], planned.after.holes(band).len() as u32, "holes of band {band} after the plan");
        }
        self.carry_out(plan.moves());
        self.arena.commit(&plan, pend);
        self.model.commit(&planned, pend);
    }

    /// Compares everything that can be asked, and the bytes.
    pub fn compare(&self) {
        let (arena, model) = (&self.arena, &self.model);
        for at in model.bands() {
            let (band, mut view) = (BandId(at), model.view(at));
            assert_eq!((arena.pages(band), arena.first_page(band)), (model.pages(at), PhysicalPage(model.first(at))));
            assert_eq!(arena.span(band), view.span - view.base, "span of band {band}");
            let (extent, expected) = (arena.extent(band), model.extent(at));
            assert!(extent == expected || extent.is_empty() && expected.is_empty(), "extent of band {band}");
            let up = arena.config().bands[usize::from(at)].grow != Grow::Down;
            let watermark = if up { model.first(at) + view.span } else { model.pages(at) - view.span };
            assert_eq!(arena.watermark(band), i64::from(watermark) - i64::from(!up));
            assert_eq!(arena.holes(band), view.holes.len() as u32, "holes of band {band}");
            assert_eq!(arena.retired(band), view.retired, "retired pages of band {band}");
            let pending = arena.pending(band).map(|(page, event)| (page.0, event.0));
            assert!(pending.eq(view.pending.iter().copied()), "pending pages of band {band}");
            view.pending.dedup_by_key(|(page, _)| *page);
            assert_eq!(arena.pending_pages(band), view.pending.len() as u32, "how many pages of band {band} wait");
            assert!(arena.free_ids(band).map(|id| id.0).eq(model.free_ids(at)), "free ids of band {band}");
            view.live.sort_unstable();
            assert_eq!(arena.live(band), view.live.len() as u32, "live pages of band {band}");
            let placed = arena.placements(band).map(|(id, page)| (id.0, page.0));
            assert!(placed.eq(view.live.iter().copied()), "placements in band {band}");
            for (id, page) in view.live {
                let content = self.contents[self.content(at, id)];
                assert!(self.bytes[self.page(at, page)].iter().all(|byte| *byte == content), "content of page {id}");
                assert_eq!(arena.translate_or_sink(band, LogicalPage(id)), PhysicalPage(page));
            }
        }
        assert_eq!(arena.translate_or_sink(BandId(0), LogicalPage(u32::MAX)), SINK);
        model.check_extents();
    }

    /// Compares capacities, and what survives packing: asked once, at the end of a run.
    pub fn finish(&self) {
        let (gap, chain) = (self.model.gap(), self.model.is_chain());
        // A float that lies where the ends cannot reach leaves bytes that no frontier bounds.
        assert!(self.arena.gap() == gap || chain && self.arena.gap() <= gap, "gap");
        for band in self.model.bands() {
            let most = if chain { self.model.most(band, &|_, _| false) } else { self.model.available(band) };
            assert_eq!(self.arena.available_now(BandId(band)), most, "room in band {band}");
        }
        let mut packed = Vec::new();
        self.arena.pack(&mut packed);
        let mut again = self.arena.emptied();
        assert!(again.unpack(&packed).is_empty() && again == self.arena, "packed and unpacked");
    }
}

fn place(arena: &Arena, band: u8, id: u32) -> u32 {
    arena.translate(BandId(band), LogicalPage(id)).map_or(u32::MAX, |page| page.0)
}

impl Drop for Pair {
    /// A failure comes with the calls that led to it.
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("layout: {:?}\ngates: {:?}", self.model.config(), self.masks);
            for call in &self.calls {
                eprintln!("{}", serde_json::to_string(&**call).unwrap_or_default());
            }
        }
    }
}
