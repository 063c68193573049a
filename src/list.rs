//! `leasecheck list`: the vocabulary, from the tables that the program itself uses.

use crate::{OK, print};
use clap::ValueEnum;
use leasecheck_core::Rule;
use leasecheck_sim::alone::alone;
use leasecheck_sim::assumptions::Assumption;
use leasecheck_sim::hunt::unreached;
use leasecheck_sim::invariants::Code;
use leasecheck_sim::litmus::steps::STEPS;
use leasecheck_sim::litmus::usage;
use leasecheck_sim::marks::Mark;
use std::fmt::Write;

#[derive(ValueEnum, Clone, Copy)]
pub enum What {
    /// What a thread's program is made of.
    Steps,
    /// Rules of the design that a case can switch off.
    Rules,
    /// Assumptions that a case can drop.
    Assumptions,
    /// What must hold, with its code.
    Invariants,
    /// Named behaviours, for witnesses.
    Marks,
    /// The JSON Schema of `check` and `gate` with `--format json`.
    Schema,
}

/// Says why only one file of the corpus uses something, if only one does.
fn stands_alone(out: &mut String, indent: &str, name: &str) {
    if let Some(why) = alone(name) {
        let _ = writeln!(out, "{indent}(one file of the corpus uses it: {why})");
    }
}

pub fn run(what: What) -> u8 {
    let mut out = String::new();
    // Writing to a string cannot fail.
    match what {
        What::Steps => {
            let mut topic = "";
            for def in STEPS {
                if def.topic != topic {
                    topic = def.topic;
                    let _ = writeln!(out, "{}{topic}", if out.is_empty() { "" } else { "\n" });
                }
                let _ = writeln!(out, "  {}\n      {}\n      for example: {}", usage(def), def.doc, def.example);
                stands_alone(&mut out, "      ", &usage(def));
            }
            out.push_str("\nS is a stream, or an RDMA agent if its name starts with `nic` or `rdma` or stands in `rdma = [\"…\"]`.\n");
            out.push_str("PAGES are `a`, `a[1]`, `a[0..2]`, `swa a` (what the ids of `a` have in band `swa`), or a list of these.\n");
            out.push_str("A step that uses a name waits until the name has a value.\n");
        }
        What::Rules => {
            for rule in Rule::ALL {
                let _ = writeln!(out, "{}\n    {}", rule.name(), rule.doc());
                if !rule.reports().is_empty() {
                    let _ = writeln!(out, "    behind {}", rule.reports().join(", "));
                }
                stands_alone(&mut out, "    ", rule.name());
            }
        }
        What::Assumptions => {
            for assumption in Assumption::ALL {
                let _ = writeln!(out, "{}\n    {}", assumption.name(), assumption.doc());
            }
        }
        What::Invariants => {
            for code in Code::ALL {
                let _ = writeln!(out, "{}\n    {}", code.name(), code.doc());
                stands_alone(&mut out, "    ", code.name());
            }
        }
        What::Schema => match leasecheck_reports::schema::text() {
            Ok(text) => out = text,
            Err(error) => eprintln!("error: the schema cannot be written: {error}"),
        },
        What::Marks => {
            for mark in Mark::ALL {
                let never = unreached(*mark).map_or(String::new(), |why| format!(" (No hunt reaches it: {why}.)"));
                let _ = writeln!(out, "{}\n    {}{never}", mark.name(), mark.doc());
            }
        }
    }
    print(&out);
    OK
}
