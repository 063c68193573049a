//! Statements to instructions: a parsed case to the program that it is.

mod code;
mod operands;

use crate::assumptions::{Assumption, Assumptions};
use crate::litmus::diagnostics::{Diagnostic, Lines, Source};
use crate::litmus::file::At as FileAt;
use crate::litmus::names::{Names, intern};
use crate::litmus::parse::{Name, Stmt};
use crate::litmus::read::ArenaText;
use crate::marks::Mark;
use crate::program::{Agent, AgentKind, ArenaDef, END, Expect, Instr, KeyDef, Op, Pc, Program, limits};
use crate::uses::Uses;
use leasecheck_core::{Gates, Rules};
use std::ops::Range;

/// A case, parsed.
pub(crate) struct CaseText<'a> {
    pub(crate) source: &'a Source,
    pub(crate) lines: &'a Lines,
    pub(crate) name: (String, String),
    pub(crate) span: Range<usize>,
    pub(crate) arenas: Vec<ArenaText>,
    pub(crate) rdma: Vec<FileAt<String>>,
    pub(crate) setup: Vec<Stmt>,
    pub(crate) finally: Option<Vec<Stmt>>,
    pub(crate) threads: Vec<(FileAt<String>, Vec<Stmt>)>,
    pub(crate) rules: Rules,
    pub(crate) assume: Assumptions,
    pub(crate) expect: Expect,
    pub(crate) witness: Vec<Mark>,
    pub(crate) stored_under: Vec<String>,
}

/// Keys whose stored names are equal keep their bytes in one place: that of the first of them.
fn name_keys(keys: &mut [KeyDef], attributes: &[(u8, Vec<(String, String)>)], stored_under: &[String]) {
    for design in 0..4 {
        let text = |attributes: &[(String, String)]| {
            let (lossy, framed) = (design & 1 == 1, design & 2 == 0);
            let stored = attributes.iter().filter(|(name, _)| !lossy || stored_under.contains(name));
            let part =
                |(name, value): &(String, String)| if framed { format!("{name}={value}") } else { value.clone() };
            stored.map(part).collect::<Vec<_>>()
        };
        for (nth, (key, own)) in attributes.iter().enumerate() {
            let named = text(own);
            let first = attributes[..nth].iter().find(|(_, other)| text(other) == named);
            if let Some((first, _)) = first {
                keys[usize::from(*key)].strings[design] = keys[usize::from(*first)].strings[design];
            }
        }
    }
}

struct Compiler<'a> {
    source: &'a Source,
    lines: &'a Lines,
    names: Names<'a>,
    threads: Vec<String>,
    code: Vec<Instr>,
    next_value: u32,
    parts_of: Vec<Vec<u32>>,
    thread: u8,
    /// Where each event is named first.
    first_uses: Vec<Range<usize>>,
    /// Keys, and what determines the bytes that they stand for.
    attributes: Vec<(u8, Vec<(String, String)>)>,
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

