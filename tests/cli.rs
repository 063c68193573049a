//! The command line from outside: exit codes, golden texts, and wrong input of every kind.
//!
//! Wrong input ends in exit code 2 with an error that says what and where, or, if it is merely too much, in exit code
//! 3 with `truncated`. It never panics, and it never takes long.
//!
//! Golden texts are in `tests/golden/`. `cargo test --test cli -- --ignored update_the_golden_texts` writes what the
//! program prints now; look at the difference before you commit it.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
const REPORTED: &str = "tests/litmus/seed/index-read-before-producer-wait.toml";

/// A command that runs longer hangs. (None takes more than a second on an idle machine.)
const PATIENCE: Duration = Duration::from_secs(60);

struct Ran {
    code: i32,
    out: String,
    err: String,
}

impl Ran {
    /// Everything that was printed, for messages and goldens.
    fn all(&self) -> String {
        format!("exit code {}\n--- standard output\n{}--- standard error\n{}", self.code, self.out, self.err)
    }
}

/// Runs the program in the root of the repository. Panics of it are failures of every test.
fn leasecheck(arguments: &[&str]) -> Ran {
    let folder = tempfile::tempdir().expect("a folder for output");
    let (out, err) = (folder.path().join("out"), folder.path().join("err"));
    let file = |path: &Path| std::fs::File::create(path).expect("a file for output");
    let mut child = Command::new(env!("CARGO_BIN_EXE_leasecheck"))
        .args(arguments)
        .current_dir(ROOT)
        .stdin(Stdio::null())
        .stdout(file(&out))
        .stderr(file(&err))
        .spawn()
        .expect("the program starts");
    let mut waited = Duration::ZERO;
    let status = loop {
        if let Some(status) = child.try_wait().expect("the program is ours") {
            break status;
        }
        if waited > PATIENCE {
            child.kill().expect("the program is ours");
            panic!("`leasecheck {}` hangs", arguments.join(" "));
        }
        std::thread::sleep(Duration::from_millis(10));
        waited += Duration::from_millis(10);
    };
    let text = |path: &Path| String::from_utf8(std::fs::read(path).expect("output")).expect("output is UTF-8");
    let ran = Ran { code: status.code().unwrap_or(-1), out: text(&out), err: text(&err) };
    assert!((0..=3).contains(&ran.code) && !ran.err.contains("panicked"), "{arguments:?}: {}", ran.all());
    ran
}

/// A file with this content, and the program's answer to `check FILE` with more arguments.
fn check(content: impl AsRef<[u8]>, more: &[&str]) -> Ran {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("claim.toml");
    std::fs::write(&path, content).expect("a file");
    let mut arguments = vec!["check", path.to_str().expect("UTF-8")];
    arguments.extend(more);
    leasecheck(&arguments)
}

/// A claim with one thread; `expect` and the arena can be replaced in the text.
fn claim(program: &str) -> String {
    format!(
        "name = \"claim\"\nsource = \"tests/cli.rs\"\nclaim = \"a claim\"\n\n[arena.host]\nbytes = 48\n\
         bands.full = {{ envelope = 8, page_tokens = 4, grow = \"up\" }}\n\n[[case]]\nname = \"case\"\n\
         expect = \"unreachable\"\nwitness = [\"finished\"]\nthreads.t = \"\"\"\n{program}\n\"\"\"\n"
    )
}

/// Exit code 2 and an error that says all of `words`, short enough to read.
#[track_caller]
fn refused(ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code, 2, "{}", ran.all());
    for word in words {
        assert!(ran.err.contains(word), "no `{word}` in {}", ran.all());
    }
    assert!(ran.err.len() < 8_000, "an error of {} bytes", ran.err.len());
    let shown = |letter: char| letter == '\n' || letter == '\t' || !letter.is_control();
    assert!(ran.err.chars().all(shown), "control characters in {:?}", ran.err);
}

#[test]
fn exit_codes_tell_apart() {
    assert_eq!(leasecheck(&["check", REPORTED]).code, 0);
    let holds = claim("alloc full 1 -> a\nfree a");
    assert_eq!(check(&holds, &[]).code, 0);
    let wrong = holds.replace("\"unreachable\"", "{ reachable = \"race\" }");
    let ran = check(&wrong, &[]);
    assert_eq!(ran.code, 1, "{}", ran.all());
    let vacuous = holds.replace("finished", "compacted");
    let ran = check(&vacuous, &[]);
    assert!(ran.code == 1 && ran.out.contains("vacuous"), "{}", ran.all());
    assert_eq!(check("name =", &[]).code, 2);
    let ran = check(&holds, &["--limit-states", "1"]);
    assert!(ran.code == 3 && ran.out.contains("truncated"), "{}", ran.all());
}

