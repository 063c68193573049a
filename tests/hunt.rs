//! `hunt` and `merge` from outside: what they leave on disk does not depend on jobs, on interruptions or on how seeds
//! are cut, a find can be checked and replayed, and wrong input ends in exit code 2 with what to do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

const BROKEN: [&str; 2] = ["--rule", "leases-handed-off=off"];

fn leasecheck(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_leasecheck"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("it starts")
}

fn hunt(args: &[&str], out: &Path) -> Output {
    let out = out.to_str().expect("a plain path");
    leasecheck(&[&["hunt", "--shrink", "150", "--out", out], args].concat())
}

/// Every file of a folder.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    entries
        .map(|entry| {
            let entry = entry.expect("the folder can be read");
            let text = std::fs::read_to_string(entry.path()).expect("hunts write text");
            (entry.file_name().into_string().expect("a plain name"), text)
        })
        .collect()
}

fn wrong(output: &Output, expected: &str) {
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains(expected), "expected `{expected}`: {errors}");
    assert!(!errors.contains("panicked"), "{errors}");
}

#[test]
fn a_campaign_in_shards_in_parts_or_at_once_leaves_the_same_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let whole = hunt(&[&["--seeds", "0..8192", "--jobs", "2"], &BROKEN[..]].concat(), &at("whole"));
    assert_eq!(whole.status.code(), Some(1), "{}", String::from_utf8_lossy(&whole.stderr));
    let whole = files(&at("whole"));
    assert!(whole.len() > 2, "a find at least: {:?}", whole.keys());

    // Resumed half-way.
    assert_eq!(hunt(&[&["--seeds", "0..4096"], &BROKEN[..]].concat(), &at("parts")).status.code(), Some(1));
    hunt(&[&["--seeds", "0..8192", "--resume", "--jobs", "1"], &BROKEN[..]].concat(), &at("parts"));
    assert_eq!(files(&at("parts")), whole);

    // In shards, joined in any order.
    let shards = ["2/2", "1/2"];
    for (nth, shard) in shards.iter().enumerate() {
        hunt(&[&["--seeds", "0..8192", "--shard", shard], &BROKEN[..]].concat(), &at(&nth.to_string()));
    }
    let [first, second, joined] = ["0", "1", "joined"].map(|name| at(name).to_str().expect("a plain path").to_owned());
    let merged = leasecheck(&["merge", &first, &second, "--out", &joined]);
    assert_eq!(merged.status.code(), Some(1));
    assert_eq!(files(Path::new(&joined)), whole);

    // What was found is what `check` finds, and the token shows the run.
    let line: serde_json::Value =
        serde_json::from_str(whole["finds.jsonl"].lines().next().expect("a find")).expect("a line of JSON");
    let file = at("whole").join(format!("{}.toml", line["name"].as_str().expect("a name")));
    let checked = leasecheck(&["check", file.to_str().expect("a plain path")]);
    assert_eq!(checked.status.code(), Some(0), "{}", String::from_utf8_lossy(&checked.stdout));
    let token = line["token"].as_str().expect("a token");
    let [once, again] = [(); 2].map(|()| leasecheck(&["replay", token]));
    assert_eq!(once.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&once.stdout).contains(line["invariant"].as_str().expect("a code")));
    assert_eq!(once.stdout, again.stdout);

    // `why` says where it went wrong.
    let why = leasecheck(&["why", token, "--rolls", "8"]);
    let said = String::from_utf8_lossy(&why.stdout).into_owned();
    // With 3 where the search for the certain step ran out of states.
    assert!(matches!(why.status.code(), Some(0 | 3)), "{said}{}", String::from_utf8_lossy(&why.stderr));
    assert!(said.contains("became likely") && said.contains(&format!("leasecheck replay {token}")), "{said}");

    // What would count twice, be missing or be lost is refused.
    let another = at("another").to_str().expect("a plain path").to_owned();
    wrong(&leasecheck(&["merge", &first, &first]), "which would count twice");
    wrong(&leasecheck(&["merge", &first, at("whole").to_str().expect("a plain path")]), "which would count twice");
    let part = leasecheck(&["merge", &second, "--out", &another]);
    assert!(String::from_utf8_lossy(&part.stdout).contains("incomplete: shard 2/2 of the seeds 0..8192 is missing"));
    let resumed = hunt(&[&["--seeds", "0..8192", "--resume"], &BROKEN[..]].concat(), Path::new(&another));
    wrong(&resumed, "cannot be resumed: shard 2/2");
    wrong(&leasecheck(&["merge", &first, &second, "--out", &joined]), "already holds a campaign");

    // A name in a folder that leads out of it is refused, wherever the folder comes from.
    let stranger = at("stranger");
    std::fs::create_dir(&stranger).expect("the folder is ours");
    std::fs::write(stranger.join("campaign.json"), &whole["campaign.json"]).expect("the folder is ours");
    let own = line["name"].as_str().expect("a name");
    std::fs::write(at("outside.toml"), &whole[&format!("{own}.toml")]).expect("the folder is ours");
    let long = "n".repeat(10_000);
    for name in ["../outside", "a/../../outside", "/outside", "", "\u{0}", long.as_str()] {
        let mut find = line.clone();
        find["name"] = name.into();
        std::fs::write(stranger.join("finds.jsonl"), format!("{find}\n")).expect("the folder is ours");
        let out = at("strange").to_str().expect("a plain path").to_owned();
        wrong(&leasecheck(&["merge", stranger.to_str().expect("a plain path"), "--out", &out]), "is no file name");
    }

    // A folder that does not fit what is asked of it is refused, and left as it is.
    let whole_folder = at("whole");
    wrong(&hunt(&[&["--seeds", "0..64", "--resume"], &BROKEN[..]].concat(), &whole_folder), "is at seed 8192 already");
    wrong(&hunt(&["--seeds", "0..8192"], &whole_folder), "--resume");
    wrong(&hunt(&["--seeds", "0..8192", "--resume"], &whole_folder), "resume it with the same arguments");
    wrong(&leasecheck(&["merge", &first, folder.path().to_str().expect("a plain path")]), "is this a folder of");
    let record = at("whole").join("campaign.json");
    let older = whole["campaign.json"].replacen("\"hunt\": ", "\"hunt\": 99", 1);
    std::fs::write(&record, &older).expect("the folder is ours");
    wrong(
        &hunt(&[&["--seeds", "0..8192", "--resume"], &BROKEN[..]].concat(), &whole_folder),
        "another version of leasecheck",
    );
    wrong(&leasecheck(&["merge", whole_folder.to_str().expect("a plain path")]), "another version of leasecheck");
    std::fs::write(&record, "{").expect("the folder is ours");
    wrong(
        &hunt(&[&["--seeds", "0..8192", "--resume"], &BROKEN[..]].concat(), &whole_folder),
        "is not what `hunt` writes",
    );
}

