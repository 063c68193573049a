//! Files that make no sense get a clear error at the right place, or a clear answer; never a panic, never a hang.

use std::fmt::Write as _;
use std::path::Path;

use leasecheck_config::{Verdict, analyse, load, parse, render_text};

/// Each case with what is wrong in it; the rendered errors of all of them are one golden file.
const CASES: &[(&str, &str)] = &[
    ("no options", "name = 'empty'"),
    ("an option without values", "[options]\npolicy = { values = [], default = 'a' }"),
    ("an option with nothing at all", "[options]\npolicy = {}"),
    ("a default outside the values", "[options]\npolicy = { values = ['back', 'through'], default = 'bakc' }"),
    ("no default", "[options]\npolicy = { values = ['back', 'through'] }"),
    ("mixed types", "[options]\nsize = { values = [1, 'two'], default = 1 }"),
    ("a value twice", "[options]\nsize = { values = [1, 1], default = 1 }"),
    ("a number as an option", "[options]\nsize = 3.5"),
    ("a name that no condition can use", "[options]\n'enable-unified' = false"),
    ("a reserved name", "[options]\nin = false\nasked = false"),
    ("an unknown key", "[options]\na = false\n[[gate]]\nname = 'g'\nreject = 'a'"),
    ("a missing key", "[options]\na = false\n[[gate]]\nname = 'g'"),
    (
        "an unknown option",
        "[options]\nunified_memory = false\n[[gate]]\nname = 'g'\nrejects = 'unified_memroy && true'",
    ),
    (
        "a value without quotes",
        "[options]\np = { values = ['back'], default = 'back' }\n[[gate]]\nname = 'g'\nrejects = 'p == back'",
    ),
    (
        "an unknown value",
        "[options]\np = { values = ['back', 'through'], default = 'back' }\n[[gate]]\nname = 'g'\nrejects = \"p == 'trough'\"",
    ),
    ("not a condition", "[options]\np = { values = ['back'], default = 'back' }\n[[gate]]\nname = 'g'\nrejects = 'p'"),
    (
        "two types compared",
        "[options]\na = false\nn = { values = [1, 2], default = 1 }\n[[gate]]\nname = 'g'\nrejects = 'a == n'",
    ),
    (
        "an order of texts",
        "[options]\np = { values = ['a', 'b'], default = 'a' }\n[[gate]]\nname = 'g'\nrejects = 'p < 3'",
    ),
    ("one equals sign", "[options]\na = false\n[[gate]]\nname = 'g'\nrejects = 'a = true'"),
    ("half a condition", "[options]\na = false\n[[gate]]\nname = 'g'\nrejects = '''\na &&\n  (!a ||'''"),
    ("an empty condition", "[options]\na = false\n[[gate]]\nname = 'g'\nrejects = ''"),
    ("a macro", "[options]\na = false\n[[gate]]\nname = 'g'\nrejects = '[1, 2].all(x, x > 1)'"),
    (
        "an unknown function",
        "[options]\np = { values = ['a'], default = 'a' }\n[[gate]]\nname = 'g'\nrejects = \"p.startWith('a')\"",
    ),
    (
        "a division by zero",
        "[options]\nn = { values = [0, 1], default = 0 }\n[[gate]]\nname = 'g'\nrejects = '4 / n == 4'",
    ),
    (
        "an overflow",
        "[options]\nn = { values = [9223372036854775807], default = 9223372036854775807 }\n[[gate]]\nname = 'g'\nrejects = 'n + 1 > 0'",
    ),
    (
        "two gates of one name",
        "[options]\na = false\n[[gate]]\nname = 'g'\nrejects = 'a'\n[[gate]]\nname = 'g'\nrejects = '!a'",
    ),
    (
        "a resolver that sets an unknown option",
        "[options]\nalpha = false\n[[resolver]]\nname = 'r'\nset = { alpah = true }",
    ),
    (
        "a resolver that sets the model",
        "[options]\nmla = { default = false, model = true }\n[[resolver]]\nname = 'r'\nset = { mla = true }",
    ),
    (
        "a gate before an unknown resolver",
        "[options]\na = false\n[[resolver]]\nname = 'first'\nset = { a = true }\n[[gate]]\nname = 'g'\nrejects = 'a'\nbefore = 'frist'",
    ),
    (
        "a must about an unknown feature",
        "[options]\na = false\n[[feature]]\nname = 'pool'\nruns = 'a'\n[[must]]\nreachable = 'pol'",
    ),
    ("a must with two questions", "[options]\na = false\n[[must]]\naccepts = 'a'\nrejects = 'a'"),
    ("an unknown expectation", "[options]\na = false\n[[must]]\naccepts = 'a'\nexpect = 'maybe'"),
    ("not TOML", "[options\na = false"),
    (
        "an unknown name after an accent",
        "[options]\np = { values = ['é'], default = 'é' }\n[[gate]]\nname = 'g'\nrejects = \"p == '\\u00e9' && nope\"",
    ),
];

