//! Configuration gates: what no configuration can reach, what newly breaks, which gates conflict.
//!
//! A *gate file* (TOML) states options, resolvers that set one option from others, gates that reject, features and
//! unsafe paths. [`analyse`] answers, for all configurations at once: which features nothing reaches, and the smallest
//! sets of gates that conflict; which unsafe paths something reaches; whose message sends people into the next gate;
//! what is redundant; and, against an older file, what is rejected now that was accepted.
//!
//! ```
//! use leasecheck_config::{Verdict, analyse, parse, render_text};
//!
//! let file = parse("pool.toml", r#"
//! [options]
//! unified_memory = false
//! hybrid_swa     = { default = false, model = true }
//!
//! [[gate]]
//! name    = "factory"
//! rejects = "unified_memory && !hybrid_swa"
//!
//! [[gate]]
//! name    = "not yet"
//! rejects = "unified_memory && hybrid_swa"
//!
//! [[feature]]
//! name = "unified pool"
//! runs = "unified_memory"
//!
//! [[must]]
//! reachable = "unified pool"
//! "#)?;
//!
//! let report = analyse(&file, None);
//! assert_eq!(report.verdict(), Verdict::Failed);
//! let blocked = report.features[0].blocked.as_ref().expect("nothing reaches it");
//! assert_eq!(blocked.sets[0].iter().map(|gate| gate.name.as_str()).collect::<Vec<_>>(), ["factory", "not yet"]);
//! assert!(render_text(&report).contains("2 gates conflict, and no fewer"));
//! for check in report.checks() {
//!     println!("{} {}: {}", check.passed, check.name, check.message);
//! }
//! # Ok::<(), leasecheck_config::Diagnostics>(())
//! ```
//!
//! What it does not do: it does not read the program. A file says what somebody read there, with the source beside
//! it, and the answers are about the file.

mod advice;
mod analyse;
mod compare;
mod compile;
mod conflicts;
mod count;
mod cover;
mod diagnostics;
mod engine;
mod expr;
mod formula;
mod literal;
mod load;
mod model;
mod musts;
mod order;
mod raw;
mod render;
mod report;
mod sat;
mod value;

pub use analyse::analyse;
pub use diagnostics::{Diagnostics, Entry};
pub use load::{load, parse};
pub use model::GateFile;
pub use render::{render_markdown, render_text};
pub use report::{
    AdviceAnswer, AdviceKind, AdviceProblem, Answer, AutoAnswer, Blocked, Change, ChangedDefault, Check, Chosen,
    Common, Comparison, Count, Dropped, Example, FeatureAnswer, Group, HazardAnswer, IdleResolver, MustAnswer, Named,
    RedundantGate, Report, Setting, Totals, Unsettled, Verdict,
};
pub use value::Value;
