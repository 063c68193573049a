//! Calls of an arena, as people read them and as fuzzers draw them.

use crate::bytes::{below, flip};
use crate::model::Model;
use arbitrary::Unstructured;
use leasecheck_core::{
    ArenaConfig, BandConfig, BandId, EventKey, Grow, Ids, LogicalPage, Planner, Request, Reuse, Rules,
};
use serde::{Deserialize, Serialize};

/// Events that calls name.
const EVENTS: u32 = 3;
/// Flags that gates watch.
pub const FLAGS: u32 = 3;

/// One call, with the ids that it names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Call {
    /// Bands and pages.
    Allocate(Vec<(u8, u32)>),
    Free {
        band: u8,
        ids: Vec<u32>,
        after: Option<u32>,
    },
    Tombstone {
        band: u8,
        ids: Vec<u32>,
        after: Option<u32>,
    },
    Bind {
        band: u8,
        ids: Vec<u32>,
    },
    Clear(u8),
    Complete(u32),
    /// Closes the holes of one band or of all; pages with these ids stay; what is left waits for the event.
    Compact {
        only: Option<u8>,
        pinned: Vec<u32>,
        pend: Option<u32>,
    },
    /// Makes room for these bands and pages; pages with these ids stay.
    MakeRoom {
        wanted: Vec<(u8, u32)>,
        pinned: Vec<u32>,
    },
    /// These pages wait for the event as well.
    AwaitAlso {
        band: u8,
        pages: Vec<u32>,
        event: u32,
    },
    /// Raises or lowers a flag that gates watch.
    Flag(u32, bool),
}

/// Ids as the core takes them.
#[must_use]
pub fn pages(ids: &[u32]) -> Vec<LogicalPage> {
    ids.iter().copied().map(LogicalPage).collect()
}

/// Requests as the core takes them.
#[must_use]
pub fn requests(parts: &[(u8, u32)]) -> Vec<Request> {
    parts.iter().map(|(band, pages)| Request { band: BandId(*band), pages: *pages }).collect()
}

/// An event as the core takes it.
#[must_use]
pub fn event(key: Option<u32>) -> Option<EventKey> {
    key.map(EventKey)
}

/// What kinds of layouts and calls a target draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One band or two, that own their ids or not, with and without a sink.
    Arena,
    /// A device pool: the second band binds the first one's ids, and there is a sink.
    Pool,
}

/// Draws a layout, which need not be possible.
///
/// # Errors
/// When the bytes are used up.
pub fn layout(bytes: &mut Unstructured<'_>, kind: Kind) -> arbitrary::Result<ArenaConfig> {
    let size = u64::from(6 + below(bytes, 42)?);
    let envelopes = [1 + below(bytes, 12)?, 1 + below(bytes, 12)?];
    let bits: u8 = bytes.arbitrary()?;
    let bit = |at: u8| bits >> at & 1 == 1;
    let (first, last) = if bit(0) { (Grow::Down, Grow::Up) } else { (Grow::Up, Grow::Down) };
    let of_the_first = Ids::Of(BandId(0));
    let bands = match (kind, below(bytes, 8)?) {
        (_, 4..) => chain(bytes, envelopes, (first, last), kind)?,
        (Kind::Arena, 3) => vec![band(0, envelopes[0], first, Ids::Own)],
        (kind, drawn) => {
            let ids = if kind == Kind::Pool || drawn == 2 { of_the_first } else { Ids::Own };
            vec![band(0, envelopes[0], first, Ids::Own), band(1, envelopes[1], last, ids)]
        }
    };
    let reuse = match bits >> 6 {
        0 | 1 => Reuse::AsDesigned,
        2 => Reuse::Never,
        _ => Reuse::AtOnce,
    };
    Ok(ArenaConfig {
        bytes: size,
        bands,
        sink: kind == Kind::Pool || bit(1),
        reuse,
        permuted: bit(2),
        planner: if bit(3) { Planner::Slide } else { Planner::Minimal },
        rules: Rules::all(),
    })
}

fn band(at: u8, envelope: u32, grow: Grow, ids: Ids) -> BandConfig {
    let name = char::from(b'a' + at).to_string();
    BandConfig { name, envelope: envelope.into(), page_tokens: 4, layers: 1, grow, ids }
}

/// One float or two, with an end, two or none.
fn chain(
    bytes: &mut Unstructured<'_>,
    envelopes: [u32; 2],
    (first, last): (Grow, Grow),
    kind: Kind,
) -> arbitrary::Result<Vec<BandConfig>> {
    let bits: u8 = bytes.arbitrary()?;
    let all = [first, Grow::Float, Grow::Float, last].into_iter();
    let grows = all.enumerate().filter(|(at, _)| *at == 1 || bits >> at & 1 == 1);
    let mut bands = Vec::new();
    for (at, (nth, grow)) in (0..).zip(grows) {
        let envelope = if nth < 2 { 1 + envelopes[nth] % 7 } else { 1 + below(bytes, 7)? };
        let bound = at > 0 && (kind == Kind::Pool || bits >> (4 + nth) & 1 == 1);
        bands.push(band(at, envelope, grow, if bound { Ids::Of(BandId(0)) } else { Ids::Own }));
    }
    Ok(bands)
}

