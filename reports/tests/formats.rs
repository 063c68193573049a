//! Every format: what it says of a known run, that an independent parser takes it, and that no name breaks out of it.
//!
//! Golden files are in `reports/tests/golden/`. `cargo test -p leasecheck-reports -- --ignored update_the_golden_files`
//! writes what the renderers write now, and the schema; look at the difference before you commit it.

mod common;

use common::{cases, failing, hostile, hostile_report};
use leasecheck_reports::html::gate::{More, checked, marks};
use leasecheck_reports::model::{CaseReport, Report};
use leasecheck_reports::why::Chances;
use leasecheck_reports::{github, html, json, junit, markdown, perfetto, sarif, schema, svg, text};
use serde_json::Value;
use std::path::{Path, PathBuf};

type Checks = Vec<(String, Result<(), String>)>;

fn checks(name: &str) -> Checks {
    vec![(name.to_owned(), Ok(())), (name.to_owned(), Err(name.to_owned()))]
}

/// Every format of a report that is one text, by the name of its golden file.
fn formats(report: &Report, checks: &Checks) -> Vec<(&'static str, String)> {
    let case = report.cases.iter().find(|case| case.counterexample.is_some()).expect("a case with a run");
    let run = case.counterexample.as_ref().expect("a run");
    vec![
        ("report.txt", report.cases.iter().map(text::case).collect()),
        ("report.json", json::render(report).expect("JSON")),
        ("report.md", markdown::render(report, checks)),
        ("junit.xml", junit::render(report, checks, &[]).expect("XML")),
        ("report.sarif", sarif::render(report, checks).expect("JSON")),
        ("github.txt", github::render(report, checks)),
        ("trace.json", perfetto::render(&case.claim, run).expect("JSON")),
        ("run.svg", svg::render(case, run).expect("a drawing")),
    ]
}

fn golden() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let formats = formats(&failing(), &checks("a check"));
    let mut files: Vec<(PathBuf, String)> =
        formats.into_iter().map(|(name, text)| (folder.join("tests/golden").join(name), text)).collect();
    files.push((folder.join("schema/report.schema.json"), schema::text().expect("a schema")));
    files
}

#[test]
fn golden_files_have_not_changed() {
    for (path, now) in golden() {
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(
            now,
            golden,
            "{}; `cargo test -p leasecheck-reports -- --ignored update_the_golden_files` writes the new text",
            path.display()
        );
    }
}

#[test]
#[ignore = "writes golden files"]
fn update_the_golden_files() {
    for (path, text) in golden() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders can be made");
        std::fs::write(path, text).expect("golden files can be written");
    }
}

/// The value at a JSON pointer.
#[track_caller]
fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or_else(|| panic!("nothing at {pointer}"))
}

#[test]
fn the_run_says_which_order_is_missing() {
    let report = &cases(common::REPORTED)[0];
    let run = report.counterexample.as_ref().expect("it is reachable");
    let missing = run.missing.as_ref().expect("it is about order");
    assert_eq!(missing.sentence, "Nothing makes `copy: read idx -> host_idx` wait for `compute: produce idx from a`.");
    assert_eq!((missing.before.queued, missing.before.ran), (Some(4), None), "queued in step 4, and never run");
    assert_eq!((missing.after.queued, missing.after.ran), (Some(6), Some(7)));
    let late: Vec<&str> = missing.late.iter().map(|line| line_text(run, *line)).collect();
    assert_eq!(late, ["copy: wait ready"]);
    assert_eq!(run.left.len(), 3, "three kernels were queued and had not run");
    assert_eq!(run.rows[6].queued, Some(6));
}

fn line_text(run: &leasecheck_reports::CounterexampleReport, line: u32) -> &str {
    run.program.iter().find(|other| other.line == line).map_or("", |other| other.text.as_str())
}

#[test]
fn a_page_that_moved_is_in_the_run() {
    let report = &cases("tests/litmus/seed/lease-ends-before-view-used.toml")[0];
    let run = report.counterexample.as_ref().expect("it is reachable");
    assert_eq!(run.rows[1].moves.len(), 3);
    let mut states = run.arenas[0].bands[1].before.clone();
    for change in run.rows.iter().flat_map(|row| &row.changes).filter(|change| change.band == 1) {
        states[usize::from(change.page)].clone_from(&change.state);
    }
    assert_eq!(states, run.arenas[0].bands[1].after, "the changes lead from the start to the end");
    let missing = run.missing.as_ref().expect("it is about order");
    assert_eq!((missing.before.ran, missing.after.ran), (Some(3), Some(2)), "the move had to wait for the access");
    assert!(missing.before.bytes.is_some(), "the bytes that the access goes to are known");
}

