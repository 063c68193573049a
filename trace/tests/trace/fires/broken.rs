//! Traces that cannot be read, or not to their end.

use super::{ALL, BUFFER, first, trace};
use leasecheck_trace::check;

/// A trace that cannot be read on gives what was found up to there.
#[test]
fn broken_traces_keep_their_findings() {
    let race = [r#"{"k":"write","th":1,"in":"gpu","at":[0,16]}"#, r#"{"k":"write","th":2,"in":"gpu","at":[0,16]}"#];
    let whole = trace(&[BUFFER], ALL, &race);
    assert_eq!(check("t", whole.as_bytes()).broken, None);
    for (line, expected) in [
        ("{\"k\":\"wri", "the line ends in the middle: EOF while parsing a string"),
        ("{\"k\":\"wrte\",\"in\":\"gpu\"}", "did you mean `write`?"),
        ("{\"k\":\"write\",\"in\":\"gpo\",\"at\":[0,1]}", "no arena or band `gpo`; did you mean `gpu`?"),
        ("{\"k\":\"write\",\"in\":\"gpu\",\"at\":[0]}", "pairs of a first byte and one past the last"),
        ("{\"k\":\"write\",\"in\":\"gpu\",\"at\":[4,4]}", "4 to 4 is no range of bytes"),
        ("{\"k\":\"write\",\"in\":\"gpu\"}", "an access to an arena needs `at`"),
        ("{\"k\":\"lease\",\"a\":\"nope\"}", "no arena or band `nope`"),
        ("{\"k\":\"free\",\"b\":\"gpu\",\"ids\":[0]}", "`gpu` is an arena; a band is expected here"),
        ("\u{0}\u{1}", "expected value"),
        ("{\"k\":\"free\",\"b\":\"nope.swa\",\"ids\":[0]}", "no arena or band `nope.swa`"),
        ("{\"k\":\"copy\",\"src\":\"gpu\",\"sat\":[0,1],\"dst\":\"gqu\",\"dat\":[0,1]}", "no arena or band `gqu`"),
    ] {
        let text = whole.replace("{\"k\":\"end\"}", line);
        let report = check("t", text.as_bytes());
        assert_eq!(first(&report), Some(("race", 3)), "{line}");
        let broken = report.broken.expect(line);
        assert_eq!(broken.line, 4, "{line}");
        assert!(broken.message.contains(expected), "{line}: {}", broken.message);
    }
    for cut in 0..whole.len() - 1 {
        let report = check("t", &whole.as_bytes()[..cut]);
        assert!(report.broken.is_some() || cut + 1 == whole.len(), "cut off after {cut} bytes");
    }
}

#[test]
fn wrong_headers_are_explained() {
    for (header, expected) in [
        ("", "the file is empty"),
        ("[]", "a trace begins with a line"),
        ("\u{0}", "a trace begins with a line"),
        (
            r#"{"leasecheck_trace":2,"producer":"x","arenas":[]}"#,
            "version 2 of the format; this program reads version 1",
        ),
        (
            r#"{"leasecheck_trace":1,"producer":"x","arenas":[{"name":"a","bytes":8},{"name":"a","bytes":8}]}"#,
            "the name `a` stands for more than one",
        ),
        (
            r#"{"leasecheck_trace":1,"producer":"x","arenas":[{"name":"a","bytes":8,"bands":[{"name":"b","envelope":0}]}]}"#,
            "an envelope",
        ),
        (
            r#"{"leasecheck_trace":1,"producer":"x","arenas":[{"name":"a","bytes":8,"bands":[{"name":"b","envelope":1,"ids_of":"c"}]}]}"#,
            "is no band with own ids",
        ),
        (
            r#"{"leasecheck_trace":1,"producer":"x","arenas":[{"name":"a","bytes":8,"design":"leasecheck","bands":[]}],"complete":["pages"]}"#,
            "at least one band",
        ),
        (
            r#"{"leasecheck_trace":1,"producer":"x","arenas":[{"name":"a","bytes":8,"design":"leasecheck","bands":[{"name":"b","envelope":1,"grow":"up"}]}]}"#,
            "only if `complete` has \"pages\"",
        ),
        (
            r#"{"leasecheck_trace":1,"producer":"x","arenas":[{"name":"a","bytes":99999999999999,"bands":[{"name":"b","envelope":1}]}]}"#,
            "the limit is",
        ),
    ] {
        let report = check("t", format!("{header}\n").trim_start().as_bytes());
        let broken = report.broken.expect(header);
        assert_eq!(broken.line, 1);
        assert!(broken.message.contains(expected), "{header}: {}", broken.message);
    }
}

#[test]
fn a_compressed_trace_is_told_from_a_wrong_one() {
    for magic in [&b"\x1f\x8b\x08\x00\x00"[..], b"\x28\xb5\x2f\xfd\x24", b"BZh91AY&SY", b"\xfd7zXZ\x00\x00"] {
        let broken = check("t", magic).broken.expect("it is no text");
        assert_eq!(broken.line, 1);
        assert!(
            broken.message.contains("is compressed") && broken.message.contains("/dev/stdin"),
            "{}",
            broken.message
        );
    }
}