/// Names given twice or in another order are one configuration, and a find names the rules that it needs to be off.
#[test]
fn a_find_names_what_it_needs() {
    let folder = tempfile::tempdir().expect("a folder");
    let rules = |names: [&str; 3]| names.map(|name| ["--rule".to_owned(), format!("{name}=off")]).concat();
    let orders = [
        rules(["leases-handed-off", "joint-bytes", "joint-bytes"]),
        rules(["joint-bytes", "leases-handed-off", "leases-handed-off"]),
    ];
    let [one, other] = [0, 1].map(|nth| {
        let out = folder.path().join(nth.to_string());
        let rules: Vec<&str> = orders[nth].iter().map(String::as_str).collect();
        let hunted = hunt(&[&["--seeds", "0..1024"], &rules[..]].concat(), &out);
        assert_eq!(hunted.status.code(), Some(1), "{}", String::from_utf8_lossy(&hunted.stderr));
        files(&out)
    });
    assert_eq!(one, other);
    let find = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("a line of JSON");
    let off: BTreeSet<String> =
        one["finds.jsonl"].lines().map(|line| find(line)["off"].as_str().expect("what is off").to_owned()).collect();
    assert!(off.contains("leases-handed-off") && off.contains("joint-bytes"), "{off:?}");
}

/// A time that is over at once has shown nothing.
#[test]
fn no_run_is_no_success() {
    let commit = "abcdef0123456789abcdef0123456789abcdef01";
    let folder = tempfile::tempdir().expect("a folder");
    let record = |seeds: &str, name: &str| {
        let out = folder.path().join(name);
        let hunted = hunt(&["--seeds", seeds, "--for", "1s"], &out);
        assert_eq!(hunted.status.code(), Some(0), "{}", String::from_utf8_lossy(&hunted.stderr));
        let record: serde_json::Value = serde_json::from_str(&files(&out)["campaign.json"]).expect("JSON");
        (record["from"].clone(), record["runs"].as_u64().expect("runs"))
    };
    // The canary does not use the time up, and a short hash begins where the long one does.
    let (from, runs) = record(commit, "long");
    assert!(runs > 0);
    assert_eq!(record(&commit[..8], "short").0, from);
}

