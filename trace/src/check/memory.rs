//! What is held does not grow with the trace.

use super::order::REMEMBERED;
use super::{Checker, Event};
use crate::format::Header;
use serde_json::{Value, json};

impl Checker {
    /// Entries of everything that could grow.
    fn held(&self) -> usize {
        let arenas: usize = self.arenas.iter().map(super::arena::Arena::len).sum();
        let remembered = self.events.len() + self.signals.len() + self.posts.len() + self.queued.len();
        arenas + remembered + self.clocks.len() + self.transfers.len() + self.stored.len() + self.waits.len()
    }
}

fn event(line: Value) -> Event {
    serde_json::from_value(line).expect("a line of the format")
}

/// A round of everything that comes and goes, with numbers and names that never come again.
fn round(nth: u64) -> Vec<Event> {
    let (id, key) = (nth % 50, format!("key {nth}"));
    let (low, other) = (nth % 10 * 64, 1_000_000 + nth);
    [
        json!({"k":"alloc","th":1,"b":["swa"],"n":[1],"ids":[id],"at":[id]}),
        json!({"k":"write","th":1,"in":"swa","ids":[id]}),
        json!({"k":"lease_ask","th":1,"a":"host","h":other}),
        json!({"k":"lease","th":1,"a":"host","h":other}),
        json!({"k":"pin","th":1,"b":"swa","ids":[id]}),
        json!({"k":"transfer","th":1,"x":nth,"bytes":4}),
        json!({"k":"copy","th":1,"s":3,"src":"swa","sids":[id],"dst":"gpu","dat":[low,low + 4],"x":nth}),
        json!({"k":"record","th":1,"ev":nth,"s":3}),
        json!({"k":"transfer_end","th":1,"x":nth}),
        json!({"k":"hand_off","th":1,"a":"host","h":other,"ev":nth}),
        json!({"k":"unpin","th":1,"b":"swa","ids":[id]}),
        json!({"k":"store","th":1,"b":"swa","keys":[key],"ids":[id],"sum":[nth]}),
        json!({"k":"post","th":1,"x":nth,"s":4,"dir":"read","in":"swa","ids":[id]}),
        json!({"k":"complete","th":1,"x":nth}),
        json!({"k":"signal","th":1,"o":nth}),
        json!({"k":"observe","th":1,"o":nth}),
        json!({"k":"sync","th":1,"ev":nth}),
        json!({"k":"free","th":1,"b":"swa","ids":[id]}),
    ]
    .map(event)
    .into()
}

#[test]
fn what_is_held_is_bounded_by_what_lives() {
    let header: Header = serde_json::from_value(json!({
        "leasecheck_trace": 1, "producer": "test", "complete": ["pages", "leases", "order"],
        "arenas": [
            {"name": "host", "bytes": 400, "bands": [{"name": "swa", "envelope": 4, "grow": "up"}]},
            {"name": "gpu", "bytes": 4096},
        ],
    }))
    .expect("a header");
    let mut checker = Checker::new(&header).expect("a header");
    let (mut line, mut most) = (1, 0);
    // Until everything that is remembered for a while is full.
    let full = 2 * REMEMBERED as u64 + 1_000;
    for nth in 0..full + 22_000 {
        for event in round(nth) {
            line += 1;
            checker.line(line, &event).expect("a line that makes sense");
        }
        if nth == full {
            most = checker.held();
        }
    }
    assert!(line > 1_000_000, "{line} lines");
    assert_eq!(checker.found(), 0, "{:?}", checker.findings().first());
    assert!(checker.held() <= most + 2 * REMEMBERED, "{} entries are held, {most} after {full} rounds", checker.held());
    assert!(most < 12 * REMEMBERED, "{most} entries are held");
}
