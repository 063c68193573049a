//! Naive models of the core, each written to be obviously right: the second oracle.
//!
//! A crate of its own, so that fuzzers follow what the core does, and not what its models do.

mod chain_model;
pub mod compare;
pub mod lease_model;
pub mod model;
