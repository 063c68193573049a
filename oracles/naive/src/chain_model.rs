//! The naive arena, where there are float bands.
//!
//! Several places can be right for a page of a float, and several moves can make room. So the model does not say which,
//! it says whether: whether a request fits at all, and whether what the arena chose was free, in reach, and asked for.

use crate::model::{Model, Owner};
use leasecheck_core::{BandId, Grow, LogicalPage, MAX_BANDS, Move, Request};
use smallvec::SmallVec;

/// What a band has to hold.
struct Load {
    band: u8,
    pages: u32,
    /// The lowest and the highest page that stay where they are.
    outermost: Option<(u32, u32)>,
}

impl Model {
    /// What each band has to hold, from the lowest band to the highest.
    fn loads(&self, movable: &dyn Fn(BandId, LogicalPage) -> bool) -> SmallVec<[Load; 4]> {
        let load = |band: u8| {
            let mut load = Load { band, pages: 0, outermost: None };
            for (page, owner) in self.owners(band) {
                let fixed = match owner {
                    Owner::Free | Owner::Outside => continue,
                    Owner::Live(_, id) => !movable(BandId(band), LogicalPage(id)),
                    Owner::Pending(..) | Owner::Retired(_) => true,
                };
                load.pages += 1;
                if fixed {
                    load.outermost =
                        Some(load.outermost.map_or((page, page), |(low, high)| (page.min(low), page.max(high))));
                }
            }
            load
        };
        self.chain.iter().copied().map(load).collect()
    }

    /// Whether so many more pages of each band have room, if the pages that `movable` admits can be anywhere.
    #[must_use]
    pub fn has_room(&self, wanted: &[u32], movable: &dyn Fn(BandId, LogicalPage) -> bool) -> bool {
        self.have_room(&self.loads(movable), wanted)
    }

    /// Whether the bands can lie above each other, each as low as it can.
    fn have_room(&self, loads: &[Load], wanted: &[u32]) -> bool {
        let mut floor = 0_u64;
        for Load { band, pages, outermost } in loads {
            let pages = u64::from(*pages) + u64::from(wanted[usize::from(*band)]);
            if pages == 0 {
                continue;
            }
            let (first, beyond, envelope) = (self.first(*band), u64::from(self.pages(*band)), self.envelope(*band));
            let start = u64::from(first).max(floor.div_ceil(envelope));
            let (lowest, highest) = outermost.map_or((start, start), |(low, high)| (low.into(), high.into()));
            let end = (start + pages).max(highest + 1);
            if start > lowest || end > beyond {
                return false;
            }
            // The highest band reaches to its end.
            floor = end * envelope;
        }
        true
    }

    /// Whether the requests make sense, and fit once the pages that `movable` admits have moved.
    #[must_use]
    pub fn could_serve(&self, requests: &[Request], movable: &dyn Fn(BandId, LogicalPage) -> bool) -> bool {
        self.totals(requests).is_ok_and(|wanted| self.has_room(&wanted, movable))
    }

    /// The most pages of the band, and of it alone, that have room.
    #[must_use]
    pub fn most(&self, band: u8, movable: &dyn Fn(BandId, LogicalPage) -> bool) -> u32 {
        let ids = match self.owner_band(band) {
            None => self.free_ids(band).count() as u32,
            Some(_) => u32::MAX,
        };
        let (loads, mut wanted) = (self.loads(movable), [0; MAX_BANDS]);
        let mut fits = |pages: u32| {
            wanted[usize::from(band)] = pages;
            self.have_room(&loads, &wanted)
        };
        (1..=ids).take_while(|pages| fits(*pages)).last().unwrap_or(0)
    }

    /// Takes over what the arena granted: holes first, then pages next to the band's extent, each with the next id.
    pub fn granted(&mut self, requests: &[Request], granted: &[Vec<LogicalPage>], place: &dyn Fn(u8, u32) -> u32) {
        for (nth, (Request { band, pages }, ids)) in requests.iter().zip(granted).enumerate() {
            assert_eq!(ids.len(), *pages as usize);
            let unbound = self.unbound(&requests[..nth], granted, band.0);
            let unbound = &unbound[unbound.len().saturating_sub(ids.len())..];
            for (at, id) in ids.iter().enumerate() {
                let page = place(band.0, id.0);
                self.takes(band.0, page);
                let expected =
                    if self.owner_band(band.0).is_some() { Some(unbound[at]) } else { self.next_id(band.0, page) };
                assert_eq!(Some(id.0), expected, "the id of page {page} of band {band}");
                self.occupy(band.0, page, id.0);
            }
        }
    }

    /// Takes over bindings.
    pub fn bound(&mut self, band: BandId, ids: &[LogicalPage], place: &dyn Fn(u8, u32) -> u32) {
        for id in ids {
            let page = place(band.0, id.0);
            self.takes(band.0, page);
            self.occupy(band.0, page, id.0);
        }
    }

    /// Whether this page is one that the band may take next.
    fn takes(&mut self, band: u8, page: u32) {
        if let Some(hole) = self.next_hole(band) {
            return assert_eq!(page, hole, "holes of band {band} come first");
        }
        let extent = self.extent(band);
        let next = match self.config.bands[usize::from(band)].grow {
            Grow::Up => page == extent.end,
            Grow::Down => page + 1 == extent.start,
            Grow::Float => extent.is_empty() || page == extent.end || page + 1 == extent.start,
        };
        assert!(next, "page {page} is not next to those of band {band}, {extent:?}");
        self.is_free(band, page);
    }

    fn is_free(&self, band: u8, page: u32) {
        assert!((self.first(band)..self.pages(band)).contains(&page), "there is no page {page} in band {band}");
        let free = self.bytes[self.page_bytes(band, page)].iter().all(|owner| *owner == Owner::Free);
        assert!(free, "page {page} of band {band} is somebody's");
    }

    /// Takes over moves of the arena's choice, of pages that `movable` admits.
    pub fn moved(&mut self, moves: &[Move], movable: &dyn Fn(BandId, LogicalPage) -> bool) {
        for Move { band, id, from, to } in moves {
            assert!(movable(*band, *id), "page {id} of band {band} must not move");
            assert_eq!(self.place(band.0, id.0), Some(from.0), "page {id} of band {band} is elsewhere");
            self.is_free(band.0, to.0);
            self.own(band.0, from.0, Owner::Free);
            self.own(band.0, to.0, Owner::Live(band.0, id.0));
        }
        self.settle();
    }
}
