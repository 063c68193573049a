//! The targets, a function `run` each.

pub mod admission;
pub mod arena_ops;
pub mod device_pool;
pub mod lease_table;
pub mod litmus_parser;
pub mod swa_select;
pub mod trace_parser;
pub mod transfer_keys;
pub mod world;
