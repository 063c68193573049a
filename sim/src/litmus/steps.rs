//! The step vocabulary: one table, which is the parser's and the documentation's single source.
//!
//! A syntax is a line of words and slots: lower-case words stand for themselves, `[ … ]` may be left out, and
//! upper-case slots are [`Slot`]s. `S:` in front means that the step is queued on a stream or RDMA agent, `[S:]` that
//! it may be.

/// What can stand in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Pages: `a`, `a[1]`, `a[0..2]`, `swa a` (the pages that the ids of `a` have in band `swa`), lists of these.
    Pages,
    /// A variable or index buffer that holds addresses.
    Address,
    /// The variable that gets the result.
    Var,
    /// Variables that get the results.
    Vars,
    /// Bands and numbers of pages: `full 2, swa 1`.
    Requests,
    /// A band: `full`, or `host.full`.
    Band,
    /// An arena.
    Arena,
    /// Arenas.
    Arenas,
    /// An event.
    Event,
    /// Events.
    Events,
    /// An event or a stream.
    EventOrStream,
    /// A flag.
    Flag,
    /// A move gate, `decode` or `device.decode`.
    Gate,
    /// A lock.
    Lock,
    /// A barrier.
    Barrier,
    /// An index buffer.
    Buffer,
    /// A storage key, `k` or `k[1]`.
    Key,
    /// Storage keys.
    Keys,
    /// What determines a key's bytes: `tokens t1, rank 0`.
    Attributes,
    /// `live`, `cached`, `pinned`, `pending` or `holes`.
    Class,
    /// `min`, `max` or `sum`.
    Fold,
    /// A number.
    N,
    /// A condition: `ok`, `not ok`, `n < 4`, `p == q`.
    Cond,
    /// A number or a variable.
    Value,
    /// The code of an invariant.
    Code,
    /// An arena or a band of it.
    Place,
}

impl Slot {
    fn named(word: &str) -> Option<Slot> {
        Some(match word {
            "PAGES" => Slot::Pages,
            "ADDRESS" => Slot::Address,
            "VAR" => Slot::Var,
            "VARS" => Slot::Vars,
            "REQUESTS" => Slot::Requests,
            "BAND" => Slot::Band,
            "ARENA" => Slot::Arena,
            "ARENAS" => Slot::Arenas,
            "EVENT" => Slot::Event,
            "EVENTS" => Slot::Events,
            "KEYS" => Slot::Keys,
            "ATTRIBUTES" => Slot::Attributes,
            "CLASS" => Slot::Class,
            "FOLD" => Slot::Fold,
            "EVENT|STREAM" => Slot::EventOrStream,
            "FLAG" => Slot::Flag,
            "GATE" => Slot::Gate,
            "LOCK" => Slot::Lock,
            "BARRIER" => Slot::Barrier,
            "BUFFER" => Slot::Buffer,
            "KEY" => Slot::Key,
            "N" => Slot::N,
            "COND" => Slot::Cond,
            "VALUE" => Slot::Value,
            "CODE" => Slot::Code,
            "ARENA|BAND" => Slot::Place,
            _ => return None,
        })
    }

    /// What an error message says is expected.
    pub(crate) fn expected(self) -> &'static str {
        match self {
            Slot::Pages => "pages, such as `a`, `a[1]` or `swa a`",
            Slot::Address => "a variable or index buffer with addresses",
            Slot::Var => "a name for the result",
            Slot::Vars => "names for the results",
            Slot::Requests => "a band and a number of pages, such as `full 2`",
            Slot::Band => "a band",
            Slot::Arena => "an arena",
            Slot::Arenas => "an arena or several",
            Slot::Event => "an event",
            Slot::Events => "an event or several",
            Slot::Keys => "a storage key or several",
            Slot::Attributes => "names and values, such as `tokens t1, rank 0`",
            Slot::Class => "`live`, `cached`, `pinned`, `pending` or `holes`",
            Slot::Fold => "`min`, `max` or `sum`",
            Slot::EventOrStream => "an event or a stream",
            Slot::Flag => "a flag",
            Slot::Gate => "a gate",
            Slot::Lock => "a lock",
            Slot::Barrier => "a barrier",
            Slot::Buffer => "an index buffer",
            Slot::Key => "a storage key",
            Slot::N => "a number",
            Slot::Cond => "a condition, such as `ok`, `not ok` or `n < 4`",
            Slot::Value => "a number or a variable",
            Slot::Code => "the code of an invariant",
            Slot::Place => "an arena or a band",
        }
    }
}

