//! Who touched which bytes last: per arena, keyed by byte range, so that overlapping views meet.
//!
//! Of every range the last write and the reads since are kept, at most one for each agent; an older read that a newer
//! one comes after is dropped. Ranges are as fine as the accesses were and become one again when they are written as
//! one. The size is bounded by the arena, not by the trace.

use crate::clocks::{Agent, Clock, knows};
use crate::format::Role;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Bytes that nobody owns.
pub(crate) const NOBODY: u32 = 0;

/// One access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) agent: Agent,
    pub(crate) time: u64,
    pub(crate) line: u64,
    /// The generation of the owner of the bytes: a new one whenever they are handed out.
    pub(crate) owner: u32,
    pub(crate) write: bool,
}

/// What plain memory is at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Memory {
    /// The generation, if it was handed out.
    pub(crate) owner: u32,
    /// The line in which it was given back, if it was.
    pub(crate) freed: Option<u64>,
    pub(crate) role: Role,
}

#[derive(Clone, Debug)]
struct Segment {
    end: u64,
    memory: Memory,
    write: Option<Touch>,
    reads: SmallVec<[Touch; 1]>,
}

/// What an access found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// An earlier access that conflicts and that nothing orders before this one.
    pub(crate) unordered: Option<Touch>,
    /// The role of the range, where `unordered` is about it.
    pub(crate) role: Role,
    /// The owner of the bytes at this access.
    pub(crate) owner: u32,
    /// A part of the range was given back in this line.
    pub(crate) freed: Option<u64>,
    /// A part of the range, of that role, was not written since it was handed out.
    pub(crate) unwritten: Option<Role>,
}

/// The accesses to one arena.
#[derive(Debug)]
pub(crate) struct History {
    segments: BTreeMap<u64, Segment>,
    fresh: Memory,
}

impl History {
    /// Nothing was touched yet.
    pub(crate) fn new(role: Role) -> History {
        History { segments: BTreeMap::new(), fresh: Memory { owner: NOBODY, freed: None, role } }
    }

    /// Ranges that are told apart, and reads that are remembered of them.
    #[cfg(test)]
    pub(crate) fn len(&self) -> (usize, usize) {
        (self.segments.len(), self.segments.values().map(|segment| segment.reads.len()).sum())
    }

    /// Makes `at` a border between segments.
    fn split(&mut self, at: u64) {
        let Some((_, segment)) = self.segments.range_mut(..at).next_back() else { return };
        if segment.end > at {
            let rest = segment.clone();
            segment.end = at;
            self.segments.insert(at, rest);
        }
    }

    /// Makes segments cover exactly `low..high`.
    fn cover(&mut self, low: u64, high: u64) {
        self.split(low);
        self.split(high);
        let mut gaps: SmallVec<[(u64, u64); 4]> = SmallVec::new();
        let mut next = low;
        for (start, segment) in self.segments.range(low..high) {
            if next < *start {
                gaps.push((next, *start));
            }
            next = segment.end;
        }
        if next < high {
            gaps.push((next, high));
        }
        for (start, end) in gaps {
            let segment = Segment { end, memory: self.fresh, write: None, reads: SmallVec::new() };
            self.segments.insert(start, segment);
        }
    }

    /// Plain memory is handed out or given back. Returns the line in which a part of it was given back before.
    pub(crate) fn become_memory(&mut self, low: u64, high: u64, memory: Memory) -> Option<u64> {
        self.cover(low, high);
        let mut freed = None;
        for (_, segment) in self.segments.range_mut(low..high) {
            freed = freed.or(segment.memory.freed);
            segment.memory = memory;
        }
        freed
    }

    /// An access of `low..high`.
    pub(crate) fn touch(&mut self, low: u64, high: u64, touch: Touch, clock: &Clock) -> Found {
        let mut found = Found::default();
        if let Some(segment) = self.segments.get_mut(&low)
            && segment.end == high
        {
            segment.touch(touch, clock, &mut found);
            return found;
        }
        self.cover(low, high);
        let mut alike = true;
        let mut first: Option<Memory> = None;
        for (_, segment) in self.segments.range_mut(low..high) {
            segment.touch(touch, clock, &mut found);
            alike &= *first.get_or_insert(segment.memory) == segment.memory;
        }
        if touch.write && alike {
            let starts: SmallVec<[u64; 8]> = self.segments.range(low + 1..high).map(|(start, _)| *start).collect();
            for start in starts {
                self.segments.remove(&start);
            }
            if let Some(segment) = self.segments.get_mut(&low) {
                segment.end = high;
            }
        }
        found
    }
}

impl Segment {
    fn touch(&mut self, mut touch: Touch, clock: &Clock, found: &mut Found) {
        if touch.owner == NOBODY {
            touch.owner = self.memory.owner;
        }
        let unordered = |other: &&Touch| !knows(clock, other.agent, other.time);
        // Reads first: of an index buffer, they say that it was overwritten too early.
        let reads = if touch.write { &self.reads[..] } else { &[] };
        let conflict = reads.iter().find(unordered).or_else(|| self.write.as_ref().filter(unordered));
        if let Some(other) = conflict
            && found.unordered.is_none()
        {
            (found.unordered, found.role, found.owner) = (Some(*other), self.memory.role, touch.owner);
        }
        if self.memory.freed.is_some() {
            found.freed = self.memory.freed;
        }
        if touch.write {
            self.write = Some(touch);
            self.reads.clear();
            return;
        }
        if self.write.is_none_or(|write| write.owner != touch.owner) {
            found.unwritten.get_or_insert(self.memory.role);
        }
        self.reads.retain(|other| !knows(clock, other.agent, other.time));
        self.reads.push(touch);
    }
}

#[cfg(test)]
mod tests {
    use super::{History, NOBODY, Touch};
    use crate::format::Role;

    fn touch(agent: u32, time: u64, write: bool) -> Touch {
        Touch { agent, time, line: time, owner: NOBODY, write }
    }

    #[test]
    fn overlapping_ranges_meet_and_writes_join_them() {
        let mut history = History::new(Role::Data);
        assert!(history.touch(0, 64, touch(0, 1, true), &vec![1, 0]).unordered.is_none());
        assert!(history.touch(64, 128, touch(0, 2, true), &vec![2, 0]).unordered.is_none());
        let found = history.touch(32, 96, touch(1, 1, false), &vec![1, 1]);
        assert_eq!(found.unordered.map(|other| other.time), Some(2), "the second half is not known");
        assert_eq!(history.len().0, 4);
        history.touch(0, 128, touch(0, 3, true), &vec![3, 1]);
        assert_eq!(history.len().0, 1);
        assert!(history.touch(16, 17, touch(1, 2, true), &vec![3, 2]).unordered.is_none());
    }

    #[test]
    fn a_read_that_a_newer_one_comes_after_is_dropped() {
        let mut history = History::new(Role::Data);
        for time in 1..100 {
            history.touch(0, 8, touch(0, time, false), &vec![time, 0]);
        }
        history.touch(0, 8, touch(1, 1, false), &vec![0, 1]);
        let segment = &history.segments[&0];
        assert_eq!(segment.reads.len(), 2);
        assert!(history.touch(0, 8, touch(1, 2, true), &vec![0, 2]).unordered.is_some());
    }
}
