//! The device pool against naive maps: two bands, one space of ids, a sink. Allocating with and without a binding,
//! binding later, tombstones, frees (also after an event), events, compactions that pend what they moved from.
//!
//! The model knows only which distance from the end of a band is whose, and hands out the lowest that is nobody's: no
//! watermark, no list of holes. Both bands' placements, pending pages and free ids are compared after every call; a
//! page that is not bound translates to the sink; |virtual| and |physical| may differ in either direction.
//!
//! Not checked: contents (`stress.rs`), admission (`admission.rs`), other reuse policies.

use crate::common::*;
use leasecheck_core::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
enum Call {
    Allocate(u32, u32),
    Bind(Vec<u16>),
    Tombstone(Vec<u16>, Option<u32>),
    Free(Vec<u16>, Option<u32>),
    Complete(u32),
    Flush(u32, Option<u32>),
    Clear(bool),
    /// Ids that are mostly wrong: dead, unbound, named twice.
    Wrong(Vec<u32>),
}

fn calls() -> impl Strategy<Value = Call> {
    let picks = || prop::collection::vec(any::<u16>(), 1..4);
    prop_oneof![
        6 => (0_u32..5, 0_u32..5).prop_map(|(ids, bound)| Call::Allocate(ids, bound)),
        3 => picks().prop_map(Call::Bind),
        4 => (picks(), events()).prop_map(|(picks, after)| Call::Tombstone(picks, after)),
        4 => (picks(), events()).prop_map(|(picks, after)| Call::Free(picks, after)),
        3 => (0_u32..3).prop_map(Call::Complete),
        2 => (any::<u32>(), events()).prop_map(|(pins, pend)| Call::Flush(pins & pins >> 5, pend)),
        1 => any::<bool>().prop_map(Call::Clear),
        2 => prop::collection::vec(0_u32..30, 1..4).prop_map(Call::Wrong),
    ]
}

#[derive(Clone, Default)]
struct Pages {
    live: BTreeMap<u32, u32>,
    pending: BTreeMap<u32, u32>,
}

impl Pages {
    fn lowest(&self) -> u32 {
        (0..).find(|at| !self.pending.contains_key(at) && !self.live.values().any(|other| other == at)).unwrap()
    }

    fn span(&self) -> u32 {
        self.live.values().chain(self.pending.keys()).max().map_or(0, |at| at + 1)
    }

    fn vacate(&mut self, id: u32, after: Option<u32>) {
        if let Some(at) = self.live.remove(&id)
            && let Some(event) = after
        {
            self.pending.insert(at, event);
        }
    }
}

struct Model {
    full: Pages,
    swa: Pages,
    free_ids: BTreeSet<u32>,
    all_ids: BTreeSet<u32>,
}

impl Model {
    /// Whether the frontiers, in bytes, still leave each other alone.
    fn fits(&self, arena: &Arena) -> bool {
        let envelope = |band: BandId| arena.config().bands[band.0 as usize].envelope;
        let low = u64::from(arena.first_page(A).0 + self.full.span()) * envelope(A);
        let high = i64::from(arena.pages(B)) - i64::from(self.swa.span());
        let inside = self.full.span() <= arena.capacity(A) && self.swa.span() <= arena.capacity(B);
        inside && low as i64 <= high * envelope(B) as i64
    }

    fn pick(pages: &Pages, picks: &[u16]) -> Vec<u32> {
        let mut live: Vec<u32> = pages.live.keys().copied().collect();
        picks
            .iter()
            .map_while(|pick| (!live.is_empty()).then(|| live.swap_remove(*pick as usize % live.len())))
            .collect()
    }
}

fn ids(ids: &[u32]) -> Vec<LogicalPage> {
    ids.iter().copied().map(LogicalPage).collect()
}

