//! A finding that is written as a litmus file is reached there, and not with the guard in place.

use leasecheck_sim::explore::{Options, check as settle};
use leasecheck_sim::litmus::{Source, load};
use leasecheck_sim::verdict::Standing;
use leasecheck_trace::{check, header, litmus};
use std::sync::atomic::AtomicU64;

const HEADER: &str = r#"{"leasecheck_trace":1,"producer":"test","arenas":[{"name":"host","bytes":4096,"bands":[{"name":"swa","envelope":64,"grow":"up"},{"name":"full","envelope":256,"grow":"down"}]}],"complete":["pages","leases","order"]}"#;
const START: &str = r#"{"k":"alloc","th":1,"b":["swa"],"n":[1],"ids":[3],"at":[3]}
{"k":"write","th":1,"in":"swa","ids":[3]}
{"k":"state","th":1,"b":"swa","live":1}
"#;
const MOVE: &str = r#"{"k":"move","th":1,"b":"swa","ids":[3],"from":[3],"to":[0]}"#;

#[test]
fn findings_become_litmus_files_that_settle_as_they_claim() {
    let lease = r#"{"k":"lease","th":2,"a":"host"}"#;
    let copy = r#"{"k":"read","th":1,"s":5,"in":"swa","ids":[3],"at":[3]}"#;
    let hand_off = r#"{"k":"hand_off","th":2,"a":"host","ev":9}"#;
    let late = r#"{"k":"read","th":1,"in":"swa","ids":[3],"at":[3]}"#;
    let free = r#"{"k":"free","th":1,"b":"swa","ids":[3]}"#;
    let other = r#"{"k":"write","th":1,"s":6,"in":"swa","ids":[3],"at":[3]}"#;
    let reader = r#"{"k":"read","th":1,"s":7,"in":"swa","ids":[3],"at":[3]}"#;
    let third = r#"{"k":"write","th":1,"s":8,"in":"swa","ids":[3],"at":[3]}"#;
    let runs: [(&str, Vec<&str>); 7] = [
        ("moved-under-lease", vec![lease, MOVE]),
        ("moved-under-lease", vec![lease, hand_off, MOVE]),
        ("stale-address", vec![MOVE, late]),
        ("use-after-free", vec![free, late]),
        ("race", vec![copy, other]),
        ("race", vec![other, reader]),
        ("race", vec![other, third]),
    ];
    for (code, lines) in runs {
        let text = format!("{HEADER}\n{START}{}\n{{\"k\":\"end\"}}\n", lines.join("\n"));
        let report = check("run.jsonl", text.as_bytes());
        let finding = report.findings.first().expect(code);
        assert_eq!(finding.invariant.name(), code, "{finding:?}");
        let header = header(text.as_bytes()).expect("a header");
        let text = litmus::write("run-line-5", &header, &report, finding).expect("it has a shape of its own");
        let source = Source { path: "run-line-5.toml".into(), text };
        let file = load(&source).unwrap_or_else(|wrong| panic!("{}", wrong.render(&source)));
        assert_eq!(file.cases.len(), 2);
        for program in &file.cases {
            let progress = AtomicU64::new(0);
            let options = Options {
                limit_states: 10_000,
                limit_memory: 1 << 30,
                reduce: true,
                interrupted: &|| false,
                progress: &progress,
            };
            let outcome = settle(program, &options).unwrap_or_else(|error| panic!("{error:?}"));
            assert_eq!(outcome.standing(program), Standing::AsClaimed, "{}\n{outcome:?}", source.text);
        }
    }
}
