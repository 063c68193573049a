//! Lines about copies: transfers, storage, RDMA.

use super::access::{Target, Touching};
use super::order::REMEMBERED;
use super::{Checker, Code, say};
use crate::clocks::Kind;
use crate::format::{self, Copy, Name, Out, Pages, Places, Post, Recorded, Space, StoreFetch, TransferEnd};
use leasecheck_core::Rule;
use std::collections::{BTreeMap, VecDeque};

/// A transfer that has not ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    bytes: u64,
    copied: u64,
    line: u64,
}

/// What keys stand for, per name of a band: arenas that share a storage share its keys. The oldest are forgotten when
/// there are too many.
#[derive(Debug, Default)]
pub(super) struct Stored {
    known: BTreeMap<(String, Name), (u64, u64)>,
    oldest: VecDeque<(String, Name)>,
    pub(super) dropped: u64,
}

impl Stored {
    /// The key stands for content with that checksum from that line on, or did before: then the checksum and line that
    /// were known.
    fn put(&mut self, band: &str, key: &Name, sum: u64, line: u64) -> Option<(u64, u64)> {
        let entry = (band.to_owned(), key.clone());
        if let Some(known) = self.known.get(&entry) {
            return Some(*known);
        }
        if self.oldest.len() == REMEMBERED
            && let Some(oldest) = self.oldest.pop_front()
        {
            self.known.remove(&oldest);
            self.dropped += 1;
        }
        self.oldest.push_back(entry.clone());
        self.known.insert(entry, (sum, line));
        None
    }

    /// Entries that are held.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.known.len() + self.oldest.len()
    }

    fn sum(&self, band: &str, key: &Name) -> Option<u64> {
        self.known.get(&(band.to_owned(), key.clone())).map(|(sum, _)| *sum)
    }
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

    /// Pages are stored under keys, or, with `write`, fetched.
    pub(super) fn storage(&mut self, e: &StoreFetch, write: bool) -> Result<(), String> {
        let (keys, ids, at, sums) = (&e.keys, e.ids.as_ref(), e.at.as_ref(), e.sum.as_ref());
        let (arena, band) = self.band(&e.b)?;
        let agent = self.thread(e.th);
        if ids.is_none() && at.is_none() {
            return Ok(());
        }
        let pages = ids.map_or(at.map_or(0, Places::len), Pages::len);
        self.check(Code::MisKeyed, keys.len() == pages, |checker| {
            let name = checker.band_name(arena, band);
            say(format!("{} keys stand for {pages} pages of {name}", keys.len()), "one key for each page")
                .guard(Rule::KeysOneToOne)
        });
        if e.out != Out::Ok {
            return Ok(());
        }
        let place = super::Place { arena, band: Some(band) };
        let touching = Touching { agent, write, whole: true, sums };
        self.access(&Target { place, at, ids, space: Space::Page }, &touching)?;
        if keys.len() == pages {
            for (nth, key) in keys.iter().enumerate() {
                let id = ids.map(|ids| ids[nth]);
                let page = id.and_then(|id| self.arenas[arena].bands[band].live(id));
                let sum = sums.map(|sums| sums[nth]).or_else(|| page.filter(|_| !write).and_then(|page| page.sum));
                self.stands_for((arena, band), key, sum, write);
                if let (true, None, Some(id)) = (write, sums, id) {
                    let known = self.stored.sum(&self.arenas[arena].bands[band].name, key);
                    if let Some(page) = self.arenas[arena].bands[band].live_mut(id) {
                        page.sum = known;
                    }
                }
            }
        }
        Ok(())
    }

    /// The key stands for content with that checksum: always for the same.
    fn stands_for(&mut self, (arena, band): (usize, usize), key: &Name, sum: Option<u64>, fetched: bool) {
        let Some(sum) = sum else { return };
        let name = self.arenas[arena].bands[band].name.clone();
        let known = self.stored.put(&name, key, sum, self.line);
        let Some((before, line)) = known else { return };
        self.check(Code::MisKeyed, before == sum, |_| {
            let message = if fetched {
                format!(
                    "fetching `{key}` gives content with checksum {sum}, but it stands for {before} since line {line}"
                )
            } else {
                format!("`{key}` is stored with checksum {sum}, but it stands for {before} since line {line}")
            };
            say(message, format!("content with checksum {before}, or another key"))
                .guard(Rule::KeysOneToOne)
                .earlier(line)
        });
    }

    pub(super) fn post(&mut self, e: &Post) -> Result<(), String> {
        let queue = self.clocks.agent(Kind::Queue, e.s);
        let thread = self.thread(e.th);
        self.clocks.pass(thread, queue);
        let target = Target { place: self.place(&e.r#in)?, at: e.at.as_ref(), ids: e.ids.as_ref(), space: Space::Page };
        let write = e.dir == format::Access::Write;
        self.access(&target, &Touching { agent: queue, write, whole: true, sums: None })?;
        self.remember_post(e.x, queue);
        Ok(())
    }
}
