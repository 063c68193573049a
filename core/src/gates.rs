//! Move gates: predicates over flags that must all be open for a device band to move pages.

/// A gate is closed while one of the flags in its mask is raised. Which flags a gate watches is part of the design:
/// forgetting one is the classical mistake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gates {
    masks: Vec<u64>,
}

impl Gates {
    /// Gates that watch these flags (bit masks over at most 64 flags).
    #[must_use]
    pub fn new(masks: Vec<u64>) -> Gates {
        Gates { masks }
    }

    /// The first closed gate, given which flags are raised.
    #[must_use]
    pub fn closed(&self, raised: u64) -> Option<usize> {
        self.masks.iter().position(|mask| mask & raised != 0)
    }
}
