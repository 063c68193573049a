//! Draws from a seed that are the same on every machine and with every release of the generator's crate.
//!
//! The generator is ChaCha with 8 rounds, whose output is fixed by its definition. How a number below a bound is made
//! from it is written here, because crates change that between releases.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

/// One stream of draws.
pub(crate) struct Draws(ChaCha8Rng);

impl Draws {
    /// The stream of that number under a seed: streams are independent, so that workers can share a seed.
    pub(crate) fn new(seed: u64, stream: u64) -> Draws {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(stream);
        Draws(generator)
    }

    /// A number below `bound`, which must not be 0. (Off by less than `bound` in 2³² from uniform.)
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u64::from(self.0.next_u32()) * bound as u64) >> 32) as usize
    }
}
