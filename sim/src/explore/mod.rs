//! Explorers: who decides which enabled step is taken next. All of them use `World::enabled` and `World::step`, and
//! nothing else.

mod clocks;
mod exhaustive;
mod reduce;
pub mod replay;
mod token;

pub use clocks::{Clocks, Conflict};
pub use exhaustive::{Options, check, explore};
pub use token::{Token, TokenError};
