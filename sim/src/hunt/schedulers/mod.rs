//! Who decides which enabled step is taken next, one scheduler in a file.

mod delay;
mod follow;
mod pct;
mod uniform;

pub use delay::DelayBounded;
pub use follow::Follow;
pub use pct::Pct;
pub use uniform::Uniform;

use crate::world::Step;

/// Picks one of the enabled steps.
pub trait Scheduler {
    /// The place of the chosen step in `enabled`, which is never empty. `taken` steps have been taken before.
    fn pick(&mut self, enabled: &[Step], taken: usize) -> usize;

    /// Told of a step that is taken without a choice: it was the only one.
    fn forced(&mut self, _: Step) {}
}

/// Which scheduler a campaign uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Each run draws one of the others.
    #[default]
    Mixed,
    /// [`Uniform`].
    Uniform,
    /// [`Pct`].
    Pct,
    /// [`DelayBounded`].
    Delay,
}

impl Choice {
    /// Every choice.
    pub const ALL: [Choice; 4] = [Choice::Mixed, Choice::Uniform, Choice::Pct, Choice::Delay];

    /// As written on the command line and in tokens.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Choice::Mixed => "mixed",
            Choice::Uniform => "uniform",
            Choice::Pct => "pct",
            Choice::Delay => "delay",
        }
    }

    /// The choice of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Choice> {
        Choice::ALL.into_iter().find(|choice| choice.name() == name)
    }
}
