//! What a single file of the corpus uses, and why that is enough. A step, rule or invariant that was made for one file is
//! suspect: it may say what that file wants to hear.

/// Steps as `list steps` writes them, names of rules, codes of invariants; each with the reason.
pub const ALONE: &[(&str, &str)] = &[
    ("gate close GATE", "a flag names why a gate is closed, which most claims want to say"),
    ("gate open GATE", "a flag names why a gate is closed, which most claims want to say"),
    ("S: copy BUFFER -> BUFFER", "engines seldom copy an index buffer before they use it"),
    ("try sync EVENT -> VAR", "most reports ignore that a wait can fail"),
    ("fail query EVENT", "most reports ignore that a query can fail"),
    ("drop KEY", "storage that loses what it acknowledged was reported once"),
    ("[S:] take VAR [N]", "with `give` a semaphore; the other bounded resources are pages"),
    ("[S:] give VAR [N]", "with `take` a semaphore; the other bounded resources are pages"),
    ("stop", "a thread that dies in the middle is otherwise drawn by the hunt"),
    ("compaction-refuses-own-lease", "few threads compact while they hold a lease themselves"),
    ("compaction-rechecks-plan", "takes a second allocation beside a compaction that waits"),
    ("compaction-one-at-a-time", "takes two threads that compact; other claims assume one that allocates"),
    ("compaction-respects-pins", "engines that move pages use leases or gates, not pins"),
    ("compaction-keeps-events", "takes a wait that fails in the middle of a compaction"),
    ("reuse-after-every-event", "few engines let a page wait for several events"),
    ("whole-pages", "the other claims write the selection that they are about"),
    ("leases-cover-use", "the other claims write the lease's end where it is, instead of leaving it to the design"),
    ("leases-survive-failing-query", "most reports ignore that a query can fail"),
    ("resolve-after-producer", "the other claims write the read of the index where it is"),
    ("keys-one-to-one", "the other claims about keys are about what a key leaves out"),
    ("content", "a move that loses bytes is wrong by an address first, but for the order of moves"),
    ("lost-wakeup", "the shell's models look for it in every interleaving of real locks; one case shows the rule"),
];

/// Why one file is enough for it, if one file uses it.
#[must_use]
pub fn alone(name: &str) -> Option<&'static str> {
    ALONE.iter().find(|(other, _)| *other == name).map(|(_, why)| *why)
}
