//! Every recorded trace of SGLang 0.5.23's shared host arena, replayed against core in that configuration: two bands
//! (`swa` up, `full` down), [`Planner::Slide`], a [`LeaseTable`] for leases, events and compactions.
//!
//! Checked on every line: accept or refuse, logical ids, physical pages, watermarks, live pages, holes, free extents,
//! capacities, translations, refused frees, the full map and the number of moves of every compaction, lease depth,
//! number of holders, whether a compaction waits, and the pending events with their transfer keys.
//!
//! Not checked: timing, error texts, and on `event_fired` lines the number of holders (they were written without the
//! lock). The trace notes an event a little after it completed, so a pending event may be gone earlier than its line
//! says; how often is printed, and it must not happen in single-threaded traces. Two things of the real class are
//! modelled here and not in core: one event per transfer key (a later one replaces the earlier), and events whose
//! query fails (they stay pending although they have completed; the trace does not name them, so the first pruning
//! that leaves one marks it, and from then on it has to stay).

use leasecheck_core::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const FILES: [&str; 3] = ["small.jsonl", "medium.jsonl", "threaded.jsonl"];

fn load(file: &str) -> Vec<Value> {
    let path = format!("{}/../tests/traces/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the recorded traces are in tests/traces");
    text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[derive(Debug, PartialEq, Eq)]
struct Mismatch {
    seq: u64,
    what: String,
}

/// Per kind of line: how many lines, and how many values of them were compared.
#[derive(Debug, Default)]
struct Counts {
    lines: BTreeMap<String, (u32, u32)>,
    gone_early: u32,
    failing_queries: u32,
    moves: u32,
    had_to_wait: u32,
}

struct Replay {
    arena: Arena,
    leases: LeaseTable,
    /// Transfer key → event, in the order in which the keys first appeared. `None`: the event's own id is its key.
    pending: Vec<(Option<String>, EventKey)>,
    fired: BTreeSet<EventKey>,
    fires_at: BTreeMap<EventKey, u64>,
    failing: BTreeSet<EventKey>,
    /// Thread → the call it is in, and whether it compacted for it.
    calls: BTreeMap<u64, (Value, bool)>,
    compactions: u64,
    counts: Counts,
    line: Value,
    compared: u32,
}

fn pages_of(value: &Value) -> Vec<LogicalPage> {
    value.as_array().unwrap().iter().map(|id| LogicalPage(id.as_u64().unwrap() as u32)).collect()
}

impl Replay {
    fn new(init: &Value, lines: &[Value]) -> Replay {
        let bands = init["order"].as_array().unwrap().iter().map(|name| {
            let name = name.as_str().unwrap();
            let side = &init["sides"][name];
            BandConfig {
                name: name.into(),
                envelope: side["page_bytes"].as_u64().unwrap(),
                page_tokens: side["page_size"].as_u64().unwrap() as u32,
                layers: 1,
                grow: if side["dir"] == "up" { Grow::Up } else { Grow::Down },
                ids: Ids::Own,
            }
        });
        let arena = Arena::new(ArenaConfig {
            bytes: init["capacity_bytes"].as_u64().unwrap(),
            bands: bands.collect(),
            sink: false,
            reuse: Reuse::AsDesigned,
            permuted: false,
            planner: Planner::Slide,
            rules: Rules::all(),
        });
        let fires = lines.iter().filter(|line| line["op"] == "event_fired");
        Replay {
            arena: arena.unwrap(),
            leases: LeaseTable::new(Rules::all()),
            pending: Vec::new(),
            fired: BTreeSet::new(),
            fires_at: fires.map(|line| (event(&line["event"]), line["seq"].as_u64().unwrap())).collect(),
            failing: BTreeSet::new(),
            calls: BTreeMap::new(),
            compactions: 0,
            counts: Counts::default(),
            line: init.clone(),
            compared: 0,
        }
    }

    fn fail<T>(&self, what: String) -> Result<T, Mismatch> {
        Err(Mismatch { seq: self.line["seq"].as_u64().unwrap(), what })
    }

    fn same(&mut self, what: &str, core: &Value, trace: &Value) -> Result<(), Mismatch> {
        self.compared += 1;
        if core == trace { Ok(()) } else { self.fail(format!("{what}: core {core}, trace {trace}")) }
    }

    /// Compares a field of the current line.
    fn field(&mut self, name: &str, core: impl Into<Value>) -> Result<(), Mismatch> {
        let trace = self.line[name].clone();
        self.same(name, &core.into(), &trace)
    }

    fn band(&self, name: &Value) -> BandId {
        self.arena.band_named(name.as_str().unwrap()).unwrap()
    }

    fn tokens(&self, band: BandId) -> u64 {
        self.arena.config().bands[band.0 as usize].page_tokens.into()
    }

    fn requests(&self, value: &Value) -> Vec<Request> {
        let request = |pair: &Value| {
            let band = self.band(&pair[0]);
            let tokens = pair[1].as_u64().unwrap();
            assert!(tokens.is_multiple_of(self.tokens(band)));
            Request { band, pages: (tokens / self.tokens(band)) as u32 }
        };
        value.as_array().unwrap().iter().map(request).collect()
    }

    fn state(&mut self) -> Result<(), Mismatch> {
        let names: Vec<(BandId, String)> = self.arena.bands().map(|(id, band)| (id, band.name.clone())).collect();
        let mut state = serde_json::Map::new();
        for (band, name) in names {
            let mut extents: Vec<[u32; 2]> = Vec::new();
            for id in self.arena.free_ids(band) {
                match extents.last_mut() {
                    Some(last) if last[1] == id.0 => last[1] += 1,
                    _ => extents.push([id.0, id.0 + 1]),
                }
            }
            // The trace gives the list, or its length if it is long.
            let extents = if extents.len() >= 64 { json!(extents.len()) } else { json!(extents) };
            let (wm, live, holes) = (self.arena.watermark(band), self.arena.live(band), self.arena.holes(band));
            for (what, core) in [("wm", json!(wm)), ("live", json!(live)), ("holes", json!(holes))] {
                let trace = self.line["state"][&name][what].clone();
                self.same(&format!("state.{name}.{what}"), &core, &trace)?;
            }
            let trace = self.line["state"][&name]["free_ext"].clone();
            self.same(&format!("state.{name}.free_ext"), &extents, &trace)?;
            state.insert(name, json!({ "wm": wm, "live": live, "holes": holes, "free_ext": extents }));
        }
        // Nothing in the trace's state that the above does not know.
        self.field("state", state)
    }

    /// What the real class does first on `acquire` (unnested) and `release`: drop the events that have completed.
    /// `reported`: those that are left. The event that is about to be replaced under its key need not be.
    fn prune(&mut self, reported: &[EventKey], replaced: Option<EventKey>) -> Result<(), Mismatch> {
        for (_, key) in self.pending.clone() {
            let fired = self.fired.contains(&key);
            if reported.contains(&key) {
                if fired && self.line["op"] != "compact_begin" {
                    self.counts.failing_queries += u32::from(self.failing.insert(key));
                    self.leases.query_failed(key);
                }
            } else if Some(key) == replaced && (!fired || self.failing.contains(&key)) {
            } else if self.failing.contains(&key) {
                return self.fail(format!("event {key}, whose query fails, is no longer pending"));
            } else if !self.fires_at.contains_key(&key) {
                return self.fail(format!("event {key} is no longer pending and never completes"));
            } else {
                self.counts.gone_early += u32::from(!fired);
                self.leases.event_completed(key);
                self.pending.retain(|(_, other)| *other != key);
            }
        }
        Ok(())
    }

    /// The events that cover the layout, in core's table and with their keys.
    fn pending(&mut self) -> Result<(), Mismatch> {
        let trace = self.line["pending"].as_array().unwrap().clone();
        let mut keyed = Vec::new();
        for (at, (key, event)) in self.pending.iter().enumerate() {
            // An event without a key has the recorder's object id as its key: any number.
            let own = || trace.get(at).map(|pair| pair[0].clone()).filter(Value::is_u64).unwrap_or(Value::Null);
            keyed.push(json!([key.as_ref().map_or_else(own, |key| json!(key)), event.0]));
        }
        self.field("pending", keyed)?;
        let mut events: Vec<u32> = self.pending.iter().map(|(_, event)| event.0).collect();
        events.sort_unstable();
        let table: Vec<u32> = self.leases.events().iter().map(|event| event.0).collect();
        self.same("lease table's events", &json!(table), &json!(events))
    }

    fn step(&mut self, line: &Value) -> Result<(), Mismatch> {
        self.line = line.clone();
        self.compared = 0;
        let op = line["op"].as_str().unwrap().to_owned();
        let thread = line["th"].as_u64().unwrap_or(u64::MAX);
        let holder = HolderId(thread as u32);
        let everything = |_: BandId, _: LogicalPage| true;
        if op == "compact_wait" {
            self.field("compacting", !self.leases.waiting().is_empty())?;
        }
        let known: &[&str] = match op.as_str() {
            "init" => {
                let (sides, free) = (line["sides"].as_object().unwrap(), self.arena.gap());
                self.field("allocatable_bytes", free)?;
                for (name, side) in sides {
                    let pages = self.arena.pages(self.band(&json!(name)));
                    self.same("page_num", &json!(pages), &side["page_num"])?;
                }
                &["capacity_bytes", "allocatable_bytes", "sides", "order", "workload", "seed"]
            }
            "end" => {
                self.state()?;
                &["state"]
            }
            "call" => {
                if line["of"] == "acquire_layout" && !self.leases.may_acquire(holder) {
                    self.counts.had_to_wait += 1;
                }
                self.calls.insert(thread, (line.clone(), false));
                &["of", "req", "side"]
            }
            "alloc_many" => {
                let (call, compacted) = self.calls.remove(&thread).unwrap();
                self.field("req", call["req"].clone())?;
                let requests = self.requests(&line["req"]);
                let admission = self.arena.admission(&requests, everything);
                // A compaction has made room, or none was needed or would have helped.
                self.field("res", if admission.admitted() { line["res"].clone() } else { Value::Null })?;
                if admission == Admission::FitsPacked || (compacted && admission != Admission::FitsNow) {
                    return self.fail(format!("no compaction, or one too few: {admission:?}"));
                }
                let before = self.arena.clone();
                match self.arena.allocate(&requests) {
                    Err(refusal) => {
                        self.field("res", Value::Null)?;
                        if !matches!(admission, Admission::Refused(_)) || before != self.arena {
                            return self.fail(format!("{refusal}, after {admission:?}"));
                        }
                    }
                    Ok(granted) => {
                        let ids: Vec<Vec<u32>> =
                            granted.iter().map(|ids| ids.iter().map(|id| id.0).collect()).collect();
                        self.field("res", json!(ids))?;
                        let at = |band, id: &LogicalPage| self.arena.translate(band, *id).unwrap().0;
                        let places = (requests.iter().zip(&granted))
                            .map(|(request, ids)| ids.iter().map(|id| at(request.band, id)).collect::<Vec<u32>>());
                        let places: Vec<Vec<u32>> = places.collect();
                        self.field("phys", json!(places))?;
                    }
                }
                self.state()?;
                &["req", "res", "phys", "state"]
            }
            "free" => {
                let band = self.band(&line["side"]);
                let ids = pages_of(&line["pages"]);
                let tokens = ids.len() as u64 * self.tokens(band);
                self.field("n", tokens)?;
                let before = self.arena.clone();
                match self.arena.free(band, &ids, None) {
                    Ok(()) => {
                        self.field("res", tokens)?;
                        self.state()?;
                    }
                    Err(_) => {
                        self.field("exc", "AssertionError")?;
                        if before != self.arena {
                            return self.fail("a refused free changed the arena".into());
                        }
                    }
                }
                &["side", "pages", "n", "res", "exc", "msg", "state"]
            }
            "available_size" => {
                let band = self.band(&line["side"]);
                self.field("res", u64::from(self.arena.available(band, everything)) * self.tokens(band))?;
                &["side", "res"]
            }
            "free_bytes" => {
                let holes = self.arena.bands().map(|(id, band)| u64::from(self.arena.holes(id)) * band.envelope);
                self.field("res", self.arena.gap() + holes.sum::<u64>())?;
                &["res"]
            }
            "can_fit_many_then" => {
                let (first, then) = (self.requests(&line["req"]), self.requests(&line["then"]));
                let fits = if line["empty"] == true {
                    self.arena.emptied().fits_then(&first, &then, everything)
                } else {
                    self.arena.fits_then(&first, &then, everything)
                };
                self.field("res", fits)?;
                &["req", "then", "empty", "res"]
            }
            "translate_indices" => {
                let band = self.band(&line["side"]);
                let pages = pages_of(&line["pages"]);
                self.field("n", pages.len() as u64 * self.tokens(band))?;
                let at = |id: &LogicalPage| self.arena.translate(band, *id).map(|page| page.0);
                let pages: Vec<Option<u32>> = pages.iter().map(at).collect();
                self.field("res", json!(pages))?;
                &["side", "pages", "n", "res"]
            }
            "translate_index" => {
                let band = self.band(&line["side"]);
                let (token, size) = (line["index"].as_u64().unwrap(), self.tokens(band));
                let page = self.arena.translate(band, LogicalPage((token / size) as u32));
                let token = page.map(|page| transfer::token_index(page, size as u32, (token % size) as u32).0);
                self.field("res", token)?;
                &["side", "index", "res"]
            }
            "acquire_layout" => {
                self.calls.remove(&thread);
                if self.leases.depth(holder) == 0 {
                    self.prune(&reported(line), None)?;
                }
                let outcome = self.leases.acquire(holder, None);
                self.same("acquire", &json!(format!("{outcome:?}")), &json!("Granted"))?;
                self.pending()?;
                &["pending"]
            }
            "release_layout" => {
                if line["event"].is_null() {
                    self.prune(&reported(line), None)?;
                    let released = self.leases.release(holder);
                    self.same("release", &json!(format!("{released:?}")), &json!("Ok(())"))?;
                } else {
                    let handed_to = event(&line["event"]);
                    let key = line["key"].as_str().map(str::to_owned);
                    let under_key = self.pending.iter().find(|(other, _)| key.is_some() && *other == key);
                    let replaced = under_key.map(|(_, event)| *event);
                    self.prune(&reported(line), replaced)?;
                    let released = self.leases.hand_off(holder, handed_to);
                    self.same("hand off", &json!(format!("{released:?}")), &json!("Ok(())"))?;
                    match self.pending.iter_mut().find(|(other, _)| key.is_some() && *other == key) {
                        Some((_, old)) => {
                            let replaced = std::mem::replace(old, handed_to);
                            self.leases.event_completed(replaced);
                            self.failing.remove(&replaced);
                        }
                        None => self.pending.push((key, handed_to)),
                    }
                }
                self.pending()?;
                &["event", "key", "pending"]
            }
            "compact_wait" => {
                let call = self.calls.get_mut(&thread).unwrap();
                call.1 = true;
                let call = call.0.clone();
                if call["of"] == "alloc_many" {
                    let admission = self.arena.admission(&self.requests(&call["req"]), everything);
                    self.same("admission", &json!(format!("{admission:?}")), &json!("FitsPacked"))?;
                }
                let outcome = self.leases.request_compaction(holder);
                let idle = self.leases.holders().next().is_none() && self.pending.is_empty();
                let expected = if idle { Outcome::Granted } else { Outcome::MustWait };
                self.same("request", &json!(format!("{outcome:?}")), &json!(format!("{expected:?}")))?;
                &[]
            }
            "compact_begin" => {
                let events: Vec<EventKey> = line["events"].as_array().unwrap().iter().map(event).collect();
                // Those who began to wait for a lease in the meantime have pruned too.
                self.prune(&events, None)?;
                let pending: Vec<u32> = self.pending.iter().map(|(_, event)| event.0).collect();
                self.field("events", pending)?;
                for event in events {
                    let outcome = self.leases.request_compaction(holder);
                    self.same("before all events", &json!(format!("{outcome:?}")), &json!("MustWait"))?;
                    self.leases.event_completed(event);
                }
                self.pending.clear();
                self.failing.clear();
                let outcome = self.leases.request_compaction(holder);
                self.same("after all events", &json!(format!("{outcome:?}")), &json!("Granted"))?;
                &["events"]
            }
            "compact_end" => {
                self.compactions += 1;
                self.field("n", self.compactions)?;
                let plan = self.arena.plan(&everything);
                self.arena.commit(&plan, None);
                self.counts.moves += plan.moves().len() as u32;
                let (mut moved, mut map) = (serde_json::Map::new(), serde_json::Map::new());
                for (id, band) in self.arena.bands() {
                    let moves = plan.moves().iter().filter(|step| step.band == id).count();
                    moved.insert(band.name.clone(), json!(moves));
                    let pairs: Vec<[u32; 2]> = self.arena.placements(id).map(|(id, at)| [id.0, at.0]).collect();
                    map.insert(band.name.clone(), json!(pairs));
                }
                self.field("moved", moved)?;
                self.field("map", map)?;
                self.leases.end_compaction(holder);
                self.state()?;
                &["n", "map", "moved", "state"]
            }
            "clear" => {
                self.calls.remove(&thread);
                self.arena.clear(self.band(&line["side"]));
                self.leases.end_compaction(holder);
                &["side"]
            }
            "event_fired" => {
                // Completed, but in the table until somebody looks.
                self.fired.insert(event(&line["event"]));
                &["event"]
            }
            other => return self.fail(format!("unknown operation `{other}`")),
        };
        let common = ["seq", "t_ns", "op", "th", "depth", "users", "compacting", "call"];
        if let Some(key) = line.as_object().unwrap().keys().find(|key| {
            let key = key.as_str();
            !known.contains(&key) && !common.contains(&key)
        }) {
            return self.fail(format!("unknown field `{key}`"));
        }
        if !matches!(op.as_str(), "init" | "end") {
            self.field("depth", self.leases.depth(holder))?;
            if op != "event_fired" {
                self.field("users", self.leases.holders().count())?;
                if op != "compact_wait" {
                    self.field("compacting", !self.leases.waiting().is_empty())?;
                }
            }
        }
        let (lines, values) = self.counts.lines.entry(op).or_default();
        *lines += 1;
        *values += self.compared;
        Ok(())
    }
}

fn event(value: &Value) -> EventKey {
    EventKey(value.as_u64().unwrap() as u32)
}

fn reported(line: &Value) -> Vec<EventKey> {
    line["pending"].as_array().unwrap().iter().map(|pair| event(&pair[1])).collect()
}

fn replay(lines: &[Value]) -> Result<Counts, Mismatch> {
    let mut replay = Replay::new(&lines[0], lines);
    for line in lines {
        replay.step(line)?;
    }
    Ok(replay.counts)
}

#[test]
fn every_recorded_trace_is_what_core_does() {
    let mut everywhere: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for file in FILES {
        let lines = load(file);
        let counts = replay(&lines).unwrap_or_else(|at| panic!("{file}: line with seq {}: {}", at.seq, at.what));
        println!(
            "{file}: {} lines, {} moves, {} events gone before their line, {} with failing queries, {} leases had to wait",
            lines.len(),
            counts.moves,
            counts.gone_early,
            counts.failing_queries,
            counts.had_to_wait,
        );
        for (op, (lines, values)) in &counts.lines {
            println!("    {op:<18} {lines:>5} lines {values:>6} values");
            let sum = everywhere.entry(op.clone()).or_default();
            *sum = (sum.0 + lines, sum.1 + values);
        }
        assert_eq!(counts.lines.values().map(|(lines, _)| *lines as usize).sum::<usize>(), lines.len());
        assert!(counts.lines.values().all(|(_, values)| *values > 0), "an operation was skipped silently");
        if file == "threaded.jsonl" {
            assert_eq!(counts.failing_queries, 0);
            assert!(counts.had_to_wait > 0, "no lease was held back");
        } else {
            assert_eq!(counts.gone_early, 0);
        }
    }
    let (lines, values) = everywhere.values().fold((0, 0), |sum, (lines, values)| (sum.0 + lines, sum.1 + values));
    println!("all: {lines} lines, {values} values");
    let ops: Vec<&str> = everywhere.keys().map(String::as_str).collect();
    let expected = [
        "acquire_layout",
        "alloc_many",
        "available_size",
        "call",
        "can_fit_many_then",
        "clear",
        "compact_begin",
        "compact_end",
        "compact_wait",
        "end",
        "event_fired",
        "free",
        "free_bytes",
        "init",
        "release_layout",
        "translate_index",
        "translate_indices",
    ];
    assert_eq!(ops, expected);
}

/// Changes one number somewhere below `value`, and says whether there was one.
fn nudge(value: &mut Value) -> bool {
    match value {
        Value::Number(number) => {
            *value = json!(number.as_i64().unwrap() + 1);
            true
        }
        Value::Bool(flag) => {
            *value = json!(!*flag);
            true
        }
        Value::Array(items) => items.iter_mut().rev().any(nudge),
        Value::Object(fields) => fields.values_mut().any(nudge),
        Value::Null | Value::String(_) => false,
    }
}

/// A comparison that cannot fail proves nothing: every kind of recorded result, altered at the first, the middle and
/// the last line that has it, is noticed at that very line.
#[test]
fn an_altered_result_is_noticed_at_its_line() {
    let lines = load("small.jsonl");
    type Alter = fn(&mut Value) -> bool;
    let alterations: [(&str, &str, Alter); 26] = [
        ("init", "allocatable bytes", |line| nudge(&mut line["allocatable_bytes"])),
        ("alloc_many", "logical page", |line| nudge(&mut line["res"])),
        ("alloc_many", "physical page", |line| nudge(&mut line["phys"])),
        ("alloc_many", "refused although accepted", |line| !std::mem::take(&mut line["res"]).is_null()),
        ("alloc_many", "accepted although refused", |line| {
            line["res"].is_null() && std::mem::replace(&mut line["res"], json!([[0]])).is_null()
        }),
        ("alloc_many", "watermark", |line| nudge(&mut line["state"]["full"]["wm"])),
        ("alloc_many", "live pages", |line| nudge(&mut line["state"]["swa"]["live"])),
        ("free", "holes", |line| !line["state"].is_null() && nudge(&mut line["state"]["swa"]["holes"])),
        ("free", "free extents", |line| !line["state"].is_null() && nudge(&mut line["state"]["full"]["free_ext"])),
        ("free", "tokens freed", |line| !line["res"].is_null() && nudge(&mut line["res"])),
        ("free", "accepted although refused", |line| !std::mem::take(&mut line["exc"]).is_null()),
        ("available_size", "capacity", |line| nudge(&mut line["res"])),
        ("free_bytes", "bytes", |line| nudge(&mut line["res"])),
        ("can_fit_many_then", "admission", |line| nudge(&mut line["res"])),
        ("translate_indices", "translation", |line| nudge(&mut line["res"])),
        ("translate_index", "translation", |line| nudge(&mut line["res"])),
        ("acquire_layout", "depth", |line| nudge(&mut line["depth"])),
        ("acquire_layout", "holders", |line| nudge(&mut line["users"])),
        ("release_layout", "pending event", |line| {
            let events = line["pending"].as_array_mut().unwrap();
            events.last_mut().is_some_and(|pair| nudge(&mut pair[1]))
        }),
        ("release_layout", "one event more", |line| {
            line["pending"].as_array_mut().unwrap().push(json!(["x", 999]));
            true
        }),
        ("compact_wait", "somebody compacts", |line| nudge(&mut line["compacting"])),
        ("compact_begin", "events to wait for", |line| nudge(&mut line["events"])),
        ("compact_end", "map", |line| nudge(&mut line["map"])),
        ("compact_end", "moves", |line| nudge(&mut line["moved"])),
        ("clear", "nobody compacts", |line| nudge(&mut line["compacting"])),
        ("end", "final state", |line| nudge(&mut line["state"])),
    ];
    let mut noticed = 0;
    for (op, what, alter) in alterations {
        let mut at: Vec<usize> =
            (0..lines.len()).filter(|at| lines[*at]["op"] == op && alter(&mut lines[*at].clone())).collect();
        assert!(!at.is_empty(), "{op}: no line to alter the {what} of");
        at = vec![at[0], at[at.len() / 2], at[at.len() - 1]];
        at.dedup();
        for at in at {
            let mut altered = lines.clone();
            assert!(alter(&mut altered[at]));
            let seq = lines[at]["seq"].as_u64().unwrap();
            match replay(&altered) {
                Ok(_) => panic!("{op}: an altered {what} on line {seq} was not noticed"),
                Err(mismatch) => assert_eq!(mismatch.seq, seq, "{op}, {what}: {}", mismatch.what),
            }
            noticed += 1;
        }
    }
    // A line that is missing, one that is doubled, one of an unknown kind, one with an unknown field.
    let free = lines.iter().position(|line| line["op"] == "free" && !line["res"].is_null()).unwrap();
    let mut doubled = lines.clone();
    doubled.insert(free, lines[free].clone());
    assert_eq!(replay(&doubled).unwrap_err().seq, lines[free]["seq"].as_u64().unwrap());
    let mut missing = lines.clone();
    missing.remove(free);
    assert!(replay(&missing).is_err());
    let mut unknown = lines.clone();
    unknown[free]["op"] = json!("resize");
    assert!(replay(&unknown).unwrap_err().what.contains("unknown operation"));
    let mut unknown = lines.clone();
    unknown[free]["epoch"] = json!(1);
    assert!(replay(&unknown).unwrap_err().what.contains("unknown field"));
    println!("{noticed} altered lines of {} kinds and 4 altered files noticed", alterations.len());
}
