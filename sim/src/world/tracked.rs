//! State that knows who looked: which parts of a world a step read, and which it changed.
//!
//! A step is a function of the parts that it looks at. Explorers use that to take the same local step once, however many
//! worlds differ elsewhere (`explore/local.rs`); it is sound because there is no way to the state but through these types.

use std::fmt;
use std::ops::{Deref, DerefMut, Index, IndexMut, Range};
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

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

/// Values of one kind, each of which is looked at on its own.
pub(crate) struct Tracked<T> {
    values: Vec<T>,
    touch: Vec<Touch>,
}

impl<T> Tracked<T> {
    pub(crate) fn new(values: Vec<T>) -> Tracked<T> {
        let touch = values.iter().map(|_| Touch::default()).collect();
        Tracked { values, touch }
    }

    /// How many there are, which never changes.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Each is looked at when it is its turn.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &T> {
        self.values.iter().zip(&self.touch).map(|(value, touch)| {
            touch.read();
            value
        })
    }

    pub(crate) fn peek(&self) -> &[T] {
        &self.values
    }

    pub(crate) fn peek_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Whether one of `range` was read, and whether one was written.
    pub(crate) fn touched(&self, range: Range<usize>) -> (bool, bool) {
        let each = self.touch[range].iter().map(Touch::get);
        each.fold((false, false), |(read, written), touch| (read | touch.0, written | touch.1))
    }

    pub(crate) fn forget(&mut self) {
        self.touch.iter_mut().for_each(Touch::forget);
    }
}

impl<T> Index<usize> for Tracked<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        self.touch[at].read();
        &self.values[at]
    }
}

impl<T> IndexMut<usize> for Tracked<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        self.touch[at].write();
        &mut self.values[at]
    }
}

impl<T> Index<Range<usize>> for Tracked<T> {
    type Output = [T];

    fn index(&self, range: Range<usize>) -> &[T] {
        self.touch[range.clone()].iter().for_each(Touch::read);
        &self.values[range]
    }
}

impl<T> IndexMut<Range<usize>> for Tracked<T> {
    fn index_mut(&mut self, range: Range<usize>) -> &mut [T] {
        self.touch[range.clone()].iter_mut().for_each(Touch::write);
        &mut self.values[range]
    }
}

impl<T: Clone> Clone for Tracked<T> {
    fn clone(&self) -> Tracked<T> {
        Tracked::new(self.values.clone())
    }

    fn clone_from(&mut self, source: &Tracked<T>) {
        self.values.clone_from(&source.values);
        self.touch.resize_with(self.values.len(), Touch::default);
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
