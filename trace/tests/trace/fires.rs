//! Every invariant fires on a trace that violates it, at the line that does, and stays silent on the same trace without
//! the mistake.

use leasecheck_sim::invariants::Code;
use leasecheck_trace::{Report, check};
use std::collections::BTreeSet;

pub const HOST: &str = r#"{"name":"host","bytes":48,"bands":[{"name":"swa","envelope":4,"grow":"up"},{"name":"full","envelope":8,"grow":"down","page_tokens":4}]}"#;
const DESIGN: &str = r#"{"name":"host","bytes":48,"design":"sglang-0.5.23","bands":[{"name":"swa","envelope":4,"grow":"up"},{"name":"full","envelope":8,"grow":"down"}]}"#;
pub const DEVICE: &str = r#"{"name":"device","bytes":64,"sink":true,"bands":[{"name":"kv","envelope":8,"grow":"up","page_tokens":4,"multiplier":70},{"name":"win","envelope":4,"grow":"down","ids_of":"kv"}]}"#;
pub const BUFFER: &str = r#"{"name":"gpu","bytes":64},{"name":"idx","bytes":16,"role":"index"}"#;
const OTHER: &str = r#"{"name":"peer","bytes":48,"bands":[{"name":"rows","envelope":4}]}"#;

/// What it is about, arenas, the invariant, lines.
pub type Case<'a> = (&'a str, &'a [&'a str], &'a str, &'a str);

