//! The world in which claims about page allocators are settled: host threads, fake GPU timelines, RDMA and storage
//! agents around the arenas of `leasecheck-core`; the litmus language; the invariants; the explorers.

pub mod alone;
pub mod assumptions;
pub mod explore;
pub mod hunt;
pub mod invariants;
pub mod litmus;
pub mod marks;
pub mod program;
pub mod uses;
pub mod verdict;
pub mod world;
