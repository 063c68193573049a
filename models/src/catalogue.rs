//! Every model on every implementation, and which of them are expected to fail.

use crate::failure::Kind;
use crate::{loom_models, shuttle_models};
use serde::Serialize;

/// What explores a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tool {
    /// Every interleaving (loom).
    Loom,
    /// Very many schedules (shuttle).
    Shuttle,
}

/// What a model runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// The shell of leasecheck-core.
    Shell,
    /// The monitor of SGLang 0.5.23's host arena, in our own words.
    Shipped,
}

impl Tool {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Tool::Loom => "loom",
            Tool::Shuttle => "shuttle",
        }
    }
}

impl Subject {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Subject::Shell => "shell",
            Subject::Shipped => "shipped",
        }
    }
}

/// A misbehaviour of the arena as shipped that its model must show. One that it does not show any more is reported,
/// too: then the model has gone blind, or the description of the implementation is wrong.
#[derive(Clone, Copy, Debug)]
pub struct Expected {
    /// The model.
    pub model: &'static str,
    /// How it fails.
    pub kind: Kind,
    /// Which misbehaviour it is: a number of the list that came with the task, or the contract that implies it.
    pub code: &'static str,
    /// Why, in one line.
    pub why: &'static str,
}

macro_rules! expected {
    ($($model:literal fails by $kind:ident: $code:literal, $why:literal;)+) => {
        /// Every expected failure.
        pub const EXPECTED: &[Expected] =
            &[$(Expected { model: $model, kind: Kind::$kind, code: $code, why: $why },)+];
    };
}

expected! {
    "access-by-id" fails by Race: "A9",
        "the lease ends when the address has been looked up, before the view is used";
    "completion-needs-the-arena" fails by Deadlock: "A12",
        "a compaction waits for the event with the arena's lock in hand";
    "event-fails-while-awaited" fails by Race: "contract 2.1",
        "all events are taken out of the table before the first one is waited for, and lost when that fails";
    "release-on-another-thread" fails by Check: "A5",
        "a lease belongs to the thread that took it; its release and its event are refused elsewhere";
    "leases-cannot-overtake" fails by Starvation: "A3",
        "the end of the first compaction clears the flag for both, and overlapping leases starve the second";
    "two-allocators-one-lease" fails by Check: "A1",
        "the plan from before the wait is not looked at again, and raises instead of answering 'full'";
    "allocation-while-draining" fails by Check: "A1",
        "the plan from before the wait is not looked at again, and raises instead of answering 'full'";
    "free-during-drain" fails by Deadlock: "A24",
        "an allocation waits for the leases although the bytes have become free";
    "compaction-fails-half-way" fails by Check: "contract 2.1",
        "tables are replaced after all copies, so that a failing copy leaves moved bytes under old addresses";
    "destroy-vs-reader" fails by Check: "A23",
        "whoever waits for a lease wakes up on an arena without memory";
    "destroy-vs-waiters" fails by Check: "A11",
        "nothing is refused on a destroyed arena: the compaction finds no memory";
    "destroy-wakes-waiters" fails by Deadlock: "A11",
        "destroying wakes nobody; an allocation goes on waiting for leases";
    "two-layouts" fails by Deadlock: "A13",
        "there is no order in which several layouts are leased";
    "churn" fails by Starvation: "A3",
        "the end of the first compaction clears the flag for both, and overlapping leases starve the second";
    "transfers" fails by Check: "A1",
        "the plan from before the wait is not looked at again, and raises instead of answering 'full'";
    "destroy-under-load" fails by Check: "A11, A23",
        "nothing is refused on a destroyed arena";
}

/// One model on one implementation.
#[derive(Clone, Debug, Serialize)]
pub struct Entry {
    /// The model.
    pub model: String,
    /// What explores it.
    pub tool: Tool,
    /// What it runs on.
    pub subject: Subject,
    /// What happens in it.
    pub about: &'static str,
    /// The preemption bound, for loom models that have one.
    pub preemptions: Option<u32>,
    /// The misbehaviour that it must show, if any.
    pub shows: Option<&'static str>,
    #[serde(skip)]
    pub(crate) body: fn(),
    /// About how many steps a schedule of a shuttle model has; whether there are few enough for all of them.
    #[serde(skip)]
    pub(crate) size: (u64, bool),
}

impl Entry {
    /// The failure that is expected.
    #[must_use]
    pub fn expected(&self) -> Option<&'static Expected> {
        EXPECTED.iter().find(|expected| self.subject == Subject::Shipped && expected.model == self.model)
    }
}

/// Every entry, in the order in which they are run: loom first, the shell first.
#[must_use]
pub fn list() -> Vec<Entry> {
    let mut entries = Vec::new();
    for subject in [Subject::Shell, Subject::Shipped] {
        let of = |shell: fn(), shipped: Option<fn()>| if subject == Subject::Shell { Some(shell) } else { shipped };
        for model in loom_models::MODELS {
            let Some(body) = of(model.shell, model.shipped) else { continue };
            let (tool, preemptions) = (Tool::Loom, model.preemptions);
            let entry = Entry {
                model: model.name(),
                tool,
                subject,
                about: model.about,
                preemptions,
                shows: None,
                body,
                size: (0, false),
            };
            entries.push(entry);
        }
        for model in shuttle_models::MODELS {
            let Some(body) = of(model.shell, model.shipped) else { continue };
            let entry = Entry {
                model: model.name.to_owned(),
                tool: Tool::Shuttle,
                subject,
                about: model.about,
                preemptions: None,
                shows: None,
                body,
                size: (model.steps, model.small),
            };
            entries.push(entry);
        }
    }
    for entry in &mut entries {
        entry.shows = entry.expected().map(|expected| expected.code);
    }
    entries.sort_by_key(|entry| (entry.tool, entry.subject));
    entries
}