#[test]
fn leases_events_and_arrows_are_in_the_run() {
    let file = "tests/litmus/seed/lease-spans-async-transfer.toml";
    let reports = cases(file);
    let runs: Vec<_> = reports.iter().filter_map(|report| report.counterexample.as_ref()).collect();
    assert!(runs.iter().any(|run| run.holds.iter().any(|hold| hold.kind == "lease")), "a lease is held");
    for run in runs {
        for hold in &run.holds {
            assert!(hold.to.is_none_or(|to| to >= hold.from && to <= run.rows.len()));
        }
        for order in &run.orders {
            assert!(0 < order.from && order.from < order.to && order.to <= run.rows.len());
        }
    }
}

#[test]
fn sarif_stands_at_the_line_of_the_violating_step() {
    let report = failing();
    let log: Value = serde_json::from_str(&sarif::render(&report, &checks("a check")).expect("JSON")).expect("JSON");
    assert_eq!(at(&log, "/version"), "2.1.0");
    assert_eq!(at(&log, "/runs/0/results/0/ruleId"), "stale-index");
    let place = "/runs/0/results/0/locations/0/physicalLocation";
    assert_eq!(at(&log, &format!("{place}/artifactLocation/uri")), common::REPORTED);
    let line = common::read(common::REPORTED).lines().position(|line| line.contains("read idx")).expect("there") + 1;
    assert_eq!(at(&log, &format!("{place}/region/startLine")), line);
    let steps = at(&log, "/runs/0/results/0/codeFlows/0/threadFlows/0/locations").as_array().expect("steps");
    assert_eq!(steps.len(), report.cases[0].counterexample.as_ref().expect("a run").rows.len());
    let rules: Vec<&Value> = at(&log, "/runs/0/tool/driver/rules").as_array().expect("rules").iter().collect();
    for result in at(&log, "/runs/0/results").as_array().expect("results") {
        assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]), "{} is declared", result["ruleId"]);
    }
    assert_eq!(at(&log, "/runs/0/invocations/0/executionSuccessful"), false, "a file could not be read");
}

#[test]
fn a_trace_has_a_track_for_each_agent_and_its_flows_have_two_ends() {
    let reports = cases("tests/litmus/seed/lease-spans-async-transfer.toml");
    let run = reports.iter().find_map(|report| report.counterexample.as_ref()).expect("a run");
    let trace: Value = serde_json::from_str(&perfetto::render("claim", run).expect("JSON")).expect("JSON");
    let events = at(&trace, "/traceEvents").as_array().expect("events");
    let of = |phase: &str| events.iter().filter(|event| event["ph"] == phase).count();
    assert_eq!(of("X"), run.rows.len());
    assert_eq!(of("b"), run.holds.len());
    assert_eq!((of("b"), of("s")), (of("e"), of("f")));
    let queued = run.rows.iter().filter(|row| row.queued.is_some()).count();
    assert_eq!(of("s"), queued + run.orders.len());
    for event in events.iter().filter(|event| event["ph"] != "M") {
        assert!(event["ts"].is_u64() && event["pid"].is_u64() && event["tid"].is_u64(), "{event}");
    }
}

#[test]
fn a_page_holds_its_data_and_asks_nobody_for_more() {
    let report = cases(common::REPORTED);
    let page = html::cases(&report, &[]).expect("a page");
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
    let data = page_data(&page);
    assert_eq!(data["cases"][0]["run"]["rows"].as_array().expect("rows").len(), 7);
    assert_eq!(data["cases"][0]["run"]["code"], "stale-index");
    assert_eq!(data["cases"][1]["verdict"], "unreachable");
    for word in [" src=", "href=\"http", "@import", "fetch(", "XMLHttpRequest", "WebSocket", "url(http"] {
        assert!(!page.contains(word), "the page has `{word}`");
    }
}

/// The data that a page holds.
fn page_data(page: &str) -> Value {
    let start = page.find("id=\"data\">").expect("data") + "id=\"data\">".len();
    let end = start + page[start..].find("</script>").expect("its end");
    serde_json::from_str(&page[start..end]).expect("JSON")
}

#[test]
fn a_run_of_ten_thousand_steps_is_less_than_a_megabyte() {
    let program = "let n = 0\nwhile n < 3333 { set f\nlet n = n + 1 }\ncheck n == 0 else leak";
    let text = format!(
        "name = \"long\"\nsource = \"a test\"\nclaim = \"long\"\n\n[arena.host]\nbytes = 48\n\
         bands.full = {{ envelope = 8, page_tokens = 4, grow = \"up\" }}\n\n[[case]]\nname = \"long\"\n\
         expect = {{ reachable = \"leak\" }}\nwitness = [\"allocated\"]\nthreads.t = '''\n{program}\n'''\n"
    );
    let file = common::litmus("long.toml", text);
    let report = common::settle(&file, "long.toml", 0);
    let run = report.counterexample.as_ref().expect("it is reachable");
    assert!(run.rows.len() >= 10_000, "{} steps", run.rows.len());
    let page = html::cases(std::slice::from_ref(&report), &[]).expect("a page");
    assert!(page.len() < 1 << 20, "{} bytes", page.len());
    let drawing = svg::render(&report, run).expect("a drawing");
    assert!(drawing.len() < 1 << 20 && drawing.contains("earlier steps are left out"), "{} bytes", drawing.len());
    let comment = markdown::render(&Report { version: 1, cases: vec![report], errors: Vec::new() }, &Vec::new());
    assert!(comment.len() < 65_536, "{} bytes", comment.len());
}

