//! Public reports about streams, events, RDMA and storage, as traces that a maintainer would have recorded: refused with
//! the right invariant at the right line, and accepted with the fix.

use crate::fires::{BUFFER, Case, DEVICE, HOST, mistakes};

/// As the cases of [`crate::fires`], named by the report.
const REPORTS: &[Case] = &[
    (
        "an index buffer is read on the copy stream, which waits for its producer only afterwards (sglang#36731)",
        &[BUFFER],
        "stale-index",
        r#"
        {"k":"write","th":1,"s":1,"in":"idx","at":[0,16]}
        {"k":"record","th":1,"ev":1,"s":1}
        +{"k":"wait","th":1,"ev":1,"s":2}
        ?{"k":"host_read","th":1,"s":2,"in":"idx","at":[0,16]}
        {"k":"wait","th":1,"ev":1,"s":2}"#,
    ),
    (
        "two loads on two streams share one slot for their finish event (sglang#37496)",
        &[DEVICE],
        "early-reuse",
        r#"
        {"k":"alloc","th":1,"b":["kv"],"n":[2],"ids":[1,2],"at":[1,2]}
        {"k":"write","th":1,"s":2,"in":"kv","ids":[1],"at":[1]}
        {"k":"record","th":1,"ev":1,"s":2}
        {"k":"write","th":1,"s":3,"in":"kv","ids":[2],"at":[2]}
        {"k":"record","th":1,"ev":2,"s":3}
        {"k":"free","th":1,"b":"kv","ids":[1,2]}
        {"k":"wait","th":1,"ev":2,"s":1}
        +{"k":"wait","th":1,"ev":1,"s":1}
        {"k":"alloc","th":1,"b":["kv"],"n":[1],"ids":[3],"at":[1]}
        ?{"k":"write","th":1,"s":1,"in":"kv","ids":[3],"at":[1]}"#,
    ),
    (
        "a host slot is freed and handed out while a copy into it is queued (sglang#28468)",
        &[HOST],
        "early-reuse",
        r#"
        {"k":"alloc","th":1,"b":["swa"],"n":[1],"ids":[0],"at":[0]}
        {"k":"write","th":1,"s":2,"in":"swa","ids":[0]}
        {"k":"record","th":1,"ev":1,"s":2}
        +{"k":"sync","th":1,"ev":1}
        {"k":"free","th":1,"b":"swa","ids":[0]}
        {"k":"alloc","th":1,"b":["swa"],"n":[1],"ids":[1],"at":[0]}
        ?{"k":"write","th":1,"s":3,"in":"swa","ids":[1]}"#,
    ),
    (
        "a stream's wait cannot order RDMA, which the host starts (TensorRT-LLM#16913)",
        &[DEVICE],
        "race",
        r#"
        {"k":"alloc","th":1,"b":["kv"],"n":[1],"ids":[1],"at":[1]}
        {"k":"write","th":1,"s":1,"in":"kv","ids":[1]}
        {"k":"record","th":1,"ev":1,"s":1}
        {"k":"wait","th":1,"ev":1,"s":2}
        +{"k":"sync","th":1,"ev":1}
        ?{"k":"post","th":1,"x":1,"s":9,"dir":"read","in":"kv","ids":[1]}"#,
    ),
    (
        "nor if the wait is queued on the RDMA queue itself",
        &[DEVICE],
        "race",
        r#"
        {"k":"alloc","th":1,"b":["kv"],"n":[2],"ids":[1,2],"at":[1,2]}
        {"k":"write","th":1,"in":"kv","ids":[2]}
        {"k":"post","th":1,"x":1,"s":9,"dir":"read","in":"kv","ids":[2]}
        {"k":"write","th":1,"s":1,"in":"kv","ids":[1]}
        {"k":"record","th":1,"ev":1,"s":1}
        {"k":"wait","th":1,"ev":1,"s":9}
        +{"k":"sync","th":1,"ev":1}
        ?{"k":"post","th":1,"x":2,"s":9,"dir":"read","in":"kv","ids":[1]}"#,
    ),
    (
        "a band is compacted although the gate of a transfer is closed, for the setter forgot it (sglang, three pools)",
        &[DEVICE],
        "moved-under-lease",
        r#"
        {"k":"alloc","th":1,"b":["kv"],"n":[1],"ids":[1],"at":[3]}
        {"k":"write","th":1,"in":"kv","ids":[1]}
        {"k":"gate_close","th":1,"a":"device","g":"disaggregation"}
        {"k":"post","th":1,"x":1,"s":9,"dir":"read","in":"kv","ids":[1]}
        +{"k":"complete","th":1,"x":1}
        +{"k":"gate_open","th":1,"a":"device","g":"disaggregation"}
        ?{"k":"move","th":1,"b":"kv","ids":[1],"from":[3],"to":[1]}"#,
    ),
    (
        "a table in pinned memory is written again before the copy has read it (TensorRT-LLM, reused host buffer)",
        &[BUFFER, r#"{"name":"pinned","bytes":64}"#],
        "race",
        r#"
        {"k":"write","th":1,"in":"pinned","at":[0,64]}
        {"k":"copy","th":1,"s":1,"src":"pinned","sat":[0,64],"dst":"gpu","dat":[0,64]}
        +{"k":"sync_stream","th":1,"s":1}
        ?{"k":"write","th":1,"in":"pinned","at":[0,64]}"#,
    ),
    (
        "pages are loaded on a stream that does not wait for the forward which still writes them (sglang, load-back)",
        &[DEVICE],
        "early-reuse",
        r#"
        {"k":"alloc","th":1,"b":["kv"],"n":[1],"ids":[1],"at":[1]}
        {"k":"write","th":1,"s":1,"in":"kv","ids":[1],"at":[1]}
        {"k":"record","th":1,"ev":1,"s":1}
        {"k":"free","th":1,"b":"kv","ids":[1]}
        {"k":"alloc","th":1,"b":["kv"],"n":[1],"ids":[2],"at":[1]}
        +{"k":"wait","th":1,"ev":1,"s":2}
        ?{"k":"write","th":1,"s":2,"in":"kv","ids":[2],"at":[1]}"#,
    ),
    (
        "a ready flag is still set from the load before (tokenspeed)",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","th":1,"s":2,"in":"gpu","at":[0,64]}
        {"k":"signal","th":1,"o":7,"s":2}
        {"k":"observe","th":1,"o":7,"s":1}
        {"k":"read","th":1,"s":1,"in":"gpu","at":[0,64]}
        {"k":"record","th":1,"ev":1,"s":1}
        {"k":"wait","th":1,"ev":1,"s":2}
        {"k":"write","th":1,"s":2,"in":"gpu","at":[0,64]}
        +{"k":"signal","th":1,"o":7,"s":2}
        {"k":"observe","th":1,"o":7,"s":1}
        ?{"k":"read","th":1,"s":1,"in":"gpu","at":[0,64]}"#,
    ),
    (
        "merging a free list drops what its donor waits for (RMM)",
        &[BUFFER],
        "early-reuse",
        r#"
        {"k":"mem_alloc","th":1,"a":"gpu","lo":0,"hi":64}
        {"k":"write","th":1,"s":1,"in":"gpu","at":[0,64]}
        {"k":"record","th":1,"ev":1,"s":1}
        {"k":"mem_free","th":1,"a":"gpu","lo":0,"hi":64}
        {"k":"record","th":1,"ev":2,"s":2}
        {"k":"wait","th":1,"ev":1,"s":2}
        +{"k":"record","th":1,"ev":2,"s":2}
        {"k":"wait","th":1,"ev":2,"s":3}
        {"k":"mem_alloc","th":1,"a":"gpu","lo":0,"hi":64}
        ?{"k":"write","th":1,"s":3,"in":"gpu","at":[0,64]}"#,
    ),
    (
        "pages that two flushes moved wait for one event, and the second replaces the first (sglang#39982)",
        &[DEVICE],
        "conservation",
        r#"
        {"k":"alloc","th":1,"b":["kv"],"n":[2],"ids":[1,2],"at":[4,5]}
        {"k":"record","th":1,"ev":1,"s":1}
        {"k":"move","th":1,"b":"kv","ids":[1],"from":[4],"to":[1],"ev":1}
        {"k":"move","th":1,"b":"kv","ids":[2],"from":[5],"to":[2],"ev":1}
        !{"k":"state","th":1,"b":"kv","pending":1}
        {"k":"state","th":1,"b":"kv","pending":2}"#,
    ),
    (
        "a slot whose pin was bypassed is reused while a peer reads it (tensorcast)",
        &[DEVICE],
        "early-reuse",
        r#"
        {"k":"alloc","th":1,"b":["kv"],"n":[1],"ids":[1],"at":[1]}
        {"k":"write","th":1,"in":"kv","ids":[1]}
        {"k":"post","th":1,"x":1,"s":9,"dir":"read","in":"kv","ids":[1]}
        +{"k":"complete","th":1,"x":1}
        {"k":"free","th":1,"b":"kv","ids":[1]}
        {"k":"alloc","th":1,"b":["kv"],"n":[1],"ids":[2],"at":[1]}
        ?{"k":"write","th":1,"in":"kv","ids":[2]}"#,
    ),
    (
        "a key is stored with what another request left in the page (DingoCache#76)",
        &[HOST],
        "mis-keyed",
        r#"
        {"k":"alloc","th":1,"b":["swa"],"n":[1],"ids":[0],"at":[0]}
        {"k":"write","th":1,"in":"swa","ids":[0],"sum":[7]}
        {"k":"store","th":1,"b":"swa","keys":["prefix"],"ids":[0]}
        {"k":"write","th":1,"in":"swa","ids":[0],"sum":[8]}
        !{"k":"store","th":1,"b":"swa","keys":["prefix"],"ids":[0]}
        {"k":"store","th":1,"b":"swa","keys":["other prefix"],"ids":[0]}"#,
    ),
    (
        "pages are stored under each other's keys (sglang#26747)",
        &[HOST, r#"{"name":"peer","bytes":48,"bands":[{"name":"swa","envelope":4}]}"#],
        "content",
        r#"
        {"k":"alloc","th":1,"b":["host.swa"],"n":[2],"ids":[0,1],"at":[0,1]}
        {"k":"write","th":1,"in":"host.swa","ids":[0],"sum":[7]}
        {"k":"write","th":1,"in":"host.swa","ids":[1],"sum":[8]}
        {"k":"store","th":1,"b":"host.swa","keys":["a","b"],"ids":[1,0]}
        {"k":"alloc","th":1,"b":["peer.swa"],"n":[1],"ids":[0],"at":[3]}
        {"k":"fetch","th":1,"b":"peer.swa","keys":["a"],"ids":[0]}
        !{"k":"read","th":1,"in":"peer.swa","ids":[0],"sum":[7]}
        {"k":"read","th":1,"in":"peer.swa","ids":[0],"sum":[8]}"#,
    ),
];

#[test]
fn reports_are_refused_as_reported_and_accepted_as_fixed() {
    let mistakes = mistakes(REPORTS);
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

/// What is safe in one world and wrong in another: with one stream for both loads, their last event is enough.
#[test]
fn one_stream_makes_one_slot_enough() {
    let (what, arenas, code, lines) = REPORTS[1];
    let one_stream = lines.replace(r#""s":3"#, r#""s":2"#).replace('?', "").replace('+', "!");
    let wrong = mistakes(&[(what, arenas, code, &one_stream)]);
    assert!(wrong.iter().any(|mistake| mistake.contains("not refused")), "{wrong:?}");
}
