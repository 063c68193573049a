//! Events per second of user time on one core: `cargo bench -p leasecheck-trace`.
//!
//! Two traces: what an arena does (allocate, lease, look up, copy on a stream, hand off, release, free), and kernels on four
//! streams over a thousand buffers, ordered by events. Text, parsing included. The rate counts every line.

#![allow(missing_docs)]

use std::fmt::Write;
use std::time::Instant;

fn header(arenas: &str) -> String {
    format!(
        "{{\"leasecheck_trace\":1,\"producer\":\"bench\",\"arenas\":[{arenas}],\"complete\":[\"pages\",\"leases\",\"order\",\"writes\"]}}\n"
    )
}

/// An arena's day.
fn arena(rounds: u32) -> String {
    let mut text = header(
        r#"{"name":"host","bytes":1073741824,"design":"sglang-0.5.23","bands":[{"name":"swa","envelope":524288,"page_tokens":64,"grow":"up"},{"name":"full","envelope":2097152,"page_tokens":64,"grow":"down"}]}"#,
    );
    for round in 0..rounds {
        let (reader, event, t) = (2 + round % 3, round, u64::from(round) * 9_000);
        let lines = format!(
            concat!(
                "{{\"k\":\"alloc\",\"th\":1,\"t\":{t},\"b\":[\"swa\"],\"n\":[1],\"ids\":[0],\"at\":[0]}}\n",
                "{{\"k\":\"write\",\"th\":1,\"t\":{t},\"in\":\"swa\",\"ids\":[0],\"at\":[0]}}\n",
                "{{\"k\":\"available\",\"th\":1,\"t\":{t},\"b\":\"swa\",\"res\":2047}}\n",
                "{{\"k\":\"lease\",\"th\":{r},\"t\":{t},\"a\":\"host\",\"depth\":1}}\n",
                "{{\"k\":\"translate\",\"th\":{r},\"t\":{t},\"b\":\"swa\",\"ids\":[0],\"at\":[0]}}\n",
                "{{\"k\":\"read\",\"th\":{r},\"t\":{t},\"s\":{r},\"in\":\"swa\",\"ids\":[0],\"at\":[0]}}\n",
                "{{\"k\":\"record\",\"th\":{r},\"t\":{t},\"ev\":{e},\"s\":{r}}}\n",
                "{{\"k\":\"hand_off\",\"th\":{r},\"t\":{t},\"a\":\"host\",\"ev\":{e},\"depth\":0}}\n",
                "{{\"k\":\"sync\",\"th\":1,\"t\":{t},\"ev\":{e}}}\n",
                "{{\"k\":\"free\",\"th\":1,\"t\":{t},\"b\":\"swa\",\"ids\":[0]}}\n",
            ),
            t = t,
            r = reader,
            e = event
        );
        text += &lines;
    }
    text + "{\"k\":\"end\"}\n"
}

/// Kernels on four streams, handing a thousand buffers round.
fn streams(rounds: u64) -> String {
    let mut text = header(r#"{"name":"gpu","bytes":1048576}"#);
    for round in 0..rounds {
        let (from, to, buffer) = (round % 4, (round + 1) % 4, round % 1_000 * 1_024);
        let (event, end) = (round % 64, buffer + 1_024);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            concat!(
                "{{\"k\":\"write\",\"th\":1,\"s\":{},\"in\":\"gpu\",\"at\":[{},{}]}}\n",
                "{{\"k\":\"record\",\"th\":1,\"ev\":{},\"s\":{}}}\n",
                "{{\"k\":\"wait\",\"th\":1,\"ev\":{},\"s\":{}}}\n",
                "{{\"k\":\"read\",\"th\":1,\"s\":{},\"in\":\"gpu\",\"at\":[{},{}]}}\n",
            ),
            from, buffer, end, event, from, event, to, to, buffer, end
        );
    }
    text + "{\"k\":\"end\"}\n"
}

/// User time of this process, in clock ticks of 10 ms, where the system tells; the wall clock's otherwise.
fn user_ticks() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(11)?.parse().ok()
}

fn measure(name: &str, text: &str) {
    #[expect(clippy::disallowed_methods, reason = "a benchmark")]
    let start = Instant::now();
    let ticks = user_ticks();
    let report = leasecheck_trace::check(name, text.as_bytes());
    let wall_ms = start.elapsed().as_millis().max(1) as u64;
    let user_ms = user_ticks().zip(ticks).map_or(wall_ms, |(end, start)| (end - start) * 10).max(1);
    assert!(report.accepted(), "{:?} {:?}", report.findings.first(), report.broken);
    println!(
        "{name}: {} events, {user_ms} ms of user time, {} events per second",
        report.events,
        report.events * 1_000 / user_ms
    );
}

fn main() {
    // `cargo test` runs benchmarks once, tiny.
    let rounds = if std::env::args().any(|argument| argument == "--bench") { 400_000 } else { 100 };
    measure("arena", &arena(rounds));
    measure("streams", &streams(u64::from(rounds) * 2));
}
