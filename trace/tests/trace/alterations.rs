//! A checker that cannot refuse proves nothing: the recorded traces, with one event altered, are refused with the right
//! invariant at the right line, and everything before that line still fits.
//!
//! Each alteration is made at the first, the middle and the last place of a trace that offers one.

use crate::common::{Trace, event};
use leasecheck_trace::format::{Event, Out};
use serde_json::json;

/// Alters the events from position `at` on, if that place offers it. Returns the position of the event that must be
/// refused then.
type Alter = fn(&mut Vec<Event>, usize) -> Option<usize>;

/// A thread that the recorded runs do not have.
const STRANGER: u64 = 99;

fn next(events: &[Event], from: usize, is: impl Fn(&Event) -> bool) -> Option<usize> {
    (from..events.len()).find(|at| is(&events[*at]))
}

fn is_move(event: &Event) -> bool {
    matches!(event, Event::Move(_))
}

/// Puts a line in before the compaction that is asked for at `at`; its first move is refused.
fn before_compaction(events: &mut Vec<Event>, at: usize, line: serde_json::Value) -> Option<usize> {
    let Event::CompactAsk(_) = &events[at] else { return None };
    let end = next(events, at, |event| matches!(event, Event::CompactEnd(_) | Event::Clear(_)))?;
    let moved = next(&events[..end], at, is_move)?;
    events.insert(at, event(line));
    Some(moved + 1)
}