/// Some chances of a case with a run.
fn chances(case: &CaseReport) -> Option<Chances> {
    let found = case.counterexample.as_ref()?;
    let hits = (0..=found.rows.len()).map(|steps| (steps, steps as u32)).collect();
    Some(Chances { code: found.code.clone(), rolls: found.rows.len() as u32, hits })
}

#[test]
fn two_steps_that_can_both_come_next_are_rows_of_their_own() {
    let reports = cases("tests/litmus/seed/event-waited-before-recorded.toml");
    let racing = |report: &&CaseReport| report.counterexample.as_ref().is_some_and(|run| run.code == "race");
    let race = reports.iter().find(racing).expect("a case that races");
    let run = race.counterexample.as_ref().expect("a run");
    assert!(!run.by_step, "no step violates: the state does in which either can come next");
    let [one, other] = run.next().expect("two steps");
    assert_eq!((one.text.as_str(), other.text.as_str()), ("write a", "backup a -> h"));
    assert_eq!(run.line(), Some(other.line));
    let lanes = leasecheck_reports::lanes::render(run);
    let rows: Vec<&str> = lanes.lines().rev().take(3).collect();
    assert!(rows[2].starts_with("  next  ") && rows[2].ends_with("● write a"), "{lanes}");
    assert!(rows[1].starts_with("    or  ") && rows[1].ends_with("● backup a -> h"), "{lanes}");
    let report = Report { version: 1, cases: vec![race.clone()], errors: Vec::new() };
    let comment = markdown::render(&report, &Vec::new());
    assert!(comment.contains("| next | ") && comment.contains("● write a ✗"), "{comment}");
    assert!(!comment.contains("● wait ready ✗"), "the last step is not what is wrong");
    let drawing = svg::render(race, run).expect("a drawing");
    assert_eq!(drawing.matches("<circle class=\"open\"").count(), 2);
    let data = page_data(&html::cases(std::slice::from_ref(race), &[]).expect("a page"));
    assert_eq!(data["cases"][0]["run"]["next"].as_array().expect("steps").len(), 2);
}

#[test]
fn every_step_of_the_corpus_that_is_shown_has_its_meaning() {
    let data = page_data(&html::cases(&cases(common::REPORTED), &[]).expect("a page"));
    let program = data["cases"][0]["run"]["program"].as_array().expect("lines");
    for line in program {
        let step = line[4].as_u64().and_then(|step| usize::try_from(step).ok()).expect("a step of the vocabulary");
        assert!(data["words"]["steps"][step][1].as_str().expect("words").len() > 10, "{line}");
    }
    let usage = |at: usize| data["words"]["steps"][program[at][4].as_u64().expect("a step") as usize][0].as_str();
    assert_eq!(usage(5), Some("S: read BUFFER -> VAR"), "of several steps that begin with `read`, the right one");
}

#[test]
fn a_case_without_a_run_shows_its_program() {
    let data = page_data(&html::cases(&cases(common::REPORTED), &[]).expect("a page"));
    assert_eq!(data["cases"][0]["listing"], Value::Null);
    assert_eq!(data["cases"][1]["listing"].as_array().expect("lines").len(), 8);
}

#[test]
fn the_page_of_a_gate_of_two_hundred_cases_is_less_than_five_megabytes() {
    let seed = ["index-read-before-producer-wait", "lease-ends-before-view-used", "lease-spans-async-transfer"];
    let some: Vec<_> = seed.iter().flat_map(|name| cases(&format!("tests/litmus/seed/{name}.toml"))).collect();
    let report = Report { version: 1, cases: some.into_iter().cycle().take(200).collect(), errors: Vec::new() };
    let more = vec![More { states: 1, golden: Some(2), ms: 0.5 }; 200];
    let chances: Vec<Option<Chances>> = report.cases.iter().map(chances).collect();
    let runs = chances.iter().flatten().count();
    let sections = vec![marks(&report), checked("Ablation", "rule ", &checks("rule a-rule"))];
    let page = html::gate::render(&report, more, &chances, sections).expect("a page");
    assert!(page.len() < 5 << 20, "{} bytes", page.len());
    let data = page_data(&page);
    assert_eq!(data["cases"].as_array().expect("cases").len(), 200);
    assert_eq!(data["sections"][1]["rows"][0]["cells"][0], "a-rule");
    assert_eq!(data["sections"][1]["rows"][1]["ok"], false);
    assert_eq!(page.matches("data-of=\"gate\"><svg").count(), 2);
    assert_eq!(page.matches("<figure class=\"chart\"").count(), 2 + runs);
}

