//! The loom models: one behaviour each, small, and named after it.
//!
//! A model is a function that loom runs once for every interleaving. Most of them are generic over the
//! implementation, so that the same model runs on the shell and on the arena as shipped.

mod stage;

macro_rules! models {
    (both: $($both:ident = $both_about:literal $(bounded $bound:literal)?),+; ours: $($ours:ident = $ours_about:literal),+;) => {
        $(mod $both;)+
        $(mod $ours;)+

        /// Every model.
        pub const MODELS: &[LoomModel] = &[
            $(LoomModel {
                module: stringify!($both),
                about: $both_about,
                shell: $both::run::<Ours<Loom, LoomBytes>>,
                shipped: Some($both::run::<Shipped<Loom, LoomBytes>>),
                preemptions: models!(@bound $($bound)?),
            },)+
            $(LoomModel {
                module: stringify!($ours),
                about: $ours_about,
                shell: $ours::run,
                shipped: None,
                preemptions: None,
            },)+
        ];
    };
    (@bound) => { None };
    (@bound $bound:literal) => { Some($bound) };
}

use crate::loom_platform::{Loom, LoomBytes};
use crate::ours::Ours;
use crate::shipped::Shipped;

/// One model.
#[derive(Clone, Copy, Debug)]
pub struct LoomModel {
    module: &'static str,
    /// What happens in it.
    pub about: &'static str,
    /// The model on the shell.
    pub shell: fn(),
    /// The model on the arena as shipped, where it makes sense there.
    pub shipped: Option<fn()>,
    /// The preemption bound, for models whose unbounded exploration does not end in reasonable time.
    pub preemptions: Option<u32>,
}

impl LoomModel {
    /// Its name: what it shows.
    #[must_use]
    pub fn name(&self) -> String {
        self.module.replace('_', "-")
    }
}

models! {
    both:
    lease_vs_compaction = "a reader uses an address while an allocation needs the page to move",
    nested_lease_vs_compaction = "a reader nests a lease while a compaction waits for its first one",
    access_by_id = "a page is read by its id while an allocation needs it to move",
    two_readers_one_compactor = "readers come and go while an allocation waits to move their page",
    handoff_vs_completion = "a lease is handed off before or after its event completes, while an allocation waits",
    completion_needs_the_arena = "the thread that completes an event needs the arena first",
    failing_query = "asking whether a transfer is done fails while it still reads",
    event_fails_while_awaited = "one of two transfers fails while a compaction waits for both",
    release_on_another_thread = "a lease is handed off by another thread than took it",
    two_compactors = "two allocations wait to move pages",
    leases_cannot_overtake = "two compactions wait, and leases keep being asked for" bounded 4,
    two_allocators_one_lease = "what a waiting allocation planned on is taken by another one",
    allocation_while_draining = "an allocation that needs no move is served while another one waits",
    free_during_drain = "a waiting allocation needs no move any more",
    own_lease = "a holder of a lease allocates",
    clear_vs_lease = "a band is emptied and filled anew while a reader uses its page",
    compaction_fails_half_way = "a copy fails in the middle of a compaction",
    destroy_vs_lease = "an arena is destroyed while a lease is being handed off",
    destroy_vs_reader = "an arena is destroyed while a reader asks for a lease",
    destroy_vs_waiters = "an arena is destroyed while an allocation and a reader wait" bounded 4,
    destroy_wakes_waiters = "destroying an arena wakes an allocation that waits for a lease",
    two_layouts = "two transfers lease two layouts in opposite orders while both compact" bounded 3;
    ours:
    panic_in_a_holder = "a thread panics while it holds two leases",
    lost_event = "the thread that should complete an event dies";
}
