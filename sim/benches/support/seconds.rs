//! Rates. Seconds are processor time of this process where the system counts it, so that a busy machine gives the same.

/// Milliseconds of processor time so far (of wall time, if the system does not count).
fn millis() -> u64 {
    let fields = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let times: Vec<u64> = fields
        .rsplit(')')
        .next()
        .map(|rest| rest.split(' ').skip(12).take(2).filter_map(|ticks| ticks.parse().ok()).collect())
        .unwrap_or_default();
    match times.as_slice() {
        [user, system] => (user + system) * 10,
        _ => {
            let now = std::time::SystemTime::UNIX_EPOCH.elapsed();
            now.map_or(0, |elapsed| elapsed.as_millis() as u64)
        }
    }
}

/// Thousands a second of what a run counts, and how many one run counts.
pub fn rate(repeats: u64, mut run: impl FnMut() -> u64) -> (u64, u64) {
    let start = millis();
    let mut count = 0;
    for _ in 0..repeats {
        count = run();
    }
    (count * repeats / (millis() - start).max(1), count)
}