pub(crate) fn compile(text: CaseText<'_>) -> Result<Program, Diagnostic> {
    let mut programs: Vec<(usize, &[Stmt])> = vec![(0, &text.setup)];
    programs.extend(text.threads.iter().enumerate().map(|(at, (_, program))| (at, program.as_slice())));
    if let Some(finally) = &text.finally {
        programs.push((text.threads.len(), finally));
    }
    let names = Names::collect(&text.arenas, &programs)?;
    let envelopes = text.arenas.iter().flat_map(|arena| &arena.config.bands).map(|band| band.envelope);
    let cell = envelopes.fold(0, gcd).max(1);
    for arena in &text.arenas {
        if arena.config.bytes / cell > limits::CELLS {
            let message = format!("arena `{}` of {} bytes", arena.name.value, arena.config.bytes);
            return Err(Diagnostic::new(
                arena.name.span.clone(),
                message,
                format!(
                    "at most {} units of {cell} bytes, the greatest common divisor of all envelopes",
                    limits::CELLS
                ),
            )
            .help("scale the sizes down, or choose envelopes with a larger common divisor"));
        }
    }
    let parts_of =
        text.arenas.iter().map(|arena| arena.config.bands.iter().map(|band| (band.envelope / cell) as u32).collect());
    let mut compiler = Compiler {
        source: text.source,
        lines: text.lines,
        names,
        threads: text.threads.iter().map(|(name, _)| name.value.clone()).collect(),
        code: Vec::new(),
        next_value: 1,
        parts_of: Vec::from_iter(parts_of),
        thread: 0,
        first_uses: Vec::new(),
        attributes: Vec::new(),
    };
    if let Some(stream) = compiler.names.streams.iter().find(|stream| compiler.threads.contains(stream)) {
        let message = format!("`{stream}` is a thread and is used as a stream");
        return Err(Diagnostic::new(text.span, message, "choose another name for the stream"));
    }
    let setup = compiler.program(&text.setup)?;
    let mut entries = Vec::new();
    for (at, (_, program)) in text.threads.iter().enumerate() {
        compiler.thread = at as u8;
        entries.push(compiler.program(program)?);
    }
    let queues = compiler.names.streams.len();
    compiler.thread = (text.threads.len() + queues) as u8;
    let finally = match &text.finally {
        Some(finally) => compiler.program(finally)?,
        None => END,
    };
    if text.threads.len() + queues + 1 > limits::AGENTS {
        let message = format!("{} threads and {queues} streams", text.threads.len());
        return Err(Diagnostic::new(text.span, message, format!("at most {} together", limits::AGENTS - 1)));
    }
    if text.assume.on(Assumption::EventsRecordedBeforeWaited) {
        compiler.all_recorded()?;
    }
    let arenas = compiler.arenas(cell)?;
    let Compiler { mut names, code, threads, attributes, .. } = compiler;
    let rdma = |name: &str| {
        name.starts_with("nic") || name.starts_with("rdma") || text.rdma.iter().any(|other| other.value == name)
    };
    let mut agents: Vec<Agent> =
        threads.iter().map(|name| Agent { name: name.clone(), kind: AgentKind::Thread }).collect();
    agents.extend(
        names.streams.iter().map(|name| Agent {
            name: name.clone(),
            kind: if rdma(name) { AgentKind::Rdma } else { AgentKind::Stream },
        }),
    );
    if finally != END {
        agents.push(Agent { name: "finally".to_owned(), kind: AgentKind::Finally });
    }
    name_keys(&mut names.keys, &attributes, &text.stored_under);
    for at in 0..names.keys.len() {
        for string in names.keys[at].strings {
            let cap = names.keys[at].cap;
            let named = &mut names.keys[usize::from(string)];
            named.cap = named.cap.max(cap);
        }
    }
    let mut key_slots = 0;
    for key in &mut names.keys {
        key.offset = key_slots as u16;
        key_slots += usize::from(key.cap);
    }
    let ref_slots = names.ref_slots();
    let keeps = |op: &Op| match op {
        Op::Share { .. } | Op::Cache { .. } => true,
        Op::Write { tokens, .. } => *tokens > 0,
        _ => false,
    };
    let queues = agents.iter().filter(|agent| agent.is_queue()).count();
    let first = entries.iter().copied().min().map_or(0, usize::from);
    Ok(Program {
        uses: Uses::new(&code, first, (threads.len(), queues), (names.events.len(), arenas.len())),
        keeps: code.iter().any(|instr| keeps(&instr.op)),
        meets: code.iter().any(|instr| matches!(instr.op, Op::Meet { .. })),
        name: text.name,
        arenas,
        agents,
        threads: threads.len(),
        entries,
        setup,
        finally,
        code,
        vars: names.vars,
        buffers: names.buffers,
        ref_slots,
        events: names.events,
        flags: names.flags,
        locks: names.locks,
        barriers: names.barriers.into_iter().map(|(name, threads)| (name, threads.count_ones() as u8)).collect(),
        keys: names.keys,
        key_slots,
        rules: text.rules,
        assume: text.assume,
        expect: text.expect,
        witness: text.witness,
    })
}

