//! Leaving out orders that cannot matter leaves no result out: the reduced search agrees with the full one, on the
//! corpus and on random small programs.
//!
//! On every program: which invariants can be violated. On programs in which none can: which behaviours occur and which
//! steps are reached. A program on which the two disagree becomes a file in `tests/litmus/regressions/`, where the
//! corpus test finds it.

mod common;

use common::{cases, programs, search, title};
use leasecheck_sim::invariants::Code;
use leasecheck_sim::litmus::{Source, load};
use leasecheck_sim::program::{Expect, Program};
use leasecheck_sim::verdict::{Outcome, Verdict};
use leasecheck_sim::world::World;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::TestRunner;
use std::collections::{BTreeMap, BTreeSet};

/// The most states of a full search of a case of the corpus.
const MOST_STATES_OF_A_CASE: u64 = 300_000;
/// The same for a random program.
const MOST_STATES_OF_A_PROGRAM: u64 = 4_000;

/// The code of the violation that was found, or the verdict's word.
fn verdict(outcome: &Outcome) -> &'static str {
    match &outcome.verdict {
        Verdict::Reachable(found) => found.violation.code.name(),
        other => other.word(),
    }
}

#[test]
fn both_searches_agree_on_the_corpus() {
    let (mut all, mut left, mut too_large) = (0, 0, Vec::new());
    for program in programs() {
        let full = search(&program, false, MOST_STATES_OF_A_CASE);
        let reduced = search(&program, true, MOST_STATES_OF_A_CASE);
        if let Verdict::Truncated { .. } = full.verdict {
            too_large.push(title(&program));
            continue;
        }
        assert_eq!(verdict(&full), verdict(&reduced), "{}", title(&program));
        // A run ends at a violation that the claim is not about, and which behaviours it still shows is left to chance.
        let whole = full.also.is_empty();
        if whole && matches!(full.verdict, Verdict::Unreachable | Verdict::Vacuous { .. }) {
            assert_eq!(full.marks, reduced.marks, "marks of {}", title(&program));
            assert_eq!(full.never_ran, reduced.never_ran, "steps reached in {}", title(&program));
            assert!(reduced.states <= full.states, "{}", title(&program));
            all += full.states;
            left += reduced.states;
        }
    }
    println!("cases in which nothing is violated: {all} states in full, {left} reduced; too large: {too_large:?}");
    assert!(left < all, "the reduction leaves nothing out");
    assert!(too_large.len() < 5, "too many cases are left out: {too_large:?}");
}

/// Everything that can be violated, and the last search, which nothing ended early: its target was not found.
fn violations(program: &Program, reduce: bool, limit: u64) -> Option<(BTreeSet<Code>, Outcome)> {
    let mut program = program.clone();
    let mut found = BTreeSet::new();
    loop {
        let target = *Code::ALL.iter().find(|code| !found.contains(*code))?;
        program.expect = Expect::Reachable(target);
        let outcome = search(&program, reduce, limit);
        match &outcome.verdict {
            Verdict::Truncated { .. } => return None,
            Verdict::Reachable(example) if example.violation.code == target => {
                found.insert(target);
            }
            _ => {
                found.extend(&outcome.also);
                return Some((found, outcome));
            }
        }
    }
}

