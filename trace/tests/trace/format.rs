//! The format: what it writes it reads, mistakes are named, and the schema is the one in the documentation.

use leasecheck_trace::format::{Event, Header, schema};

fn read(line: &str) -> Result<Event, String> {
    serde_json::from_str(line).map_err(|error| error.to_string())
}

#[test]
fn lines_come_back_as_they_were_written() {
    let lines = [
        r#"{"k":"alloc","th":1,"t":5,"b":["swa","full"],"n":[2,1],"ids":[0,1,0],"at":[0,1,7]}"#,
        r#"{"k":"alloc","b":["swa"],"n":[3],"out":"refused"}"#,
        r#"{"k":"read","s":7,"in":"swa","at":[3],"ids":[0]}"#,
        r#"{"k":"move","b":"swa","ids":[4],"from":[4],"to":[1]}"#,
        r#"{"k":"end"}"#,
    ];
    for line in lines {
        let event = read(line).expect("a line of the format");
        assert_eq!(serde_json::to_string(&event).expect("no error is possible"), line);
    }
}

#[test]
fn the_kind_may_stand_anywhere() {
    let first = read(r#"{"k":"free","th":1,"b":"swa","ids":[4]}"#).expect("valid");
    assert_eq!(read(r#"{"b":"swa","ids":[4],"k":"free","th":1}"#).expect("valid"), first);
}

#[test]
fn mistakes_are_named() {
    for (line, expected) in [
        (r#"{"k":"aloc","b":[],"n":[]}"#, "there is no kind `aloc`; did you mean `alloc`?"),
        (r#"{"th":1}"#, "missing field `k`"),
        (r#"{"th":1,"k":7}"#, "`k` is 7, expected the name of a kind"),
        (r#"{"k":"free","b":"swa"}"#, "missing field `ids`"),
        (r#"{"k":"free","b":"swa","ids":[1],"idz":[2]}"#, "unknown field `idz`"),
        (r#"{"k":"free","b":"swa","ids":[-1]}"#, "invalid value: integer `-1`"),
        (r#"[1]"#, "an object with the key `k`"),
        (r#"{"k":"end"} x"#, "trailing characters"),
    ] {
        let error = read(line).expect_err(line);
        assert!(error.contains(expected), "{line}: {error}");
    }
    let header: Result<Header, _> = serde_json::from_str(r#"{"leasecheck_trace":1,"producer":"x","arena":[]}"#);
    assert!(header.expect_err("wrong key").to_string().contains("unknown field `arena`"));
}

const SCHEMA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/trace-format.schema.json");

fn schema_text() -> String {
    serde_json::to_string_pretty(&schema()).expect("no error is possible") + "\n"
}

#[test]
fn the_schema_is_the_documented_one() {
    let documented = std::fs::read_to_string(SCHEMA).expect("the schema is in docs");
    let update = "cargo test -p leasecheck-trace --test trace -- --ignored";
    assert!(schema_text() == documented, "docs/trace-format.schema.json is not what the types say; write it: {update}");
}

#[test]
#[ignore = "writes the golden file"]
fn update_the_schema() {
    std::fs::write(SCHEMA, schema_text()).expect("the folder is writable");
}