impl Compiler<'_> {
    /// An event that is recorded nowhere never completes: most likely its name is misspelt.
    fn all_recorded(&self) -> Result<(), Diagnostic> {
        let records = |event: usize| {
            let of = |op: &Op| matches!(op, Op::Record { event: other } if usize::from(*other) == event);
            self.code.iter().any(|instr| of(&instr.op))
        };
        let (recorded, not): (Vec<usize>, Vec<usize>) = (0..self.first_uses.len()).partition(|event| records(*event));
        let Some(event) = not.first() else { return Ok(()) };
        let name = &self.names.events[*event];
        let message = format!("event `{name}` is recorded nowhere");
        Err(Diagnostic::new(self.first_uses[*event].clone(), message, "nothing ever completes this")
            .help(format!("add `STREAM: record {name}`, or drop the assumption `events-recorded-before-waited`"))
            .nearest(name, recorded.iter().map(|event| self.names.events[*event].as_str())))
    }

    fn arenas(&mut self, cell: u64) -> Result<Vec<ArenaDef>, Diagnostic> {
        let texts = self.names.arenas;
        let mut arenas = Vec::new();
        for (at, arena) in texts.iter().enumerate() {
            let mut gate_names = Vec::new();
            let mut masks = Vec::new();
            for (gate, flags) in &arena.gates {
                // A gate can also be closed by hand, which is a flag of its own.
                let mut mask = 1_u64 << self.hand_flag(at as u8, &gate.value, &gate.span)?;
                for flag in flags {
                    let name = Name { text: flag.value.clone(), span: flag.span.clone() };
                    mask |= 1 << intern(&mut self.names.flags, &name)?;
                }
                gate_names.push(gate.value.clone());
                masks.push(mask);
            }
            let prefix = format!("gate {}.", arena.name.value);
            for (flag, name) in self.names.flags.iter().enumerate() {
                if let Some(gate) = name.strip_prefix(&prefix)
                    && !gate_names.iter().any(|other| other == gate)
                {
                    gate_names.push(gate.to_owned());
                    masks.push(1 << flag);
                }
            }
            let moves_on = match &arena.moves_on {
                None => None,
                Some(stream) => {
                    Some(self.names.streams.iter().position(|other| *other == stream.value).ok_or_else(|| {
                        let known = self.names.streams.iter().map(String::as_str);
                        let message = format!("unknown stream `{}`", stream.value);
                        Diagnostic::new(stream.span.clone(), message, "no step is queued on it")
                            .nearest(&stream.value, known)
                    })? as u8)
                }
            };
            arenas.push(ArenaDef {
                name: arena.name.value.clone(),
                config: arena.config.clone(),
                gate_names,
                gates: Gates::new(masks),
                gated: arena.gated.clone(),
                index_bits: arena.index_bits.clone(),
                kernels: arena.kernels.clone(),
                takes_kernel: arena.takes_kernel.clone(),
                zeroed: arena.zeroed,
                moves_on,
                cell,
                cells: (arena.config.bytes / cell) as u32,
                parts: arena.config.bands.iter().map(|band| (band.envelope / cell) as u32).collect(),
            });
        }
        Ok(arenas)
    }

    fn hand_flag(&mut self, arena: u8, gate: &str, span: &Range<usize>) -> Result<u8, Diagnostic> {
        let text = format!("gate {}.{gate}", self.names.arenas[arena as usize].name.value);
        intern(&mut self.names.flags, &Name { text, span: span.clone() })
    }

    /// Emits a whole program and returns its first instruction.
    fn program(&mut self, statements: &[Stmt]) -> Result<Pc, Diagnostic> {
        let entry = self.code.len() as Pc;
        self.block(statements)?;
        self.emit(Op::Jump { to: END }, None, &(0..0))?;
        Ok(entry)
    }
}
