#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| leasecheck_oracles::targets::litmus_parser::run(data));
