//! Leasing several layouts for one transfer.

use super::denied::Denied;
use super::fault::Fault;
use super::holder::Holder;
use super::lease::Lease;
use super::platform::Platform;
use super::storage::Storage;
use std::sync::Arc;

/// Leases every layout once, in the order of their ranks, whatever the order in which they are named. Two transfers
/// that took the same layouts in different orders would wait for each other, as soon as a compaction waits for each
/// of them.
///
/// # Errors
/// When two different layouts have the same rank, or one of them is destroyed. No lease is held then.
pub fn lease_all<P: Platform, S: Storage>(holders: &[&Holder<P, S>]) -> Result<Vec<Lease<P, S>>, Denied> {
    let mut holders = holders.to_vec();
    if !P::faulty(Fault::LayoutsInCallerOrder) {
        holders.sort_by_key(|holder| holder.shared.rank);
    }
    holders.dedup_by(|one, other| Arc::ptr_eq(&one.shared, &other.shared));
    if let Some(same) = holders.windows(2).find(|pair| pair[0].shared.rank == pair[1].shared.rank) {
        return Err(Denied::SameRank(same[0].shared.rank));
    }
    holders.into_iter().map(Holder::lease).collect()
}