/// Arenas, lines, and the invariant that a line violates. A line that begins with `!` is the mistake: it is refused, and
/// without it the trace is accepted. A line that begins with `+` is what is missing in the trace that is refused, at the
/// line that begins with `?`.
const CASES: &[Case<'_>] = &[
    (
        "overlap: the same page",
        &[HOST],
        "overlap",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[0]}
        !{"k":"alloc","b":["swa"],"n":[1],"ids":[1],"at":[0]}"#,
    ),
    (
        "overlap: the bytes of another band's page",
        &[HOST],
        "overlap",
        r#"
        {"k":"alloc","b":["swa"],"n":[2],"ids":[0,1],"at":[0,1]}
        !{"k":"alloc","b":["full"],"n":[1],"ids":[0],"at":[0]}"#,
    ),
    (
        "overlap: the sink",
        &[DEVICE],
        "overlap",
        r#"
        {"k":"alloc","b":["kv"],"n":[1],"ids":[1],"at":[1]}
        !{"k":"alloc","b":["kv"],"n":[1],"ids":[2],"at":[0]}"#,
    ),
    ("overlap: outside the band", &[HOST], "overlap", r#"!{"k":"alloc","b":["full"],"n":[1],"ids":[0],"at":[6]}"#),
    (
        "mapping: an id that is live",
        &[HOST],
        "mapping",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[0]}
        !{"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[1]}"#,
    ),
    (
        "mapping: found elsewhere than placed",
        &[HOST],
        "mapping",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[0]}
        {"k":"translate","b":"swa","ids":[0],"at":[0]}
        !{"k":"translate","b":"swa","ids":[0],"at":[1]}"#,
    ),
    (
        "conservation",
        &[HOST],
        "conservation",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[0]}
        {"k":"state","b":"swa","live":1,"pending":0}
        !{"k":"state","b":"swa","live":2}"#,
    ),
    (
        "content: after a move",
        &[HOST],
        "content",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[1]}
        {"k":"write","in":"swa","ids":[0],"sum":[17]}
        {"k":"move","b":"swa","ids":[0],"from":[1],"to":[0]}
        {"k":"read","in":"swa","ids":[0],"sum":[17]}
        !{"k":"read","in":"swa","ids":[0],"sum":[18]}"#,
    ),
    (
        "content: of a copy",
        &[HOST, OTHER],
        "content",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[0]}
        {"k":"write","in":"swa","ids":[0],"sum":[17]}
        {"k":"alloc","b":["rows"],"n":[1],"ids":[5],"at":[5]}
        {"k":"copy","src":"swa","sids":[0],"dst":"rows","dids":[5]}
        {"k":"read","in":"rows","ids":[5],"sum":[17]}
        !{"k":"read","in":"rows","ids":[5],"sum":[1]}"#,
    ),
    (
        "moved-under-lease: a lease",
        &[HOST],
        "moved-under-lease",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[1]}
        {"k":"lease","th":2,"a":"host"}
        +{"k":"release","th":2,"a":"host"}
        ?{"k":"move","b":"swa","ids":[0],"from":[1],"to":[0]}"#,
    ),
    (
        "moved-under-lease: an event",
        &[HOST],
        "moved-under-lease",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[1]}
        {"k":"lease","th":2,"a":"host"}
        {"k":"record","th":2,"ev":1,"s":1}
        {"k":"record","th":2,"ev":2,"s":1}
        {"k":"hand_off","th":2,"a":"host","ev":1}
        +{"k":"sync","ev":2}
        ?{"k":"move","b":"swa","ids":[0],"from":[1],"to":[0]}"#,
    ),
    (
        "moved-under-lease: another queue's event",
        &[HOST],
        "moved-under-lease",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[1]}
        {"k":"lease","th":2,"a":"host"}
        {"k":"hand_off","th":2,"a":"host","ev":1,"key":"load"}
        {"k":"lease","th":2,"a":"host"}
        {"k":"hand_off","th":2,"a":"host","ev":2,"key":"load"}
        +{"k":"query","ev":2,"res":true}
        ?{"k":"move","b":"swa","ids":[0],"from":[1],"to":[0]}"#,
    ),
    (
        "moved-under-lease: a gate",
        &[HOST],
        "moved-under-lease",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[1]}
        {"k":"gate_close","a":"host","g":"decode"}
        +{"k":"gate_open","a":"host","g":"decode"}
        ?{"k":"move","b":"swa","ids":[0],"from":[1],"to":[0]}"#,
    ),
    (
        "moved-under-lease: a pin",
        &[HOST],
        "moved-under-lease",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[1]}
        {"k":"pin","b":"swa","ids":[0]}
        +{"k":"unpin","b":"swa","ids":[0]}
        ?{"k":"move","b":"swa","ids":[0],"from":[1],"to":[0]}"#,
    ),
    (
        "moved-under-lease: cleared",
        &[HOST],
        "moved-under-lease",
        r#"
        {"k":"lease","th":2,"a":"host"}
        +{"k":"release","th":2,"a":"host"}
        ?{"k":"clear","b":"swa"}"#,
    ),
    (
        "stale-address: captured before a move",
        &[HOST],
        "stale-address",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[3],"at":[1]}
        {"k":"write","in":"swa","ids":[3]}
        {"k":"move","b":"swa","ids":[3],"from":[1],"to":[0]}
        {"k":"read","in":"swa","ids":[3],"at":[0]}
        !{"k":"read","in":"swa","ids":[3],"at":[1]}"#,
    ),
    (
        "stale-address: nothing orders work before the move",
        &[HOST],
        "stale-address",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[1]}
        {"k":"write","in":"swa","ids":[0]}
        {"k":"read","s":1,"in":"swa","ids":[0],"at":[1]}
        +{"k":"sync_stream","s":1}
        ?{"k":"move","b":"swa","ids":[0],"from":[1],"to":[0]}"#,
    ),
    (
        "stale-address: ran after the move",
        &[HOST],
        "stale-address",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[1]}
        {"k":"write","in":"swa","ids":[0]}
        {"k":"read","s":1,"in":"swa","ids":[0],"at":[1],"x":9}
        +{"k":"run","x":9}
        {"k":"sync_stream","s":1}
        {"k":"move","b":"swa","ids":[0],"from":[1],"to":[0]}
        ?{"k":"run","x":9}"#,
    ),
    (
        "stale-index: read before produced",
        &[BUFFER],
        "stale-index",
        r#"
        {"k":"write","s":1,"in":"idx","at":[0,16]}
        {"k":"record","ev":1,"s":1}
        +{"k":"wait","ev":1,"s":2}
        ?{"k":"host_read","s":2,"in":"idx","at":[0,16]}"#,
    ),
    (
        "stale-index: overwritten while read",
        &[BUFFER],
        "stale-index",
        r#"
        {"k":"write","s":1,"in":"idx","at":[0,16]}
        {"k":"read","s":1,"in":"idx","at":[0,8]}
        {"k":"record","ev":1,"s":1}
        +{"k":"wait","ev":1,"s":2}
        ?{"k":"write","s":2,"in":"idx","at":[4,16]}"#,
    ),
    (
        "stale-index: never produced",
        &[BUFFER],
        "stale-index",
        r#"
        +{"k":"write","s":1,"in":"idx","at":[0,16]}
        ?{"k":"read","s":1,"in":"idx","at":[0,16]}"#,
    ),
    (
        "uninitialized: a page",
        &[HOST],
        "uninitialized",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[0]}
        +{"k":"write","in":"swa","ids":[0]}
        ?{"k":"read","in":"swa","ids":[0]}"#,
    ),
    (
        "uninitialized: memory that was handed out again",
        &[BUFFER],
        "uninitialized",
        r#"
        {"k":"mem_alloc","a":"gpu","lo":0,"hi":32}
        {"k":"write","in":"gpu","at":[0,32]}
        {"k":"mem_free","a":"gpu","lo":0,"hi":32}
        {"k":"mem_alloc","a":"gpu","lo":0,"hi":16}
        +{"k":"write","in":"gpu","at":[0,16]}
        ?{"k":"read","in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: two threads",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","th":1,"in":"gpu","at":[0,16]}
        {"k":"signal","th":1,"o":5}
        +{"k":"observe","th":2,"o":5}
        ?{"k":"write","th":2,"in":"gpu","at":[8,24]}"#,
    ),
    (
        "race: RDMA is not ordered by stream waits",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","s":1,"in":"gpu","at":[0,16]}
        {"k":"record","ev":1,"s":1}
        {"k":"wait","ev":1,"s":2}
        +{"k":"sync","ev":1}
        ?{"k":"post","x":1,"s":77,"dir":"read","in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: written before RDMA has completed",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","in":"gpu","at":[0,16]}
        {"k":"post","x":1,"s":77,"dir":"read","in":"gpu","at":[0,16]}
        {"k":"sync_device"}
        +{"k":"complete","x":1}
        ?{"k":"write","in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: an event that was recorded too early",
        &[BUFFER],
        "race",
        r#"
        {"k":"record","ev":1,"s":1}
        {"k":"write","s":1,"in":"gpu","at":[0,16]}
        +{"k":"record","ev":1,"s":1}
        {"k":"wait","ev":1,"s":2}
        ?{"k":"write","s":2,"in":"gpu","at":[0,16]}"#,
    ),
    (
        "early-reuse: pages",
        &[HOST],
        "early-reuse",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[0]}
        {"k":"write","s":1,"in":"swa","ids":[0]}
        {"k":"free","b":"swa","ids":[0]}
        {"k":"alloc","b":["swa"],"n":[1],"ids":[1],"at":[0]}
        +{"k":"sync_stream","s":1}
        ?{"k":"write","s":2,"in":"swa","ids":[1]}"#,
    ),
    (
        "early-reuse: another band's page over the same bytes",
        &[HOST],
        "early-reuse",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[1]}
        {"k":"write","s":1,"in":"swa","ids":[0]}
        {"k":"free","b":"swa","ids":[0]}
        {"k":"alloc","b":["full"],"n":[1],"ids":[0],"at":[0]}
        +{"k":"sync_stream","s":1}
        ?{"k":"write","s":2,"in":"full","ids":[0]}"#,
    ),
    (
        "early-reuse: a pending page",
        &[HOST],
        "early-reuse",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[0]}
        {"k":"record","ev":1,"s":1}
        {"k":"free","b":"swa","ids":[0],"ev":1}
        +{"k":"sync","ev":1}
        ?{"k":"alloc","b":["swa"],"n":[1],"ids":[1],"at":[0]}"#,
    ),
    (
        "partial-page: tokens",
        &[HOST],
        "partial-page",
        r#"
        {"k":"alloc","b":["full"],"n":[2],"ids":[0,1],"at":[5,4]}
        {"k":"write","in":"full","at":[16,17,18,19,20,21,22,23],"sp":"token"}
        !{"k":"write","in":"full","at":[17,18,19,20],"sp":"token"}"#,
    ),
    (
        "partial-page: bytes of a transfer",
        &[HOST, OTHER],
        "partial-page",
        r#"
        {"k":"alloc","b":["full"],"n":[1],"ids":[0],"at":[5]}
        {"k":"write","in":"full","ids":[0]}
        {"k":"transfer","x":1,"dir":"send","bytes":12}
        {"k":"copy","src":"host","sat":[40,48],"dst":"peer","dat":[0,8],"x":1}
        !{"k":"copy","src":"host","sat":[40,44],"dst":"peer","dat":[8,12],"x":1}"#,
    ),
    (
        "partial-page: the sink",
        &[DEVICE, OTHER],
        "partial-page",
        r#"
        {"k":"transfer","x":1,"bytes":8}
        !{"k":"copy","src":"kv","sat":[0],"dst":"peer","dat":[0,8],"x":1}"#,
    ),
    (
        "mis-keyed",
        &[HOST],
        "mis-keyed",
        r#"
        {"k":"alloc","b":["swa"],"n":[2],"ids":[0,1],"at":[0,1]}
        {"k":"write","in":"swa","ids":[0,1]}
        {"k":"store","b":"swa","keys":["a","b"],"ids":[0,1]}
        !{"k":"store","b":"swa","keys":["a","b"],"ids":[]}"#,
    ),
    (
        "mis-keyed: one key for two contents",
        &[HOST],
        "mis-keyed",
        r#"
        {"k":"alloc","b":["swa"],"n":[2],"ids":[0,1],"at":[0,1]}
        {"k":"write","in":"swa","ids":[0,1]}
        {"k":"store","b":"swa","keys":["a"],"ids":[0],"sum":[7]}
        {"k":"store","b":"swa","keys":["a"],"ids":[1],"sum":[7]}
        !{"k":"store","b":"swa","keys":["a"],"ids":[1],"sum":[8]}"#,
    ),
    (
        "mis-keyed: a key gives other content than was stored under it",
        &[HOST],
        "mis-keyed",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[0]}
        {"k":"fetch","b":"swa","keys":["a"],"ids":[0],"sum":[7]}
        {"k":"fetch","b":"swa","keys":["a"],"ids":[0],"sum":[7]}
        !{"k":"fetch","b":"swa","keys":["a"],"ids":[0],"sum":[8]}"#,
    ),
    (
        "wrong-space: an id as a page",
        &[HOST],
        "wrong-space",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[4],"at":[0]}
        {"k":"write","in":"swa","ids":[4],"at":[0]}
        !{"k":"write","in":"swa","ids":[4],"at":[4]}"#,
    ),
    (
        "wrong-space: a kernel-facing index as a page",
        &[DEVICE],
        "wrong-space",
        r#"
        {"k":"alloc","b":["kv"],"n":[1],"ids":[1],"at":[1]}
        {"k":"write","s":1,"in":"kv","ids":[1],"at":[70],"sp":"kernel"}
        !{"k":"write","s":1,"in":"kv","ids":[1],"at":[70]}"#,
    ),
    (
        "wrong-space: a page as a kernel-facing index",
        &[DEVICE],
        "wrong-space",
        r#"
        {"k":"alloc","b":["kv"],"n":[1],"ids":[1],"at":[1]}
        !{"k":"write","s":1,"in":"kv","at":[1],"sp":"kernel"}"#,
    ),
    ("wrong-space: outside the memory", &[BUFFER], "wrong-space", r#"!{"k":"write","s":1,"in":"gpu","at":[60,68]}"#),
    (
        "not-atomic",
        &[HOST],
        "not-atomic",
        r#"
        {"k":"alloc","b":["swa"],"n":[9],"out":"raised","err":"RuntimeError"}
        !{"k":"state","b":"swa","live":3}
        {"k":"state","b":"swa","live":0}"#,
    ),
    (
        "admission: refused",
        &[DESIGN],
        "admission",
        r#"
        {"k":"alloc","b":["full"],"n":[7],"out":"refused"}
        !{"k":"alloc","b":["full"],"n":[6],"out":"refused"}"#,
    ),
    (
        "admission: granted without the compaction",
        &[DESIGN],
        "admission",
        r#"
        {"k":"alloc","b":["swa"],"n":[12],"ids":[0,1,2,3,4,5,6,7,8,9,10,11]}
        {"k":"free","b":"swa","ids":[0,2]}
        !{"k":"alloc","b":["full"],"n":[1],"ids":[0]}"#,
    ),
    (
        "lost-bytes: ends that differ",
        &[HOST, OTHER],
        "lost-bytes",
        r#"
        {"k":"alloc","b":["full"],"n":[1],"ids":[0],"at":[5]}
        {"k":"write","in":"full","ids":[0]}
        {"k":"copy","src":"full","sids":[0],"dst":"peer","dat":[0,8]}
        !{"k":"copy","src":"full","sids":[0],"dst":"peer","dat":[0,4]}"#,
    ),
    (
        "lost-bytes: success without the bytes",
        &[HOST, OTHER],
        "lost-bytes",
        r#"
        {"k":"alloc","b":["full"],"n":[1],"ids":[0],"at":[5]}
        {"k":"write","in":"full","ids":[0]}
        {"k":"transfer","x":1,"bytes":8}
        +{"k":"copy","src":"full","sids":[0],"dst":"peer","dat":[0,8],"x":1}
        ?{"k":"transfer_end","x":1}"#,
    ),
    (
        "double-free: a page",
        &[HOST],
        "double-free",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[0]}
        {"k":"free","b":"swa","ids":[0]}
        !{"k":"free","b":"swa","ids":[0]}"#,
    ),
    (
        "double-free: in one call",
        &[HOST],
        "double-free",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[0]}
        !{"k":"free","b":"swa","ids":[0,0]}"#,
    ),
    (
        "double-free: a binding",
        &[DEVICE],
        "double-free",
        r#"
        {"k":"alloc","b":["kv","win"],"n":[1,1],"ids":[1,1],"at":[1,15]}
        {"k":"tombstone","b":"win","ids":[1]}
        !{"k":"tombstone","b":"win","ids":[1]}"#,
    ),
    (
        "double-free: memory",
        &[BUFFER],
        "double-free",
        r#"
        {"k":"mem_alloc","a":"gpu","lo":0,"hi":32}
        {"k":"mem_free","a":"gpu","lo":0,"hi":32}
        !{"k":"mem_free","a":"gpu","lo":0,"hi":32}"#,
    ),
    (
        "double-free: a lease",
        &[HOST],
        "double-free",
        r#"
        {"k":"lease","th":1,"a":"host"}
        {"k":"lease","th":1,"a":"host","depth":2}
        {"k":"release","th":1,"a":"host"}
        {"k":"release","th":1,"a":"host","depth":0}
        {"k":"release","th":1,"a":"host","out":"raised"}
        !{"k":"release","th":1,"a":"host"}"#,
    ),
    (
        "use-after-free: looked up",
        &[HOST],
        "use-after-free",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[0]}
        {"k":"free","b":"swa","ids":[0]}
        {"k":"translate","b":"swa","ids":[0],"out":"raised"}
        !{"k":"translate","b":"swa","ids":[0],"at":[0]}"#,
    ),
    (
        "use-after-free: accessed by address",
        &[HOST],
        "use-after-free",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[0]}
        {"k":"free","b":"swa","ids":[0]}
        !{"k":"write","in":"swa","at":[0]}"#,
    ),
    (
        "use-after-free: bound to an id that is not live",
        &[DEVICE],
        "use-after-free",
        r#"
        {"k":"alloc","b":["kv"],"n":[1],"ids":[1],"at":[1]}
        {"k":"bind","b":"win","ids":[1],"at":[15]}
        !{"k":"bind","b":"win","ids":[2],"at":[14]}"#,
    ),
    (
        "use-after-free: memory",
        &[BUFFER],
        "use-after-free",
        r#"
        {"k":"mem_alloc","a":"gpu","lo":0,"hi":32}
        {"k":"mem_free","a":"gpu","lo":0,"hi":32}
        !{"k":"write","in":"gpu","at":[8,16]}"#,
    ),
    (
        "leak",
        &[HOST],
        "leak",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[0]}
        +{"k":"free","b":"swa","ids":[0]}
        ?{"k":"empty","b":"swa"}"#,
    ),
    (
        "deadlock: two arenas in two orders",
        &[HOST, OTHER],
        "deadlock",
        r#"
        {"k":"lease","th":1,"a":"host"}
        {"k":"lease","th":2,"a":"peer"}
        {"k":"compact_ask","th":3,"a":"host"}
        {"k":"compact_ask","th":4,"a":"peer"}
        {"k":"lease_ask","th":1,"a":"peer"}
        !{"k":"lease_ask","th":2,"a":"host"}"#,
    ),
    (
        "lost-wakeup",
        &[HOST],
        "lost-wakeup",
        r#"
        {"k":"lease","th":1,"a":"host"}
        {"k":"compact_ask","th":2,"a":"host"}
        {"k":"lease_ask","th":3,"a":"host"}
        {"k":"release","th":1,"a":"host"}
        {"k":"compact_begin","th":2,"a":"host"}
        {"k":"compact_end","th":2,"a":"host"}
        +{"k":"lease","th":3,"a":"host"}
        ?{"k":"end"}"#,
    ),
    (
        "starvation",
        &[HOST],
        "starvation",
        r#"
        {"k":"lease","th":1,"a":"host"}
        {"k":"compact_ask","th":2,"a":"host"}
        {"k":"lease","th":1,"a":"host","depth":2}
        !{"k":"lease","th":3,"a":"host"}"#,
    ),
];

