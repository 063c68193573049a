//! What the shadow tells apart: tokens within a page, work that reads a page which is live still, and whose bytes a late
//! write goes to.

mod common;

use common::{parse, search};
use leasecheck_sim::verdict::Verdict;

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

/// The bytes are those of a larger page by now, in the middle of the arena.
#[test]
fn a_late_write_finds_the_new_owner_at_home() {
    let text = r#"
name = "home"
source = "test"
claim = "none"

[arena.host]
bytes = 48
bands.swa = { envelope = 4, page_tokens = 4, grow = "up" }
bands.full = { envelope = 8, page_tokens = 4, grow = "down" }

[[case]]
name = "written by its new owner before"
expect = { reachable = "early-reuse" }
witness = ["freed-in-flight"]
threads.one = """
alloc swa 12 -> s
copy: await go
copy: record ready
compute: wait ready
compute: write s[11]
free s[10]
free s[11]
alloc full 1 -> f
write f
set go
"""
"#;
    let Verdict::Reachable(found) = search(&parse("home.toml", text).cases[0], false, 1_000).verdict else {
        panic!("nobody notices");
    };
    let message = "page 11 of swa was freed while this write to physical page 11 was under way, and its bytes belong to page \
                   0 of full now";
    assert_eq!(found.violation.message, message);
}

/// The kernel takes an id for a page number: nothing is written over, but the page is elsewhere, unless it is nowhere.
#[test]
fn a_write_to_the_wrong_place_harms_nobody_once_its_page_is_free() {
    let text = r#"
name = "wrong-place"
source = "test"
claim = "none"

[arena.host]
bytes = 48
bands.swa = { envelope = 4, page_tokens = 4, grow = "up" }
bands.full = { envelope = 8, page_tokens = 4, grow = "down" }

[[case]]
name = "live"
expect = { reachable = "wrong-space" }
witness = ["captured"]
threads.one = """
alloc full 1 -> f
raw f -> p
compute: write f at p
sync compute
free f
"""

[[case]]
name = "free"
expect = "unreachable"
witness = ["freed-in-flight"]
threads.one = """
alloc full 1 -> f
raw f -> p
copy: await go
copy: record ready
compute: wait ready
compute: write f at p
free f
set go
"""
"#;
    let cases = parse("wrong-place.toml", text).cases;
    let verdicts: Vec<Verdict> = cases.iter().map(|case| search(case, false, 1_000).verdict).collect();
    assert!(matches!(&verdicts[0], Verdict::Reachable(found) if found.violation.code.name() == "wrong-space"));
    assert_eq!(verdicts[1].word(), "unreachable");
}
