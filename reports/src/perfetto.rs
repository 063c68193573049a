//! A run as a trace that Perfetto opens (the JSON of Chrome's trace viewer): lanes as tracks, steps as slices, leases as
//! asynchronous slices of a process of their own, arrows as flows between slices.
//!
//! A run has an order and no times: step `n` begins at `n` × 10 microseconds.

use crate::model::CounterexampleReport;
use crate::plain::{plain, short};
use serde_json::{Value, json};

/// Microseconds from one step to the next, and of a step.
const STEP: usize = 10;
const LENGTH: usize = 8;

/// Agents, and what holds layouts still: the two groups of tracks. Holds overlap as they like, which slices of one track
/// must not: they are asynchronous, and Perfetto finds room for them.
const AGENTS: u8 = 1;
const LAYOUTS: u8 = 2;

/// The trace of a run.
///
/// # Errors
/// When the JSON cannot be written, which no run has.
pub fn render(claim: &str, run: &CounterexampleReport) -> Result<String, String> {
    let mut events: Vec<Value> = Vec::new();
    let mut about = |what: &str, pid: u8, tid: usize, args: Value| {
        events.push(
            json!({ "ph": "M", "cat": "__metadata", "name": what, "pid": pid, "tid": tid, "ts": 0, "args": args }),
        );
    };
    about("process_name", AGENTS, 0, json!({ "name": short(claim, 200) }));
    if !run.holds.is_empty() {
        about("process_name", LAYOUTS, 0, json!({ "name": "layouts held still" }));
    }
    for (agent, (label, kind)) in run.agents.iter().zip(&run.kinds).enumerate() {
        about("thread_name", AGENTS, agent + 1, json!({ "name": short(&format!("{label} ({kind})"), 200) }));
        about("thread_sort_index", AGENTS, agent + 1, json!({ "sort_index": agent }));
    }
    for (at, row) in run.rows.iter().enumerate() {
        let (step, tid) = (at + 1, usize::from(row.agent) + 1);
        let label = match row.queue {
            Some(queue) => format!("enqueue on {}: {}", run.agents[usize::from(queue)], row.text),
            None => row.text.clone(),
        };
        let args = json!({ "step": step, "line": row.line, "notes": row.notes.iter().map(|note| plain(note)).collect::<Vec<_>>() });
        events.push(json!({
            "ph": "X", "name": short(&label, 400), "cat": row.kind, "pid": AGENTS, "tid": tid,
            "ts": step * STEP, "dur": LENGTH, "args": args,
        }));
    }
    let mut flows = 0_usize;
    let mut flow = |from: usize, to: usize, name: String, kind: &str| {
        let (Some(first), Some(second)) = (run.rows.get(from.wrapping_sub(1)), run.rows.get(to.wrapping_sub(1))) else {
            return;
        };
        flows += 1;
        let (name, ends) = (short(&name, 200), [("s", from, first), ("f", to, second)]);
        for (phase, step, row) in ends {
            let mut event = json!({
                "ph": phase, "id": flows.to_string(), "name": name, "cat": kind, "pid": AGENTS,
                "tid": usize::from(row.agent) + 1, "ts": step * STEP + 1, "args": {},
            });
            if phase == "f" {
                event["bp"] = json!("e");
            }
            events.push(event);
        }
    };
    for (at, row) in run.rows.iter().enumerate() {
        if let Some(queued) = row.queued {
            flow(queued, at + 1, "enqueued".to_owned(), "enqueued");
        }
    }
    for order in &run.orders {
        flow(order.from, order.to, format!("{} {}", order.kind, order.name), order.kind);
    }
    for (nth, hold) in run.holds.iter().enumerate() {
        let (from, to) = (hold.from * STEP, hold.to.map_or(run.rows.len() * STEP + LENGTH, |to| to * STEP + LENGTH));
        let arena = run.arenas.get(usize::from(hold.arena)).map_or("", |arena| arena.name.as_str());
        let label = short(&format!("{arena}: {}", format!("{} {}", hold.kind, hold.name).trim_end()), 200);
        for (phase, at) in [("b", from), ("e", to)] {
            events.push(json!({
                "ph": phase, "cat": hold.kind, "name": label, "id": (nth + 1).to_string(), "pid": LAYOUTS,
                "tid": usize::from(hold.arena) + 1, "ts": at, "args": {},
            }));
        }
    }
    if !run.code.is_empty() {
        let sentence = run.missing.as_ref().map_or(String::new(), |missing| plain(&missing.sentence));
        let tid = run.rows.last().map_or(1, |row| usize::from(row.agent) + 1);
        for end in run.next().into_iter().flatten() {
            events.push(json!({
                "ph": "i", "s": "t", "name": short(&format!("can be next: {}", end.text), 400), "cat": "violation",
                "pid": AGENTS, "tid": usize::from(end.agent) + 1, "ts": (run.rows.len() + 1) * STEP, "args": {},
            }));
        }
        events.push(json!({
            "ph": "i", "s": "p", "name": short(&format!("{}: {}", run.code, run.message), 400), "cat": "violation",
            "pid": AGENTS, "tid": tid, "ts": run.rows.len() * STEP + LENGTH, "args": { "missing": sentence },
        }));
    }
    events.sort_by_key(|event| event["ts"].as_u64());
    let trace = json!({
        "displayTimeUnit": "ns",
        "otherData": { "replay": plain(&run.replay), "version": crate::model::VERSION },
        "traceEvents": events,
    });
    crate::json::render(&trace).map_err(|error| error.to_string())
}
