//! A litmus case, compiled: names interned, step programs as instructions, everything static in one place.
//!
//! A [`Program`] never changes; what changes is a [`crate::world::World`]. Limits keep states small and packed.

mod op;

use crate::assumptions::Assumptions;
use crate::invariants::Code;
use crate::uses::Uses;
use leasecheck_core::{ArenaConfig, Gates, Rule, Rules};

pub use op::{At, Class, Compare, Cond, Fold, Ids, Op, Operand, Value};

/// Limits of one case. A litmus file that exceeds one is refused with the number.
pub mod limits {
    /// Arenas.
    pub const ARENAS: usize = 4;
    /// Host threads, streams and RDMA agents together.
    pub const AGENTS: usize = 24;
    /// Steps of all threads together, after compilation.
    pub const STEPS: usize = 2_000;
    /// Bands of one arena.
    pub const BANDS: usize = 4;
    /// Pages of one band.
    pub const PAGES: u32 = 250;
    /// Names of one kind (variables, events, flags, …).
    pub const NAMES: usize = 60;
    /// Content cells of one arena: bytes ÷ the greatest common divisor of all envelopes.
    pub const CELLS: u64 = 4_096;
    /// Pages that one step names: what a queued operation can carry.
    pub const PAGES_OF_A_STEP: u8 = 20;
    /// Arenas that one step leases.
    pub const LEASES_OF_A_STEP: usize = 8;
    /// Cases of one file.
    pub const CASES: usize = 100;
    /// Bytes of a name in a step program, or of an arena, a band, a gate or a thread.
    pub const NAME: usize = 64;
    /// Bytes of a claim and of its source.
    pub const TEXT: usize = 2_000;
    /// Bytes of a claim's short name, or of the name of a case.
    pub const TITLE: usize = 200;
    /// Operations waiting in one queue. A program that queues without bound ends here.
    pub const QUEUE: usize = 64;
}

/// Index into [`Program::code`].
pub type Pc = u16;

/// No program counter: the thread has ended.
pub const END: Pc = Pc::MAX;

/// Which kind of agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentKind {
    /// A host thread, at a program counter.
    Thread,
    /// A GPU stream: runs what is queued on it in order.
    Stream,
    /// An RDMA agent: a queue that no stream wait orders.
    Rdma,
    /// The thread that runs when all others have ended and all queues are empty.
    Finally,
}

/// Someone who takes steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// As in the litmus file.
    pub name: String,
    /// What it is.
    pub kind: AgentKind,
}

impl Agent {
    /// Whether it runs what is queued on it.
    #[must_use]
    pub fn is_queue(&self) -> bool {
        matches!(self.kind, AgentKind::Stream | AgentKind::Rdma)
    }
}

/// One arena of the case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArenaDef {
    /// As in the litmus file.
    pub name: String,
    /// Layout and rules.
    pub config: ArenaConfig,
    /// Names of the gates.
    pub gate_names: Vec<String>,
    /// Which flags close them.
    pub gates: Gates,
    /// Per band: whether the gates are wired to it. The design's gates reach every band whatever this says.
    pub gated: Vec<bool>,
    /// Per band: bits of the page numbers that kernels take.
    pub index_bits: Vec<u8>,
    /// Per band: the kernel multiplier, physical page to kernel-facing index.
    pub kernels: Vec<u32>,
    /// Per band: whether captured numbers with which it is accessed are taken as kernel-facing indices.
    pub takes_kernel: Vec<bool>,
    /// Whether pages are zeroed when they are handed out.
    pub zeroed: bool,
    /// The stream on which moves run; on the host, at once, if none.
    pub moves_on: Option<u8>,
    /// Bytes of a content cell: the greatest common divisor of all envelopes of the case.
    pub cell: u64,
    /// Content cells in the arena.
    pub cells: u32,
    /// Per band: content cells of one page.
    pub parts: Vec<u32>,
}

impl ArenaDef {
    /// Content cells of one page of the band.
    #[must_use]
    pub fn parts(&self, band: u8) -> u32 {
        self.parts[usize::from(band)]
    }
}

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarKind {
    /// Stable ids of pages.
    Pages,
    /// Captured addresses.
    Addresses(Space),
    /// A number.
    Number,
}

/// The id space of captured addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// Physical pages.
    Physical,
    /// Stable ids, taken as page numbers: a missing translation.
    Logical,
    /// Kernel-facing indices, taken as page numbers.
    Kernel,
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VarDef {
    /// As in the litmus file.
    pub name: String,
    /// What it holds.
    pub kind: VarKind,
    /// The arena and band of its pages.
    pub home: (u8, u8),
    /// The most pages it can hold.
    pub cap: u8,
    /// Where its pages start in [`crate::world::World::refs`].
    pub offset: u16,
}