#[test]
fn wrong_usage_is_refused() {
    for arguments in [
        &[][..],
        &["chekc", REPORTED],
        &["check"],
        &["check", REPORTED, "--limit-states", "0"],
        &["check", REPORTED, "--limit-states", "-1"],
        &["check", REPORTED, "--limit-states", "99999999999999999999"],
        &["check", REPORTED, "--limit-seconds", "x"],
        &["check", REPORTED, "--jobs", "0"],
        &["check", REPORTED, "--jobs", "65536"],
        &["check", REPORTED, "--format", "xml"],
        &["check", REPORTED, "--case", "no such case"],
        &["replay", "no token"],
        &["replay", "1.index-read-before-producer-wait.0:!"],
        &["replay", "1.index-read-before-producer-wait.99:AA"],
        &["replay", "1.no-such-claim.0:AA"],
        &["replay", "1.index-read-before-producer-wait.0:BQUFBQ"],
        &["list", "everything"],
        &["gate", "--corpus", "no/such/folder"],
        &["check", "no/such/file.toml"],
        &["check", "tests"],
    ] {
        refused(&leasecheck(arguments), &[]);
    }
}

#[test]
fn a_wrong_file_is_answered_with_the_place_and_the_nearest_word() {
    for (text, words) in [
        (claim("alocate full 1 -> a"), &[":14:", "unknown step `alocate`"][..]),
        (claim("aloc full 1 -> a"), &[":14:1", "unknown step `aloc`", "did you mean `alloc`?"]),
        (claim("alloc ful 1 -> a"), &[":14:7", "unknown band `ful`", "did you mean `full`?"]),
        (
            claim("alloc full 1 -> pages\nfree page"),
            &[":15:6", "nothing gives `page` a value", "did you mean `pages`?"],
        ),
        (claim("alloc full -> a"), &[":14:", "expected a number"]),
        (claim("alloc full 1 -> a b"), &[":14:"]),
        (claim("if 1 == 1 {"), &["never closed"]),
        (claim("}"), &["never opened"]),
        (claim("tick ä"), &["a character that no step uses"]),
        (claim("lease acquire hots"), &["did you mean `host`?"]),
        (claim("wait done"), &["runs on a stream"]),
        (claim("copy: tick"), &["cannot be queued"]),
        (
            claim("copy: record done\ncopy: wait doen"),
            &[":15:12", "event `doen` is recorded nowhere", "did you mean `done`?"],
        ),
        (claim("tick").replace("witness", "witnes"), &["witness"]),
        (claim("tick").replace("finished", "finish"), &["unknown mark `finish`", "did you mean `finished`?"]),
        (claim("tick").replace("\"unreachable\"", "{ reachable = \"rase\" }"), &["did you mean `race`?"]),
        (claim("tick").replace("\"unreachable\"", "\"impossible\""), &["expected `\"unreachable\"`"]),
        (claim("tick") + "rules.joint-byte = false\n", &["did you mean `joint-bytes`?"]),
        (claim("tick") + "rules.joint-bytes = 1\n", &["expected true or false"]),
        (claim("tick") + "assume.callers-pass-whole-page = false\n", &["did you mean `callers-pass-whole-pages`?"]),
        (claim("tick") + "planer = \"slide\"\n", &["unknown key `planer`", "did you mean `planner`?"]),
        (claim("tick") + "planner = \"slidee\"\n", &["did you mean `slide`?"]),
        (claim("tick").replace("grow = \"up\"", "grow = \"upp\""), &["did you mean `up`?"]),
        (claim("tick").replace("[arena.host]\nbytes = 48\n", "[arena.host]\n"), &["needs `bytes`"]),
        (claim("tick").replace("claim = \"a claim\"", "claim = 3"), &["`claim` is a number"]),
        (claim("tick").replace("name = \"claim\"\n", ""), &["needs `name`"]),
        ("name = \"x\"\nname = \"y\"\n".to_owned(), &[":2:", "duplicate key"]),
        ("[[case]\n".to_owned(), &[":1:", "not valid TOML"]),
        (String::new(), &["needs `name`"]),
        ("\n\n\n".to_owned(), &["needs `name`"]),
        ("# only a comment".to_owned(), &["needs `name`"]),
    ] {
        let mut all = vec!["claim.toml"];
        all.extend(words);
        refused(&check(text, &[]), &all);
    }
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    let with = |from: &str, to: &str| claim("alloc full 1 -> a").replace(from, to);
    for text in [
        with("bytes = 48", "bytes = -1"),
        with("bytes = 48", "bytes = 0"),
        with("bytes = 48", "bytes = 4.5"),
        with("bytes = 48", "bytes = \"48\""),
        with("bytes = 48", "bytes = 1_000_000_000_000"),
        with("bytes = 48", "bytes = 9223372036854775807"),
        with("bytes = 48", "bytes = 99999999999999999999999999"),
        with("envelope = 8", "envelope = 0"),
        with("envelope = 8", "envelope = -8"),
        with("envelope = 8", "envelope = 64"),
        with("envelope = 8", "envelope = 18446744073709551615"),
        with("page_tokens = 4", "page_tokens = 0"),
        with("page_tokens = 4", "page_tokens = 5_000_000_000"),
        claim("alloc full 255 -> a"),
        claim("alloc full 1000000 -> a"),
        claim("alloc full 4294967296 -> a"),
        claim("alloc full 99999999999999999999999 -> a"),
        claim("repeat 1001 { tick }"),
        claim("repeat 1000 { repeat 1000 { tick } }"),
        claim("let n = 10001"),
        claim("alloc full 1 -> a\nfree a[1]"),
        claim("alloc full 1 -> a\nfree a[255]"),
        claim("alloc full 2 -> a\nfree a[2..1]"),
        claim(&format!("alloc full 1 -> a\nfree {}a", "a, ".repeat(100))),
        claim("alloc full 30 -> a\ncopy: write a").replace("bytes = 48", "bytes = 480"),
    ] {
        let ran = check(&text, &[]);
        assert_eq!(ran.code, 2, "{text}\n{}", ran.all());
        refused(&ran, &["error"]);
    }
}

