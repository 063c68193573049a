//! The core's arena and the model side by side, over real bytes.

use crate::call::{Call, FLAGS, event, pages, requests};
use crate::model::Model;
use leasecheck_core::{
    Arena, ArenaConfig, BandId, EventKey, Gates, LogicalPage, PageError, PhysicalPage, Refusal, Request,
};
use leasecheck_naive::compare::{Contents, compare};
use std::rc::Rc;

/// Both, the bytes that the pages lie in, and the flags that gates watch.
pub struct Pair {
    /// The core's.
    pub arena: Arena,
    /// The naive one.
    pub model: Model,
    contents: Contents,
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
        let gates = Gates::new(masks.clone());
        let (arena, model) = (arena.ok()?, model?);
        let (before, contents) = (arena.clone(), Contents::new(&model));
        Some(Pair { arena, model, contents, before, calls: Vec::new(), gates, masks, raised: 0 })
    }

    /// Whether all gates are open.
    #[must_use]
    pub fn open(&self) -> bool {
        let raised = |mask: u64| (0..FLAGS).any(|flag| mask >> flag & 1 == 1 && self.raised >> flag & 1 == 1);
        let closed = (0..self.masks.len()).find(|gate| raised(self.masks[*gate]));
        assert_eq!(self.gates.closed(self.raised), closed);
        closed.is_none()
    }

    fn write(&mut self, band: u8, id: u32) {
        let Some(page) = self.arena.translate(BandId(band), LogicalPage(id)) else { panic!("page {id} has no place") };
        self.contents.write(&self.model, band, id, page.0);
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

    fn make_room(&mut self, asked: &[Request], pinned: &[u32]) {
        let open = self.open();
        let movable = |_: BandId, id: LogicalPage| open && !pinned.contains(&id.0);
        let plan = self.arena.plan_for(asked, &movable);
        let could = self.model.could_serve(asked, &movable);
        self.contents.carry_out(&self.model, plan.moves());
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
        self.contents.carry_out(&self.model, plan.moves());
        self.arena.commit(&plan, pend);
        self.model.commit(&planned, pend);
    }

    /// Compares everything that can be asked, and the bytes.
    pub fn compare(&self) {
        compare(&self.arena, &self.model, &self.contents);
    }

    /// Compares capacities, and what survives packing: asked once, at the end of a run.
    pub fn finish(&self) {
        if self.calls.is_empty() {
            self.compare();
        }
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