#[test]
fn wrong_input_ends_with_2_and_says_what_to_do() {
    let cases: &[(&[&str], &str)] = &[
        (&["hunt", "--seeds", "9..1"], "write `--seeds A..B` with A < B"),
        (&["hunt", "--seeds", "5..5"], "are empty"),
        (&["hunt", "--seeds", "now"], "is no range of seeds"),
        (&["hunt", "--seeds", "1000000"], "write `--seeds 0..1000000`"),
        (&["hunt", "--seeds", "0..99999999999999999999"], "is no range of seeds"),
        (&["hunt", "--for", "soon"], "write `90s`, `10m` or `2h`"),
        (&["hunt", "--for", "0s"], "is no time"),
        (&["hunt", "--for", "99999999999999999h"], "is no time"),
        (&["hunt", "--shard", "0/4"], "with I from 1 to N"),
        (&["hunt", "--shard", "5/4"], "with I from 1 to N"),
        (&["hunt", "--rule", "leases-handed-of=off"], "did you mean `leases-handed-off`?"),
        (&["hunt", "--rule", "leases-handed-off"], "write `--rule NAME=off`"),
        (&["hunt", "--assume", "one-thread=off"], "leasecheck list assumptions"),
        (&["hunt", "--scheduler", "fair"], "mixed, uniform, pct, delay"),
        (&["hunt", "--jobs", "0"], "--jobs"),
        (&["hunt", "--resume"], "--out"),
        (&["hunt", "--seeds", "0..64", "--out", "Cargo.toml/out"], "name another folder"),
        (&["hunt", "--seeds", "0..64", "--out", "tests", "--resume"], "is this a folder of `hunt --out`?"),
        (&["merge", "no/such/folder"], "cannot be read"),
        (&["replay", "h3.mixed:3", "Cargo.toml"], "no file belongs to the token"),
        (&["why", "h3.mixed:3", "Cargo.toml"], "no file belongs to the token"),
        (&["why", "h3.mixed:3"], "the run violates nothing"),
        (&["replay", "h0.mixed:3"], "other versions draw other runs"),
        (&["ablate", "--runs", "0"], "--runs"),
        (&["ablate", "--runs", "9", "--corpus", "tests/litmus"], "cannot be used with"),
    ];
    for (args, expected) in cases {
        wrong(&leasecheck(args), expected);
    }
}

/// A budget that is too small for anything to be caught fails, and says of everything that it was missed.
#[test]
fn an_ablation_that_is_not_caught_within_its_budget_fails() {
    let [once, again] = [(); 2].map(|()| leasecheck(&["ablate", "--runs", "64", "--format", "json"]));
    assert_eq!(once.status.code(), Some(1));
    assert_eq!(once.stdout, again.stdout);
    let report: serde_json::Value = serde_json::from_slice(&once.stdout).expect("JSON");
    let parts = report["parts"].as_array().expect("parts");
    assert!(parts.iter().any(|part| part["fate"] == "not caught"));
    for part in parts.iter().filter(|part| part["fate"] == "caught") {
        assert!(part["runs"].as_u64().is_some_and(|runs| runs <= 64), "{part}");
    }
}