#[test]
fn too_much_of_anything_is_refused() {
    let many = |count: usize, one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<String>();
    let threads = many(10_000, &|at| format!("threads.t{at} = \"tick\"\n"));
    let cases =
        many(10_000, &|at| format!("[[case]]\nname = \"c{at}\"\nexpect = \"unreachable\"\nwitness = [\"leased\"]\n"));
    for (text, word) in [
        (claim("tick") + &threads, "at most 24"),
        (claim("tick") + &cases, "at most 100"),
        (claim("tick") + &many(100, &|at| format!("[arena.a{at}]\nbytes = 8\n")), "at most 4"),
        (claim(&many(100, &|at| format!("s{at}: record e\n"))), "at most 60"),
        (claim(&many(100, &|at| format!("c: record e{at}\n"))), "at most 60"),
        (claim(&many(100, &|at| format!("set f{at}\n"))), "at most 60"),
        (claim(&many(100, &|at| format!("barrier b{at}\n"))), "at most 60"),
        (claim(&many(100, &|at| format!("let n{at} = 1\n"))), "at most 60"),
        (claim(&format!("alloc full 1 -> a\n{}", many(300, &|at| format!("c: produce i{at} from a\n")))), "at most 60"),
        (claim(&many(50_000, &|_| "tick\n".to_owned())), "at most 2000"),
        (claim(&format!("{}{}", "if 1 == 1 {\n".repeat(2_000), "}\n".repeat(2_000))), "nested too deeply"),
        (claim(&format!("lease acquire {}host", "host, ".repeat(300))), "at most 8"),
        (format!("x = {}1{}", "[".repeat(100_000), "]".repeat(100_000)), "not valid TOML"),
        ("a".repeat(1 << 20), "not valid TOML"),
        ("a = 1\n".repeat((1 << 20) / 6), "duplicate key"),
        ("x".repeat((1 << 20) + 1), "at most 1048576 bytes"),
    ] {
        let ran = check(&text, &[]);
        refused(&ran, &[word]);
    }
}

