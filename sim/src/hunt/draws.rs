//! Choices drawn from a seed.
//!
//! The generator is ChaCha with 8 rounds, as `rand` 0.10 exports it (feature `chacha`). Its output is fixed by the
//! algorithm and documented as reproducible across platforms and releases, unlike `StdRng`. Only its 64-bit output is
//! used: the ways in which `rand` turns output into ranges may change between releases, so that is done here.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

/// A stream of choices.
pub struct Draws(From);

#[allow(clippy::large_enum_variant)] // It lives on the stack, once for a program or a schedule.
enum From {
    Seed(ChaCha8Rng),
    /// What a fuzzer wants; the first alternative when the bytes are used up.
    Bytes(std::vec::IntoIter<u8>),
}

impl Draws {
    /// The choices of a seed. `purpose` keeps the choices of different decisions independent of each other.
    #[must_use]
    pub fn new(seed: u64, purpose: u64) -> Draws {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&purpose.to_le_bytes());
        Draws(From::Seed(ChaCha8Rng::from_seed(bytes)))
    }

    /// The choices that these bytes stand for, one byte for each choice among up to 256.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Draws {
        Draws(From::Bytes(Vec::from(bytes).into_iter()))
    }

    /// A number below `bound` (0 if the bound is 0).
    pub fn below(&mut self, bound: usize) -> usize {
        match &mut self.0 {
            // The upper half of the product: uniform up to one part in 2^64 / bound.
            From::Seed(rng) => ((u128::from(rng.next_u64()) * bound as u128) >> 64) as usize,
            From::Bytes(_) if bound <= 1 => 0,
            From::Bytes(bytes) => {
                let bytes = bytes.take(if bound > 256 { 2 } else { 1 });
                bytes.fold(0, |number, byte| number << 8 | usize::from(byte)) % bound
            }
        }
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    ///
    /// # Panics
    /// If there are none.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}
