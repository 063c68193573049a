//! Any text is either a litmus file or gets an error that can be shown; and no text takes long.

mod common;

use common::cases;
use leasecheck_sim::litmus::{Source, load};
use proptest::prelude::*;
use proptest::sample::Index;
use std::path::Path;
use std::time::Duration;

/// Loads a text. The error, if it is one, can be shown, in few lines and without control characters.
fn survives(text: String) {
    let source = Source { path: "any".to_owned(), text };
    if let Err(wrong) = load(&source) {
        let shown = wrong.render(&source);
        assert!(!wrong.message.is_empty() && shown.contains("any:"), "{shown}");
        assert!(shown.len() < 8_000, "an error of {} bytes", shown.len());
        assert!(shown.chars().all(|letter| letter == '\n' || !letter.is_control()), "{shown:?}");
    }
}

fn seed() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/litmus/seed/index-read-before-producer-wait.toml");
    std::fs::read_to_string(path).expect("the corpus can be read")
}

/// What a changed file gets in between.
const PIECES: &[&str] = &[
    "\"\"\"",
    "'''",
    "{",
    "}",
    "[",
    "]",
    "->",
    "..",
    ",",
    ":",
    ";",
    "\n",
    "=",
    "a",
    "a[0]",
    "a[254..255]",
    "swa a",
    "device.",
    "copy:",
    "nic:",
    "repeat 1000 {",
    "while 1 == 1 {",
    "if not a {",
    "} else {",
    "alloc",
    "alloc full 254 -> b",
    "free",
    "at idx",
    "after ready",
    "only 0",
    "tokens 3 .. 1",
    "on",
    "-1",
    "0",
    "99999999999",
    "ö",
    "\u{1b}",
    "\u{0}",
    "[arena.x]",
    "[[case]]",
    "rules.joint-bytes = false",
    "sink = true",
    "moves_on = \"copy\"",
    "ids_of = \"full\"",
    "grow = \"down\"",
    "permuted",
    "key k of a",
    "store a as k[254]",
    "fetch k tail -> a",
    "lease acquire device, host ttl 999",
    "let n = n - 1000",
];

proptest! {
    #![proptest_config(cases(600))]

    #[test]
    fn any_text_gets_an_answer(text in any::<String>()) {
        survives(text);
    }

    #[test]
    fn any_program_gets_an_answer(program in "[a-z0-9 .,:;>{}\\[\\]=<#\n-]{0,200}") {
        survives(seed().replace("alloc host.full 2 -> h", &program));
    }

    /// A file in which pieces were cut out, doubled or put in between.
    #[test]
    fn a_changed_file_gets_an_answer(
        changes in prop::collection::vec((any::<Index>(), 0_usize..40, prop::sample::select(PIECES)), 1..8)
    ) {
        let mut letters: Vec<char> = seed().chars().collect();
        for (at, length, piece) in changes {
            let at = at.index(letters.len());
            let end = (at + length).min(letters.len());
            letters.splice(at..end, piece.chars());
        }
        survives(letters.into_iter().collect());
    }
}

/// Processor time of this thread, so that other tests do not count.
fn spent() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts processor time");
    Duration::from_nanos(text.split(' ').next().and_then(|nanos| nanos.parse().ok()).expect("nanoseconds"))
}

#[test]
fn no_text_takes_long() {
    let size = 1 << 20;
    let file = |program: &str| seed().replace("alloc host.full 2 -> h", program);
    let fill = |piece: &str, room: usize| piece.repeat(room / piece.len());
    let room = size - 4_000;
    let shapes = [
        ("one word", "a".repeat(size)),
        ("brackets", "[".repeat(size)),
        ("keys", (0..size / 12).map(|at| format!("k{at} = 1\n")).collect()),
        ("steps", file(&fill("tick\n", room))),
        ("unknown steps", file(&fill("tikc\n", room))),
        ("long steps", file(&fill("try alloc device.full 1, device.swa 1 -> c, d\n", room))),
        ("a long list", file(&format!("free {}a", fill("a, ", room)))),
        ("an empty list", file(&format!("free {}a", fill("a[0..0], ", room)))),
        ("blocks", file(&fill("if 1 == 1 {\n", room))),
        ("loops of loops", file(&format!("{}tick{}", "repeat 1000 { ".repeat(15), " }".repeat(15)))),
        ("loops of nothing", file(&format!("{}{}", "repeat 1000 { ".repeat(15), " }".repeat(15)))),
        ("comments", file(&fill("# nothing\n", room / 2))),
        ("empty lines", file(&"\n".repeat(room / 2))),
        ("cases", {
            let case = |at| {
                format!(
                    "[[case]]\nname = \"c{at}\"\nexpect = \"unreachable\"\nwitness = [\"leased\"]\nthreads.t = \"repeat 999 {{ tick }}\"\n"
                )
            };
            seed() + &(0..size / 110).map(case).collect::<String>()
        }),
        ("few cases behind much", {
            let case = |at| {
                format!(
                    "[[case]]\nname = \"c{at}\"\nexpect = \"unreachable\"\nwitness = [\"leased\"]\nthreads.t = \"repeat 999 {{ tick }}\"\n"
                )
            };
            let comment = fill("# nothing\n", room - 20_000);
            seed() + &comment + &(0..90).map(case).collect::<String>()
        }),
        ("threads", seed() + &(0..size / 20).map(|at| format!("threads.t{at} = \"tick\"\n")).collect::<String>()),
        (
            "bands",
            seed().replace(
                "[arena.host]",
                &format!(
                    "[arena.more]\nbytes = 8\n{}[arena.host]",
                    (0..12_000)
                        .map(|at| format!("bands.b{at} = {{ envelope = 8, page_tokens = 4, grow = \"up\" }}\n"))
                        .collect::<String>()
                ),
            ),
        ),
        ("witnesses", seed().replace("\"index-read\"", &format!("{}\"index-read\"", fill("\"index-read\", ", room)))),
    ];
    for (name, mut text) in shapes {
        while text.len() > size {
            text.pop();
        }
        let before = spent();
        survives(text);
        let took = spent() - before;
        assert!(took < Duration::from_secs(2), "{name} takes {took:?}");
    }
}