/// What the programs of threads are made of; names have a value after the set-up unless a thread gives them one.
const PARTS: &[&str] = &[
    "try alloc device.full 1 -> c",
    "try alloc device.full 2 -> d",
    "try alloc device.full 1, device.swa 1 -> e",
    "try alloc host.full 1 -> g",
    "try alloc host.full 1, host.side 1 -> g, s",
    "alloc device.full 1 -> c\ncompute: write c",
    "alloc device.full 1 -> c\ncopy: write c\nfree c",
    "free a",
    "free b",
    "free b on ev",
    "free h",
    "free c",
    "bind swa b",
    "tombstone swa a",
    "tombstone swa a on ev",
    "compact device",
    "compact host",
    "flush device.full",
    "flush device.full on ev",
    "flush device.swa urgent",
    "compute: flush device.full on ev",
    "copy: flush device.full",
    "clear host.side",
    "clear host.full",
    "lease acquire device\ncompute: read a\nlease release device",
    "lease acquire device\ncompute: read b\ncompute: record ev\nlease hand off ev of device",
    "lease acquire device ttl 1\ncopy: read a",
    "lease acquire host, device\nlease release host\nlease release device",
    "lease acquire device, host\nlease release device\nlease release host",
    "lease acquire device\nlease acquire device\nlease release device\nlease release device",
    "lease acquire host\nlease hand off done of host",
    "lease acquire device\ntry alloc device.full 2 -> d\nlease release device",
    "lease release device",
    "tick",
    "pin a",
    "unpin a",
    "pin b\nunpin b",
    "gate close device.decode",
    "gate open device.decode",
    "set busy",
    "unset busy",
    "copy: set busy",
    "copy: unset busy",
    "await busy",
    "copy: await busy",
    "set ready",
    "await ready",
    "compute: set ready",
    "copy: await ready",
    "compute: write a",
    "compute: read a",
    "copy: write a",
    "copy: read a",
    "write a",
    "read a",
    "read h",
    "write h",
    "compute: write b",
    "compute: read b",
    "compute: read swa a",
    "nic: read p",
    "nic: write p",
    "nic: read a",
    "compute: read p",
    "translate a -> p",
    "translate b -> p",
    "raw a -> q\ncompute: read q",
    "kernel a -> k\ncompute: read k",
    "select swa a -> w\ncompute: read w",
    "valid p -> ok",
    "valid p -> ok\nif ok { compute: read p }",
    "compute: produce idx from a",
    "copy: produce idx from b",
    "copy: read idx -> x",
    "compute: read idx -> x\ncompute: read x",
    "copy: copy idx -> idx2",
    "compute: read idx",
    "copy: wait ev",
    "copy: wait ev\ncopy: read a",
    "compute: wait done",
    "nic: wait done",
    "compute: record ev",
    "copy: record ev",
    "copy: record done",
    "sync ev",
    "sync done",
    "sync copy",
    "sync compute",
    "query ev -> ok",
    "query done -> ok\nif ok { read a } else { set busy }",
    "fail query ev",
    "fail wait ev",
    "copy: backup a -> h",
    "copy: backup a -> h at p",
    "copy: backup a -> h at idx after ev",
    "copy: backup b -> h after done",
    "compute: backup b -> h",
    "copy: load h -> a",
    "copy: load h -> b\ncopy: record done",
    "nic: send a -> h",
    "key k of h",
    "store h as k",
    "store a as k",
    "fetch k -> h",
    "fetch k -> a",
    "lookup k -> n",
    "lookup k -> hit\nif hit { fetch k -> h }",
    "drop k",
    "lock m\nunlock m",
    "lock m\nread a\nunlock m",
    "lock m\nwrite a\nunlock m",
    "unlock m",
    "barrier meet",
    "let n = n + 1",
    "let n = 0",
    "check n < 2",
    "if n < 1 { let n = 1 }",
    "while n < 2 { let n = n + 1 }",
    "while n == 1 { tick }",
    "while n < 1 { query ev -> n }",
    "repeat 2 { compute: write b }",
    "admit device.full 2 -> ok",
    "admit device.full 1, device.swa 1 -> ok",
    "available device.full -> room",
    "available host.full -> room",
    "check empty host",
    "share a",
    "share b\nfree b",
    "cache a",
    "cache b",
    "cache swa a",
    "evict device.full 1 -> n",
    "count cached device.full -> n",
    "wait alloc device.full 1 -> c",
    "try bind swa b -> ok",
    "unmap a",
    "map a",
    "unmap b\nmap b",
    "try read p -> ok",
    "nic: try read p -> ok",
    "copy: try read a -> ok",
    "await n > 0",
    "copy: await n > 0",
    "take n",
    "give n",
    "copy: take n",
    "copy: give n 2",
    "agree decide on n",
    "gather acks max n -> n",
    "free a on ev, done",
    "tombstone swa a on ev, done",
    "flush device.full on ev, done",
    "compute: write a 1 tokens",
    "compute: read a 1 tokens",
    "lease acquire host ttl 2\nlease renew ttl 1 of host\nlease held host -> ok",
    "lookup k, k2 -> n",
];

