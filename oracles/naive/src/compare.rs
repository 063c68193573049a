//! Everything that can be asked of an arena, and the bytes of its pages, against the model.

use crate::model::Model;
use leasecheck_core::{Arena, BandId, LogicalPage, MAX_BANDS, Move, PhysicalPage, SINK};
use std::ops::Range;

/// The bytes that pages lie in, and what was last written to each.
#[derive(Clone, Debug)]
pub struct Contents {
    bytes: Vec<u8>,
    /// By band and id.
    written: Vec<u8>,
    last: u8,
}

impl Contents {
    /// Nothing is written yet.
    #[must_use]
    pub fn new(model: &Model) -> Contents {
        let config = model.config();
        let bytes = vec![0; config.bytes as usize];
        Contents { written: vec![0; bytes.len() * config.bands.len()], bytes, last: 0 }
    }

    fn slot(&self, band: u8, id: u32) -> usize {
        usize::from(band) * self.bytes.len() + id as usize
    }

    /// Fills a page with what no page near it holds.
    pub fn write(&mut self, model: &Model, band: u8, id: u32, page: u32) {
        self.last = self.last.wrapping_add(1);
        self.bytes[model.page_bytes(band, page)].fill(self.last);
        let slot = self.slot(band, id);
        self.written[slot] = self.last;
    }

    /// Copies the bytes of pages that move, one after the other.
    pub fn carry_out(&mut self, model: &Model, moves: &[Move]) {
        for step in moves {
            let (from, to) = (model.page_bytes(step.band.0, step.from.0), model.page_bytes(step.band.0, step.to.0));
            self.bytes.copy_within(from, to.start);
        }
    }

    fn check(&self, model: &Model, band: u8, id: u32, page: u32) {
        let expected = self.written[self.slot(band, id)];
        let bytes = &self.bytes[model.page_bytes(band, page)];
        assert!(bytes.iter().all(|byte| *byte == expected), "content of page {id} of band {band}");
    }
}

/// Panics where the arena is not as the model is.
pub fn compare(arena: &Arena, model: &Model, contents: &Contents) {
    // By band: the bytes of its extent.
    let mut claims: [Range<usize>; MAX_BANDS] = Default::default();
    for at in model.bands() {
        let (band, mut view) = (BandId(at), model.view(at));
        assert_eq!((arena.pages(band), arena.first_page(band)), (model.pages(at), PhysicalPage(model.first(at))));
        assert_eq!(arena.span(band), view.span - view.base, "span of band {band}");
        let (extent, expected) = (arena.extent(band), model.range(at, view.base, view.span));
        assert!(extent == expected || extent.is_empty() && expected.is_empty(), "extent of band {band}");
        let claim = model.claim(at, expected);
        let apart = |other: &Range<usize>| other.is_empty() || claim.end <= other.start || other.end <= claim.start;
        assert!(claim.is_empty() || claims.iter().all(apart), "the extent of band {band} reaches into another's");
        claims[usize::from(at)] = claim;
        let up = model.grows_up(at);
        let watermark = if up { model.first(at) + view.span } else { model.pages(at) - view.span };
        assert_eq!(arena.watermark(band), i64::from(watermark) - i64::from(!up));
        assert_eq!(arena.holes(band), view.holes, "holes of band {band}");
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
        for (id, page) in &view.live {
            contents.check(model, at, *id, *page);
            assert_eq!(arena.translate_or_sink(band, LogicalPage(*id)), PhysicalPage(*page));
        }
    }
    assert_eq!(arena.translate_or_sink(BandId(0), LogicalPage(u32::MAX)), SINK);
}
