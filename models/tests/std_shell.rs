//! The shell on real threads, where loom is not needed: what can be sent where, and panics of the storage.

use leasecheck_core::shell::{Completion, Denied, Extent, Holder, Lease, SharedArena, Std, Storage, lease_all};
use leasecheck_core::{LeaseError, LogicalPage, Planner, Request};
use leasecheck_models::subject::{FULL, SWA, layout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

fn sent<T: Send>() {}
fn shared<T: Sync>() {}

#[test]
fn guards_can_be_sent_and_arenas_shared() {
    sent::<Lease<Std, ()>>();
    shared::<Lease<Std, ()>>();
    sent::<Holder<Std, ()>>();
    sent::<Completion<Std, ()>>();
    sent::<SharedArena<Std, ()>>();
    shared::<SharedArena<Std, ()>>();
}

/// Panics once, when a page is to be copied.
#[derive(Default)]
struct Fragile {
    armed: AtomicBool,
}

impl Storage for Fragile {
    type Error = ();

    fn copy(&self, _from: Extent, _to: Extent) -> Result<(), ()> {
        assert!(!self.armed.swap(false, Ordering::SeqCst), "the storage panics");
        Ok(())
    }
}

fn fragmented<S: Storage>(storage: S) -> (SharedArena<Std, S>, Holder<Std, S>, Vec<LogicalPage>) {
    let arena = SharedArena::new(layout(4, [1, 1], Planner::Minimal), storage).expect("the layout is possible");
    let holder = arena.holder();
    let mut pages = holder.allocate(&[Request { band: FULL, pages: 4 }]).expect("an empty arena has room").remove(0);
    let freed: Vec<LogicalPage> = pages.drain(1..3).collect();
    holder.free(FULL, &freed, None).expect("the pages are live");
    (arena, holder, pages)
}

const ONE: [Request; 1] = [Request { band: SWA, pages: 1 }];

/// A panic of the storage leaves the monitor without poisoning it: nobody waits, and the next compaction works.
#[test]
fn a_storage_that_panics_leaves_the_arena_usable() {
    let (arena, holder, _) = fragmented(Fragile::default());
    let lease = holder.lease().expect("nobody destroys the arena");
    lease.storage().armed.store(true, Ordering::SeqCst);
    drop(lease);
    let panicked = catch_unwind(AssertUnwindSafe(|| holder.allocate(&ONE)));
    assert!(panicked.is_err(), "the panic goes on outside the monitor");
    assert!(arena.is_idle());
    assert!(holder.allocate(&ONE).is_ok());
}

#[test]
fn a_destroyed_arena_denies_everything_and_gives_its_storage_back() {
    let (arena, holder, pages) = fragmented(());
    let lease = holder.lease().expect("nobody destroys the arena");
    assert_eq!(holder.destroy(), Err(Denied::Lease(LeaseError::OwnLease(holder.id()))));
    drop(lease);
    assert_eq!(holder.destroy(), Ok(Some(())));
    assert_eq!(holder.destroy(), Err(Denied::Destroyed));
    assert_eq!(holder.lease().map(|_| ()), Err(Denied::Destroyed));
    assert_eq!(holder.allocate(&ONE), Err(Denied::Destroyed));
    assert_eq!(holder.clear(SWA), Err(Denied::Destroyed));
    assert_eq!(holder.free(FULL, &pages, None), Err(Denied::Destroyed));
    assert!(arena.is_idle());
}

/// Pages that earlier work can still touch are handed out again when its event has completed, not before.
#[test]
fn pages_freed_after_an_event_wait_for_it() {
    let (arena, holder, pages) = fragmented(());
    let completion = arena.completion();
    holder.free(FULL, &pages, Some(completion.key())).expect("the pages are live");
    let all = [Request { band: FULL, pages: 4 }];
    assert!(matches!(holder.allocate(&all), Err(Denied::Full(_))));
    completion.complete();
    assert!(holder.allocate(&all).is_ok());
}

#[test]
fn layouts_are_leased_once_each_and_need_different_ranks() {
    let arena = |rank| {
        SharedArena::<Std, ()>::ranked(layout(4, [1, 1], Planner::Minimal), (), rank).expect("the layout is possible")
    };
    let (one, other, same) = (arena(1), arena(2), arena(2));
    let (a, b, c, d) = (one.holder(), other.holder(), one.holder(), same.holder());
    let leases = lease_all(&[&b, &a, &c]).expect("nobody destroys anything");
    let holders: Vec<_> = leases.iter().map(Lease::holder).collect();
    assert_eq!(holders, [a.id(), b.id()]);
    assert_eq!(lease_all(&[&b, &a, &d]).map(|_| ()), Err(Denied::SameRank(2)));
}