/// Lines of the set-up that a program may have beyond those that give the names.
const SETUP: &[&str] = &[
    "compute: write a",
    "compute: write b",
    "write h",
    "compute: produce idx from a",
    "compute: record ev",
    "copy: record done",
    "bind swa a",
    "alloc device.full 1 -> z\nfree z",
    "alloc host.side 1 -> y",
    "store h as k",
    "translate b -> p",
    "lease acquire device",
];

/// Never runs: it gives every name of [`PARTS`] a kind.
const NAMES: &str = "if n > 5 {
try alloc device.full 1 -> c
compute: produce idx from a
copy: copy idx -> idx2
copy: record ev
copy: record done
query ev -> ok
}";

fn switches(kind: &str, names: &[&str]) -> String {
    names.iter().map(|name| format!("{kind}.{name} = false\n")).collect()
}

/// What a random program consists of.
#[derive(Clone, Debug)]
struct Recipe {
    device: u32,
    host: u32,
    sink: bool,
    /// Whether the sliding-window band binds the ids of the full band, instead of having ids of its own.
    binds: bool,
    moves_on: bool,
    rules: Vec<&'static str>,
    assume: Vec<&'static str>,
    words: [&'static str; 3],
    setup: Vec<&'static str>,
    threads: Vec<Vec<&'static str>>,
    finally: &'static str,
}

impl Recipe {
    fn lines(&self, parts: &[&str]) -> String {
        let bound = |part: &&&str| self.binds || !["swa a", "swa b"].iter().any(|word| part.contains(word));
        let lines: Vec<&str> = parts.iter().filter(bound).copied().collect();
        let lines = lines.join("\n");
        // A band with ids of its own gives its pages a name.
        if self.binds { lines } else { lines.replace("device.swa 1 -> e", "device.swa 1 -> e, f") }
    }

    /// A litmus file with one case.
    fn text(&self) -> String {
        let [reuse, start, planner] = self.words;
        let text = format!(
            "name = \"random\"\nsource = \"sim/tests/reduction.rs\"\nclaim = \"both searches agree\"\n\n\
             [arena.device]\nbytes = {}\nsink = {}\n{}gates.decode = [\"busy\"]\n\
             bands.full = {{ envelope = 4, page_tokens = 2, grow = \"up\" }}\n\
             bands.swa = {{ envelope = 4, page_tokens = 2, grow = \"down\"{} }}\n\n\
             [arena.host]\nbytes = {}\n\
             bands.full = {{ envelope = 4, page_tokens = 2, grow = \"up\" }}\n\
             bands.side = {{ envelope = 2, page_tokens = 2, grow = \"down\" }}\n\n\
             [[case]]\nname = \"random\"\nexpect = \"unreachable\"\nwitness = [\"allocated\"]\n\
             reuse = \"{reuse}\"\nstart = \"{start}\"\nplanner = \"{planner}\"\n{}{}{}\
             setup = \"\"\"\nalloc device.full 1 -> a\nalloc device.full 1 -> b\nalloc host.full 1 -> h\n\
             translate a -> p\nlet n = 0\n{NAMES}\n{}\n\"\"\"\n",
            self.device,
            self.sink,
            if self.moves_on { "moves_on = \"compute\"\n" } else { "" },
            if self.binds { ", ids_of = \"full\"" } else { "" },
            self.host,
            switches("rules", &self.rules),
            switches("assume", &self.assume),
            self.finally,
            self.lines(&self.setup),
        );
        let threads = self.threads.iter().zip(["t1", "t2", "t3"]);
        threads.fold(text, |text, (parts, name)| {
            text + &format!("threads.{name} = \"\"\"\n{}\n\"\"\"\n", self.lines(parts))
        })
    }
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let rules: Vec<&'static str> = leasecheck_core::Rule::ALL.iter().map(|rule| rule.name()).collect();
    let assume = vec!["callers-pass-whole-pages", "one-allocating-thread", "events-recorded-before-waited"];
    let rules = prop_oneof![3 => Just(0_usize), 1 => Just(1), 1 => Just(2)]
        .prop_flat_map(move |off| subsequence(rules.clone(), off));
    let assume =
        prop_oneof![2 => Just(0_usize), 1 => Just(1)].prop_flat_map(move |off| subsequence(assume.clone(), off));
    let arenas = (select(&[16, 24, 32][..]), select(&[8, 16][..]), any::<bool>(), any::<bool>(), any::<bool>());
    let words = (
        select(&["as designed", "as designed", "never", "at once"][..]),
        select(&["identity", "permuted"][..]),
        select(&["minimal", "slide"][..]),
    );
    let finally = select(&["", "", "", "finally = \"check empty device\"\n", "finally = \"read a\"\n"][..]);
    let threads = prop::collection::vec(prop::collection::vec(select(PARTS), 1..5), 2..4);
    let all = (arenas, rules, assume, words, subsequence(SETUP, 0..SETUP.len()), threads, finally);
    all.prop_map(|((device, host, sink, binds, moves_on), rules, assume, words, setup, threads, finally)| {
        let words = [words.0, words.1, words.2];
        Recipe { device, host, sink, binds, moves_on, rules, assume, words, setup, threads, finally }
    })
}

/// What became of a random program.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    /// Its set-up violates something.
    CannotStart,
    TooLarge,
    Violated,
    Clean,
}

