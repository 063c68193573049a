//! What happens before what: streams, events, threads, RDMA queues.

use super::{BUFFER, Case, HOST};

pub const CASES: &[Case<'_>] = &[
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
];
