//! One band of an arena: who is where, which pages are holes, how far it has grown.
//!
//! Positions are *distances* from the band's own end, so that nothing below knows which way a band grows: distance
//! 0 is the page next to the end, the band occupies distances `0..span`.

use crate::config::Reuse;
use crate::ids::{EventKey, LogicalPage};
use crate::page_set::PageSet;

pub(crate) const NONE: u32 = u32::MAX;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Band {
    /// Logical page → distance.
    pub(crate) map: Vec<u32>,
    /// Ids that can be handed out (empty for bands that bind another band's ids).
    pub(crate) ids: PageSet,
    /// Distances in use or once used: the frontier.
    pub(crate) span: u32,
    /// The other frontier, of a float: distances below it are not the band's.
    pub(crate) base: u32,
    pub(crate) live: u32,
    pub(crate) holes: PageSet,
    /// Pages that must not be reused until an event completes, by distance.
    pub(crate) pending: Vec<(u32, EventKey)>,
    /// Pages that are never handed out again, by distance ([`crate::Reuse::Never`]; room for none otherwise).
    pub(crate) retired: PageSet,
    /// Distances in the order in which they were freed ([`crate::Reuse::AtOnce`]).
    pub(crate) recent: Vec<u32>,
}

impl Band {
    pub(crate) fn new(ids: u32, first_id: Option<u32>, capacity: u32, reuse: Reuse) -> Band {
        let mut band = Band {
            map: vec![NONE; ids as usize],
            ids: PageSet::with_capacity(ids),
            span: 0,
            base: 0,
            live: 0,
            holes: PageSet::with_capacity(capacity),
            pending: Vec::new(),
            retired: PageSet::with_capacity(if reuse == Reuse::Never { capacity } else { 0 }),
            recent: Vec::new(),
        };
        if let Some(first) = first_id {
            for id in first..ids {
                band.ids.insert(id);
            }
        }
        band
    }

    #[inline]
    pub(crate) fn distance(&self, id: LogicalPage) -> Option<u32> {
        self.map.get(id.0 as usize).copied().filter(|at| *at != NONE)
    }

    pub(crate) fn place(&mut self, id: u32, at: u32) {
        self.map[id as usize] = at;
        self.live += 1;
    }

    /// Takes `id` off its page and returns the distance, which is now nobody's.
    pub(crate) fn remove(&mut self, id: LogicalPage) -> Option<u32> {
        let at = self.distance(id)?;
        self.map[id.0 as usize] = NONE;
        // Without `tombstone-clears-binding` the table leads to pages that are not live; the arena recounts then.
        self.live = self.live.saturating_sub(1);
        Some(at)
    }

    /// The page at this distance waits for `event`.
    pub(crate) fn pend(&mut self, distance: u32, event: EventKey) {
        if (self.base..self.span).contains(&distance)
            && let Err(position) = self.pending.binary_search(&(distance, event))
        {
            self.pending.insert(position, (distance, event));
        }
    }

    /// Whether the page at this distance waits for some event.
    pub(crate) fn is_pending(&self, distance: u32) -> bool {
        self.pending.iter().any(|(at, _)| *at == distance)
    }

    /// Pages that wait. Entries are in the order of distances.
    pub(crate) fn pending_pages(&self) -> u32 {
        let again = self.pending.windows(2).filter(|pair| pair[0].0 == pair[1].0).count();
        (self.pending.len() - again) as u32
    }

    /// The page at this distance is nobody's and nothing touches it any more. (Without `tombstone-clears-binding` the
    /// table may lead beyond the frontier, where there is nothing to give back.)
    pub(crate) fn vacate(&mut self, distance: u32, reuse: Reuse) {
        if !(self.base..self.span).contains(&distance) {
            return;
        }
        if reuse == Reuse::Never {
            self.retired.insert(distance);
        } else if self.holes.insert(distance) && reuse == Reuse::AtOnce {
            self.recent.push(distance);
        }
    }

    /// Draws the watermark back over holes that touch the frontier.
    pub(crate) fn absorb(&mut self) {
        while self.span > self.base && self.holes.remove(self.span - 1) {
            self.span -= 1;
        }
    }

    /// The same at both frontiers of a float; one without pages is nowhere.
    pub(crate) fn absorb_both(&mut self) {
        self.absorb();
        while self.span > self.base && self.holes.remove(self.base) {
            self.base += 1;
        }
        if self.span == self.base {
            (self.base, self.span) = (0, 0);
        }
    }

    /// The frontiers take in this distance; what lies between is holes.
    pub(crate) fn take_in(&mut self, distance: u32) {
        if self.span == self.base {
            (self.base, self.span) = (distance, distance);
        }
        while self.base > distance {
            self.base -= 1;
            self.holes.insert(self.base);
        }
        while self.span <= distance {
            self.holes.insert(self.span);
            self.span += 1;
        }
    }

    /// Distance → the live page there, for the distances in `0..span`.
    pub(crate) fn occupants(&self) -> Vec<u32> {
        let mut at = vec![NONE; self.span as usize];
        for (id, distance) in self.map.iter().enumerate() {
            if let Some(slot) = at.get_mut(*distance as usize) {
                *slot = id as u32;
            }
        }
        // Without `tombstone-clears-binding` the table also leads to pages that nobody has any more.
        for vacant in self.holes.iter().chain(self.retired.iter()).chain(self.pending.iter().map(|(at, _)| *at)) {
            if let Some(slot) = at.get_mut(vacant as usize) {
                *slot = NONE;
            }
        }
        at
    }
}

impl Clone for Band {
    fn clone(&self) -> Band {
        Band {
            map: self.map.clone(),
            ids: self.ids.clone(),
            span: self.span,
            base: self.base,
            live: self.live,
            holes: self.holes.clone(),
            pending: self.pending.clone(),
            retired: self.retired.clone(),
            recent: self.recent.clone(),
        }
    }

    /// Reuses the allocations: explorers copy arenas millions of times a second.
    fn clone_from(&mut self, source: &Band) {
        self.map.clone_from(&source.map);
        self.ids.clone_from(&source.ids);
        self.span = source.span;
        self.base = source.base;
        self.live = source.live;
        self.holes.clone_from(&source.holes);
        self.pending.clone_from(&source.pending);
        self.retired.clone_from(&source.retired);
        self.recent.clone_from(&source.recent);
    }
}