/// What the alteration is, the kind of event that it looks for, and the invariants of which one must refuse it.
const ALTERATIONS: &[(&str, &str, &[&str], Alter)] = &[
    ("a move during a lease", "compact_ask", &["moved-under-lease"], |events, at| {
        before_compaction(events, at, json!({ "k": "lease", "th": STRANGER, "a": "host" }))
    }),
    ("a move before a handed-off event", "sync", &["moved-under-lease"], |events, at| {
        let Event::Sync(sync) = &events[at] else { return None };
        let is_done = |event: &Event| matches!(event, Event::Done(done) if done.ev == sync.ev);
        if events[..at].iter().any(is_done) {
            return None;
        }
        let moved = next(events, at, is_move)?;
        if next(&events[..moved], at, |event| matches!(event, Event::Done(_) | Event::CompactEnd(_))).is_some() {
            return None;
        }
        events.remove(at);
        Some(moved - 1)
    }),
    ("a move of a pinned page", "move", &["moved-under-lease"], |events, at| {
        let Event::Move(step) = &events[at] else { return None };
        let pin = json!({ "k": "pin", "b": step.b, "ids": [step.ids[step.ids.len() - 1]] });
        events.insert(at, event(pin));
        Some(at + 1)
    }),
    ("a move while a gate is closed", "compact_ask", &["moved-under-lease"], |events, at| {
        before_compaction(events, at, json!({ "k": "gate_close", "a": "host", "g": "decode" }))
    }),
    ("a lease granted while a compaction waits", "compact_ask", &["starvation"], |events, at| {
        let Event::CompactAsk(_) = &events[at] else { return None };
        events.insert(at + 1, event(json!({ "k": "lease", "th": STRANGER, "a": "host" })));
        Some(at + 1)
    }),
    ("a lease released twice", "release", &["double-free"], |events, at| {
        let Event::Release(release) = &events[at] else { return None };
        if release.depth != Some(0) {
            return None;
        }
        let again = events[at].clone();
        events.insert(at + 1, again);
        Some(at + 1)
    }),
    ("a lease handed off twice", "hand_off", &["double-free"], |events, at| {
        let Event::HandOff(hand_off) = &events[at] else { return None };
        if hand_off.depth != Some(0) {
            return None;
        }
        let again = events[at].clone();
        events.insert(at + 1, again);
        Some(at + 1)
    }),
    ("a lease counted wrong", "lease", &["conservation"], |events, at| {
        let Event::Lease(lease) = &mut events[at] else { return None };
        lease.depth = lease.depth.map(|depth| depth + 1);
        Some(at)
    }),
    ("a translate after free", "free", &["use-after-free"], |events, at| {
        let Event::Free(free) = &events[at] else { return None };
        if free.out != Out::Ok {
            return None;
        }
        let translate = json!({ "k": "translate", "b": free.b, "ids": [free.ids[0]], "at": [0] });
        events.insert(at + 1, event(translate));
        Some(at + 1)
    }),
    ("a translation off by one page", "translate", &["mapping"], |events, at| {
        let Event::Translate(translate) = &mut events[at] else { return None };
        translate.at.as_mut()?[0] += 1;
        Some(at)
    }),
    ("a failed translation of a live page", "translate", &["mapping"], |events, at| {
        let Event::Translate(translate) = &mut events[at] else { return None };
        (translate.at, translate.out) = (None, Out::Raised);
        Some(at)
    }),
    ("an access at the place before the move", "move", &["stale-address"], |events, at| {
        let Event::Move(step) = &events[at] else { return None };
        let last = step.ids.len() - 1;
        let read = json!({ "k": "read", "in": step.b, "ids": [step.ids[last]], "at": [step.from.as_ref()?[last]] });
        events.insert(at + 1, event(read));
        Some(at + 1)
    }),
    ("a page placed one page off", "alloc", &["mapping", "overlap"], |events, at| {
        let Event::Alloc(alloc) = &mut events[at] else { return None };
        *alloc.at.as_mut()?.last_mut()? += 1;
        Some(at)
    }),
    ("an id one off", "alloc", &["mapping"], |events, at| {
        let Event::Alloc(alloc) = &mut events[at] else { return None };
        *alloc.ids.as_mut()?.last_mut()? += 1;
        Some(at)
    }),
    ("a page too few", "alloc", &["admission"], |events, at| {
        let Event::Alloc(alloc) = &mut events[at] else { return None };
        alloc.ids.as_mut()?.pop()?;
        alloc.at.as_mut()?.pop();
        Some(at)
    }),
    ("a refusal of what fits", "alloc", &["admission"], |events, at| {
        let Event::Alloc(alloc) = &mut events[at] else { return None };
        if alloc.ids.take().is_none_or(|ids| ids.is_empty()) {
            return None;
        }
        (alloc.at, alloc.out) = (None, Out::Refused);
        Some(at)
    }),
    ("an exception where it fits", "alloc", &["admission"], |events, at| {
        let Event::Alloc(alloc) = &mut events[at] else { return None };
        if alloc.ids.take().is_none_or(|ids| ids.is_empty()) {
            return None;
        }
        (alloc.at, alloc.out) = (None, Out::Raised);
        Some(at)
    }),
    ("a page granted that does not fit", "alloc", &["admission", "mapping"], |events, at| {
        let Event::Alloc(alloc) = &mut events[at] else { return None };
        if alloc.out != Out::Refused || alloc.n.iter().sum::<u32>() == 0 {
            return None;
        }
        // Ids that may be free, at places that are not known.
        alloc.ids = Some(alloc.n.iter().flat_map(|pages| (0..*pages).map(|id| 7 - (id & 7))).collect());
        (alloc.at, alloc.out) = (None, Out::Ok);
        Some(at)
    }),
    ("a page freed twice", "free", &["double-free"], |events, at| {
        let Event::Free(free) = &events[at] else { return None };
        if free.out != Out::Ok {
            return None;
        }
        let again = events[at].clone();
        events.insert(at + 1, again);
        Some(at + 1)
    }),
    ("a refused free that is said to have worked", "free", &["double-free"], |events, at| {
        let Event::Free(free) = &mut events[at] else { return None };
        if free.out == Out::Ok {
            return None;
        }
        free.out = Out::Ok;
        Some(at)
    }),
    ("a free of live pages that failed", "free", &["leak"], |events, at| {
        let Event::Free(free) = &mut events[at] else { return None };
        if free.out != Out::Ok {
            return None;
        }
        free.out = Out::Raised;
        Some(at)
    }),
    ("a free that is missing", "free", &["conservation"], |events, at| {
        let Event::Free(free) = &events[at] else { return None };
        let band = (free.out == Out::Ok).then(|| free.b.clone())?;
        events.remove(at);
        next(events, at, |event| matches!(event, Event::State(state) if state.b == band))
    }),
    ("a capacity one too high", "available", &["admission"], |events, at| {
        let Event::Available(available) = &mut events[at] else { return None };
        available.res += 1;
        Some(at)
    }),
    ("the wrong admission", "admit", &["admission"], |events, at| {
        let Event::Admit(admit) = &mut events[at] else { return None };
        admit.res = !admit.res;
        Some(at)
    }),
    ("free bytes one off", "free_bytes", &["conservation"], |events, at| {
        let Event::FreeBytes(free) = &mut events[at] else { return None };
        free.res += 1;
        Some(at)
    }),
    ("live pages counted wrong", "state", &["conservation", "not-atomic"], |events, at| {
        let Event::State(state) = &mut events[at] else { return None };
        state.live = state.live.map(|live| live + 1);
        Some(at)
    }),
    ("holes counted wrong", "state", &["conservation", "not-atomic"], |events, at| {
        let Event::State(state) = &mut events[at] else { return None };
        state.holes = state.holes.map(|holes| holes + 1);
        Some(at)
    }),
    ("the watermark one off", "state", &["conservation", "not-atomic"], |events, at| {
        let Event::State(state) = &mut events[at] else { return None };
        state.wm = state.wm.map(|wm| wm + 1);
        Some(at)
    }),
    ("a refused call that left a trace", "alloc", &["not-atomic"], |events, at| {
        let Event::Alloc(alloc) = &events[at] else { return None };
        let Event::State(state) = events.get(at + 1)? else { return None };
        if alloc.out != Out::Refused || alloc.b[0] != state.b {
            return None;
        }
        let Event::State(state) = &mut events[at + 1] else { return None };
        state.live = state.live.map(|live| live + 1);
        Some(at + 1)
    }),
    ("a move one page off", "move", &["mapping", "overlap"], |events, at| {
        let Event::Move(step) = &mut events[at] else { return None };
        step.to[0] += 1;
        Some(at)
    }),
    ("a move from where the page is not", "move", &["mapping"], |events, at| {
        let Event::Move(step) = &mut events[at] else { return None };
        step.from.as_mut()?[0] += 1;
        Some(at)
    }),
    ("moves in an order that overwrites a page", "move", &["overlap"], |events, at| {
        let Event::Move(step) = &mut events[at] else { return None };
        // The last page's new place is an earlier one's old place.
        let last = *step.to.last()?;
        if !step.from.as_ref()?.contains(&last) {
            return None;
        }
        step.ids.reverse();
        step.to.reverse();
        step.from.as_mut()?.reverse();
        Some(at)
    }),
    ("a move that is missing", "move", &["mapping"], |events, at| {
        let Event::Move(step) = &mut events[at] else { return None };
        step.ids.pop()?;
        step.to.pop();
        step.from.as_mut()?.pop();
        if step.ids.is_empty() {
            return None;
        }
        next(events, at, |event| matches!(event, Event::CompactEnd(_)))
    }),
    ("a band that should be empty", "state", &["leak"], |events, at| {
        let Event::State(state) = &events[at] else { return None };
        if state.live == Some(0) {
            return None;
        }
        let empty = event(json!({ "k": "empty", "b": state.b }));
        events.insert(at + 1, empty);
        Some(at + 1)
    }),
    ("a compaction that nobody wakes", "end", &["lost-wakeup"], |events, at| {
        let Event::End(_) = &events[at] else { return None };
        let handed_off = |event: &Event| if let Event::HandOff(hand_off) = event { Some(hand_off.ev) } else { None };
        let mut lines: Vec<Event> =
            events.iter().filter_map(handed_off).map(|ev| event(json!({ "k": "done", "ev": ev }))).collect();
        lines.push(event(json!({ "k": "compact_ask", "th": STRANGER, "a": "host" })));
        let end = at + lines.len();
        events.splice(at..at, lines);
        Some(end)
    }),
];

