#![no_main]

use leasecheck_oracles::targets::world;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|data: &[u8]| world::run(data));

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    world::mutate(data, size, max_size, seed, fuzzer_mutate)
});