#[test]
fn hostile_names_stay_text_in_the_page_of_a_gate() {
    let page = |name: &str| {
        let more = vec![More { states: 1, golden: None, ms: 0.5 }; 2];
        let sections = vec![checked(name, "", &checks(name))];
        html::gate::render(&hostile_report(name), more, &[], sections).expect("a page")
    };
    let friendly = page("name").matches('<').count();
    for name in hostile() {
        let page = page(&name);
        assert_eq!(page.matches('<').count(), friendly, "with {:?}", &name[..name.len().min(80)]);
        assert!(!page.contains(dangerous));
        let _ = page_data(&page);
    }
}

/// What no output may show: what ends a line or a string, and what turns the direction of writing.
fn dangerous(c: char) -> bool {
    (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200f}')
}

#[test]
fn a_comment_has_room_for_what_is_wrong_with_a_corpus() {
    let checks: Checks = (0..300).map(|nth| (format!("check {nth}"), Ok(()))).collect();
    let mut many = failing();
    let (failed, held) = (many.cases[0].clone(), many.cases[1].clone());
    many.errors.clear();
    many.cases = std::iter::once(failed.clone()).chain(std::iter::repeat_n(held, 600)).collect();
    let comment = markdown::render(&many, &checks);
    assert!(comment.len() < 4_000, "{} bytes", comment.len());
    assert!(comment.contains("600 cases are as claimed") && comment.contains("300 other checks hold"), "{comment}");
    assert!(comment.contains("read idx") && comment.contains("Replay: "), "{comment}");
    // Even if everything is wrong.
    many.cases = vec![failed; 600];
    many.errors = vec![leasecheck_reports::model::FileError { file: "f".repeat(300), message: "m".repeat(900) }; 100];
    let comment = markdown::render(&many, &checks);
    assert!(comment.len() < 65_536 && comment.contains("more are left out"), "{} bytes", comment.len());
}

#[test]
fn hostile_names_stay_text() {
    let tags = |page: &str| page.matches('<').count();
    let friendly = html::cases(&hostile_report("name").cases, &[]).expect("a page");
    for name in hostile() {
        let report = hostile_report(&name);
        let shown = &name[..name.len().min(80)];
        for (format, out) in formats(&report, &checks(&name)) {
            match format {
                "report.json" | "report.sarif" | "trace.json" => {
                    let _: Value = serde_json::from_str(&out).unwrap_or_else(|error| panic!("{format}: {error}"));
                }
                "junit.xml" | "run.svg" => {
                    let xml = roxmltree::Document::parse(&out)
                        .unwrap_or_else(|error| panic!("{format} with {shown:?}: {error}"));
                    let bad = xml.descendants().find(|node| ["script", "img"].contains(&node.tag_name().name()));
                    assert!(bad.is_none(), "{format} with {shown:?}");
                    assert!(!out.contains(dangerous), "{format} with {shown:?}");
                }
                "report.md" => {
                    assert!(out.len() < 65_536, "{} bytes with {shown:?}", out.len());
                    markdown_is_text(&out, shown);
                }
                "github.txt" => {
                    assert_eq!(out.lines().count(), 3, "a case, a file, a check: {out}");
                    assert!(out.lines().all(|line| line.starts_with("::error ")), "{out}");
                }
                _ => {}
            }
            assert!(format.ends_with("json") || !out.contains(dangerous), "{format} with {shown:?}");
        }
        let page = html::cases(&report.cases, &[]).expect("a page");
        assert_eq!(tags(&page), tags(&friendly), "no element more than with a friendly name, with {shown:?}");
        assert!(!page.contains(dangerous), "page with {shown:?}");
        let data = page_data(&page);
        let claim = data["cases"][0]["claim"].as_str().expect("text");
        assert!(claim.chars().count() <= 2_000 && !claim.contains('\n'));
    }
}

fn markdown_is_text(out: &str, name: &str) {
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
    let mut code = false;
    for (event, place) in Parser::new_ext(out, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => panic!("{html:?} is markup, with {name:?}"),
            Event::Start(Tag::Link { .. } | Tag::Image { .. }) => panic!("a link, with {name:?}"),
            Event::Start(Tag::CodeBlock(_)) => code = true,
            Event::End(TagEnd::CodeBlock) => code = false,
            // In code, a name calls nobody.
            Event::Text(_) if !code => assert!(!out[place].contains("@everyone"), "a name calls somebody"),
            _ => {}
        }
    }
}
