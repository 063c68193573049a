//! What several tests need: the traces that were recorded from SGLang 0.5.23's arena in an older format of their own,
//! in the format of this crate.

use leasecheck_trace::format::{Event, Header};
use leasecheck_trace::{Report, check};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub const FILES: [&str; 3] = ["small.jsonl", "medium.jsonl", "threaded.jsonl"];

/// A trace: the header, and the events, of which the first is on line 2.
#[derive(Clone)]
pub struct Trace {
    pub header: Header,
    pub events: Vec<Event>,
}

impl Trace {
    pub fn new(header: Value) -> Trace {
        Trace { header: serde_json::from_value(header).expect("a header"), events: Vec::new() }
    }

    pub fn push(&mut self, line: Value) {
        self.events.push(event(line));
    }

    pub fn text(&self) -> String {
        let mut text = serde_json::to_string(&self.header).expect("a header can be written") + "\n";
        for event in &self.events {
            text += &serde_json::to_string(event).expect("an event can be written");
            text += "\n";
        }
        text
    }

    pub fn check(&self) -> Report {
        check("trace.jsonl", self.text().as_bytes())
    }
}

pub fn event(line: Value) -> Event {
    serde_json::from_value(line.clone()).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// The recorded trace in the format of this crate.
pub fn recorded(file: &str) -> Trace {
    let path = format!("{}/../tests/traces/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the recorded traces are in tests/traces");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let init = &lines[0];
    let bands: Vec<Value> = (init["order"].as_array().expect("bands").iter())
        .map(|name| {
            let side = &init["sides"][name.as_str().expect("a name")];
            json!({ "name": name, "envelope": side["page_bytes"], "page_tokens": side["page_size"], "grow": side["dir"] })
        })
        .collect();
    let arena = json!({ "name": "host", "bytes": init["capacity_bytes"], "bands": bands, "design": "sglang-0.5.23" });
    let header = json!({
        "leasecheck_trace": 1, "producer": "recorder of SGLang 0.5.23's arena", "arenas": [arena],
        "complete": ["pages", "leases"],
    });
    let mut converter =
        Converter { trace: Trace::new(header), init: init.clone(), pending: Vec::new(), map: BTreeMap::new() };
    for line in &lines[1..] {
        converter.line(line);
    }
    converter.trace
}

struct Converter {
    trace: Trace,
    init: Value,
    /// Transfer key and event of leases that were handed off.
    pending: Vec<(Option<String>, u64)>,
    /// Where the pages of each band are.
    map: BTreeMap<String, BTreeMap<u64, u64>>,
}

fn numbers(value: &Value) -> Vec<u64> {
    value.as_array().into_iter().flatten().map(|number| number.as_u64().expect("a number")).collect()
}

impl Converter {
    fn tokens(&self, band: &str) -> u64 {
        self.init["sides"][band]["page_size"].as_u64().expect("a number")
    }

    fn push(&mut self, line: &Value, mut fields: Value) {
        fields["th"] = line["th"].clone();
        fields["t"] = line["t_ns"].clone();
        self.trace.push(fields);
    }

    fn requests(&self, requests: &[&Value]) -> (Vec<String>, Vec<u64>) {
        let pairs = requests.iter().flat_map(|requests| requests.as_array().expect("requests"));
        let request = |pair: &Value| {
            let band = pair[0].as_str().expect("a band").to_owned();
            let pages = pair[1].as_u64().expect("tokens") / self.tokens(&band);
            (band, pages)
        };
        pairs.map(request).unzip()
    }

    fn state(&mut self, line: &Value) {
        let Some(state) = line["state"].as_object() else { return };
        for (band, state) in state {
            let fields =
                json!({ "k": "state", "b": band, "wm": state["wm"], "live": state["live"], "holes": state["holes"] });
            self.push(line, fields);
        }
    }

    /// Events that are pending no more, because somebody asked and they had completed.
    fn prune(&mut self, line: &Value, left: &[u64], replaced: Option<u64>) {
        for (key, event) in std::mem::take(&mut self.pending) {
            if left.contains(&event) || Some(event) == replaced {
                self.pending.push((key, event));
            } else {
                self.push(line, json!({ "k": "query", "ev": event, "res": true }));
            }
        }
    }

    fn line(&mut self, line: &Value) {
        let left: Vec<u64> =
            line["pending"].as_array().into_iter().flatten().map(|pair| pair[1].as_u64().expect("an event")).collect();
        match line["op"].as_str().expect("an operation") {
            "call" if line["of"] == "acquire_layout" => self.push(line, json!({ "k": "lease_ask", "a": "host" })),
            "call" => {}
            "alloc_many" => {
                let (bands, pages) = self.requests(&[&line["req"]]);
                let mut fields = json!({ "k": "alloc", "b": bands, "n": pages });
                if let Some(error) = line["exc"].as_str() {
                    fields["out"] = json!("raised");
                    fields["err"] = json!(error);
                } else if line["res"].is_null() {
                    fields["out"] = json!("refused");
                } else {
                    let flat =
                        |value: &Value| value.as_array().expect("lists").iter().flat_map(numbers).collect::<Vec<u64>>();
                    fields["ids"] = json!(flat(&line["res"]));
                    fields["at"] = json!(flat(&line["phys"]));
                    for (nth, band) in bands.iter().enumerate() {
                        let placed = numbers(&line["res"][nth]).into_iter().zip(numbers(&line["phys"][nth]));
                        self.map.entry(band.clone()).or_default().extend(placed);
                    }
                }
                self.push(line, fields);
                self.state(line);
            }
            "free" => {
                let mut fields = json!({ "k": "free", "b": line["side"], "ids": line["pages"] });
                if let Some(error) = line["exc"].as_str() {
                    fields["out"] = json!("raised");
                    fields["err"] = json!(error);
                } else {
                    let map = self.map.entry(line["side"].as_str().expect("a band").to_owned()).or_default();
                    for id in numbers(&line["pages"]) {
                        map.remove(&id);
                    }
                }
                self.push(line, fields);
                self.state(line);
            }
            "clear" => {
                self.map.remove(line["side"].as_str().expect("a band"));
                self.push(line, json!({ "k": "clear", "b": line["side"] }));
            }
            "available_size" => {
                let tokens = self.tokens(line["side"].as_str().expect("a band"));
                let pages = line["res"].as_u64().expect("tokens") / tokens;
                self.push(line, json!({ "k": "available", "b": line["side"], "res": pages }));
            }
            "free_bytes" => self.push(line, json!({ "k": "free_bytes", "a": "host", "res": line["res"] })),
            "can_fit_many_then" => {
                let (bands, pages) = self.requests(&[&line["req"], &line["then"]]);
                if !bands.is_empty() {
                    let empty = line["empty"] == true;
                    self.push(
                        line,
                        json!({ "k": "admit", "b": bands, "n": pages, "empty": empty, "res": line["res"] }),
                    );
                }
            }
            "translate_indices" => {
                self.push(
                    line,
                    json!({ "k": "translate", "b": line["side"], "ids": line["pages"], "at": line["res"] }),
                );
            }
            "translate_index" => {
                let tokens = self.tokens(line["side"].as_str().expect("a band"));
                let page = |value: &Value| value.as_u64().expect("a token") / tokens;
                let (id, at) = (page(&line["index"]), page(&line["res"]));
                self.push(line, json!({ "k": "translate", "b": line["side"], "ids": [id], "at": [at] }));
            }
            "acquire_layout" => {
                self.prune(line, &left, None);
                self.push(line, json!({ "k": "lease", "a": "host", "depth": line["depth"] }));
            }
            "release_layout" if line["event"].is_null() => {
                self.prune(line, &left, None);
                self.push(line, json!({ "k": "release", "a": "host", "depth": line["depth"] }));
            }
            "release_layout" => {
                let key = line["key"].as_str().map(str::to_owned);
                let event = line["event"].as_u64().expect("an event");
                let replaced = self.pending.iter().position(|(other, _)| key.is_some() && *other == key);
                let earlier = replaced.map(|at| self.pending[at].1);
                self.prune(line, &left, earlier);
                self.pending.retain(|(_, other)| Some(*other) != earlier);
                let mut fields = json!({ "k": "hand_off", "a": "host", "ev": event, "depth": line["depth"] });
                if let Some(key) = &key {
                    fields["key"] = json!(key);
                }
                self.pending.push((key, event));
                self.push(line, fields);
            }
            "compact_wait" => self.push(line, json!({ "k": "compact_ask", "a": "host" })),
            "compact_begin" => {
                let events = numbers(&line["events"]);
                self.prune(line, &events, None);
                for (_, event) in std::mem::take(&mut self.pending) {
                    self.push(line, json!({ "k": "sync", "ev": event }));
                }
                self.push(line, json!({ "k": "compact_begin", "a": "host" }));
            }
            "compact_end" => {
                for (band, pairs) in line["map"].as_object().expect("bands") {
                    let after: BTreeMap<u64, u64> = (pairs.as_array().expect("pairs").iter())
                        .map(|pair| (pair[0].as_u64().expect("an id"), pair[1].as_u64().expect("a page")))
                        .collect();
                    let before = self.map.insert(band.clone(), after.clone()).unwrap_or_default();
                    let mut moves: Vec<(u64, u64, u64)> = before
                        .iter()
                        .map(|(id, from)| (*id, *from, after[id]))
                        .filter(|(_, from, to)| from != to)
                        .collect();
                    // The page nearest the band's own end first.
                    moves.sort_by_key(|(_, from, _)| *from);
                    if self.init["sides"][band]["dir"] == "down" {
                        moves.reverse();
                    }
                    if !moves.is_empty() {
                        let column =
                            |nth: usize| moves.iter().map(|step| [step.0, step.1, step.2][nth]).collect::<Vec<u64>>();
                        self.push(
                            line,
                            json!({ "k": "move", "b": band, "ids": column(0), "from": column(1), "to": column(2) }),
                        );
                    }
                }
                self.push(line, json!({ "k": "compact_end", "a": "host" }));
                self.state(line);
            }
            "event_fired" => self.push(line, json!({ "k": "done", "ev": line["event"] })),
            "end" => {
                self.state(line);
                self.push(line, json!({ "k": "end" }));
            }
            other => panic!("unknown operation {other}"),
        }
    }
}
