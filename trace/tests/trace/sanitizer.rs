//! The situations that PyTorch's own tests of its stream sanitizer exercise, and three that it cannot see. What the
//! sanitizer says of the same files is shown by `adapters/torch_sanitizer/compare.py`.

use leasecheck_trace::check;
use std::path::Path;

#[test]
fn races_are_reported_where_pytorch_reports_them_and_where_it_cannot() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/traces/sanitizer");
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("the table is there");
    let (mut traces, mut unseen) = (0, 0);
    for row in table.lines().filter(|row| !row.starts_with('#')) {
        let [name, ours, line, findings, theirs, _] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let text = std::fs::read(folder.join(format!("{name}.jsonl"))).expect("the trace is there");
        let report = check(name, &text[..]);
        assert_eq!(report.broken, None, "{name}");
        let first = report.findings.first();
        assert_eq!(first.map_or("accepted", |finding| finding.invariant.name()), ours, "{name}: {first:?}");
        assert_eq!(first.map_or("-".to_owned(), |finding| finding.line.to_string()), line, "{name}: {first:?}");
        assert_eq!(report.found.to_string(), findings, "{name}");
        assert!(theirs == "nothing" || ours == "race", "{name}: where PyTorch reports a race, so do we");
        unseen += u32::from(theirs == "nothing" && ours != "accepted");
        traces += 1;
    }
    assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), traces + 1, "a trace is not in the table");
    assert!(traces >= 20 && unseen >= 3);
}
