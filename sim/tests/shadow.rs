//! What the shadow tells apart: tokens within a page, and work that reads a page which is live still.

mod common;

use common::{parse, search};

const TEXT: &str = r#"
name = "tokens"
source = "test"
claim = "none"

[arena.host]
bytes = 64
bands.full = { envelope = 16, page_tokens = 4, grow = "up" }
bands.swa = { envelope = 4, page_tokens = 4, grow = "down" }

[[case]]
name = "no more than was written"
expect = "unreachable"
witness = ["written-in-part"]
threads.one = """
alloc full 1 -> a
write a 3 tokens
read a 3 tokens
read a 1 tokens
"""

[[case]]
name = "one more than was written"
expect = { reachable = "uninitialized" }
witness = ["written-in-part"]
threads.one = """
alloc full 1 -> a
write a 1 tokens
read a 2 tokens
"""

[[case]]
name = "all of a page is no part of it"
expect = "unreachable"
witness = ["written-in-part"]
threads.one = """
alloc full 1 -> a
write a
read a
"""

[[case]]
name = "a stream reads what is live"
expect = "unreachable"
witness = ["read-after-free"]
threads.one = """
alloc full 1 -> a
compute: write a
compute: read a
sync compute
free a
"""

[[case]]
name = "a stream reads what was freed"
expect = "unreachable"
witness = ["read-after-free"]
threads.one = """
alloc full 1 -> a
compute: write a
compute: read a
free a
"""
"#;

#[test]
fn every_token_counts_and_only_freed_pages_are_read_after_a_free() {
    let cases = parse("tokens.toml", TEXT).cases;
    let verdicts: Vec<&str> = cases.iter().map(|case| search(case, false, 1_000).verdict.word()).collect();
    assert_eq!(verdicts, ["unreachable", "reachable", "vacuous", "vacuous", "unreachable"]);
}