fn errors() -> String {
    let mut out = String::new();
    for (name, text) in CASES {
        let wrong = parse("file.toml", text).expect_err(name);
        assert!(wrong.entries().iter().all(|entry| entry.line >= 1 && entry.column >= 1), "{name}");
        let _ = write!(out, "=== {name}\n{wrong}\n");
    }
    out
}

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/errors.txt");

#[test]
fn every_error_has_a_place_and_a_way_out() {
    let expected = std::fs::read_to_string(Path::new(GOLDEN)).unwrap_or_default();
    let found = errors();
    assert!(expected == found, "{GOLDEN} differs; it is now:\n{found}");
}

#[test]
#[ignore = "writes the golden file"]
fn write() {
    std::fs::write(GOLDEN, errors()).expect("the golden file can be written");
}

#[test]
fn a_million_values_are_refused_with_the_limit() {
    let values: Vec<String> = (0..1_000_000).map(|value| value.to_string()).collect();
    let text = format!("[options]\nsize = {{ values = [{}], default = 0 }}", values.join(", "));
    let wrong = parse("big.toml", &text).expect_err("too many values");
    let entry = &wrong.entries()[0];
    assert_eq!(entry.message, "option `size` has 1000000 values");
    assert!(entry.expected.starts_with("1 to 256 values"), "{}", entry.expected);
    // From a file, the size alone is enough to refuse it.
    let path = std::env::temp_dir().join(format!("leasecheck-config-{}.toml", std::process::id()));
    std::fs::write(&path, &text).expect("a temporary file can be written");
    let wrong = load(&path).expect_err("too many bytes");
    std::fs::remove_file(&path).expect("it can be removed");
    assert!(wrong.to_string().contains("at most 4194304 bytes"), "{wrong}");
}

#[test]
fn files_that_are_not_there_or_not_text_are_errors() {
    let wrong = load("no/such/file.toml").expect_err("it is not there");
    assert!(wrong.to_string().contains("cannot be read"), "{wrong}");
    assert_eq!((wrong.entries()[0].line, wrong.entries()[0].column), (0, 0));
    load(std::env::temp_dir()).expect_err("a folder is no file");
}

#[test]
fn very_long_and_very_deep_conditions_are_refused() {
    let file = |condition: String| format!("[options]\na = false\n[[gate]]\nname = 'g'\nrejects = '{condition}'");
    for condition in [
        vec!["a"; 100_000].join(" && "),
        "!".repeat(5_000) + "a",
        "(".repeat(3_000) + "a" + &")".repeat(3_000),
        "a ? a : ".repeat(900) + "a",
        "-".repeat(7_000) + "1 > 0",
        vec!["1"; 2_500].join("+") + " > 0",
        "[".repeat(8_000),
    ] {
        // An even number of `!` is a condition like any other; everything else here is refused.
        if let Err(wrong) = parse("deep.toml", &file(condition)) {
            assert!(!wrong.entries().is_empty());
        }
    }
    let wide: Vec<String> = (0..100).map(|value| value.to_string()).collect();
    let options: String =
        (0..4).map(|n| format!("n{n} = {{ values = [{}], default = 0 }}\n", wide.join(", "))).collect();
    let text = format!("[options]\n{options}[[gate]]\nname = 'g'\nrejects = 'n0 * n1 * n2 * n3 > 7'");
    let wrong = parse("wide.toml", &text).expect_err("too many combinations");
    assert!(wrong.to_string().contains("combinations of values"), "{wrong}");
}