/// Some of the band's live ids, now and then an id that may be dead, or one named twice.
fn ids(bytes: &mut Unstructured<'_>, model: &Model, band: u8) -> arbitrary::Result<Vec<u32>> {
    let picks: u8 = bytes.arbitrary()?;
    let mut live: Vec<u32> = if model.bands().any(|other| other == band) {
        model.live(band).map(|(id, _)| id).collect()
    } else {
        Vec::new()
    };
    let mut ids = Vec::new();
    for _ in 0..1 + picks % 4 {
        if live.is_empty() {
            break;
        }
        let at = below(bytes, live.len() as u32)? as usize;
        ids.push(live.swap_remove(at));
    }
    if picks >> 4 == 0 {
        ids.push(below(bytes, 24)?);
    }
    Ok(ids)
}

fn after(bytes: &mut Unstructured<'_>) -> arbitrary::Result<Option<u32>> {
    let drawn = below(bytes, 2 * EVENTS)?;
    Ok((drawn < EVENTS).then_some(drawn))
}

fn band_of(bytes: &mut Unstructured<'_>, model: &Model) -> arbitrary::Result<u8> {
    let bands = model.bands().count() as u32;
    let drawn: u8 = bytes.arbitrary()?;
    // Now and then a band that does not exist.
    Ok(if drawn == u8::MAX { bands as u8 } else { (u32::from(drawn) % bands) as u8 })
}

/// Draws requests, mostly of a few pages.
///
/// # Errors
/// When the bytes are used up.
pub fn wanted(bytes: &mut Unstructured<'_>, model: &Model) -> arbitrary::Result<Vec<(u8, u32)>> {
    let mut parts = Vec::new();
    for _ in 0..1 + below(bytes, 3)? {
        let band = band_of(bytes, model)?;
        let pages = match bytes.arbitrary::<u8>()? {
            255 => u32::MAX,
            254 => 1 << 20,
            drawn => u32::from(drawn % 16),
        };
        parts.push((band, pages));
    }
    Ok(parts)
}

/// Which of the pages that are live stay where they are.
fn pinned(bytes: &mut Unstructured<'_>, model: &Model) -> arbitrary::Result<Vec<u32>> {
    let mask: u8 = bytes.arbitrary()?;
    let live = model.bands().flat_map(|band| model.live(band).map(|(id, _)| id));
    let mut ids: Vec<u32> = live.filter(|id| mask >> (id % 8) & 1 == 1).collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// Some of the pages that wait.
fn waiting(bytes: &mut Unstructured<'_>, model: &Model, band: u8) -> arbitrary::Result<Vec<u32>> {
    let mask: u8 = bytes.arbitrary()?;
    if !model.bands().any(|other| other == band) {
        return Ok(Vec::new());
    }
    let mut pages: Vec<u32> = model.view(band).pending.into_iter().map(|(page, _)| page).collect();
    pages.dedup();
    pages.retain(|page| mask >> (page % 8) & 1 == 1);
    Ok(pages)
}

/// Draws a call that makes sense for what is live now, mostly.
///
/// # Errors
/// When the bytes are used up.
pub fn call(bytes: &mut Unstructured<'_>, model: &Model, kind: Kind) -> arbitrary::Result<Call> {
    Ok(match below(bytes, 18)? {
        0..=4 => Call::Allocate(wanted(bytes, model)?),
        5..=7 => {
            let band = band_of(bytes, model)?;
            Call::Free { band, ids: ids(bytes, model, band)?, after: after(bytes)? }
        }
        8 | 9 => {
            let band = band_of(bytes, model)?;
            Call::Tombstone { band, ids: ids(bytes, model, band)?, after: after(bytes)? }
        }
        10 => {
            let band = band_of(bytes, model)?;
            Call::Bind { band, ids: ids(bytes, model, 0)? }
        }
        11 if flip(bytes)? => Call::Clear(below(bytes, model.bands().count() as u32)? as u8),
        11 if kind == Kind::Pool => Call::Flag(below(bytes, FLAGS)?, flip(bytes)?),
        11 | 12 => Call::Complete(below(bytes, EVENTS)?),
        16 => {
            let band = (below(bytes, model.bands().count() as u32)?) as u8;
            Call::AwaitAlso { band, pages: waiting(bytes, model, band)?, event: below(bytes, EVENTS)? }
        }
        17 if model.is_chain() => {
            let wanted = wanted(bytes, model)?;
            Call::MakeRoom { wanted, pinned: pinned(bytes, model)? }
        }
        _ => {
            let bands = model.bands().count() as u32;
            let only = below(bytes, bands + 2)?;
            let only = (only < bands).then_some(only as u8);
            Call::Compact { only, pinned: pinned(bytes, model)?, pend: after(bytes)? }
        }
    })
}
