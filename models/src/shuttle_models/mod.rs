//! The shuttle models: what is too large for loom. Four to eight threads, real bytes, real compactions.

mod churn;
mod destroy_under_load;
mod failures_under_load;
mod reader_and_compactor;
mod transfers;

use crate::ours::Ours;
use crate::shipped::Shipped;
use crate::shuttle_platform::{Shuttle, ShuttleBytes};

type Shell = Ours<Shuttle, ShuttleBytes>;
type AsShipped = Shipped<Shuttle, ShuttleBytes>;

/// One model.
#[derive(Clone, Copy, Debug)]
pub struct ShuttleModel {
    /// Its name.
    pub name: &'static str,
    /// What happens in it.
    pub about: &'static str,
    /// The model on the shell.
    pub shell: fn(),
    /// The model on the arena as shipped, where it makes sense there.
    pub shipped: Option<fn()>,
    /// About how many steps a schedule has.
    pub steps: u64,
    /// Whether depth-first search comes to an end, and is all that is needed.
    pub small: bool,
}

/// Every model.
pub const MODELS: &[ShuttleModel] = &[
    ShuttleModel {
        name: "reader-and-compactor",
        about: "a reader uses an address while an allocation needs the page to move, with overlapping uses noticed",
        shell: reader_and_compactor::run::<Shell>,
        shipped: Some(reader_and_compactor::run::<AsShipped>),
        steps: 30,
        small: true,
    },
    ShuttleModel {
        name: "churn",
        about: "six threads allocate, write, read and free in an arena that is nearly full",
        shell: churn::run::<Shell>,
        shipped: Some(churn::run::<AsShipped>),
        steps: 1_500,
        small: false,
    },
    ShuttleModel {
        name: "transfers",
        about: "five threads hand leases off to two devices, which read captured addresses",
        shell: transfers::run::<Shell>,
        shipped: Some(transfers::run::<AsShipped>),
        steps: 1_500,
        small: false,
    },
    ShuttleModel {
        name: "destroy-under-load",
        about: "an arena is destroyed under four working threads",
        shell: destroy_under_load::run::<Shell>,
        shipped: Some(destroy_under_load::run::<AsShipped>),
        steps: 800,
        small: false,
    },
    ShuttleModel {
        name: "failures-under-load",
        about: "copies fail, holders panic and events get lost beside four working threads",
        shell: failures_under_load::run,
        shipped: None,
        steps: 1_500,
        small: false,
    },
];
