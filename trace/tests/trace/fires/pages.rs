//! What pages are and what becomes of them: handed out, counted, looked up, given back.

use super::{BUFFER, Case, DESIGN, DEVICE, HOST, OTHER};

pub const CASES: &[Case<'_>] = &[
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
];