/// Two resolvers that undo each other: there is no configuration they could settle on.
#[test]
fn resolvers_that_go_in_a_circle_fail_the_file() {
    let text = "[options]\na = false\nb = false\n\
        [[resolver]]\nname = 'a follows b'\nwhen = 'b'\nset = { a = true }\n\
        [[resolver]]\nname = 'b leaves a'\nwhen = 'a'\nset = { b = false }\n\
        [[resolver]]\nname = 'a leaves b'\nwhen = '!b'\nset = { a = false }\n";
    let report = analyse(&parse("circle.toml", text).expect("it is a gate file"), None);
    // Without b, a is reset in the first run already; what remains settles.
    assert_eq!(report.verdict(), Verdict::Ok, "{}", render_text(&report));

    let text = "[options]\na = false\nb = false\n\
        [[resolver]]\nname = 'a against b'\nwhen = '!b'\nset = { a = true }\n\
        [[resolver]]\nname = 'b with a'\nwhen = 'a'\nset = { b = true }\n\
        [[resolver]]\nname = 'a after b'\nwhen = 'b'\nset = { a = false }\n\
        [[resolver]]\nname = 'b after a'\nwhen = '!a'\nset = { b = false }\n";
    let report = analyse(&parse("circle.toml", text).expect("it is a gate file"), None);
    assert!(report.unsettled.is_empty(), "{}", render_text(&report));

    let text = "[options]\na = false\nb = false\n\
        [[resolver]]\nname = 'a against b'\nwhen = 'b'\nset = { a = false }\n\
        [[resolver]]\nname = 'a without b'\nwhen = '!b'\nset = { a = true }\n\
        [[resolver]]\nname = 'b follows a'\nwhen = 'a'\nset = { b = true }\n\
        [[resolver]]\nname = 'b leaves with a'\nwhen = '!a'\nset = { b = false }\n";
    let report = analyse(&parse("circle.toml", text).expect("it is a gate file"), None);
    assert_eq!(report.verdict(), Verdict::Failed, "{}", render_text(&report));
    assert!(!report.as_expected());
    assert_eq!(report.unsettled[0].circle, ["a", "b"]);
    assert!(report.checks().iter().any(|check| !check.passed && check.message.contains("go in a circle (a, b)")));
}

#[test]
fn conditions_that_are_always_false_or_always_true_are_answered() {
    let text = "[options]\na = false\n\
        [[gate]]\nname = 'never'\nrejects = 'a && !a'\n\
        [[gate]]\nname = 'always'\nrejects = 'a || !a'\n\
        [[feature]]\nname = 'impossible'\nruns = 'a && !a'\n\
        [[must]]\nunreachable = 'impossible'\n\
        [[must]]\nrejects = 'a && !a'\n";
    let report = analyse(&parse("odd.toml", text).expect("it is a gate file"), None);
    assert_eq!(report.verdict(), Verdict::Failed);
    let shown = render_text(&report);
    for expected in [
        "2 configurations, 0 of them accepted",
        "one gate is enough to reject it all",
        "it never rejects anything",
        "its condition cannot hold in any configuration",
        "vacuous: impossible is unreachable",
        "vacuous: rejects a && !a",
    ] {
        assert!(shown.contains(expected), "{expected:?} is not in\n{shown}");
    }
}

#[test]
fn a_must_that_needs_a_baseline_fails_without_one() {
    let text = "[options]\na = false\n[[feature]]\nname = 'f'\nruns = 'a'\n[[must]]\nno_new_rejections_without = 'f'";
    let report = analyse(&parse("must.toml", text).expect("it is a gate file"), None);
    assert_eq!(report.verdict(), Verdict::Failed);
    assert!(render_text(&report).contains("not checked: no new rejections without f"));
}

/// A default that changes moves every configuration that does not mention the option.
#[test]
fn a_changed_default_is_compared_default_with_default() {
    let file = |default: &str| {
        format!(
            "[options]\nserver = false\npolicy = {{ values = ['back', 'through'], default = '{default}' }}\n\
             [[gate]]\nname = 'no through'\nrejects = \"server && policy == 'through'\"\n"
        )
    };
    let old = parse("old.toml", &file("back")).expect("it is a gate file");
    let new = parse("new.toml", &file("through")).expect("it is a gate file");
    let comparison = analyse(&new, Some(&old)).comparison.expect("there is a baseline");
    assert_eq!(comparison.newly_rejected.example, None, "value by value nothing changed");
    assert_eq!(comparison.changed_defaults[0].newly_rejected.exact(), Some("1"));
}

/// The same option with new values: an old configuration cannot have them.
#[test]
fn new_and_gone_options_count_as_unused() {
    let old = parse("old.toml", "[options]\na = false\ngone = false\n[[gate]]\nname = 'g'\nrejects = 'gone && a'")
        .expect("old");
    let new = parse("new.toml", "[options]\na = false\nfresh = false\n[[gate]]\nname = 'g'\nrejects = 'a || fresh'")
        .expect("new");
    let comparison = analyse(&new, Some(&old)).comparison.expect("there is a baseline");
    assert_eq!(
        (comparison.new_options.as_slice(), comparison.gone_options.as_slice()),
        (&["fresh".to_owned()][..], &["gone".to_owned()][..])
    );
    assert_eq!(comparison.newly_rejected.configurations.exact(), Some("1"));
}
