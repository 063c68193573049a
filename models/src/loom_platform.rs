//! loom: the monitor, the threads and the bytes.

use crate::bytes::Bytes;
use crate::ledger::{self, Deed};
use crate::platform::platform;
use leasecheck_core::shell::{Extent, Fault, Monitor, Note, Platform, Storage};
use loom::cell::UnsafeCell;
use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;

platform!(loom, Loom, LoomMonitor);

/// A thread of a model.
pub struct Thread<T>(loom::thread::JoinHandle<T>);

impl<T: 'static> Thread<T> {
    /// Waits for the thread to return.
    ///
    /// # Panics
    /// When it panicked; the execution has failed then.
    pub fn join(self) -> T {
        self.0.join().expect("a panic ends the execution before anybody can join")
    }
}

/// Starts a thread with a lane of that name.
pub fn spawn<T: 'static>(name: &'static str, body: impl FnOnce() -> T + 'static) -> Thread<T> {
    let lane = ledger::lane(name);
    Thread(loom::thread::spawn(move || {
        LANE.with(|current| current.set(lane));
        let result = body();
        ledger::ended(lane);
        result
    }))
}

/// Writes down something that only the model knows about.
pub fn says(what: &'static str) {
    ledger::deed(LANE.with(Cell::get), Deed::Says(what));
}

/// Bytes whose accesses loom checks: two of them that conflict must be ordered by happens-before.
#[derive(Clone)]
pub struct LoomBytes(Rc<Inner>);

/// What vacated bytes are overwritten with.
const VACATED: u8 = 0xee;

/// The values are beside the cells that loom watches, so that no raw pointer has to be followed.
struct Inner {
    watched: Vec<UnsafeCell<()>>,
    values: Vec<Cell<u8>>,
    copies_left: Cell<Option<u32>>,
    mapped: Cell<bool>,
}

impl LoomBytes {
    fn range(&self, extent: Extent) -> Range<usize> {
        assert!(self.0.mapped.get(), "bytes {extent} are used after the arena was destroyed");
        extent.start as usize..extent.end() as usize
    }
}

impl Bytes for LoomBytes {
    fn new(bytes: u64) -> LoomBytes {
        LoomBytes(Rc::new(Inner {
            watched: (0..bytes).map(|_| UnsafeCell::new(())).collect(),
            values: (0..bytes).map(|_| Cell::new(0)).collect(),
            copies_left: Cell::new(None),
            mapped: Cell::new(true),
        }))
    }

    fn read(&self, extent: Extent) -> Vec<u8> {
        let at = self.range(extent);
        let reading: Vec<_> = self.0.watched[at.clone()].iter().map(UnsafeCell::get).collect();
        let values = self.0.values[at].iter().map(Cell::get).collect();
        drop(reading);
        values
    }

    fn write(&self, extent: Extent, value: u8) {
        let at = self.range(extent);
        let writing: Vec<_> = self.0.watched[at.clone()].iter().map(UnsafeCell::get_mut).collect();
        self.0.values[at].iter().for_each(|cell| cell.set(value));
        drop(writing);
    }

    fn unmap(&self) {
        self.write(Extent { start: 0, bytes: self.0.values.len() as u64 }, 0);
        self.0.mapped.set(false);
    }

    fn fail_copy(&self, after: u32) {
        self.0.copies_left.set(Some(after));
    }

    fn note(deed: Deed) {
        ledger::deed(LANE.with(Cell::get), deed);
    }
}

impl Storage for LoomBytes {
    type Error = ();

    fn copy(&self, from: Extent, to: Extent) -> Result<(), ()> {
        if let Some(left) = self.0.copies_left.get() {
            self.0.copies_left.set(left.checked_sub(1));
            if left == 0 {
                return Err(());
            }
        }
        for (at, value) in (to.start..).zip(self.read(from)) {
            self.write(Extent { start: at, bytes: 1 }, value);
        }
        // What has been vacated is nobody's. Overwritten at once, it gives away whoever still looks there; not where
        // a copy is going to fail, since a caller that moves nothing at all then may expect its pages unharmed.
        if self.0.copies_left.get().is_none() {
            self.write(from, VACATED);
        }
        Ok(())
    }
}