#[test]
fn an_altered_event_is_refused_at_its_line() {
    let mut made = 0;
    let mut wrong = Vec::new();
    let mut seen = vec![0; ALTERATIONS.len()];
    for file in ["small.jsonl", "threaded.jsonl"] {
        let trace = crate::common::recorded(file);
        for (nth, (what, kind, codes, alter)) in ALTERATIONS.iter().enumerate() {
            let offers =
                |at: &usize| trace.events[*at].kind() == *kind && alter(&mut trace.events.clone(), *at).is_some();
            let count = trace.events.len();
            let Some(first) = (0..count).find(offers) else { continue };
            let last = (0..count).rev().find(offers).unwrap_or(first);
            let middle = (count / 2..count).find(offers).unwrap_or(first);
            let mut chosen = vec![first, middle, last];
            chosen.dedup();
            for at in chosen {
                let mut altered = trace.clone();
                let refused = alter(&mut altered.events, at).expect("it was offered");
                if let Some(answer) = expect(&altered, refused, codes) {
                    wrong.push(format!("{file}, {what} at line {}: {answer}", at + 2));
                }
                made += 1;
                seen[nth] += 1;
            }
        }
    }
    for (nth, (what, ..)) in ALTERATIONS.iter().enumerate().filter(|(nth, _)| seen[*nth] == 0) {
        wrong.push(format!("{what}: no recorded trace offers it ({nth})"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ALTERATIONS.len() >= 20 && made > 100, "{made} alterations of {} kinds", ALTERATIONS.len());
}

/// What is wrong with the answer, if anything.
fn expect(trace: &Trace, refused: usize, codes: &[&str]) -> Option<String> {
    let report = trace.check();
    let Some(finding) = report.findings.first() else { return Some("it was accepted".into()) };
    let right = report.broken.is_none()
        && codes.contains(&finding.invariant.name())
        && (finding.line, report.fitting) == (refused as u64 + 2, refused as u64)
        && !finding.message.is_empty()
        && !finding.allowed.is_empty();
    (!right).then(|| format!("{finding:?} {:?}, expected line {}", report.broken, refused + 2))
}
