//! The device pool: bands that share one virtual id space, a sink, tombstones.
//!
//! It is the same [`Arena`] as the host's, with `sink` on and a band whose ids are [`Ids::Of`] another's.

use crate::arena::{Arena, PageError};
use crate::config::{Ids, MAX_BANDS};
use crate::ids::{BandId, EventKey, LogicalPage, PhysicalPage};
use crate::rules::Rule;

/// Physical page 0 of a device pool. It absorbs padding and is never live.
pub const SINK: PhysicalPage = PhysicalPage(0);

impl Arena {
    /// Binds a page of `band` to each of `ids`, which the band's owner has allocated.
    ///
    /// # Errors
    /// When an id is not live in the owner, is bound already, or no page is left. Nothing has changed then.
    pub fn bind(&mut self, band: BandId, ids: &[LogicalPage]) -> Result<(), PageError> {
        let at = band.0 as usize;
        let owner = match self.config.bands.get(at).ok_or(PageError::NoSuchBand(band))?.ids {
            Ids::Own => return Err(PageError::OwnsIds(band)),
            Ids::Of(owner) => owner,
        };
        self.check_live(owner, ids)?;
        if let Some(bound) = ids.iter().find(|id| self.bands[at].distance(**id).is_some()) {
            return Err(PageError::AlreadyBound(band, *bound));
        }
        let mut wanted = [0; MAX_BANDS];
        wanted[at] = ids.len() as u32;
        self.fits_now(&wanted).map_err(PageError::Full)?;
        let growth = if self.is_chain() { self.growth(&wanted).map(|growth| growth[at]) } else { None };
        for id in ids {
            let Some(distance) = self.take_page(band, growth) else { continue };
            self.bands[at].place(id.0, distance);
        }
        self.recount();
        Ok(())
    }

    /// Releases the band's pages of `ids`; the ids and their pages in other bands stay.
    ///
    /// # Errors
    /// When the band owns its ids, an id has no page in it, or is named twice. Nothing has changed then.
    pub fn tombstone(&mut self, band: BandId, ids: &[LogicalPage], after: Option<EventKey>) -> Result<(), PageError> {
        self.check_live(band, ids)?;
        if self.config.bands[band.0 as usize].ids == Ids::Own {
            return Err(PageError::OwnsIds(band));
        }
        for id in ids {
            let at = self.bands[band.0 as usize].distance(*id);
            self.vacate(band.0 as usize, *id, after);
            if !self.config.rules.on(Rule::TombstoneClearsBinding)
                && let Some(at) = at
            {
                // The page is a hole and the table still leads to it.
                self.bands[band.0 as usize].map[id.0 as usize] = at;
            }
        }
        if self.config.rules.on(Rule::TombstoneClearsBinding) {
            self.settle();
        }
        self.recount();
        Ok(())
    }

    /// Where kernels look for the page: the sink, if nothing is bound.
    #[must_use]
    pub fn translate_or_sink(&self, band: BandId, id: LogicalPage) -> PhysicalPage {
        self.translate(band, id).unwrap_or(SINK)
    }
}
