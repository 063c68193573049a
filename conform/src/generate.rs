//! Sequences of operations, drawn from a seed.
//!
//! What is drawn depends on what core would have done so far (which pages are live, who waits), never on the driver: a
//! seed is the same sequence for every driver that can do the same.

use crate::protocol::{Band, Call, End, Hello, Layout, Step};
use crate::reference::Reference;
use leasecheck_core::BandId;
use leasecheck_sim::hunt::draws::Draws;

/// What a sequence is about. Many stay away from what is known to differ, so that they go deep.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flavour {
    /// One thread, whole pages, sizes around every limit.
    Plain,
    /// One thread; wrong sizes, ids and bands as well.
    Wrong,
    /// Several threads with leases and events that complete.
    Leases,
    /// Everything, and queries and waits that fail.
    Faults,
}

/// Keeps the choices of a seed apart from those that a hunt makes.
const PURPOSE: u64 = u64::from_le_bytes(*b"conform\0");

const THREADS: [&str; 4] = ["a", "b", "c", "d"];
const KEYS: [&str; 2] = ["d2h", "h2d"];

/// The sequence of a seed: first a reset, then the steps.
pub(crate) fn sequence(seed: u64, hello: &Hello) -> Vec<Step> {
    let mut draws = Draws::new(seed, PURPOSE);
    let flavour = match draws.below(100) {
        0..40 => Flavour::Plain,
        40..55 if !hello.trusting => Flavour::Wrong,
        55..85 if hello.threads => Flavour::Leases,
        85.. if hello.threads && hello.events => Flavour::Faults,
        _ => Flavour::Plain,
    };
    let (layout, mut reference) = loop {
        let layout = hello.layout.clone().unwrap_or_else(|| layout(&mut draws, hello.device));
        if let Ok(reference) = Reference::new(&layout) {
            break (layout, reference);
        }
        if hello.layout.is_some() {
            return Vec::new();
        }
    };
    let mut steps = vec![Step { thread: None, call: Call::Reset { layout } }];
    let longest = if draws.chance(20) { 120 } else { 40 };
    let length = draws.between(8, longest);
    let mut author = Author { draws, flavour, hello, next_event: 1, stamp: 0 };
    for _ in 0..length {
        let step = author.step(&reference);
        if reference.step(&step).is_some() {
            steps.push(step);
        }
    }
    steps
}

fn layout(draws: &mut Draws, device: bool) -> Layout {
    let mut envelopes = vec![16, 32, 48, 64, 80, 96, 128];
    let mut envelope = |draws: &mut Draws| envelopes.swap_remove(draws.below(envelopes.len()));
    let page_tokens = *draws.pick(&[1, 2, 4]);
    let (mut one, mut other) = (envelope(draws), envelope(draws));
    if device {
        // Rows of keys and values of whole layers, as device pools have them.
        one = (one / 16) * 32 * u64::from(page_tokens);
        other = (other / 16) * 32 * u64::from(page_tokens);
    }
    // SGLang's device pools have the full band at the top, always.
    let (first, second) = if device || draws.chance(80) { (End::Down, End::Up) } else { (End::Up, End::Down) };
    let mut bands = vec![
        Band { name: "full".into(), envelope: one.max(other), page_tokens, grow: first },
        Band { name: "swa".into(), envelope: one.min(other), page_tokens, grow: second },
    ];
    if !device && draws.chance(10) {
        bands.remove(draws.below(2));
    }
    let largest = bands.iter().map(|band| band.envelope).max().unwrap_or(1);
    let bytes = largest * draws.between(2, 12) as u64 + draws.below(largest as usize) as u64;
    // Device tensors are viewed as numbers of several bytes.
    let bytes = if device { bytes / 16 * 16 } else { bytes };
    Layout { bytes, bands, device }
}

struct Author<'a> {
    draws: Draws,
    flavour: Flavour,
    hello: &'a Hello,
    next_event: u32,
    stamp: u8,
}

