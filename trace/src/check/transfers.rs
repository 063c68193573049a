//! Lines about copies: transfers, storage, RDMA.

use super::access::{Target, Touching};
use super::{Checker, Code, say};
use crate::format::{self, Copy, Fetch, Name, Out, Pages, Places, Post, Recorded, Space, Store, TransferEnd};
use leasecheck_core::Rule;

/// A transfer that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    bytes: u64,
    copied: u64,
    line: u64,
}

impl Checker {
    pub(super) fn copy(&mut self, e: &Copy) -> Result<(), String> {
        let agent = self.worker(e.th, e.s);
        let whole = e.x.is_some_and(|x| self.transfers.contains_key(&x));
        let source =
            Target { place: self.place(&e.src)?, at: e.sat.as_ref(), ids: e.sids.as_ref(), space: Space::Page };
        let destination =
            Target { place: self.place(&e.dst)?, at: e.dat.as_ref(), ids: e.dids.as_ref(), space: Space::Page };
        let reading = Touching { agent, write: false, whole, sums: None };
        let sum = self.page_sum(&source);
        self.queue(e.x, e.s, &source);
        self.queue(e.x, e.s, &destination);
        let read = self.access(&source, &reading)?;
        let written = self.access(&destination, &Touching { write: true, ..reading })?;
        if let (Some(band), Some([id])) = (destination.place.band, destination.ids.map(|ids| &ids[..]))
            && let Some(page) = self.arenas[destination.place.arena].bands[band].live_mut(*id)
        {
            page.sum = sum;
        }
        self.check(Code::LostBytes, read == written, |_| {
            say(format!("{read} bytes are copied to {written} bytes"), "both ends have the same number of bytes")
                .guard(Rule::StridesMatch)
        });
        if let Some(transfer) = e.x.and_then(|x| self.transfers.get_mut(&x)) {
            transfer.copied += read.min(written);
        }
        Ok(())
    }

    /// The checksum of the one page that is meant.
    fn page_sum(&self, target: &Target<'_>) -> Option<u64> {
        let (band, [id]) = (target.place.band?, &target.ids?[..]) else { return None };
        self.arenas[target.place.arena].bands[band].live(*id)?.sum
    }

    pub(super) fn transfer(&mut self, e: &format::Transfer) -> Result<(), String> {
        for name in [&e.src, &e.dst].into_iter().flatten() {
            self.place(name)?;
        }
        self.transfers.insert(e.x, Transfer { bytes: e.bytes, copied: 0, line: self.line });
        Ok(())
    }

    pub(super) fn transfer_end(&mut self, e: &TransferEnd) {
        let Some(transfer) = self.transfers.remove(&e.x) else { return };
        if e.out == Out::Ok && self.recorded(Recorded::Copies) {
            let Transfer { bytes, copied, line } = transfer;
            self.check(Code::LostBytes, bytes == copied, |_| {
                say(
                    format!("transfer {} reports success, was to move {bytes} bytes and moved {copied}", e.x),
                    format!("{bytes} bytes"),
                )
                .guard(Rule::WholePages)
                .earlier(line)
            });
        }
    }

    pub(super) fn store(&mut self, e: &Store) -> Result<(), String> {
        let stored = (&e.b, &e.keys[..], e.ids.as_ref(), e.at.as_ref());
        self.storage(e.th, stored, e.out, false)
    }

    pub(super) fn fetch(&mut self, e: &Fetch) -> Result<(), String> {
        let fetched = (&e.b, &e.keys[..], e.ids.as_ref(), e.at.as_ref());
        self.storage(e.th, fetched, e.out, true)
    }

    fn storage(
        &mut self,
        thread: Option<u64>,
        (band, keys, ids, at): (&Name, &[Name], Option<&Pages>, Option<&Places>),
        out: Out,
        write: bool,
    ) -> Result<(), String> {
        let (arena, band) = self.band(band)?;
        let agent = self.thread(thread);
        if ids.is_none() && at.is_none() {
            return Ok(());
        }
        let pages = ids.map_or(at.map_or(0, Places::len), Pages::len);
        self.check(Code::MisKeyed, keys.len() == pages, |checker| {
            let name = checker.band_name(arena, band);
            say(format!("{} keys stand for {pages} pages of {name}", keys.len()), "one key for each page")
                .guard(Rule::KeysOneToOne)
        });
        if out != Out::Ok {
            return Ok(());
        }
        let place = super::Place { arena, band: Some(band) };
        let touching = Touching { agent, write, whole: true, sums: None };
        self.access(&Target { place, at, ids, space: Space::Page }, &touching)?;
        Ok(())
    }

    pub(super) fn post(&mut self, e: &Post) -> Result<(), String> {
        let queue = self.worker(e.th, Some(e.s));
        self.queues.insert(queue);
        let target = Target { place: self.place(&e.r#in)?, at: e.at.as_ref(), ids: e.ids.as_ref(), space: Space::Page };
        let write = e.dir == format::Access::Write;
        self.access(&target, &Touching { agent: queue, write, whole: true, sums: None })?;
        self.remember_post(e.x, queue);
        Ok(())
    }
}