#[test]
fn hostile_names_are_refused_or_harmless() {
    let named =
        |from: &str, to: &str| claim("alloc full 1 -> a\nlease acquire host\nlease release host").replace(from, to);
    let long = "n".repeat(10_000);
    for text in [
        named("name = \"claim\"", "name = \"\\u001b[31mred\""),
        named("name = \"claim\"", "name = \"<script>\""),
        named("name = \"claim\"", "name = \"../../etc/passwd\""),
        named("name = \"claim\"", "name = \"a:b\""),
        named("name = \"claim\"", "name = \"\""),
        named("name = \"claim\"", &format!("name = \"{long}\"")),
        named("claim = \"a claim\"", "claim = \"\\u0007\""),
        named("name = \"case\"", "name = \"two\\nlines\""),
        named("threads.t ", "threads.\"<script>\" "),
        named("threads.t ", "threads.\"\\u001b[2J\" "),
        named("threads.t ", &format!("threads.{long} ")),
        named("threads.t ", "threads.\"\" "),
        named("arena.host", "arena.\"ho st\""),
        named("bands.full", "bands.\"\\u0000\""),
        named("-> a", &format!("-> {long}")),
        named("witness", &long),
        named("alloc full", &format!("{long} full")),
        named("alloc full", "\u{7}alloc full"),
        named("alloc full", "\u{202e}alloc full"),
    ] {
        refused(&check(&text, &[]), &["error"]);
    }
    let ran = check(named("name = \"case\"", "name = \"<script>alert(1)</script> & | `x` ünïcode\""), &[]);
    assert_eq!(ran.code, 0, "{}", ran.all());
}

#[test]
fn what_is_no_text_is_refused() {
    let garbage: Vec<u8> = (0..1_u32 << 20).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    refused(&check(&garbage, &[]), &["not text"]);
    refused(&check([0xff, 0xfe, 0, 0], &[]), &["not text"]);
    refused(&check(vec![0; 1 << 20], &[]), &["error"]);
    let letters: String = garbage.iter().map(|byte| char::from(b' ' + byte % 95)).collect();
    refused(&check(letters, &[]), &["not valid TOML"]);
}

#[test]
fn a_program_without_end_ends_in_a_verdict_or_a_limit() {
    let ends = |program: &str, more: &[&str]| {
        let ran = check(claim(program), more);
        assert!([0, 1, 3].contains(&ran.code), "{program}: {}", ran.all());
        ran
    };
    ends("while 1 == 1 { tick }", &[]);
    ends("while 1 == 1 { }", &[]);
    ends("let n = 0\nwhile 1 == 1 { let n = n + 1 }", &[]);
    ends("repeat 1000 { repeat 1000 { repeat 1000 { repeat 1000 { repeat 1000 { } } } } }", &[]);
    ends("while 1 == 1 { lease acquire host }", &[]);
    ends("alloc full 1 -> a\nwhile 1 == 1 { c: write a }", &["--limit-states", "5000"]);
    ends("alloc full 1 -> a\nwhile 1 == 1 { c: produce i from a\nc: read i }", &["--limit-states", "5000"]);
    ends("while 1 == 1 { alloc full 1 -> a\nfree a }", &["--limit-states", "5000"]);
    ends("while 1 == 1 { c: record e }", &["--limit-states", "5000"]);
    let three = claim("let n = 0\nwhile 1 == 1 { let n = n + 1\nlet m = n }")
        + "threads.u = \"let k = 0\\u000awhile 1 == 1 { let k = k + 1 }\"\n";
    refused(&check(&three, &[]), &["escapes"]);
    let counters: String = ["t", "u", "v"]
        .map(|name| format!("threads.{name} = '''\nlet {name}{name} = 0\nwhile 1 == 1 {{ let {name}{name} = {name}{name} + 1 }}\n'''\n"))
        .concat();
    let endless = claim("tick").replace("threads.t = \"\"\"\ntick\n\"\"\"\n", &counters);
    let ran = check(&endless, &["--limit-states", "30000"]);
    assert!(ran.code == 3 && ran.out.contains("truncated"), "{}", ran.all());
    let ran = check(&endless, &["--limit-seconds", "1"]);
    assert!(ran.code == 3 && ran.out.contains("truncated"), "{}", ran.all());
    let ran = check(&endless, &["--limit-memory", "1"]);
    assert!(ran.code == 3 && ran.out.contains("truncated"), "{}", ran.all());
    refused(
        &check(claim("tick").replace("threads.t", "setup = \"while 1 == 1 { tick }\"\nthreads.t"), &[]),
        &["set-up"],
    );
    refused(&check(claim("tick").replace("threads.t", "setup = \"await f\"\nthreads.t"), &[]), &["set-up"]);
}

