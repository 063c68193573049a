//! The runs that were recorded from SGLang 0.5.23's real arena are accepted, every line of them.

use leasecheck_sim::invariants::Code;

#[test]
fn recorded_traces_are_accepted() {
    for file in crate::common::FILES {
        let trace = crate::common::recorded(file);
        let report = trace.check();
        let first = report.findings.first();
        assert!(report.accepted(), "{file}: {:?} {first:?}", report.broken);
        assert_eq!((report.events, report.fitting), (trace.events.len() as u64, trace.events.len() as u64));
        let times = |code: Code| {
            report.checked.iter().find(|checked| checked.invariant == code).map_or(0, |checked| checked.times)
        };
        for code in [
            Code::Overlap,
            Code::Mapping,
            Code::Conservation,
            Code::MovedUnderLease,
            Code::Admission,
            Code::DoubleFree,
            Code::UseAfterFree,
            Code::Starvation,
            Code::Deadlock,
        ] {
            assert!(times(code) > 30, "{file}: {} was checked {} times", code.name(), times(code));
        }
        assert!(report.notes.is_empty(), "{:?}", report.notes);
        let unchecked =
            report.unchecked.iter().find(|unchecked| unchecked.invariant == Code::Race).expect("no accesses");
        assert_eq!(unchecked.why, "the first line does not promise that `order` is complete");
    }
}

/// Written by `adapters/sglang/leasecheck_sglang` while a scheduler and three I/O threads used the real arena.
#[test]
fn what_the_recorder_writes_is_accepted() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/traces/recorder.jsonl");
    let report = leasecheck_trace::check("recorder.jsonl", &std::fs::read(path).expect("the trace is there")[..]);
    assert!(report.accepted(), "{:?} {:?}", report.findings.first(), report.broken);
    let checked = |code: Code| report.checked.iter().any(|checked| checked.invariant == code);
    assert!(checked(Code::MovedUnderLease) && checked(Code::Mapping) && checked(Code::Admission));
}

/// SGLang's arena drains leases before it clears a band, as for a compaction, and moves nothing.
#[test]
fn a_clear_may_stand_in_a_compaction() {
    let text = r#"{"leasecheck_trace":1,"producer":"test","arenas":[{"name":"host","bytes":48,"design":"sglang-0.5.23","bands":[{"name":"swa","envelope":4,"grow":"up"},{"name":"full","envelope":8,"grow":"down"}]}],"complete":["pages","leases"]}
{"k":"alloc","th":1,"b":["swa","full"],"n":[3,1],"ids":[0,1,2,0],"at":[0,1,2,5]}
{"k":"free","th":1,"b":"swa","ids":[0]}
{"k":"compact_ask","th":1,"a":"host"}
{"k":"compact_begin","th":1,"a":"host"}
{"k":"clear","th":1,"b":"full"}
{"k":"compact_end","th":1,"a":"host"}
{"k":"state","th":1,"b":"swa","live":2,"holes":1,"wm":3}
{"k":"alloc","th":1,"b":["full"],"n":[1],"ids":[0],"at":[5]}
{"k":"end"}
"#;
    let report = leasecheck_trace::check("clear.jsonl", text.as_bytes());
    assert!(report.accepted(), "{:?} {:?}", report.findings.first(), report.broken);
}