/// Whether a step is queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued {
    /// Never: the host thread does it.
    No,
    /// Always.
    Yes,
    /// If written with a stream in front; the host thread does it at once otherwise.
    Maybe,
}

/// One step of the vocabulary.
#[derive(Debug)]
pub struct StepDef {
    /// Which step.
    pub step: Step,
    /// Where it is listed.
    pub topic: &'static str,
    /// Whether it is queued.
    pub queued: Queued,
    /// How it is written.
    pub syntax: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
    /// An example.
    pub example: &'static str,
}

macro_rules! steps {
    ($($topic:literal { $($step:ident $queued:ident $syntax:literal, $doc:literal, $example:literal;)+ })+) => {
        /// Which step.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)]
        pub enum Step { $($($step,)+)+ }

        /// The vocabulary.
        pub static STEPS: &[StepDef] = &[$($(StepDef {
            step: Step::$step, topic: $topic, queued: Queued::$queued, syntax: $syntax, doc: $doc, example: $example,
        },)+)+];
    };
}

steps! {
    "allocate" {
        Alloc No "[try] alloc REQUESTS -> VARS", "allocates pages over bands at once, compacting if need be; a refusal fails the case unless tried, and leaves a tried variable empty", "alloc host.full 2, host.swa 1 -> a, s";
        AllocWait No "wait alloc REQUESTS -> VARS", "allocates pages, and waits for room as long as there is none, neither by moving nor by evicting", "wait alloc host.full 2 -> h";
        Free No "free PAGES [on EVENTS]", "gives pages back (one reference, where several hold them); with events, their bytes are not reused before all have completed", "free a[1] on read_done, sent";
        Share No "share PAGES", "takes another reference: the pages are given back when as many frees have come", "share a";
        Cache No "cache PAGES", "gives pages to the cache: allocations and bindings that find no room evict them, lowest id first, unless they are pinned or shared", "cache a";
        Evict No "evict BAND N -> VAR", "evicts up to so many cached pages of a band, not those that are pinned or shared, and says how many", "evict full 2 -> n";
        Count No "count CLASS BAND -> VAR", "counts the pages of a class: live (and not cached), cached, pinned, pending, holes", "count live full -> n";
        Unmap No "unmap PAGES", "takes the mapping of the pages' bytes away: every later access to them is wrong", "unmap a";
        Map No "map PAGES [only N]", "maps the pages' bytes again, whose contents are lost; `only` fails after so many pages", "map a";
        Clear No "clear BAND", "gives all pages of a band back, after the leases of its arena", "clear swa";
        Compact No "compact [ARENA]", "closes the holes of an arena, after its leases; moves nothing while a gate is closed", "compact host";
        Flush Maybe "flush BAND [urgent] [on EVENTS]", "moves a device band's pages into its holes unless something holds them; with events, the places left are not reused before all have completed", "compute: flush swa on forward_done";
        Bind No "bind BAND PAGES", "binds a page of the band to each id, or to none", "bind swa a[1]";
        TryBind No "try bind BAND PAGES -> VAR", "the same; says whether there was room: 1 or 0", "try bind swa a -> ok";
        Tombstone No "tombstone BAND PAGES [N tokens] [on EVENTS]", "releases the band's pages of these ids; the ids stay", "tombstone swa a[0..2]";
        Admit No "admit REQUESTS -> VAR", "asks whether a request would fit: 1 or 0", "admit full 4, swa 1 -> ok";
        Available No "available BAND -> VAR", "asks how many pages of the band could be had", "available full -> n";
    }
    "addresses" {
        Translate No "translate PAGES -> VAR", "captures the physical pages now; using them later is what goes wrong", "translate a -> p";
        Raw No "raw PAGES -> VAR", "takes the stable ids themselves as page numbers: a missing translation", "raw a -> p";
        Kernel No "kernel PAGES -> VAR", "takes kernel-facing indices (physical page times kernel multiplier) as page numbers", "kernel swa a -> p";
        Valid No "valid VAR -> VAR", "asks whether captured addresses still belong to their ids, or ids to the pages that they were given out for: 1 or 0", "valid p -> ok";
        Select No "select BAND PAGES [tokens N .. N] -> VAR", "captures the addresses of the bound sliding-window pages of a token range", "select swa a -> w";
    }
    "hold still" {
        LeaseAcquire No "lease acquire [ARENAS] [ttl N]", "takes a layout lease (of several arenas: each once, in one order); waits while a compaction waits; with ttl it ends after so many ticks", "lease acquire host";
        LeaseRelease No "lease release [ARENA]", "gives one lease back", "lease release";
        LeaseRenew No "lease renew ttl N [of ARENA]", "gives a timed lease so many ticks again; one that has ended stays ended", "lease renew ttl 3";
        LeaseHeld No "lease held [ARENA] -> VAR", "asks whether the thread holds a lease (still): 1 or 0", "lease held -> ok";
        LeaseHandOff No "lease hand off EVENT [of ARENA]", "gives one lease back; the layout stays covered until the event completes", "lease hand off done";
        Tick No "tick", "time passes: timed leases run down", "tick";
        Pin No "pin PAGES", "keeps pages from being moved or evicted; `free` does not look at pins", "pin a";
        Unpin No "unpin PAGES", "takes one pin off", "unpin a";
        GateClose No "gate close GATE", "closes a move gate", "gate close decode";
        GateOpen No "gate open GATE", "opens a move gate that was closed by hand", "gate open decode";
    }
    "kernels and accesses" {
        Write Maybe "write PAGES [at ADDRESS] [N tokens]", "writes new content into pages, or into their first tokens: a kernel on a stream, an RDMA agent, or the host thread at once", "compute: write a";
        Read Maybe "read PAGES [at ADDRESS] [N tokens]", "reads pages (or their first tokens), which must hold what was last written to them; beyond what was written they must hold zeros, not what somebody else left", "nic: read p";
        TryRead Maybe "try read PAGES [at ADDRESS] -> VAR", "reads pages and says whether they held what was meant: 1 or 0, instead of a violation. For readers that check afterwards and discard", "nic: try read p -> good";
        Produce Maybe "produce BUFFER from PAGES", "writes the physical pages into an index buffer when it runs", "compute: produce idx from a";
        CopyBuffer Yes "copy BUFFER -> BUFFER", "copies an index buffer; reads its source when it runs", "copy: copy staging -> idx";
        ReadBuffer Yes "read BUFFER -> VAR", "the host thread waits until the stream has read the index buffer; orders behind that stream only", "copy: read idx -> x";
    }
    "events" {
        Wait Yes "wait EVENT", "the stream waits for the last record at the time of this call", "copy: wait ready";
        Record Yes "record EVENT", "the event completes when everything queued before it has run", "compute: record ready";
        Sync No "sync EVENT|STREAM", "the host thread waits for the event's last record, or for all that the stream was given", "sync done";
        TrySync No "try sync EVENT -> VAR", "the host thread waits for the event's last record, and is told whether the wait ended well: 1, or 0 after `fail wait`, and then nothing is known of the event", "try sync done -> ok";
        Query No "query EVENT -> VAR", "asks whether the event has completed: 1 or 0", "query done -> ok";
        FailQuery No "fail query EVENT", "a fault: queries of the event fail from now on", "fail query done";
        FailWait No "fail wait EVENT", "a fault: the next wait for the event by a compaction or a `try sync` fails", "fail wait done";
    }
    "transfers" {
        Backup Yes "backup PAGES -> PAGES [at ADDRESS] [after EVENT] [only N] [fails N]", "copies pages device to host; by id (translated now) or at captured addresses or an index buffer; `after` makes the stream wait for the producer event; `only` moves fewer pages than it reports; `fails`, a fault, moves so many and reports it, and the other pages hold nothing", "copy: backup a -> h at idx after ready";
        Load Yes "load PAGES -> PAGES [at ADDRESS] [after EVENT] [only N] [fails N]", "copies pages host to device", "copy: load h -> a";
        Send Yes "send PAGES -> PAGES [at ADDRESS] [after EVENT] [only N] [fails N]", "copies pages to a peer", "nic: send a -> b";
    }
    "storage" {
        Key No "key KEY of PAGES [with ATTRIBUTES] [named KEY]", "says which content a storage key stands for (otherwise its first store does). Attributes make its stored name (all of them, by the design; without `keys-name-everything` those of `stored_under`); `named` gives it the stored name of another key", "key k of a with tokens t1, dtype bf16";
        Store No "store PAGES as KEY [tail]", "a storage thread writes pages under a key, one slot each, holding a lease meanwhile; `tail` stores an extra pool's pages under the last keys of the chunk", "store a as k";
        Fetch No "fetch KEY [tail] -> PAGES", "a storage thread reads a key's content into pages", "fetch k -> h";
        Lookup No "lookup KEYS [tail] -> VAR", "asks how many pages are stored under a key; under several, how many have all their parts", "lookup k, k_idx -> hit";
        Drop No "drop KEY", "removes what is stored under a key", "drop k";
    }
    "control" {
        Set Maybe "set FLAG", "raises a flag; on a stream, when it gets there", "copy: set landed";
        Unset Maybe "unset FLAG", "lowers a flag", "unset landed";
        Await Maybe "await FLAG", "waits until a flag is raised; on a stream, the stream waits", "await landed";
        AwaitCond Maybe "await COND", "waits until a condition holds", "await n > 0";
        Take Maybe "take VAR [N]", "waits until the variable is at least N (1) and takes as much from it: a bounded resource", "copy: take engine";
        Give Maybe "give VAR [N]", "gives as much back", "copy: give engine";
        Lock No "lock LOCK", "takes a lock", "lock m";
        Unlock No "unlock LOCK", "gives a lock back", "unlock m";
        Barrier No "barrier BARRIER", "waits until every thread that names the barrier has come", "barrier b";
        Agree No "agree BARRIER on VALUE", "waits until every thread that names the barrier has come; all must bring the same value, else `divergence`", "agree step on n";
        Gather No "gather BARRIER FOLD VALUE -> VAR", "the same, and everyone gets the min, max or sum of the values", "gather acks min n -> least";
        Stop No "stop", "the thread ends here, as after an error: what it holds stays held", "stop";
        Let No "let VAR = VALUE [+ N] [- N]", "sets a number", "let n = n + 1";
        CheckEmpty No "check empty ARENA|BAND", "states that no page is live or pending there; a violation is a `leak`", "check empty host";
        Check No "check COND [else CODE]", "states a condition; a violation is a `check`, or the code given", "check hit == 0 else mis-keyed";
        If No "if COND {", "takes the block, up to `}`, if the condition holds; `} else {` may follow", "if ok { nic: read p }";
        While No "while COND {", "repeats the block while the condition holds", "while n < 4 { let n = n + 1 }";
        Repeat No "repeat N {", "repeats the block so many times", "repeat 3 { tick }";
    }
}

