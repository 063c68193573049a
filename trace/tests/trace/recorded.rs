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