fn run(arena: &mut Arena, model: &mut Model, call: &Call) {
    let before = arena.clone();
    match call {
        Call::Allocate(wanted, bound) => {
            let (full, swa, free) = (model.full.clone(), model.swa.clone(), model.free_ids.clone());
            let mut fits = *bound <= *wanted && *wanted as usize <= free.len();
            let mut granted = Vec::new();
            for _ in 0..if fits { *wanted } else { 0 } {
                let (id, at) = (model.free_ids.pop_first().unwrap(), model.full.lowest());
                model.full.live.insert(id, at);
                granted.push(id);
            }
            // The last ids are bound.
            for id in granted.iter().skip(wanted.saturating_sub(*bound) as usize) {
                let at = model.swa.lowest();
                model.swa.live.insert(*id, at);
            }
            fits &= model.fits(arena) || wanted + bound == 0;
            let requests = [Request { band: A, pages: *wanted }, Request { band: B, pages: *bound }];
            match arena.allocate(&requests) {
                Ok(result) => {
                    assert!(fits);
                    assert_eq!(result[0], ids(&granted));
                    assert_eq!(result[1], ids(&granted[(wanted - bound) as usize..]));
                }
                Err(refusal) => {
                    assert!(!fits, "{refusal}");
                    assert!(*arena == before);
                    (model.full, model.swa, model.free_ids) = (full, swa, free);
                }
            }
        }
        Call::Bind(picks) => {
            let wanted = Model::pick(&model.full, picks);
            let swa = model.swa.clone();
            let bound = wanted.iter().find(|id| model.swa.live.contains_key(id));
            if let Some(bound) = bound {
                let error = PageError::AlreadyBound(B, LogicalPage(*bound));
                assert_eq!(arena.bind(B, &ids(&wanted)), Err(error));
                assert!(*arena == before);
                return;
            }
            for id in &wanted {
                let at = model.swa.lowest();
                model.swa.live.insert(*id, at);
            }
            if wanted.is_empty() || model.fits(arena) {
                assert_eq!(arena.bind(B, &ids(&wanted)), Ok(()));
            } else {
                assert!(matches!(arena.bind(B, &ids(&wanted)), Err(PageError::Full(_))));
                assert!(*arena == before);
                model.swa = swa;
            }
        }
        Call::Tombstone(picks, after) => {
            let wanted = Model::pick(&model.swa, picks);
            assert_eq!(arena.tombstone(B, &ids(&wanted), after.map(EventKey)), Ok(()));
            wanted.iter().for_each(|id| model.swa.vacate(*id, *after));
        }
        Call::Free(picks, after) => {
            let wanted = Model::pick(&model.full, picks);
            assert_eq!(arena.free(A, &ids(&wanted), after.map(EventKey)), Ok(()));
            for id in wanted {
                model.full.vacate(id, *after);
                model.swa.vacate(id, *after);
                model.free_ids.insert(id);
            }
        }
        Call::Complete(event) => {
            arena.event_completed(EventKey(*event));
            model.full.pending.retain(|_, other| other != event);
            model.swa.pending.retain(|_, other| other != event);
        }
        Call::Flush(pins, pend) => {
            // The plan is `planners.rs`'s business; here: tables and pending pages follow it.
            let plan = arena.plan(&|_, id| !pinned(*pins, id));
            for step in plan.moves() {
                let pages = if step.band == A { &mut model.full } else { &mut model.swa };
                let distance = |page: PhysicalPage| match step.band {
                    A => page.0 - before.first_page(A).0,
                    _ => before.pages(B) - 1 - page.0,
                };
                let (from, to) = (distance(step.from), distance(step.to));
                assert!(!pages.pending.contains_key(&to) && !pages.live.values().any(|at| *at == to));
                assert_eq!(pages.live.insert(step.id.0, to), Some(from));
                if let Some(event) = pend {
                    pages.pending.insert(from, *event);
                }
            }
            arena.commit(&plan, pend.map(EventKey));
        }
        Call::Clear(full) => {
            arena.clear(if *full { A } else { B });
            model.swa = Pages::default();
            if *full {
                model.full = Pages::default();
                model.free_ids = model.all_ids.clone();
            }
        }
        Call::Wrong(wanted) => {
            let twice = (0..wanted.len()).any(|at| wanted[..at].contains(&wanted[at]));
            let dead = |pages: &Pages| wanted.iter().find(|id| !pages.live.contains_key(id)).copied();
            let error = |band, dead: Option<u32>| match dead {
                Some(dead) => Some(PageError::NotLive(band, LogicalPage(dead))),
                None => twice.then(|| {
                    let mut sorted = wanted.clone();
                    sorted.sort_unstable();
                    let at = (1..sorted.len()).find(|at| sorted[at - 1] == sorted[*at]).unwrap();
                    PageError::Twice(band, LogicalPage(sorted[at]))
                }),
            };
            assert_eq!(arena.bind(A, &ids(wanted)), Err(PageError::OwnsIds(A)));
            if let Some(error) = error(A, dead(&model.full)) {
                assert_eq!(arena.free(A, &ids(wanted), None), Err(error));
                assert_eq!(arena.bind(B, &ids(wanted)), Err(error));
            } else {
                assert_eq!(arena.tombstone(A, &ids(wanted), None), Err(PageError::OwnsIds(A)));
            }
            if let Some(error) = error(B, dead(&model.swa)) {
                assert_eq!(arena.tombstone(B, &ids(wanted), None), Err(error));
            }
            assert!(*arena == before, "a refusal changed the pool");
        }
    }
}

