//! The naive arena, where there are float bands.
//!
//! Several places can be right for a page of a float, and several moves can make room. So the model does not say which,
//! it says whether: whether a request fits at all, and whether what the arena chose was free, in reach, and asked for.

use crate::model::{Few, Model, Owner};
use leasecheck_core::{BandId, Grow, LogicalPage, Move, Request};
use smallvec::smallvec;

impl Model {
    /// The bands from the lowest to the highest.
    fn chain(&self) -> impl Iterator<Item = u8> {
        let of = |grow: Grow| self.bands().filter(move |band| self.config.bands[usize::from(*band)].grow == grow);
        of(Grow::Up).chain(of(Grow::Float)).chain(of(Grow::Down))
    }

    /// Whether so many more pages of each band have room, if the pages that `movable` admits can be anywhere.
    #[must_use]
    pub fn has_room(&self, wanted: &[u32], movable: &dyn Fn(BandId, LogicalPage) -> bool) -> bool {
        let mut floor = 0;
        for band in self.chain() {
            let (mut anywhere, mut fixed) = (wanted[usize::from(band)], Few::new());
            for page in self.order(band) {
                match self.owner(band, page) {
                    Owner::Free | Owner::Outside => {}
                    Owner::Live(_, id) if movable(BandId(band), LogicalPage(id)) => anywhere += 1,
                    _ => fixed.push(page),
                }
            }
            if anywhere == 0 && fixed.is_empty() {
                continue;
            }
            let Some(end) = self.lowest_end(band, floor, &fixed, anywhere) else { return false };
            floor = end;
        }
        true
    }

    /// Of all extents that the band could have above a byte, the end of the one that ends first.
    fn lowest_end(&self, band: u8, floor: u64, fixed: &[u32], anywhere: u32) -> Option<u64> {
        let (first, pages, envelope) = (self.first(band), self.pages(band), self.envelope(band));
        let (starts, ends) = match self.config.bands[usize::from(band)].grow {
            Grow::Up => (first..first + 1, first..pages + 1),
            Grow::Down => (first..pages, pages..pages + 1),
            Grow::Float => (first..pages, first..pages + 1),
        };
        let room = fixed.len() as u64 + u64::from(anywhere);
        let outermost = fixed.iter().min().zip(fixed.iter().max());
        let mut lowest = None;
        for start in starts.filter(|start| u64::from(*start) * envelope >= floor) {
            let holds = |end: u32| {
                u64::from(end) >= u64::from(start) + room
                    && outermost.is_none_or(|(one, other)| start <= *one && *other < end)
            };
            let end = ends.clone().find(|end| holds(*end)).map(|end| u64::from(end) * envelope);
            lowest = [lowest, end].into_iter().flatten().min();
        }
        lowest
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
        let mut wanted: Few<u32> = smallvec![0; self.config.bands.len()];
        let mut fits = |pages: u32| {
            wanted[usize::from(band)] = pages;
            self.has_room(&wanted, movable)
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

    /// No band's extent reaches into another's.
    pub fn check_extents(&self) {
        for band in self.bands() {
            for other in 0..band {
                let (one, other) = (self.claim(band), self.claim(other));
                let apart = one.is_empty() || other.is_empty() || one.end <= other.start || other.end <= one.start;
                assert!(apart, "the extents {one:?} and {other:?} overlap");
            }
        }
    }
}
