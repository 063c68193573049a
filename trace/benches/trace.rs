//! Events per second of user time on one core, and peak memory: `cargo bench -p leasecheck-trace`.
//!
//! Two traces: what an arena does (allocate, lease, look up, copy on a stream, hand off, release, free), and kernels on four
//! streams over a thousand buffers, ordered by events. Text, parsing included; it is made while it is read, and the time
//! that this takes is measured apart and left out. The rate counts every line. `-- --write ROUNDS` writes the first trace
//! to the standard output instead, ten lines a round.

#![allow(missing_docs)]

use std::fmt::Write;
use std::io::{BufRead, Read};
use std::time::Instant;

const ARENA: &str = r#"{"name":"host","bytes":1073741824,"design":"sglang-0.5.23","bands":[{"name":"swa","envelope":524288,"page_tokens":64,"grow":"up"},{"name":"full","envelope":2097152,"page_tokens":64,"grow":"down"}]}"#;
const MEMORY: &str = r#"{"name":"gpu","bytes":1048576}"#;

/// A trace that is made while it is read.
struct Trace {
    arenas: &'static str,
    round: fn(u64, &mut String),
    rounds: u64,
    /// The header is round 0, the end comes after the last.
    next: u64,
    text: String,
    read: usize,
}

impl Trace {
    fn new(arenas: &'static str, round: fn(u64, &mut String), rounds: u64) -> Trace {
        Trace { arenas, round, rounds, next: 0, text: String::new(), read: 0 }
    }

    fn refill(&mut self) {
        self.text.clear();
        self.read = 0;
        while self.text.len() < 1 << 16 && self.next <= self.rounds + 1 {
            match self.next {
                0 => {
                    let arenas = self.arenas;
                    let complete = r#"["pages","leases","order","writes"]"#;
                    // Writing to a string cannot fail.
                    let _ = writeln!(
                        self.text,
                        r#"{{"leasecheck_trace":1,"producer":"bench","arenas":[{arenas}],"complete":{complete}}}"#
                    );
                }
                round if round <= self.rounds => (self.round)(round - 1, &mut self.text),
                _ => self.text += "{\"k\":\"end\"}\n",
            }
            self.next += 1;
        }
    }
}

impl Read for Trace {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Trace {
    fn fill_buf(&mut self) -> std::io::Result<&[u8]> {
        if self.read == self.text.len() {
            self.refill();
        }
        Ok(&self.text.as_bytes()[self.read..])
    }

    fn consume(&mut self, count: usize) {
        self.read += count;
    }
}

/// An arena's day.
fn arena(round: u64, text: &mut String) {
    let (r, e, t) = (2 + round % 3, round, round * 9_000);
    let _ = write!(
        text,
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
        r = r,
        e = e
    );
}

/// Kernels on four streams, handing a thousand buffers round.
fn streams(round: u64, text: &mut String) {
    let (from, to, low) = (round % 4, (round + 1) % 4, round % 1_000 * 1_024);
    let (event, high) = (round % 64, low + 1_024);
    let _ = write!(
        text,
        concat!(
            "{{\"k\":\"write\",\"th\":1,\"s\":{from},\"in\":\"gpu\",\"at\":[{low},{high}]}}\n",
            "{{\"k\":\"record\",\"th\":1,\"ev\":{event},\"s\":{from}}}\n",
            "{{\"k\":\"wait\",\"th\":1,\"ev\":{event},\"s\":{to}}}\n",
            "{{\"k\":\"read\",\"th\":1,\"s\":{to},\"in\":\"gpu\",\"at\":[{low},{high}]}}\n",
        ),
        from = from,
        to = to,
        low = low,
        high = high,
        event = event
    );
}

/// User time of this process in milliseconds, where the system tells; the wall clock's otherwise.
fn user_ms() -> u64 {
    let ticks = || {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        stat.rsplit_once(')')?.1.split_whitespace().nth(11)?.parse::<u64>().ok()
    };
    #[expect(clippy::disallowed_methods, reason = "a benchmark")]
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    ticks().map_or_else(|| START.elapsed().as_millis() as u64, |ticks| ticks * 10)
}

/// The most memory that this process has had, in MiB, where the system tells.
fn peak_mib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? / 1_024)
}

fn measure(name: &str, trace: impl Fn() -> Trace) {
    let start = user_ms();
    let making = std::io::copy(&mut trace(), &mut std::io::sink()).map_or(0, |_| user_ms() - start);
    let start = user_ms();
    let report = leasecheck_trace::check(name, trace());
    let ms = (user_ms() - start).saturating_sub(making).max(1);
    assert!(report.accepted(), "{:?} {:?}", report.findings.first(), report.broken);
    let (events, rate) = (report.events, report.events * 1_000 / ms);
    println!("{name}: {events} events, {ms} ms of user time, {rate} events per second, peak {:?} MiB", peak_mib());
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(rounds) = arguments.iter().skip_while(|argument| *argument != "--write").nth(1) {
        let mut trace = Trace::new(ARENA, arena, rounds.parse().expect("a number of rounds"));
        std::io::copy(&mut trace, &mut std::io::stdout()).expect("the standard output can be written");
        return;
    }
    // `cargo test` runs benchmarks once, tiny.
    let rounds = if arguments.iter().any(|argument| argument == "--bench") { 1_000_000 } else { 100 };
    measure("arena", || Trace::new(ARENA, arena, rounds));
    measure("streams", || Trace::new(MEMORY, streams, rounds * 2));
}
