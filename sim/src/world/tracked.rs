//! State that knows who looked: which parts of a world a step read, and which it changed.
//!
//! A step is a function of the parts that it looks at. Explorers use that to take the same local step once, however many
//! worlds differ elsewhere (`explore/local.rs`); it is sound because there is no way to the state but through these types.

use std::fmt;
use std::ops::{Deref, DerefMut, Index, IndexMut, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

const READ: u8 = 1;
const WRITTEN: u8 = 2;

/// What has happened to a part since it was last asked. Atomic only so that worlds can be shared; nothing is ordered.
#[derive(Default)]
struct Touch(AtomicU8);

impl Touch {
    fn read(&self) {
        if self.0.load(Relaxed) == 0 {
            self.0.store(READ, Relaxed);
        }
    }

    fn write(&mut self) {
        *self.0.get_mut() = READ | WRITTEN;
    }

    fn get(&self) -> (bool, bool) {
        let touch = self.0.load(Relaxed);
        (touch != 0, touch & WRITTEN != 0)
    }

    fn forget(&mut self) {
        *self.0.get_mut() = 0;
    }
}

/// One value.
#[derive(Default)]
pub(crate) struct Slot<T> {
    value: T,
    touch: Touch,
}

impl<T> Slot<T> {
    pub(crate) fn new(value: T) -> Slot<T> {
        Slot { value, touch: Touch::default() }
    }

    /// The value, for who packs it: not a step.
    pub(crate) fn peek(&self) -> &T {
        &self.value
    }

    pub(crate) fn peek_mut(&mut self) -> &mut T {
        &mut self.value
    }

    /// Whether it was read, and whether it was written.
    pub(crate) fn touched(&self) -> (bool, bool) {
        self.touch.get()
    }

    pub(crate) fn forget(&mut self) {
        self.touch.forget();
    }
}

impl<T> Deref for Slot<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.touch.read();
        &self.value
    }
}

impl<T> DerefMut for Slot<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.touch.write();
        &mut self.value
    }
}

impl<T: Clone> Clone for Slot<T> {
    fn clone(&self) -> Slot<T> {
        Slot::new(self.value.clone())
    }

    fn clone_from(&mut self, source: &Slot<T>) {
        self.value.clone_from(&source.value);
    }
}

impl<T: PartialEq> PartialEq for Slot<T> {
    fn eq(&self, other: &Slot<T>) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Slot<T> {}

impl<T: fmt::Debug> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

/// Groups of values, a bit for each. Atomic only so that worlds can be shared; nothing is ordered.
#[derive(Default)]
struct Groups(AtomicU64);

impl Groups {
    fn set(&self, group: u8) {
        self.0.store(self.0.load(Relaxed) | 1_u64.wrapping_shl(group.into()), Relaxed);
    }
}

/// Values of one kind, in groups each of which is looked at on its own.
pub(crate) struct Tracked<T> {
    values: Vec<T>,
    /// The group of each value.
    groups: Arc<[u8]>,
    read: Groups,
    written: Groups,
}

impl<T> Tracked<T> {
    /// Values, each in the group that `groups` says.
    pub(crate) fn new(values: Vec<T>, groups: Arc<[u8]>) -> Tracked<T> {
        debug_assert!(values.len() == groups.len() && groups.iter().all(|group| *group < 64));
        Tracked { values, groups, read: Groups::default(), written: Groups::default() }
    }

    /// How many there are, which never changes.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Each is looked at when it is its turn.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        self.values.iter().zip(&*self.groups).map(|(value, group)| {
            self.read.set(*group);
            value
        })
    }

    pub(crate) fn peek(&self) -> &[T] {
        &self.values
    }

    pub(crate) fn peek_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// The groups that were read (or written), and those that were written, a bit for each.
    pub(crate) fn touched(&self) -> (u64, u64) {
        let written = self.written.0.load(Relaxed);
        (self.read.0.load(Relaxed) | written, written)
    }

    pub(crate) fn forget(&mut self) {
        *self.read.0.get_mut() = 0;
        *self.written.0.get_mut() = 0;
    }
}

impl<T> Index<usize> for Tracked<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        self.read.set(self.groups[at]);
        &self.values[at]
    }
}

impl<T> IndexMut<usize> for Tracked<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        self.written.set(self.groups[at]);
        &mut self.values[at]
    }
}

impl<T> Index<Range<usize>> for Tracked<T> {
    type Output = [T];

    fn index(&self, range: Range<usize>) -> &[T] {
        self.groups[range.clone()].iter().for_each(|group| self.read.set(*group));
        &self.values[range]
    }
}

impl<T> IndexMut<Range<usize>> for Tracked<T> {
    fn index_mut(&mut self, range: Range<usize>) -> &mut [T] {
        self.groups[range.clone()].iter().for_each(|group| self.written.set(*group));
        &mut self.values[range]
    }
}

impl<T: Clone> Clone for Tracked<T> {
    fn clone(&self) -> Tracked<T> {
        Tracked::new(self.values.clone(), Arc::clone(&self.groups))
    }

    /// For worlds of the same program, whose groups are the same.
    fn clone_from(&mut self, source: &Tracked<T>) {
        self.values.clone_from(&source.values);
    }
}

impl<T: PartialEq> PartialEq for Tracked<T> {
    fn eq(&self, other: &Tracked<T>) -> bool {
        self.values == other.values
    }
}

impl<T: Eq> Eq for Tracked<T> {}

impl<T: fmt::Debug> fmt::Debug for Tracked<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}
