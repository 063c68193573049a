//! Explorers: who decides which enabled step is taken next. All of them use `World::enabled` and `World::step`, and
//! nothing else.

pub mod ablate;
mod answers;
mod clocks;
mod draws;
pub mod estimate;
mod exhaustive;
mod local;
pub mod missing;
pub mod needed;
mod parts;
pub mod picture;
mod reduce;
pub mod replay;
mod token;
mod variant;
pub mod why;

pub use clocks::{Clocks, Conflict};
pub use exhaustive::{Options, check, explore};
pub use token::{Token, TokenError};
pub use variant::{Item, Variant, VariantError};
