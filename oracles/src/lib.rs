//! The second oracle of leasecheck, and the functions that fuzz targets and stable tests share.
//!
//! [`model`] and [`lease_model`] are the naive versions of the core's arena and lease table. A *target* takes any bytes,
//! makes the same calls on both and panics where they differ, or checks what no input may violate. `fuzz/` has a thin
//! libFuzzer shell around each; `oracles/tests/corpus.rs` runs every input of `fuzz/corpus` through its target on
//! stable.
//!
//! ```
//! for target in leasecheck_oracles::TARGETS {
//!     (target.run)(b"any bytes will do");
//! }
//! ```

mod bytes;
pub mod call;
pub mod lease_call;
pub mod pair;
pub mod targets;

pub use leasecheck_naive::{lease_model, model};

/// One target.
pub struct Target {
    /// Its name, also of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Panics if something is wrong.
    pub run: fn(&[u8]),
}

macro_rules! targets {
    ($($name:ident)+) => {
        /// Every target.
        pub const TARGETS: &[Target] = &[$(Target { name: stringify!($name), run: targets::$name::run },)+];
    };
}

targets! { arena_ops device_pool swa_select transfer_keys lease_table world litmus_parser admission trace_parser }

/// The target of that name.
#[must_use]
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