/// Words that separate parts of a step and cannot be names.
pub(crate) const RESERVED: &[&str] = &[
    "on", "at", "after", "only", "as", "tokens", "tail", "ttl", "else", "from", "of", "urgent", "not", "alloc", "off",
    "named", "with", "fails",
];

/// A part of a syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Word(&'static str),
    Symbol(&'static str),
    Slot(Slot),
    Optional(Vec<Part>),
}

/// Splits a syntax into parts.
pub(crate) fn parts(syntax: &'static str) -> Vec<Part> {
    let mut stack: Vec<Vec<Part>> = vec![Vec::new()];
    for raw in syntax.split_whitespace() {
        let mut word = raw;
        while let Some(rest) = word.strip_prefix('[') {
            stack.push(Vec::new());
            word = rest;
        }
        let closes = word.len() - word.trim_end_matches(']').len();
        let word = word.trim_end_matches(']');
        let part = match Slot::named(word) {
            Some(slot) => Part::Slot(slot),
            None if word.starts_with(|first: char| first.is_ascii_alphabetic()) => Part::Word(word),
            None => Part::Symbol(word),
        };
        if let Some(top) = stack.last_mut() {
            top.push(part);
        }
        for _ in 0..closes {
            let group = stack.pop().unwrap_or_default();
            if let Some(top) = stack.last_mut() {
                top.push(Part::Optional(group));
            }
        }
    }
    stack.pop().unwrap_or_default()
}
