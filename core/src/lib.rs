//! The pure core of leasecheck: arenas whose live pages move, and the leases and gates that hold them still.
//!
//! No I/O, no clock, no randomness, no threads: every operation is a function of its arguments, a failed operation
//! changes nothing, and what must wait says so instead of waiting. Simulators, threads and foreign drivers are built
//! on top; nothing in here knows that they exist.
//!
//! The one exception is [`shell`]: the same state machines behind a monitor, for threads that may wait.
//!
//! ```
//! use leasecheck_core::*;
//!
//! let band = |name: &str, envelope, grow| BandConfig {
//!     name: name.into(), envelope, page_tokens: 4, layers: 1, grow, ids: Ids::Own,
//! };
//! let mut arena = Arena::new(ArenaConfig {
//!     bytes: 48,
//!     bands: vec![band("swa", 4, Grow::Up), band("full", 8, Grow::Down)],
//!     sink: false,
//!     reuse: Reuse::AsDesigned,
//!     permuted: false,
//!     planner: Planner::Slide,
//!     rules: Rules::all(),
//! })?;
//! let (swa, full) = (BandId(0), BandId(1));
//! let pages = arena.allocate(&[Request { band: full, pages: 6 }])?.remove(0);
//! arena.free(full, &pages[1..3], None)?;
//! // The bytes are there, but between live pages: it takes a compaction to use them.
//! let wanted = [Request { band: swa, pages: 3 }];
//! assert_eq!(arena.admission(&wanted, |_, _| true), Admission::FitsPacked);
//! let plan = arena.plan(&|_, _| true);
//! arena.commit(&plan, None);
//! assert!(arena.allocate(&wanted).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arena;
mod band;
mod chain;
mod compaction;
mod config;
mod device;
mod gates;
mod ids;
mod lease;
mod pack;
mod page_set;
mod rules;
pub mod select;
pub mod shell;
pub mod transfer;

pub use arena::{Admission, Arena, PageError, Refusal, Request};
pub use compaction::{Move, Plan};
pub use config::{ArenaConfig, BandConfig, ConfigError, Grow, Ids, MAX_BANDS, MAX_PAGES, Planner, Reuse};
pub use device::SINK;
pub use gates::Gates;
pub use ids::{BandId, EventKey, HolderId, KernelIndex, LogicalPage, PhysicalPage, TokenIndex};
pub use lease::{LeaseError, LeaseTable, Outcome};
pub use rules::{Rule, Rules, Topic};