/// Compares the two searches on a random program.
fn compare(recipe: &Recipe) -> Result<Fate, TestCaseError> {
    let source = Source { path: "random".to_owned(), text: recipe.text() };
    let file = load(&source).unwrap_or_else(|wrong| panic!("{}\n{}", wrong.render(&source), source.text));
    let program = &file.cases[0];
    if World::start(program).is_err() {
        return Ok(Fate::CannotStart);
    }
    let Some((full, full_outcome)) = violations(program, false, MOST_STATES_OF_A_PROGRAM) else {
        return Ok(Fate::TooLarge);
    };
    let reduced = violations(program, true, MOST_STATES_OF_A_PROGRAM);
    let (reduced, reduced_outcome) = reduced.expect("the reduced search visits no more states than the full one");
    prop_assert_eq!(&full, &reduced, "what can be violated in\n{}", source.text);
    if !full.is_empty() {
        return Ok(Fate::Violated);
    }
    prop_assert_eq!(full_outcome.marks, reduced_outcome.marks, "marks of\n{}", source.text);
    prop_assert_eq!(full_outcome.never_ran, reduced_outcome.never_ran, "steps reached in\n{}", source.text);
    Ok(Fate::Clean)
}

/// Compares them on many, and prints how many were of use.
fn campaign(programs: u32) {
    let fates = std::cell::RefCell::new(BTreeMap::<Fate, u32>::new());
    let mut runner = TestRunner::new(cases(programs));
    let result = runner.run(&recipe(), |recipe| {
        let fate = compare(&recipe)?;
        *fates.borrow_mut().entry(fate).or_default() += 1;
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let fates = fates.into_inner();
    let count = |fate| fates.get(&fate).copied().unwrap_or(0);
    println!(
        "of {programs} programs, both searches agree on {} that violate something and {} that do not; {} are too large, {} cannot start",
        count(Fate::Violated),
        count(Fate::Clean),
        count(Fate::TooLarge),
        count(Fate::CannotStart)
    );
    assert!(count(Fate::Clean) * 20 >= programs, "too few programs violate nothing");
    assert!(count(Fate::Violated) * 4 >= programs, "too few programs violate something");
}

#[test]
fn both_searches_agree_on_random_programs() {
    campaign(400);
}

#[test]
#[ignore = "a campaign of an hour, for whoever changes a step or the reduction"]
fn both_searches_agree_on_very_many_random_programs() {
    campaign(200_000);
}