fn compare(arena: &Arena, model: &Model) {
    for (band, pages) in [(A, &model.full), (B, &model.swa)] {
        let page = |at: u32| match band {
            A => PhysicalPage(arena.first_page(A).0 + at),
            _ => PhysicalPage(arena.pages(B) - 1 - at),
        };
        let live: Vec<(LogicalPage, PhysicalPage)> = arena.placements(band).collect();
        assert!(live.iter().copied().eq(pages.live.iter().map(|(id, at)| (LogicalPage(*id), page(*at)))));
        let mut pending: Vec<(PhysicalPage, EventKey)> = arena.pending(band).collect();
        pending.sort_unstable();
        let mut expected: Vec<(PhysicalPage, EventKey)> =
            pages.pending.iter().map(|(at, event)| (page(*at), EventKey(*event))).collect();
        expected.sort_unstable();
        assert_eq!(pending, expected);
        assert_eq!(arena.span(band), pages.span());
        assert_eq!(arena.holes(band), pages.span() - (pages.live.len() + pages.pending.len()) as u32);
        assert!(live.iter().all(|(_, page)| *page >= arena.first_page(band) && *page != SINK));
        for id in 0..40 {
            let expected = pages.live.get(&id).map_or(SINK, |at| page(*at));
            assert_eq!(arena.translate_or_sink(band, LogicalPage(id)), expected);
        }
    }
    assert!(arena.free_ids(A).eq(model.free_ids.iter().copied().map(LogicalPage)));
    assert_eq!(arena.free_ids(B).count(), 0);
    assert!(model.swa.live.keys().all(|id| model.full.live.contains_key(id)), "bound without an owner");
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn behaves_like_maps(
        (bytes, a, b) in (60_u64..300, 2_u64..16, 2_u64..16),
        calls in prop::collection::vec(calls(), 1..50),
    ) {
        let layout = device(bytes, a, b);
        prop_assume!(Arena::new(layout.clone()).is_ok());
        let mut arena = Arena::new(layout).unwrap();
        let all_ids: BTreeSet<u32> = arena.free_ids(A).map(|id| id.0).collect();
        prop_assert_eq!(all_ids.first().copied(), Some(arena.first_page(A).0), "no id for the sink");
        let mut model =
            Model { full: Pages::default(), swa: Pages::default(), free_ids: all_ids.clone(), all_ids };
        for call in &calls {
            run(&mut arena, &mut model, call);
            compare(&arena, &model);
        }
    }

    /// In a permuted pool no id is its own page number, as long as there is another id to choose.
    #[test]
    fn a_permuted_start_needs_translation((bytes, a, b) in (60_u64..300, 2_u64..16, 2_u64..16)) {
        let layout = ArenaConfig { permuted: true, ..device(bytes, a, b) };
        prop_assume!(Arena::new(layout.clone()).is_ok());
        let mut arena = Arena::new(layout).unwrap();
        while arena.free_ids(A).count() > 1 && arena.allocate(&[Request { band: A, pages: 1 }]).is_ok() {
            prop_assert!(arena.placements(A).all(|(id, page)| id.0 != page.0));
        }
    }
}

/// One request of a call may bind what another of the same call has allocated: each id once, and only ids that were
/// asked for before it. (Two such requests bound the same id twice, and a call that ran out of ids to bind was refused
/// after it had allocated.)
#[test]
fn a_call_binds_each_of_its_ids_once() {
    let mut arena = Arena::new(device(400, 8, 4)).unwrap();
    let ask = |band, pages| Request { band, pages };
    let granted = arena.allocate(&[ask(A, 3), ask(B, 1), ask(B, 2)]).unwrap();
    assert_eq!((granted[1].as_slice(), granted[2].as_slice()), (&granted[0][2..], &granted[0][..2]));
    assert_eq!((arena.live(A), arena.live(B), arena.placements(B).count()), (3, 3, 3));
    let before = arena.clone();
    for requests in [[ask(A, 1), ask(B, 2), ask(A, 1)], [ask(B, 1), ask(A, 2), ask(A, 1)]] {
        assert_eq!(arena.admission(&requests, everything), Admission::Refused(Refusal::Unowned(B)));
        assert_eq!(arena.allocate(&requests), Err(Refusal::Unowned(B)));
        assert!(arena == before, "a refused call changed the pool");
    }
}
