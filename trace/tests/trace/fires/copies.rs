//! What is copied, and under which numbers: transfers, storage, id spaces.

use super::{BUFFER, Case, DEVICE, HOST, OTHER};

pub const CASES: &[Case<'_>] = &[
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
];
