//! What people read when an invariant does not hold: one case of the corpus for each sentence, with the sentence that
//! its shortest counterexample comes to (`messages.tsv`).

mod common;

use common::{parse, programs, search, title};
use leasecheck_sim::invariants::Code;
use leasecheck_sim::program::Program;
use leasecheck_sim::verdict::Verdict;
use std::collections::{BTreeMap, BTreeSet};

#[test]
fn violations_say_who_did_what_to_which_page() {
    let cases: BTreeMap<(String, String), Program> =
        programs().into_iter().map(|program| (program.name.clone(), program)).collect();
    let (mut wrong, mut codes) = (Vec::new(), BTreeSet::new());
    for line in include_str!("messages.tsv").lines() {
        let [claim, case, message] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("`{line}`") };
        let program = &cases[&(claim.to_owned(), case.to_owned())];
        let Verdict::Reachable(found) = search(program, false, 1_000_000).verdict else {
            panic!("{} is not reachable", title(program));
        };
        codes.insert(found.violation.code);
        if found.violation.message != message {
            wrong.push(format!("{claim}\t{case}\t{}", found.violation.message));
        }
    }
    assert!(wrong.is_empty(), "these have changed; if that is meant, messages.tsv is to say:\n{}", wrong.join("\n"));
    let missing = Code::ALL.iter().filter(|code| !codes.contains(code)).map(|code| code.name()).collect::<Vec<_>>();
    assert!(missing.is_empty(), "no sentence of {}", missing.join(", "));
}

/// What the shortest counterexample of a case comes to.
fn said(text: &str, case: usize) -> Option<String> {
    match search(&parse("inline.toml", text).cases[case], false, 10_000).verdict {
        Verdict::Reachable(found) => Some(found.violation.message),
        _ => None,
    }
}

/// Everyone waits, each for something else.
#[test]
fn a_deadlock_says_what_each_one_waits_for() {
    let text = r#"
name = "everyone-waits"
source = "test"
claim = "nobody goes on"

[arena.host]
bytes = 48
bands.full = { envelope = 8, page_tokens = 4, grow = "up" }

[[case]]
name = "each for something else"
expect = { reachable = "deadlock" }
witness = ["allocated"]
setup = """
alloc full 6 -> a
let n = 1
"""
threads.holder = """
lock m
set taken
await never
"""
threads.second = """
await taken
lock m
set never
copy: record done
gather b min n -> x
"""
threads.room = "wait alloc full 1 -> b"
threads.value = "free b"
threads.more = "take n 3"
threads.least = "await n > 5"
threads.event = "sync done"
threads.others = "gather b min n -> y"
"#;
    let expected = [
        "event waits in `sync done` for event `done` to be recorded (assumption events-recorded-before-waited)",
        "holder waits in `await never` for flag `never`",
        "least waits in `await n > 5` for its condition to hold",
        "more waits in `take n 3` for more of `n`",
        "others waits in `gather b min n -> y` for the others at `b`",
        "room waits in `wait alloc full 1 -> b` for room in host",
        "second waits in `lock m` held by holder",
        "value waits in `free b` for `b` to get a value, and no agent can take a step",
    ];
    assert_eq!(said(text, 0).unwrap_or_default().split("; ").collect::<Vec<_>>(), expected);
}

#[test]
fn room_that_a_lease_holds_back_is_not_missing() {
    let text = r#"
name = "room-under-a-lease"
source = "test"
claim = "none"

[arena.host]
bytes = 48
bands.swa = { envelope = 4, page_tokens = 4, grow = "up" }
bands.full = { envelope = 8, page_tokens = 4, grow = "down" }

[[case]]
name = "only"
expect = { reachable = "deadlock" }
witness = ["leased"]
setup = """
alloc swa 6 -> s
alloc full 3 -> f
free s[1]
free s[3]
"""
threads.storage = """
lease acquire
set leased
await allocated
lease release
"""
threads.scheduler = """
await leased
wait alloc full 1 -> g
set allocated
"""
"#;
    let message = "scheduler waits in `wait alloc full 1 -> g` for leases held by storage; storage waits in `await \
                   allocated` for flag `allocated`, and no agent can take a step";
    assert_eq!(said(text, 0).as_deref(), Some(message));
}

#[test]
fn a_leak_is_of_the_band_that_was_asked_about() {
    let text = r#"
name = "leak"
source = "test"
claim = "none"

[arena.host]
bytes = 48
bands.swa = { envelope = 4, page_tokens = 4, grow = "up" }
bands.full = { envelope = 8, page_tokens = 4, grow = "down" }

[[case]]
name = "the other band"
expect = "unreachable"
witness = ["allocated"]
threads.one = """
alloc swa 2 -> a
check empty full
"""

[[case]]
name = "this band"
expect = { reachable = "leak" }
witness = ["allocated"]
threads.one = """
alloc swa 2 -> a
alloc full 1 -> b
check empty swa
"""

[[case]]
name = "pending"
expect = { reachable = "leak" }
witness = ["pending"]
threads.one = """
alloc swa 2 -> a
compute: record done
free a on done
check empty swa
"""
"#;
    assert_eq!(said(text, 0), None);
    assert_eq!(said(text, 1).as_deref(), Some("swa should be empty: 2 pages are live and 0 pending"));
    assert_eq!(said(text, 2).as_deref(), Some("swa should be empty: 0 pages are live and 2 pending"));
}
