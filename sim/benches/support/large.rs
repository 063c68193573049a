//! A claim with many states: transfers on two copy streams behind a compute stream, leases handed off to their events,
//! and a thread that compacts.

/// The litmus file, with so many backups in each of the two threads: some 50,000 states with 3.
pub fn large(batches: usize) -> String {
    let mut text = String::from(
        r#"name   = "large"
source = "sim/benches/support/large.rs"
claim  = "compaction waits for transfers that two threads hand off to the events of two streams"

[arena.device]
bytes = 48
bands.full = { envelope = 8, page_tokens = 4, grow = "up" }
bands.swa  = { envelope = 4, page_tokens = 4, grow = "down" }

[arena.host]
bytes = 48
bands.full = { envelope = 8, page_tokens = 4, grow = "up" }

[[case]]
name    = "leases handed off"
expect  = "unreachable"
witness = ["handed-off", "compacted"]
setup = """
alloc device.full 1 -> gone
alloc device.full 1 -> a
alloc device.full 1 -> b
alloc host.full 1 -> h
alloc host.full 1 -> g
free gone
"""
"#,
    );
    for (thread, pages, target, stream, event) in [("up", "a", "h", "d2h", "da"), ("down", "b", "g", "h2d", "db")] {
        text += &format!("threads.{thread} = \"\"\"\n");
        for _ in 0..batches {
            text += &format!(
                "lease acquire device\n{stream}: write {pages}\n{stream}: backup {pages} -> {target}\n\
                 {stream}: record {event}\nlease hand off {event} of device\n"
            );
        }
        text += "\"\"\"\n";
    }
    text + "threads.compactor = \"\"\"\ncompact device\ntick\n\"\"\"\n"
}
