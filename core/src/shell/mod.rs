//! The thread-safe shell: the core's arena and lease table behind one monitor.
//!
//! The shell blocks where the core says `MustWait`, and adds no protocol of its own: what is granted, to whom and
//! when, is decided by [`crate::Arena`] and [`crate::LeaseTable`] inside the monitor. It is generic over the monitor
//! ([`Platform`]), so that the code that runs on real threads ([`Std`]) is the code that loom and shuttle explore.
//! There are no atomics and no fast paths beside the monitor.
//!
//! ```
//! use leasecheck_core::shell::{SharedArena, Std};
//! use leasecheck_core::*;
//!
//! let band = |name: &str, grow| BandConfig {
//!     name: name.into(), envelope: 8, page_tokens: 4, layers: 1, grow, ids: Ids::Own,
//! };
//! let arena = SharedArena::<Std, ()>::new(
//!     ArenaConfig {
//!         bytes: 64,
//!         bands: vec![band("swa", Grow::Up), band("full", Grow::Down)],
//!         sink: false,
//!         reuse: Reuse::AsDesigned,
//!         permuted: false,
//!         planner: Planner::Minimal,
//!         rules: Rules::all(),
//!     },
//!     (),
//! )?;
//! let holder = arena.holder();
//! let page = holder.allocate(&[Request { band: BandId(0), pages: 1 }])?[0][0];
//! let lease = holder.lease()?;
//! let place = lease.translate(BandId(0), page)?; // cannot change before the lease is gone
//! assert_eq!(place, PhysicalPage(0));
//! // Hand the lease to the work that still uses the place, and let its end be told by another thread.
//! let completion = arena.completion();
//! lease.hand_off(completion.key());
//! std::thread::spawn(|| completion.complete()).join().unwrap();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Decisions
//!
//! What the shipped host arena of SGLang 0.5.23 gets wrong or leaves open, and what this shell does. Each is checked
//! by the models of `leasecheck-models` named here; the mutations of [`Fault`] show that they notice.
//!
//! | question | decision | models |
//! | --- | --- | --- |
//! | An allocation waited for a compaction; the arena has changed. | It starts over from the arena as it is: allocates without moving if that is possible now, plans anew if not, and is denied like any other request if it does not fit any more. | `allocation-while-draining`, `free-during-drain`, `two-allocators-one-lease` |
//! | Two compactions wait. | They are queued and counted, not flagged. The first goes first; the end of one ends nobody else's waiting, and opens the door for no lease that asked later. | `two-compactors`, `leases-cannot-overtake` |
//! | New leases while a compaction waits. | First come, first served, both ways: a request for a lease stands behind the compactions that asked before it and before those that ask later. Holders may always nest. | `leases-cannot-overtake`, `nested-lease-vs-compaction` |
//! | A lease is given back by another thread than its holder. | A lease belongs to a [`Holder`], not to a thread. Guards are `Send`; where they are dropped does not matter, and their event is recorded. | `release-on-another-thread` |
//! | A compaction fails half-way, by an error or a panic of the storage. | What was copied has moved, the rest has not; the compaction stops waiting, everyone is woken, and the caller gets the error (or the panic, outside the monitor). | `compaction-fails-half-way` |
//! | Destroying with leases and events outstanding. | New requests are refused and waiting ones woken with [`Denied::Destroyed`]; then it waits for leases *and* events. Holders may nest until they are done. Afterwards nothing has an arena without memory in hand. | `destroy-vs-lease`, `destroy-vs-waiters` |
//! | A completion event whose query fails. | It counts as not completed and keeps its cover. | `failing-query` |
//! | A completion event that fails for good, or is lost. | *Failed*: the owner says that the work is over; compactions waiting for it are denied, other events keep their cover. *Lost* (its [`Completion`] was dropped): the cover stays and compactions are denied instead of waiting for ever, until [`SharedArena::write_off`]. | `event-fails-while-awaited`, `lost-event` |
//! | An event completes before a lease is handed off to it. | The hand-off finds it complete and is a plain release. | `handoff-vs-completion` |
//! | A holder panics. | Its guards are dropped while it unwinds; leases are given back like any others. | `panic-in-a-holder` |
//! | A transfer leases several layouts. | [`lease_all`] takes each once, in the order of the arenas' ranks. | `two-layouts` |
//! | Asking to move pages while holding a lease. | Denied, since it would wait for itself; requests that need no move are served. | `own-lease` |
//! | Who waits while bytes are copied. | A compaction moves inside the monitor: nothing could be granted meanwhile. Nobody ever waits for leases or events inside it. | all |
//!
//! What it does not do: free pages that are in use are the caller's mistake (no lease pins a *page*); there are no
//! timed leases, since there is no clock; `mem::forget` on a lease holds the layout for ever.

mod completion;
mod denied;
mod fault;
mod holder;
mod lease;
mod lease_all;
mod note;
mod platform;
mod shared_arena;
mod state;
mod std_platform;
mod storage;

pub use completion::Completion;
pub use denied::Denied;
pub use fault::Fault;
pub use holder::Holder;
pub use lease::Lease;
pub use lease_all::lease_all;
pub use note::{Did, Note, Sleeper, Standing, Wait};
pub use platform::{Monitor, Platform};
pub use shared_arena::SharedArena;
pub use std_platform::{Std, StdMonitor};
pub use storage::{Extent, Storage};
