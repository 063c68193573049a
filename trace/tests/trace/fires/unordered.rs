//! What orders nothing, although it looks like it: RDMA queues, waits too early, agents that appear later.

use super::{BUFFER, Case, HOST};

pub const CASES: &[Case<'_>] = &[
    (
        "race: a wait on an RDMA queue that has not posted yet",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","s":1,"in":"gpu","at":[0,16]}
        {"k":"record","ev":1,"s":1}
        {"k":"wait","ev":1,"s":77}
        +{"k":"sync","ev":1}
        ?{"k":"post","x":1,"s":77,"dir":"read","in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: an event recorded on an RDMA queue",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","in":"gpu","at":[0,16]}
        {"k":"post","x":1,"s":77,"dir":"read","in":"gpu","at":[0,16]}
        {"k":"record","ev":1,"s":77}
        {"k":"sync","ev":1}
        +{"k":"complete","x":1}
        ?{"k":"write","in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: an RDMA queue that is synchronized as if it were a stream",
        &[BUFFER],
        "race",
        r#"
        {"k":"stream","s":77,"name":"nic"}
        {"k":"write","in":"gpu","at":[0,48]}
        {"k":"post","x":1,"s":77,"dir":"read","in":"gpu","at":[0,16]}
        {"k":"sync_stream","s":77}
        {"k":"host_read","s":77,"in":"gpu","at":[32,48]}
        +{"k":"complete","x":1}
        ?{"k":"write","in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: a signal from an RDMA queue",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","th":1,"in":"gpu","at":[0,16]}
        {"k":"post","th":1,"x":1,"s":77,"dir":"write","in":"gpu","at":[0,16]}
        +{"k":"complete","th":1,"x":1}
        {"k":"signal","th":1,"o":1,"s":77}
        {"k":"observe","th":2,"o":1}
        ?{"k":"read","th":2,"in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: the completion of another post",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","in":"gpu","at":[0,16]}
        {"k":"post","x":1,"s":77,"dir":"read","in":"gpu","at":[0,16]}
        {"k":"complete","x":2}
        +{"k":"complete","x":1}
        ?{"k":"write","in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: a completion that another thread saw",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","th":1,"in":"gpu","at":[0,16]}
        {"k":"post","th":1,"x":1,"s":77,"dir":"read","in":"gpu","at":[0,16]}
        {"k":"complete","th":2,"x":1}
        {"k":"signal","th":2,"o":1}
        +{"k":"observe","th":1,"o":1}
        ?{"k":"write","th":1,"in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: a wait for an event that is never recorded",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","s":1,"in":"gpu","at":[0,16]}
        +{"k":"record","ev":1,"s":1}
        {"k":"wait","ev":1,"s":2}
        ?{"k":"write","s":2,"in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: a wait before the record",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","s":1,"in":"gpu","at":[0,16]}
        +{"k":"record","ev":1,"s":1}
        {"k":"wait","ev":1,"s":2}
        {"k":"record","ev":1,"s":1}
        ?{"k":"write","s":2,"in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: an event that is never recorded counts as completed, and tells nothing",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","s":1,"in":"gpu","at":[0,16]}
        +{"k":"record","ev":1,"s":1}
        {"k":"query","ev":1,"res":true}
        ?{"k":"write","in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: a query that says no, and a synchronization that failed",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","s":1,"in":"gpu","at":[0,16]}
        {"k":"record","ev":1,"s":1}
        {"k":"query","ev":1,"res":false}
        {"k":"query","ev":1}
        {"k":"sync","ev":1,"out":"raised"}
        +{"k":"sync","ev":1}
        ?{"k":"write","in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: an event that is recorded again, on another stream",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","s":1,"in":"gpu","at":[0,16]}
        {"k":"record","ev":1,"s":1}
        {"k":"wait","ev":1,"s":4}
        {"k":"record","ev":1,"s":3}
        {"k":"read","s":4,"in":"gpu","at":[0,16]}
        +{"k":"record","ev":1,"s":4}
        {"k":"wait","ev":1,"s":2}
        ?{"k":"write","s":2,"in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: another event at the address of the first",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","s":1,"in":"gpu","at":[0,16]}
        {"k":"record","ev":1,"s":1}
        {"k":"fresh","ev":1}
        +{"k":"record","ev":1,"s":1}
        {"k":"wait","ev":1,"s":2}
        ?{"k":"write","s":2,"in":"gpu","at":[0,16]}"#,
    ),
    (
        "stale-address: the event that stood for a copy is recorded again before the page moves",
        &[HOST],
        "stale-address",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[1]}
        {"k":"write","in":"swa","ids":[0]}
        {"k":"lease","a":"host"}
        {"k":"read","s":1,"in":"swa","ids":[0]}
        {"k":"record","ev":1,"s":1}
        {"k":"hand_off","a":"host","ev":1}
        +{"k":"wait","ev":1,"s":2}
        {"k":"record","ev":1,"s":2}
        {"k":"sync","ev":1}
        ?{"k":"move","b":"swa","ids":[0],"from":[1],"to":[0]}"#,
    ),
    (
        "race: a stream that appears after the device was synchronized",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","s":1,"in":"gpu","at":[32,48]}
        {"k":"sync_device"}
        {"k":"write","in":"gpu","at":[32,48]}
        {"k":"write","s":5,"in":"gpu","at":[0,16]}
        +{"k":"sync_device"}
        ?{"k":"write","in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: a stream that first waits, and only then does something",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","th":1,"s":1,"in":"gpu","at":[0,16]}
        {"k":"record","th":1,"ev":1,"s":1}
        {"k":"wait","th":2,"ev":1,"s":5}
        {"k":"read","th":2,"s":5,"in":"gpu","at":[0,16]}
        {"k":"record","th":2,"ev":2,"s":5}
        +{"k":"wait","th":1,"ev":2,"s":1}
        ?{"k":"write","th":1,"s":1,"in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: a thread that appears later knows nothing of the others",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","th":1,"in":"gpu","at":[0,16]}
        {"k":"signal","th":1,"o":9}
        {"k":"thread","th":7,"name":"storage"}
        +{"k":"observe","th":7,"o":9}
        ?{"k":"read","th":7,"in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: an observation before the signal",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","th":1,"in":"gpu","at":[0,16]}
        +{"k":"signal","th":1,"o":9}
        {"k":"observe","th":2,"o":9}
        {"k":"signal","th":1,"o":9}
        ?{"k":"read","th":2,"in":"gpu","at":[0,16]}"#,
    ),
    (
        "race: the thread without a number is none of those with one",
        &[BUFFER],
        "race",
        r#"
        {"k":"write","th":18446744073709551615,"in":"gpu","at":[0,16]}
        {"k":"signal","th":18446744073709551615,"o":9}
        +{"k":"observe","o":9}
        ?{"k":"read","in":"gpu","at":[0,16]}"#,
    ),
    (
        "moved-under-lease: nor are its leases theirs",
        &[HOST],
        "moved-under-lease",
        r#"
        {"k":"alloc","b":["swa"],"n":[1],"ids":[0],"at":[1]}
        {"k":"lease","th":18446744073709551615,"a":"host","depth":1}
        {"k":"lease","a":"host","depth":1}
        {"k":"release","a":"host","depth":0}
        +{"k":"release","th":18446744073709551615,"a":"host","depth":0}
        ?{"k":"move","b":"swa","ids":[0],"from":[1],"to":[0]}"#,
    ),
];
