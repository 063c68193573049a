//! Every test of core, in one program: it is linked once, which is most of what a run after a small change costs.

mod common;

mod admission;
mod chain;
mod clones;
mod device;
mod geometry;
mod holes_first;
mod layouts;
mod leases;
mod messages;
mod pack;
mod planners;
mod reuse;
mod rules;
mod select;
mod several_events;
mod stress;
mod traces;
mod transfer;