/// An index buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferDef {
    /// As in the litmus file.
    pub name: String,
    /// The arena and band of its pages.
    pub home: (u8, u8),
    /// The most pages it can hold.
    pub cap: u8,
    /// Where its pages start in [`crate::world::World::refs`].
    pub offset: u16,
}

/// A storage key and its slots, one for each page of the chunk that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyDef {
    /// As in the litmus file.
    pub name: String,
    /// The key under whose stored name the bytes are kept, under each design of names ([`KeyDef::string`]): itself,
    /// unless `named` or attributes say otherwise.
    pub strings: [u8; 4],
    /// Slots.
    pub cap: u8,
    /// Where its slots start.
    pub offset: u16,
}

impl KeyDef {
    /// The key under whose stored name the bytes are kept, in a design with these rules.
    #[must_use]
    pub fn string(&self, rules: Rules) -> u8 {
        let lossy = usize::from(!rules.on(Rule::KeysNameEverything));
        self.strings[lossy + 2 * usize::from(!rules.on(Rule::KeysAreFramed))]
    }
}

/// One step of one thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instr {
    /// What it does.
    pub op: Op,
    /// The queue it goes to; at once on the host, if none.
    pub stream: Option<u8>,
    /// The thread that takes it.
    pub thread: u8,
    /// As written, without the queue's prefix.
    pub text: String,
    /// Line in the litmus file, counted from 1.
    pub line: u32,
    /// Variables that must have a value before the step can be taken.
    pub needs: Vec<u8>,
}

/// What a case says can or cannot happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// No violation is reachable.
    Unreachable,
    /// This violation is reachable.
    Reachable(Code),
    /// This violation is not reachable. Others may be: a run ends where it meets one.
    Never(Code),
}

/// A compiled case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Name of the litmus file's claim, then of the case.
    pub name: (String, String),
    /// Arenas.
    pub arenas: Vec<ArenaDef>,
    /// Agents: threads first, then queues, then the `finally` thread if there is one.
    pub agents: Vec<Agent>,
    /// Number of host threads (agents `0..threads`).
    pub threads: usize,
    /// First instruction of each thread.
    pub entries: Vec<Pc>,
    /// First instruction of the set-up, run before anything else.
    pub setup: Pc,
    /// First instruction of the `finally` thread.
    pub finally: Pc,
    /// Instructions.
    pub code: Vec<Instr>,
    /// Variables.
    pub vars: Vec<VarDef>,
    /// Index buffers.
    pub buffers: Vec<BufferDef>,
    /// Slots for pages of variables and buffers.
    pub ref_slots: usize,
    /// Event names.
    pub events: Vec<String>,
    /// Flag names; a gate closed by hand is a flag as well.
    pub flags: Vec<String>,
    /// Lock names.
    pub locks: Vec<String>,
    /// Barrier names and the number of threads that meet there.
    pub barriers: Vec<(String, u8)>,
    /// Storage keys.
    pub keys: Vec<KeyDef>,
    /// Slots of all keys.
    pub key_slots: usize,
    /// Whether a step shares, caches or writes in part, so that the world keeps more about ids.
    pub keeps: bool,
    /// Whether threads meet with values.
    pub meets: bool,
    /// Rules in force.
    pub rules: Rules,
    /// Assumptions in force.
    pub assume: Assumptions,
    /// What the case claims.
    pub expect: Expect,
    /// Marks that must have been reached.
    pub witness: Vec<crate::marks::Mark>,
    /// Who could have to do with what.
    pub uses: Uses,
}

impl Program {
    /// Follows jumps: the next instruction that is a step, or [`END`].
    #[must_use]
    pub fn settle(&self, mut pc: Pc) -> Pc {
        while let Some(Instr { op: Op::Jump { to }, .. }) = self.code.get(pc as usize) {
            pc = *to;
        }
        pc
    }

    /// The same case under other rules.
    #[must_use]
    pub fn with_rules(&self, rules: Rules) -> Program {
        let mut program = self.clone();
        program.rules = rules;
        for arena in &mut program.arenas {
            arena.config.rules = rules;
        }
        program
    }

    /// The band's name as written in reports, with its arena where there are several.
    #[must_use]
    pub fn band_name(&self, arena: u8, band: u8) -> String {
        let arena_def = &self.arenas[arena as usize];
        let band = &arena_def.config.bands[band as usize].name;
        if self.arenas.len() > 1 { format!("{}.{band}", arena_def.name) } else { band.clone() }
    }
}