impl Author<'_> {
    fn step(&mut self, reference: &Reference) -> Step {
        if self.hello.flushes && self.draws.chance(30) {
            return self.between_forwards(reference);
        }
        let threaded = matches!(self.flavour, Flavour::Leases | Flavour::Faults);
        let happens = threaded && self.hello.events && self.draws.chance(15);
        if happens && let Some(call) = self.happening(reference) {
            return Step { thread: None, call };
        }
        let free: Vec<&str> = THREADS.into_iter().filter(|thread| !reference.is_blocked(thread)).collect();
        let thread = if threaded && !free.is_empty() { *self.draws.pick(&free) } else { THREADS[0] };
        let call = if threaded && self.draws.chance(40) {
            self.lease(reference.depth(thread) > 0)
        } else {
            self.operation(reference)
        };
        Step { thread: Some(thread.to_owned()), call }
    }

    /// What happens to a device pool beside allocations: flushes, the move gate, forwards.
    fn between_forwards(&mut self, reference: &Reference) -> Step {
        let call = match (self.draws.below(10), reference.open_events().first()) {
            (0..5, _) => return Step { thread: Some(THREADS[0].to_owned()), call: Call::Flush },
            (5..7, _) => Call::Gate { closed: !reference.gate_closed() },
            (_, Some(event)) => Call::Complete { event: *event },
            (_, None) => {
                self.next_event += 1;
                let (_, tokens) = self.pages(reference, false, Some(0));
                Call::Forward { event: self.next_event, tokens }
            }
        };
        Step { thread: None, call }
    }

    fn lease(&mut self, held: bool) -> Call {
        if !self.draws.chance(if held { 75 } else { 3 }) {
            return Call::Acquire;
        }
        let hand_off = self.hello.events && self.draws.chance(50);
        let event = hand_off.then(|| {
            self.next_event += u32::from(!self.draws.chance(10));
            self.next_event
        });
        let key = event.filter(|_| self.draws.chance(50)).map(|_| (*self.draws.pick(&KEYS)).to_owned());
        Call::Release { event, key }
    }

    fn happening(&mut self, reference: &Reference) -> Option<Call> {
        let open = reference.open_events();
        if open.is_empty() {
            return None;
        }
        let event = *self.draws.pick(&open);
        if self.flavour == Flavour::Faults && self.draws.chance(50) {
            let on = self.draws.chance(75);
            return Some(if self.draws.chance(50) {
                Call::QueryFails { event, on }
            } else {
                Call::SyncFails { event, on }
            });
        }
        Some(Call::Complete { event })
    }

    fn operation(&mut self, reference: &Reference) -> Call {
        let wrong = matches!(self.flavour, Flavour::Wrong | Flavour::Faults) && !self.hello.trusting;
        let device = reference.layout().device;
        match self.draws.below(100) {
            0..45 => {
                let squeezed = if self.draws.chance(50) { self.squeeze(reference) } else { None };
                let requests = squeezed.unwrap_or_else(|| self.requests(reference, wrong));
                self.stamp = self.stamp % 250 + 1;
                Call::Alloc { requests, stamp: self.stamp }
            }
            45..77 => {
                let (band, tokens) = self.pages(reference, wrong, device.then_some(0));
                Call::Free { band, tokens }
            }
            77..85 if device => {
                let (band, tokens) = self.pages(reference, wrong, Some(1));
                Call::Unbind { band, tokens }
            }
            77..85 => {
                let (first, then) = (self.requests(reference, wrong), self.requests(reference, wrong));
                Call::Fits { first, then, empty: self.draws.chance(25) }
            }
            85..97 => {
                let (band, tokens) = self.pages(reference, wrong, None);
                Call::Translate { band, tokens }
            }
            _ if device => Call::Clear { band: reference.layout().bands[0].name.clone() },
            _ => Call::Clear { band: self.band(reference, wrong).0 },
        }
    }

    fn band(&mut self, reference: &Reference, wrong: bool) -> (String, BandId, i64) {
        let bands = &reference.layout().bands;
        let at = self.draws.below(bands.len());
        if wrong && self.draws.chance(2) {
            return ("mamba".into(), BandId(at as u8), 1);
        }
        (bands[at].name.clone(), BandId(at as u8), i64::from(bands[at].page_tokens))
    }

    fn requests(&mut self, reference: &Reference, wrong: bool) -> Vec<(String, i64)> {
        if reference.layout().device {
            // A device pool hands out ids with a page in every band.
            let pages = self.size(reference, BandId(0), 1, wrong);
            let request = |band: &Band| (band.name.clone(), pages.saturating_mul(i64::from(band.page_tokens)));
            return reference.layout().bands.iter().map(request).collect();
        }
        let count = *self.draws.pick(&[1, 1, 1, 2, 2, 3, 0]);
        let one = |author: &mut Self| {
            let (band, id, page_tokens) = author.band(reference, wrong);
            (band, author.size(reference, id, page_tokens, wrong))
        };
        (0..count).map(|_| one(self)).collect()
    }

    /// A request that fits once pages have moved and not before, if there is one; all that is left, else.
    fn squeeze(&mut self, reference: &Reference) -> Option<Vec<(String, i64)>> {
        let (layout, arena) = (reference.layout(), reference.arena());
        if layout.device {
            let pages = i64::from(reference.available(BandId(0)));
            let request = |band: &Band| (band.name.clone(), pages * i64::from(band.page_tokens));
            return (pages > 0).then(|| layout.bands.iter().map(request).collect());
        }
        let squeezable = |at: usize| {
            let (now, packed) = (arena.available_now(BandId(at as u8)), arena.available(BandId(at as u8), |_, _| true));
            (packed > now).then_some((at, now + 1, packed))
        };
        let found: Vec<(usize, u32, u32)> = (0..layout.bands.len()).filter_map(squeezable).collect();
        let (at, least, most) = match found.as_slice() {
            [] => {
                let at = self.draws.below(layout.bands.len());
                let left = arena.available_now(BandId(at as u8));
                (at, left, left)
            }
            found => *self.draws.pick(found),
        };
        let pages = self.draws.between(least as usize, most as usize) as i64;
        Some(vec![(layout.bands[at].name.clone(), pages * i64::from(layout.bands[at].page_tokens))])
    }

    /// A size in tokens: mostly a few pages, often at a limit or just beyond it.
    fn size(&mut self, reference: &Reference, band: BandId, page_tokens: i64, wrong: bool) -> i64 {
        let arena = reference.arena();
        let available = i64::from(arena.available(band, |_, _| true));
        let now = i64::from(arena.available_now(band));
        // Where there are leases, more requests that only fit once pages have moved.
        let few = if self.flavour == Flavour::Leases { 25 } else { 50 };
        let pages = match self.draws.below(if wrong { 100 } else { 92 }) {
            at if at >= few && at < 50 => now + 1,
            0..50 => self.draws.between(1, 3) as i64,
            50..58 => 0,
            58..66 => available,
            66..72 => available + 1,
            72..80 => now + 1,
            80..86 => i64::from(arena.pages(band)),
            86..88 => i64::from(arena.pages(band)) + 1,
            88..92 => *self.draws.pick(&[1 << 33, i64::MAX / 8]),
            92..97 => return self.draws.between(1, 3) as i64 * page_tokens + 1,
            _ if self.draws.chance(75) => 1,
            99 => i64::MIN / 8,
            _ => -(self.draws.between(1, 3) as i64),
        };
        pages * page_tokens
    }

    /// Tokens of live pages of a band (of that one, if given); also of pages that are not live, twice, in part.
    fn pages(&mut self, reference: &Reference, wrong: bool, given: Option<usize>) -> (String, Vec<i64>) {
        let (mut name, mut band, page_tokens) = self.band(reference, wrong);
        if let Some(given) = given {
            band = BandId(given as u8);
            name.clone_from(&reference.layout().bands[given].name);
        }
        let mut live: Vec<i64> = reference.arena().placements(band).map(|(page, _)| i64::from(page.0)).collect();
        let mut pages = Vec::new();
        for _ in 0..self.draws.between(0, 4) {
            if live.is_empty() {
                break;
            }
            pages.push(live.swap_remove(self.draws.below(live.len())));
        }
        if wrong && self.draws.chance(25) {
            let end = i64::from(reference.arena().pages(band));
            let odd = [-1, 0, end, end + 1, self.draws.below(end as usize + 1) as i64, 1 << 40];
            pages.push(*self.draws.pick(&odd));
        }
        if wrong && self.draws.chance(10) && !pages.is_empty() {
            pages.push(pages[0]);
        }
        let mut tokens: Vec<i64> =
            pages.iter().flat_map(|page| (0..page_tokens).map(move |at| page * page_tokens + at)).collect();
        if wrong && self.draws.chance(10) && !tokens.is_empty() {
            match self.draws.below(3) {
                0 => {
                    tokens.pop();
                }
                1 => tokens.reverse(),
                _ => tokens.push(tokens[0]),
            }
        }
        (name, tokens)
    }
}
