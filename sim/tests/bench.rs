//! The benchmark, tiny, so that it does not rot: both engines run and count the same states.

#[path = "../benches/support/large.rs"]
mod large;
#[path = "../benches/support/litmus_model.rs"]
mod litmus_model;
#[path = "../benches/support/rates.rs"]
mod rates;
#[path = "../benches/support/seconds.rs"]
mod seconds;

#[test]
fn the_benchmark_runs() {
    for program in rates::load_text(&large::large(1)) {
        let line = rates::compare(&program, 1);
        assert!(line.contains("distinct states/s, stateright"), "{line}");
        assert!(rates::explored(&program) > 100);
    }
}
