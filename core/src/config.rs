//! The layout of an arena: bytes, bands, and the choices that the design leaves open.

use crate::ids::BandId;
use crate::rules::Rules;
use std::fmt;

/// The most bands an arena can have. Requests are priced in fixed arrays of this size.
pub const MAX_BANDS: usize = 8;

/// The most pages a band can have; page numbers and byte arithmetic stay far from overflow.
pub const MAX_PAGES: u64 = 1 << 26;

/// The end from which a band grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grow {
    /// From byte 0 upwards.
    Up,
    /// From the top downwards.
    Down,
    /// Between two others, on both sides. Several floats lie in the order of their numbers.
    Float,
}

/// Where the ids of a band come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ids {
    /// The band allocates its own ids.
    Own,
    /// The band binds pages for ids that another band of the arena allocated (device pools).
    Of(BandId),
}

/// What happens to a page after it was freed. The two extremes exist because reuse both hides and invents races.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reuse {
    /// Holes nearest the band's own end first.
    #[default]
    AsDesigned,
    /// Freed pages and ids are never handed out again.
    Never,
    /// The page freed last is handed out first.
    AtOnce,
}

/// Which pages a compaction moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Planner {
    /// Keeps the order of pages and moves what lies beyond every hole, as SGLang 0.5.23's host arena does.
    Slide,
    /// Moves only as many pages as there are holes below the new watermark.
    #[default]
    Minimal,
}

/// One band of an arena.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BandConfig {
    /// Its name in requests and reports.
    pub name: String,
    /// Bytes of one page, all layers together.
    pub envelope: u64,
    /// Tokens of one page.
    pub page_tokens: u32,
    /// Layers whose views the kernel-facing index steps over; the kernel multiplier is twice this number.
    pub layers: u32,
    /// The end from which it grows.
    pub grow: Grow,
    /// Where its ids come from.
    pub ids: Ids,
}

/// The layout of one arena, and the design that governs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArenaConfig {
    /// Bytes shared by all bands.
    pub bytes: u64,
    /// The bands; at most one for each end, any number of floats between.
    pub bands: Vec<BandConfig>,
    /// Whether physical page 0 of every band is the sink: reserved, never live.
    pub sink: bool,
    /// What happens to freed pages.
    pub reuse: Reuse,
    /// Whether logical and physical numbers differ from the first allocation on, so that a missing translation
    /// shows at once.
    pub permuted: bool,
    /// How compactions are planned.
    pub planner: Planner,
    /// The rules that are on.
    pub rules: Rules,
}

/// Why a layout is impossible. The text names the band and the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// No band at all.
    NoBands,
    /// More than [`MAX_BANDS`].
    TooManyBands(usize),
    /// Two bands claim the same end.
    EndTaken(String),
    /// An envelope of zero bytes, or zero tokens in a page.
    EmptyPage(String),
    /// The envelope is larger than what the arena leaves for it.
    NoRoom {
        /// The band.
        band: String,
        /// Its envelope, in bytes.
        envelope: u64,
        /// The bytes of the arena.
        bytes: u64,
    },
    /// More pages than [`MAX_PAGES`].
    TooManyPages {
        /// The band.
        band: String,
        /// The number of pages that the arena would hold.
        pages: u64,
    },
    /// Ids are shared with a band that does not exist or does not own ids.
    NotAnOwner(String),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::NoBands => write!(f, "an arena needs at least one band"),
            ConfigError::TooManyBands(n) => write!(f, "an arena has at most {MAX_BANDS} bands, this one has {n}"),
            ConfigError::EndTaken(band) => {
                write!(f, "band `{band}` grows from an end that another band already grows from")
            }
            ConfigError::EmptyPage(band) => {
                write!(f, "band `{band}` needs an envelope of at least 1 byte and pages of at least 1 token")
            }
            ConfigError::NoRoom { band, envelope, bytes } => {
                write!(
                    f,
                    "band `{band}` has an envelope of {envelope} bytes, but the arena of {bytes} bytes has no room for one page of it"
                )
            }
            ConfigError::TooManyPages { band, pages } => {
                write!(f, "band `{band}` would have {pages} pages; the limit is {MAX_PAGES}")
            }
            ConfigError::NotAnOwner(band) => {
                write!(f, "band `{band}` shares the ids of a band that does not own ids")
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// What follows from a layout, computed once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// Per band: pages on its grid, sink included.
    pub(crate) pages: Vec<u32>,
    /// Per band: the first page that is not part of the sink.
    pub(crate) first: Vec<u32>,
    /// Bytes below which nothing is live.
    pub(crate) low: u64,
    /// Bytes at and above which nothing is live (a dead tail shorter than a page of the band at the top).
    pub(crate) high: u64,
    /// The bands from the lowest to the highest, in an arena with floats; empty otherwise.
    pub(crate) chain: Vec<usize>,
}

impl ArenaConfig {
    pub(crate) fn geometry(&self) -> Result<Geometry, ConfigError> {
        if self.bands.is_empty() {
            return Err(ConfigError::NoBands);
        }
        if self.bands.len() > MAX_BANDS {
            return Err(ConfigError::TooManyBands(self.bands.len()));
        }
        for (at, band) in self.bands.iter().enumerate() {
            if band.envelope == 0 || band.page_tokens == 0 {
                return Err(ConfigError::EmptyPage(band.name.clone()));
            }
            if band.grow != Grow::Float && self.bands[..at].iter().any(|other| other.grow == band.grow) {
                return Err(ConfigError::EndTaken(band.name.clone()));
            }
            if let Ids::Of(owner) = band.ids
                && self.bands.get(owner.0 as usize).is_none_or(|owner| owner.ids != Ids::Own)
            {
                return Err(ConfigError::NotAnOwner(band.name.clone()));
            }
        }
        let sink_bytes = if self.sink { self.bands.iter().map(|band| band.envelope).max().unwrap_or(0) } else { 0 };
        let mut pages = Vec::with_capacity(self.bands.len());
        let mut first = Vec::with_capacity(self.bands.len());
        for band in &self.bands {
            let count = self.bytes / band.envelope;
            let skip = sink_bytes.div_ceil(band.envelope);
            if count <= skip {
                let (band, envelope) = (band.name.clone(), band.envelope);
                return Err(ConfigError::NoRoom { band, envelope, bytes: self.bytes });
            }
            if count > MAX_PAGES {
                return Err(ConfigError::TooManyPages { band: band.name.clone(), pages: count });
            }
            pages.push(count as u32);
            first.push(skip as u32);
        }
        let top = self.bands.iter().position(|band| band.grow == Grow::Down);
        let bottom = self.bands.iter().position(|band| band.grow == Grow::Up);
        let end = |at: usize| u64::from(pages[at]) * self.bands[at].envelope;
        let start = |at: usize| u64::from(first[at]) * self.bands[at].envelope;
        let high = top.or(bottom).map_or(self.bytes, end);
        let low = bottom.or(top).map_or(0, start);
        let floats: Vec<usize> = (0..self.bands.len()).filter(|at| self.bands[*at].grow == Grow::Float).collect();
        let chain = if floats.is_empty() { floats } else { bottom.into_iter().chain(floats).chain(top).collect() };
        Ok(Geometry { pages, first, low, high, chain })
    }
}