#[test]
fn one_bad_file_does_not_lose_the_results_of_the_good_ones() {
    let folder = tempfile::tempdir().expect("a folder");
    let bad = folder.path().join("bad.toml");
    std::fs::write(&bad, "not a claim").expect("a file");
    let ran = leasecheck(&["check", bad.to_str().expect("UTF-8"), "no/such/file.toml", REPORTED]);
    assert_eq!(ran.code, 2, "{}", ran.all());
    for word in ["as reported", "wait first"] {
        assert!(ran.out.contains(word), "{}", ran.all());
    }
    assert!(ran.err.contains("bad.toml") && ran.err.contains("no/such/file.toml"), "{}", ran.all());
    let ran = leasecheck(&["check", bad.to_str().expect("UTF-8"), REPORTED, "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.out).expect("JSON on standard output, whatever is wrong");
    assert_eq!(report["cases"].as_array().map(Vec::len), Some(2), "{}", ran.all());
    assert_eq!(report["errors"].as_array().map(Vec::len), Some(1), "{}", ran.all());
}

#[test]
fn a_token_shows_the_run_again() {
    let ran = leasecheck(&["check", REPORTED]);
    let token = ran.out.split_whitespace().find(|word| word.starts_with("1.index-read-before-producer-wait.0:"));
    let again = leasecheck(&["replay", token.expect("the counterexample has a token")]);
    assert_eq!(again.code, 1, "{}", again.all());
    assert!(again.out.contains("idx"), "{}", again.all());
}

/// Names of golden files and the commands whose output they hold.
const GOLDEN: &[(&str, &[&str])] = &[
    ("check", &["check", REPORTED]),
    ("check-json", &["check", REPORTED, "--format", "json"]),
    ("check-full", &["check", REPORTED, "--full"]),
    ("check-truncated", &["check", REPORTED, "--limit-states", "3", "--case", "wait first"]),
    ("replay", &["replay", "1.index-read-before-producer-wait.0:AAAAAAAAAg"]),
    ("wrong-file", &["check", "tests/golden/wrong.toml"]),
    ("missing-file", &["check", "tests/golden/missing.toml"]),
    ("list-rules", &["list", "rules"]),
    ("list-invariants", &["list", "invariants"]),
];

#[test]
fn golden_texts_have_not_changed() {
    for (name, arguments) in GOLDEN {
        let path = Path::new(ROOT).join("tests/golden").join(format!("{name}.txt"));
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        let now = leasecheck(arguments).all();
        assert_eq!(
            now, golden,
            "tests/golden/{name}.txt; `cargo test --test cli -- --ignored update_the_golden_texts` writes the new text"
        );
    }
}

#[test]
#[ignore = "writes tests/golden"]
fn update_the_golden_texts() {
    for (name, arguments) in GOLDEN {
        let path = Path::new(ROOT).join("tests/golden").join(format!("{name}.txt"));
        std::fs::write(path, leasecheck(arguments).all()).expect("golden texts can be written");
    }
}

/// What a trace can end in, and that findings survive a file that cannot be read on.
#[test]
fn traces_are_answered_with_exit_codes() {
    let folder = tempfile::tempdir().expect("a folder");
    let cut = folder.path().join("cut.jsonl");
    let race = std::fs::read_to_string(Path::new(ROOT).join("tests/traces/sanitizer/write-after-read.jsonl"))
        .expect("a trace");
    std::fs::write(&cut, race.replace("{\"k\":\"end\"}\n", "{\"k\":\"wri")).expect("a file");
    let cut = cut.display().to_string();
    for (file, code, expected) in [
        ("tests/traces/sanitizer/two-reads.jsonl", 0, "two-reads.jsonl   3 events fit"),
        ("tests/traces/sanitizer/write-after-read.jsonl", 1, "race in line 3   1 finding, the first 1 of 3 events fit"),
        ("tests/traces/small.jsonl", 2, "a trace begins with a line"),
        (&cut, 2, "race in line 3"),
    ] {
        let ran = leasecheck(&["trace", file]);
        assert_eq!(ran.code, code, "{file}: {}", ran.all());
        assert!(ran.out.contains(expected), "{file}: {}", ran.all());
    }
    let ran = leasecheck(&["trace", "no-such-file.jsonl"]);
    assert!(ran.code == 2 && ran.err.contains("no-such-file.jsonl: cannot be read"), "{}", ran.all());
    let json = leasecheck(&["trace", "--format", "json", "tests/traces/sanitizer/write-after-read.jsonl"]);
    assert!(json.code == 1 && json.out.contains("\"invariant\": \"race\""), "{}", json.all());
}
