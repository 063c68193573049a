//! An arena's state as bytes, for explorers that keep millions of states.

use crate::arena::Arena;
use crate::band::NONE;
use crate::config::{Ids, Reuse};
use crate::ids::EventKey;
use crate::rules::Rule;

impl Arena {
    /// Whether [`Arena::pack`] can represent every state: bands of fewer than 255 pages.
    #[must_use]
    pub fn packable(&self) -> bool {
        self.geometry.pages.iter().all(|pages| *pages < 255)
    }

    /// Appends the state to `out`, a byte for each number; equal states give equal bytes. Event keys must be below
    /// 255.
    pub fn pack(&self, out: &mut Vec<u8>) {
        for band in &self.bands {
            out.extend([band.span as u8, band.pending.len() as u8]);
            if self.is_chain() {
                out.push(band.base as u8);
            }
            out.extend(band.map.iter().map(|at| if *at == NONE { u8::MAX } else { *at as u8 }));
            out.extend(band.pending.iter().flat_map(|(at, event)| [*at as u8, event.0 as u8]));
            match self.config.reuse {
                Reuse::AsDesigned => {}
                Reuse::Never => out.extend((0..band.map.len() as u32).map(|id| u8::from(band.ids.contains(id)))),
                Reuse::AtOnce => {
                    out.push(band.recent.len() as u8);
                    out.extend(band.recent.iter().map(|at| *at as u8));
                }
            }
            if self.vacant_is_packed() {
                let vacant = if self.config.reuse == Reuse::Never { &band.retired } else { &band.holes };
                out.push(vacant.len() as u8);
                out.extend(vacant.iter().map(|at| at as u8));
            }
            if self.holes_beside_retired() {
                out.push(band.holes.len() as u8);
                out.extend(band.holes.iter().map(|at| at as u8));
            }
        }
    }

    /// Reads back what [`Arena::pack`] wrote for an arena of the same layout, and returns the rest of the bytes.
    pub fn unpack<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        let (vacant_is_packed, chain) = (self.vacant_is_packed(), self.is_chain());
        let holes_beside_retired = self.holes_beside_retired();
        let mut take = |count: usize| {
            let (head, tail) = bytes.split_at(count);
            bytes = tail;
            head
        };
        for (at, band) in self.bands.iter_mut().enumerate() {
            let head = take(2);
            let (span, pending) = (head[0], usize::from(head[1]));
            band.span = span.into();
            band.base = if chain { take(1)[0].into() } else { 0 };
            let never = self.config.reuse == Reuse::Never;
            // What is neither live nor pending is a hole, or retired.
            let (vacant, other) =
                if never { (&mut band.retired, &mut band.holes) } else { (&mut band.holes, &mut band.retired) };
            other.clear();
            vacant.clear();
            for at in band.base..band.span {
                vacant.insert(at);
            }
            band.ids.clear();
            let owner = self.config.bands[at].ids == Ids::Own;
            band.live = 0;
            for (id, distance) in take(band.map.len()).iter().enumerate() {
                if *distance == u8::MAX {
                    band.map[id] = NONE;
                    if owner && !never && id as u32 >= self.geometry.first[at] {
                        band.ids.insert(id as u32);
                    }
                } else {
                    band.map[id] = (*distance).into();
                    vacant.remove((*distance).into());
                    band.live += 1;
                }
            }
            band.pending.clear();
            for pair in take(pending * 2).chunks_exact(2) {
                band.pending.push((pair[0].into(), EventKey(pair[1].into())));
                vacant.remove(pair[0].into());
            }
            band.recent.clear();
            match self.config.reuse {
                Reuse::AsDesigned => {}
                Reuse::Never => {
                    for (id, free) in take(band.map.len()).iter().enumerate() {
                        if *free != 0 {
                            band.ids.insert(id as u32);
                        }
                    }
                }
                Reuse::AtOnce => {
                    let count = take(1)[0];
                    band.recent.extend(take(count.into()).iter().map(|at| u32::from(*at)));
                }
            }
            if vacant_is_packed {
                let count = take(1)[0];
                vacant.clear();
                for at in take(count.into()) {
                    vacant.insert((*at).into());
                }
            }
            if holes_beside_retired {
                let count = take(1)[0];
                for at in take(count.into()) {
                    vacant.remove((*at).into());
                    other.insert((*at).into());
                }
            }
        }
        self.recount();
        bytes
    }

    /// Where no page is used again, a float that makes room still has holes: its pages moved from there.
    fn holes_beside_retired(&self) -> bool {
        self.config.reuse == Reuse::Never && self.is_chain()
    }

    /// Without these rules the table may lead to vacant pages, and pages may be nobody's: which pages are vacant does
    /// not follow from the rest.
    fn vacant_is_packed(&self) -> bool {
        let rules = self.config.rules;
        !rules.on(Rule::TombstoneClearsBinding) || !rules.on(Rule::BatchesAccumulate)
    }
}
