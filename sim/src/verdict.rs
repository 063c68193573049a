//! What an exploration can say, as a type that cannot lie.

use crate::invariants::{Code, Violation};
use crate::marks::{Mark, Marks};
use crate::program::{Expect, Program};
use crate::world::Step;

/// Which limit ended an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Distinct states.
    States(u64),
    /// Bytes of memory for states.
    Memory(u64),
    /// The caller's budget of time, or its wish to stop.
    Interrupted,
}

/// A run that ends in a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// The steps, from the start of the case. The last one violates the invariant, unless the state after it does.
    pub steps: Vec<Step>,
    /// What is violated.
    pub violation: Violation,
    /// Whether no shorter run exists. (Not known if only the reduced search could finish.)
    pub shortest: bool,
}

/// The answer for one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is a run that violates the invariant.
    Reachable(Counterexample),
    /// Every interleaving was explored and none violates anything (what the claim is about, if that is one code: the
    /// others that were seen are in [`Outcome::also`], and end the runs that meet them).
    Unreachable,
    /// A limit was reached before the exploration was complete: nothing is known.
    Truncated {
        /// Which.
        limit: Limit,
        /// States that were known and not yet explored.
        left: u64,
    },
    /// Everything was explored, but what the case says must happen never did.
    Vacuous {
        /// Marks that were not reached.
        missing: Vec<Mark>,
    },
}

impl Verdict {
    /// The word for the verdict.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Reachable(_) => "reachable",
            Verdict::Unreachable => "unreachable",
            Verdict::Truncated { .. } => "truncated",
            Verdict::Vacuous { .. } => "vacuous",
        }
    }
}

/// What an exploration found and how much it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// Distinct states (for a counterexample: those nearer to the start than its end).
    pub states: u64,
    /// Steps taken, including those that led to known states.
    pub steps: u64,
    /// Longest distance from the start among the explored states.
    pub depth: u32,
    /// Distinct states at each distance from the start; together they are [`Outcome::states`].
    pub levels: Vec<u64>,
    /// Whether independent steps were left out.
    pub reduced: bool,
    /// Behaviours: on the counterexample if there is one, anywhere otherwise.
    pub marks: Marks,
    /// Other invariants that were seen violated on the way.
    pub also: Vec<Code>,
    /// Instructions that were never reached.
    pub never_ran: Vec<u16>,
}

/// Whether a case turned out as claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// As claimed.
    AsClaimed,
    /// Not as claimed, or vacuous.
    Failed,
    /// A budget ran out.
    Unknown,
}

/// A verdict without a counterexample is wrong with a probability below 2 to the power of minus this, because explorers
/// tell things apart by 128-bit hashes: `states` worlds, as many states of each of at most 128 parts of a world, and up
/// to 48 answers for each world (what 24 agents can do, and what their next steps do). Of n things, two have the same hash
/// with a probability below n² ÷ 2^129; n is rounded up to a power of two.
#[must_use]
pub fn collision_bits(states: u64) -> u32 {
    let squared = 2 * states.max(1).next_power_of_two().ilog2();
    // 1 + 128 + 48² is below 2^12.
    (129 - 12_u32).saturating_sub(squared)
}

impl Outcome {
    /// The outcome held against the claim.
    #[must_use]
    pub fn standing(&self, program: &Program) -> Standing {
        match (&self.verdict, program.expect) {
            (Verdict::Truncated { .. }, _) => Standing::Unknown,
            (Verdict::Unreachable, Expect::Unreachable | Expect::Never(_)) => Standing::AsClaimed,
            (Verdict::Reachable(found), Expect::Reachable(code)) if found.violation.code == code => {
                if self.missing(program).is_empty() { Standing::AsClaimed } else { Standing::Failed }
            }
            _ => Standing::Failed,
        }
    }

    /// Witnesses that the case names and that were not reached.
    #[must_use]
    pub fn missing(&self, program: &Program) -> Vec<Mark> {
        program.witness.iter().copied().filter(|mark| !self.marks.has(*mark)).collect()
    }
}