fn trace(arenas: &[&str], complete: &str, lines: &[&str]) -> String {
    let header =
        format!(r#"{{"leasecheck_trace":1,"producer":"test","arenas":[{}],"complete":{complete}}}"#, arenas.join(","));
    let mut text = header;
    for line in lines.iter().filter(|line| !line.contains(r#""k":"end""#)) {
        text += "\n";
        text += line;
    }
    text + "\n{\"k\":\"end\"}\n"
}

const ALL: &str = r#"["pages","leases","order","writes","copies"]"#;

fn first(report: &Report) -> Option<(&str, u64)> {
    report.findings.first().map(|finding| (finding.invariant.name(), finding.line))
}

/// The cases that are not refused or not accepted as they should be.
pub fn mistakes(cases: &[Case<'_>]) -> Vec<String> {
    let mut mistakes = Vec::new();
    for (what, arenas, code, lines) in cases {
        let lines: Vec<&str> = lines.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let plain = |line: &&str| -> Option<String> { Some(line.trim_start_matches(['!', '?', '+']).to_owned()) };
        let wrong: Vec<String> = lines.iter().filter(|line| !line.starts_with('+')).filter_map(plain).collect();
        let right: Vec<String> = lines.iter().filter(|line| !line.starts_with('!')).filter_map(plain).collect();
        let marked = lines.iter().filter(|line| !line.starts_with('+')).position(|line| line.starts_with(['!', '?']));
        let at = marked.map_or(0, |nth| nth as u64 + 2);
        let run = |lines: &[String], complete: &str| {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            check("trace", trace(arenas, complete, &lines).as_bytes())
        };
        let report = run(&wrong, ALL);
        if report.broken.is_some() || first(&report) != Some((*code, at)) {
            mistakes.push(format!("{what}: not refused in line {at}: {:?} {:?}", report.findings, report.broken));
        }
        let report = run(&right, ALL);
        if !report.accepted() {
            mistakes.push(format!("{what}: not accepted: {:?} {:?}", report.findings, report.broken));
        }
        // What nobody promised to record makes no finding.
        let report = run(&wrong, "[]");
        let promised_nothing = ["partial-page", "mis-keyed", "wrong-space", "lost-bytes"];
        let expected = promised_nothing.contains(code) && !what.contains("success without");
        // What an id stands for is known only if every page is.
        let by_page =
            what.contains("an id as") || what.contains("index as a page") || what.contains("bytes of a transfer");
        if report.broken.is_none() && !by_page && (report.found > 0) != expected {
            mistakes.push(format!("{what}: with nothing promised: {:?}", report.findings));
        }
    }
    mistakes
}

#[test]
fn every_invariant_fires_and_stays_silent() {
    let mistakes = mistakes(CASES);
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    let fired: BTreeSet<&str> = CASES.iter().map(|(_, _, code, _)| *code).collect();
    // What a case states, memory that is unmapped, and decisions of several ranks are not recorded.
    let beyond = ["check", "unmapped", "divergence"];
    let missing: Vec<&str> = Code::ALL
        .iter()
        .map(|code| code.name())
        .filter(|code| !(beyond.contains(code) || fired.contains(code)))
        .collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

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
