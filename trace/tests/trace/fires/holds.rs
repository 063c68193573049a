//! What keeps pages still, and addresses that did not: leases, events, gates, pins, and who waits for whom.

use super::{Case, HOST, OTHER};

pub const CASES: &[Case<'_>] = &[
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
