//! Statements to instructions.

use super::diagnostics::{Diagnostic, Lines, Source};
use super::file::At as FileAt;
use super::names::{Names, intern};
use super::parse::{Arg, BandRef, CLASSES, CondExpr, FOLDS, Name, PagesExpr, Stmt, ValueExpr};
use super::read::ArenaText;
use super::steps::Step;
use crate::assumptions::Assumptions;
use crate::invariants::Code;
use crate::marks::Mark;
use crate::program::{
    Agent, AgentKind, ArenaDef, At, Class, Compare, Cond, END, Expect, Fold, Ids, Instr, KeyDef, Op, Operand, Pc,
    Program, Space, Value, VarKind, limits,
};
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

    fn emit(&mut self, op: Op, stream: Option<u8>, span: &Range<usize>) -> Result<usize, Diagnostic> {
        if self.code.len() >= limits::STEPS {
            return Err(Diagnostic::new(
                span.clone(),
                "too many steps",
                format!("at most {} in a case, loops written out", limits::STEPS),
            ));
        }
        let written = self.source.text.get(span.clone()).unwrap_or_default();
        let mut text = String::with_capacity(written.len());
        for word in written.split_ascii_whitespace() {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
        }
        let line = self.lines.line(span.start);
        let needs = op.needs();
        self.code.push(Instr { op, stream, thread: self.thread, text, line, needs });
        Ok(self.code.len() - 1)
    }

    fn block(&mut self, statements: &[Stmt]) -> Result<(), Diagnostic> {
        for stmt in statements {
            self.statement(stmt)?;
        }
        Ok(())
    }

    fn statement(&mut self, stmt: &Stmt) -> Result<(), Diagnostic> {
        match (stmt.step, stmt.args.as_slice()) {
            (Step::If, [Arg::Cond(cond)]) => {
                let cond = self.cond(cond)?;
                let branch = self.emit(Op::Branch { cond, otherwise: END, loops: false }, None, &stmt.span)?;
                self.block(&stmt.block)?;
                let mut otherwise = self.code.len();
                if !stmt.otherwise.is_empty() {
                    let skip = self.emit(Op::Jump { to: END }, None, &stmt.span)?;
                    otherwise = self.code.len();
                    self.block(&stmt.otherwise)?;
                    self.code[skip].op = Op::Jump { to: self.code.len() as Pc };
                }
                self.code[branch].op = Op::Branch { cond, otherwise: otherwise as Pc, loops: false };
            }
            (Step::While, [Arg::Cond(cond)]) => {
                let cond = self.cond(cond)?;
                let branch = self.emit(Op::Branch { cond, otherwise: END, loops: true }, None, &stmt.span)?;
                self.block(&stmt.block)?;
                self.emit(Op::Jump { to: branch as Pc }, None, &stmt.span)?;
                self.code[branch].op = Op::Branch { cond, otherwise: self.code.len() as Pc, loops: true };
            }
            (Step::Repeat, [Arg::Number(times)]) => {
                for _ in 0..*times {
                    let before = self.code.len();
                    self.block(&stmt.block)?;
                    if self.code.len() == before {
                        // Nothing, however often.
                        break;
                    }
                }
            }
            (Step::Stop, _) => {
                self.emit(Op::Jump { to: END }, None, &stmt.span)?;
            }
            _ => {
                let stream = match &stmt.stream {
                    Some(stream) => Some(intern(&mut self.names.streams, stream)?),
                    None => None,
                };
                let op = self.op(stmt)?;
                let start = stmt.stream.as_ref().map_or(stmt.span.start, |stream| {
                    let rest = self.source.text.get(stream.span.end..stmt.span.end).unwrap_or_default();
                    stream.span.end + rest.find(':').map_or(0, |colon| colon + 1)
                });
                self.emit(op, stream, &(start..stmt.span.end))?;
            }
        }
        Ok(())
    }

    fn op(&mut self, stmt: &Stmt) -> Result<Op, Diagnostic> {
        let args = stmt.args.as_slice();
        Ok(match (stmt.step, args) {
            (Step::Alloc, [tried, Arg::Requests(requests), Arg::Names(into)]) => {
                let (arena, requests) = self.requests(requests)?;
                let into = into.iter().map(|name| self.var(name, "pages")).collect::<Result<_, _>>()?;
                Op::Alloc { arena, requests, into, tried: matches!(tried, Arg::Present), waits: false }
            }
            (Step::AllocWait, [Arg::Requests(requests), Arg::Names(into)]) => {
                let (arena, requests) = self.requests(requests)?;
                let into = into.iter().map(|name| self.var(name, "pages")).collect::<Result<_, _>>()?;
                Op::Alloc { arena, requests, into, tried: false, waits: true }
            }
            (Step::Free, [Arg::Pages(pages), on]) => Op::Free { pages: self.pages(pages)?, on: self.events(on)? },
            (Step::Share, [Arg::Pages(pages)]) => Op::Share { pages: self.pages(pages)? },
            (Step::Cache, [Arg::Pages(pages)]) => Op::Cache { pages: self.pages(pages)? },
            (Step::Unmap, [Arg::Pages(pages)]) => Op::Unmap { pages: self.pages(pages)? },
            (Step::Map, [Arg::Pages(pages), only]) => {
                Op::Map { pages: self.pages(pages)?, only: number(only).map(|only| only.min(254) as u8) }
            }
            (Step::Evict, [Arg::Band(band), Arg::Number(pages), Arg::Name(into)]) => {
                let (arena, band) = self.names.band(band)?;
                Op::Evict { arena, band, pages: (*pages).min(254) as u8, into: self.var(into, "a number")? }
            }
            (Step::Count, [Arg::Name(class), Arg::Band(band), Arg::Name(into)]) => {
                let (arena, band) = self.names.band(band)?;
                let class =
                    CLASSES.iter().find(|(word, _)| *word == class.text).map_or(Class::Live, |(_, class)| *class);
                Op::Count { class, arena, band, into: self.var(into, "a number")? }
            }
            (Step::Clear, [Arg::Band(band)]) => {
                let (arena, band) = self.names.band(band)?;
                Op::Clear { arena, band }
            }
            (Step::Compact, [arena]) => Op::Compact { arena: self.arena_or_default(arena, &stmt.span)? },
            (Step::Flush, [Arg::Band(band), urgent, on]) => {
                let (arena, band) = self.names.band(band)?;
                Op::Flush { arena, band, urgent: matches!(urgent, Arg::Present), on: self.events(on)? }
            }
            (Step::Bind, [Arg::Band(band), Arg::Pages(pages)]) => {
                let pages = self.pages(pages)?;
                let (arena, band) = self.bound_band(band, &pages)?;
                Op::Bind { arena, band, pages, into: None }
            }
            (Step::TryBind, [Arg::Band(band), Arg::Pages(pages), Arg::Name(into)]) => {
                let pages = self.pages(pages)?;
                let (arena, band) = self.bound_band(band, &pages)?;
                Op::Bind { arena, band, pages, into: Some(self.var(into, "a number")?) }
            }
            (Step::Tombstone, [Arg::Band(band), Arg::Pages(pages), tokens, on]) => {
                let pages = self.pages(pages)?;
                let (arena, band) = self.bound_band(band, &pages)?;
                Op::Tombstone { arena, band, pages, tokens: number(tokens).map(|n| n as u16), on: self.events(on)? }
            }
            (Step::Admit, [Arg::Requests(requests), Arg::Name(into)]) => {
                let (arena, requests) = self.requests(requests)?;
                Op::Admit { arena, requests, into: self.var(into, "a number")? }
            }
            (Step::Available, [Arg::Band(band), Arg::Name(into)]) => {
                let (arena, band) = self.names.band(band)?;
                Op::Available { arena, band, into: self.var(into, "a number")? }
            }
            (Step::Translate | Step::Raw | Step::Kernel, [Arg::Pages(pages), Arg::Name(into)]) => {
                let space = match stmt.step {
                    Step::Raw => Space::Logical,
                    Step::Kernel => Space::Kernel,
                    _ => Space::Physical,
                };
                Op::Translate { pages: self.one(pages)?, space, into: self.var(into, "addresses")? }
            }
            (Step::Valid, [Arg::Name(var), Arg::Name(into)]) => {
                Op::Valid { var: self.named_pages(var)?, into: self.var(into, "a number")? }
            }
            (Step::Select, [Arg::Band(band), Arg::Pages(pages), from, to, Arg::Name(into)]) => {
                let mut operand = self.one(pages)?;
                let (_, band) = self.bound_band(band, &[operand])?;
                operand.band = band;
                let tokens = number(from).zip(number(to)).map(|(from, to)| (from as u16, to as u16));
                Op::Select { pages: operand, tokens, into: self.var(into, "addresses")? }
            }
            (Step::LeaseAcquire, [arenas, ttl]) => {
                let arenas = match arenas {
                    Arg::Names(names) if names.len() > limits::LEASES_OF_A_STEP => {
                        let message = format!("{} arenas in one step", names.len());
                        let expected = format!("at most {}", limits::LEASES_OF_A_STEP);
                        return Err(Diagnostic::new(stmt.span.clone(), message, expected));
                    }
                    Arg::Names(names) => names.iter().map(|name| self.names.arena(name)).collect::<Result<_, _>>()?,
                    _ => vec![self.names.default_arena(&stmt.span)?],
                };
                Op::LeaseAcquire { arenas, ttl: number(ttl).map(|ttl| ttl.min(250) as u8) }
            }
            (Step::LeaseRelease, [arena]) => Op::LeaseRelease { arena: self.arena_or_default(arena, &stmt.span)? },
            (Step::LeaseRenew, [Arg::Number(ttl), arena]) => {
                let arena = self.arena_or_default(arena, &stmt.span)?;
                Op::LeaseRenew { arena, ttl: (*ttl).min(250) as u8 }
            }
            (Step::LeaseHeld, [arena, Arg::Name(into)]) => {
                let arena = self.arena_or_default(arena, &stmt.span)?;
                Op::LeaseHeld { arena, into: self.var(into, "a number")? }
            }
            (Step::LeaseHandOff, [Arg::Name(event), arena]) => {
                let event = intern(&mut self.names.events, event)?;
                Op::LeaseHandOff { arena: self.arena_or_default(arena, &stmt.span)?, event }
            }
            (Step::Tick, _) => Op::Tick,
            (Step::Pin, [Arg::Pages(pages)]) => Op::Pin { pages: self.pages(pages)?, up: true },
            (Step::Unpin, [Arg::Pages(pages)]) => Op::Pin { pages: self.pages(pages)?, up: false },
            (Step::GateClose | Step::GateOpen, [Arg::Band(gate)]) => {
                Op::Set { flag: self.gate(gate)?, up: stmt.step == Step::GateClose }
            }
            (Step::Write, [Arg::Pages(pages), at, tokens]) => {
                let pages = self.pages_at(pages, at)?;
                let value = self.value_for(&pages, &stmt.span)?;
                let tokens = self.tokens(tokens, &pages, &stmt.span)?;
                Op::Write { pages, value, tokens }
            }
            (Step::Read, [Arg::Pages(pages), at, tokens]) => {
                let pages = self.pages_at(pages, at)?;
                let tokens = self.tokens(tokens, &pages, &stmt.span)?;
                Op::Read { pages, tokens }
            }
            (Step::TryRead, [Arg::Pages(pages), at, Arg::Name(into)]) => {
                Op::TryRead { pages: self.pages_at(pages, at)?, into: self.var(into, "a number")? }
            }
            (Step::Produce, [Arg::Name(buffer), Arg::Pages(pages)]) => {
                Op::Produce { buffer: self.buffer(buffer)?, pages: self.pages(pages)? }
            }
            (Step::CopyBuffer, [Arg::Name(from), Arg::Name(to)]) => {
                Op::CopyBuffer { from: self.buffer(from)?, to: self.buffer(to)? }
            }
            (Step::ReadBuffer, [Arg::Name(buffer), Arg::Name(into)]) => {
                Op::ReadBuffer { buffer: self.buffer(buffer)?, into: self.var(into, "addresses")? }
            }
            (Step::Wait, [Arg::Name(event)]) => Op::Wait { event: intern(&mut self.names.events, event)? },
            (Step::Record, [Arg::Name(event)]) => Op::Record { event: intern(&mut self.names.events, event)? },
            (Step::Sync, [Arg::Name(name)]) => match self.names.streams.iter().position(|other| *other == name.text) {
                Some(stream) => Op::SyncStream { stream: stream as u8 },
                None => Op::SyncEvent { event: intern(&mut self.names.events, name)? },
            },
            (Step::TrySync, [Arg::Name(event), Arg::Name(into)]) => {
                Op::TrySync { event: intern(&mut self.names.events, event)?, into: self.var(into, "a number")? }
            }
            (Step::Query, [Arg::Name(event), Arg::Name(into)]) => {
                Op::Query { event: intern(&mut self.names.events, event)?, into: self.var(into, "a number")? }
            }
            (Step::FailQuery, [Arg::Name(event)]) => Op::FailQuery { event: intern(&mut self.names.events, event)? },
            (Step::FailWait, [Arg::Name(event)]) => Op::FailWait { event: intern(&mut self.names.events, event)? },
            (Step::Backup | Step::Load | Step::Send, [from, to, at, after, only, fails]) => {
                self.transfer(stmt.step == Step::Load, [from, to, at, after, only, fails])?
            }
            (Step::Key, [Arg::Key(key, _), Arg::Pages(pages), with, named]) => {
                let pages = self.pages(pages)?;
                let key = self.key(key, self.count(&pages))?;
                if let Arg::Key(named, _) = named {
                    let cap = self.names.keys[key as usize].cap;
                    let string = self.key(named, cap)?;
                    self.names.keys[key as usize].strings = [string; 4];
                }
                if let Arg::Attributes(attributes) = with {
                    let attributes =
                        attributes.iter().map(|(name, value)| (name.text.clone(), value.clone())).collect();
                    match self.attributes.iter_mut().find(|(other, _)| *other == key) {
                        Some(known) => known.1 = attributes,
                        None => self.attributes.push((key, attributes)),
                    }
                }
                Op::Key { key, pages }
            }
            (Step::Store, [Arg::Pages(pages), Arg::Key(key, index), tail]) => {
                let pages = self.pages(pages)?;
                let from = index.unwrap_or(0);
                let key = self.key(key, from.saturating_add(self.count(&pages)))?;
                Op::Store { pages, key, from, tail: matches!(tail, Arg::Present) }
            }
            (Step::Fetch, [Arg::Key(key, index), tail, Arg::Pages(pages)]) => {
                let pages = self.pages(pages)?;
                let from = index.unwrap_or(0);
                let key = self.key(key, from.saturating_add(self.count(&pages)))?;
                Op::Fetch { key, from, pages, tail: matches!(tail, Arg::Present) }
            }
            (Step::Lookup, [Arg::Names(keys), tail, Arg::Name(into)]) => Op::Lookup {
                keys: keys.iter().map(|key| self.key(key, 0)).collect::<Result<_, _>>()?,
                tail: matches!(tail, Arg::Present),
                into: self.var(into, "a number")?,
            },
            (Step::Drop, [Arg::Key(key, _)]) => Op::Drop { key: self.key(key, 0)? },
            (Step::Set | Step::Unset, [Arg::Name(flag)]) => {
                Op::Set { flag: intern(&mut self.names.flags, flag)?, up: stmt.step == Step::Set }
            }
            (Step::Await, [Arg::Name(flag)]) => Op::Await { flag: intern(&mut self.names.flags, flag)? },
            (Step::AwaitCond, [Arg::Cond(cond)]) => Op::AwaitCond { cond: self.cond(cond)? },
            (Step::Take, [Arg::Name(var), count]) => {
                Op::Take { var: self.number_var(var)?, count: number(count).unwrap_or(1) as i16 }
            }
            (Step::Give, [Arg::Name(var), count]) => {
                Op::Give { var: self.number_var(var)?, count: number(count).unwrap_or(1) as i16 }
            }
            (Step::Agree, [Arg::Name(group), Arg::Value(value)]) => {
                Op::Meet { group: self.group(group), value: self.value(value)?, fold: Fold::Same, into: None }
            }
            (Step::Gather, [Arg::Name(group), Arg::Name(fold), Arg::Value(value), Arg::Name(into)]) => {
                let fold = FOLDS.iter().find(|(word, _)| *word == fold.text).map_or(Fold::Min, |(_, fold)| *fold);
                let into = Some(self.var(into, "a number")?);
                Op::Meet { group: self.group(group), value: self.value(value)?, fold, into }
            }
            (Step::Lock, [Arg::Name(lock)]) => Op::Lock { lock: intern(&mut self.names.locks, lock)? },
            (Step::Unlock, [Arg::Name(lock)]) => Op::Unlock { lock: intern(&mut self.names.locks, lock)? },
            (Step::Barrier, [Arg::Name(barrier)]) => Op::Barrier { barrier: self.group(barrier) },
            (Step::Let, [Arg::Name(var), Arg::Value(value), plus, minus]) => {
                let plus = number(plus).unwrap_or(0) as i16 - number(minus).unwrap_or(0) as i16;
                Op::Let { var: self.var(var, "a number")?, value: self.value(value)?, plus }
            }
            (Step::Check, [Arg::Cond(cond), code]) => {
                let code = match code {
                    Arg::Name(name) => Code::named(&name.text).ok_or_else(|| {
                        Diagnostic::new(
                            name.span.clone(),
                            format!("unknown invariant `{}`", name.text),
                            "not an invariant",
                        )
                        .nearest(&name.text, Code::ALL.iter().map(|code| code.name()))
                    })?,
                    _ => Code::Check,
                };
                Op::Check { cond: self.cond(cond)?, code }
            }
            (Step::CheckEmpty, [Arg::Band(place)]) => match (&place.arena, self.names.arena(&place.band)) {
                (None, Ok(arena)) => Op::CheckEmpty { arena, band: None },
                _ => {
                    let (arena, band) = self.names.band(place)?;
                    Op::CheckEmpty { arena, band: Some(band) }
                }
            },
            _ => {
                let message = "this step was parsed but has no meaning";
                return Err(Diagnostic::new(stmt.span.clone(), message, "please report this"));
            }
        })
    }

    fn transfer(&mut self, load: bool, args: [&Arg; 6]) -> Result<Op, Diagnostic> {
        let [Arg::Pages(from), Arg::Pages(to), at, after, only, fails] = args else {
            return Err(Diagnostic::new(0..0, "a transfer without pages", "please report this"));
        };
        let mut source = self.pages(from)?;
        let mut target = self.pages(to)?;
        if let Arg::Name(name) = at {
            let (address, home) = self.address(name)?;
            let exact = |operands: &[Operand]| operands.iter().any(|operand| (operand.arena, operand.band) == home);
            let near = |operands: &[Operand]| operands.iter().any(|operand| operand.arena == home.0);
            let side = if exact(&source) {
                &mut source
            } else if exact(&target) || (!near(&source) && near(&target)) {
                &mut target
            } else if near(&source) || !load {
                // Addresses of no band that the transfer touches are still taken for its device side's.
                &mut source
            } else {
                &mut target
            };
            for operand in side {
                operand.at = address;
            }
        }
        let after = self.event_or_none(after)?;
        let fault = number(fails);
        if fault.is_some() && number(only).is_some() {
            let first = &from[0].name.span;
            let message = "a transfer that both fails and moves fewer pages than it reports";
            return Err(Diagnostic::new(first.clone(), message, "expected `only` or `fails`, not both"));
        }
        let only = fault.or(number(only)).map(|only| only.min(254) as u8);
        Ok(Op::Transfer { from: source, to: target, after, only, fails: fault.is_some() })
    }

    fn value_for(&mut self, pages: &[Operand], span: &Range<usize>) -> Result<u16, Diagnostic> {
        let value = self.next_value;
        for operand in pages {
            let parts = self.parts_of[operand.arena as usize][operand.band as usize];
            self.next_value += parts * u32::from(operand.to - operand.from);
        }
        match u16::try_from(self.next_value) {
            Ok(_) => Ok(value as u16),
            Err(_) => {
                Err(Diagnostic::new(span.clone(), "too much different content", "fewer writes, or smaller pages"))
            }
        }
    }

    fn count(&self, pages: &[Operand]) -> u8 {
        pages.iter().fold(0_u8, |sum, operand| sum.saturating_add(operand.to - operand.from))
    }

    fn requests(&self, requests: &[(BandRef, u32)]) -> Result<(u8, Vec<(u8, u32)>), Diagnostic> {
        let mut all = Vec::new();
        let mut home = None;
        for (band_ref, pages) in requests {
            let (arena, band) = self.names.band(band_ref)?;
            if home.is_some_and(|home| home != arena) {
                return Err(Diagnostic::new(
                    band_ref.span(),
                    "one call allocates in one arena",
                    "a band of another arena",
                ));
            }
            home = Some(arena);
            all.push((band, *pages));
        }
        Ok((home.unwrap_or(0), all))
    }

    fn arena_or_default(&self, arg: &Arg, span: &Range<usize>) -> Result<u8, Diagnostic> {
        match arg {
            Arg::Name(name) => self.names.arena(name),
            _ => self.names.default_arena(span),
        }
    }

    fn event_or_none(&mut self, arg: &Arg) -> Result<Option<u8>, Diagnostic> {
        match arg {
            Arg::Name(name) => Ok(Some(intern(&mut self.names.events, name)?)),
            _ => Ok(None),
        }
    }

    fn events(&mut self, arg: &Arg) -> Result<Vec<u8>, Diagnostic> {
        let Arg::Names(names) = arg else { return Ok(Vec::new()) };
        let mut events = Vec::new();
        for name in names {
            let event = intern(&mut self.names.events, name)?;
            if !events.contains(&event) {
                events.push(event);
            }
        }
        Ok(events)
    }

    /// A barrier, which [`Names::collect`] has found.
    fn group(&self, name: &Name) -> u8 {
        self.names.barriers.iter().position(|(other, _)| *other == name.text).unwrap_or(0) as u8
    }

    /// The first tokens of a page, as many as there are in a page at most; 0 for all of it.
    fn tokens(&self, arg: &Arg, pages: &[Operand], span: &Range<usize>) -> Result<u8, Diagnostic> {
        let Some(tokens) = number(arg) else { return Ok(0) };
        let size = |operand: &Operand| {
            self.names.arenas[operand.arena as usize].config.bands[operand.band as usize].page_tokens
        };
        let most = pages.iter().map(size).min().unwrap_or(0);
        if tokens == 0 || tokens > most || tokens > 250 {
            let message = format!("{tokens} tokens of a page of {most}");
            return Err(Diagnostic::new(span.clone(), message, "expected at least 1 and at most a page's"));
        }
        Ok(if tokens == most { 0 } else { tokens as u8 })
    }

    fn gate(&mut self, gate: &BandRef) -> Result<u8, Diagnostic> {
        let arenas = self.names.arenas;
        let declared = |arena: &ArenaText| arena.gates.iter().any(|(name, _)| name.value == gate.band.text);
        let arena = match &gate.arena {
            Some(arena) => self.names.arena(arena)?,
            None => match arenas.iter().position(declared) {
                Some(at) => at as u8,
                None if arenas.len() == 1 => 0,
                None => arenas.iter().position(|arena| arena.name.value == "device").map(|at| at as u8).ok_or_else(
                    || {
                        Diagnostic::new(
                            gate.span(),
                            "a gate of which arena?",
                            format!("write `ARENA.{}`", gate.band.text),
                        )
                    },
                )?,
            },
        };
        self.hand_flag(arena, &gate.band.text, &gate.band.span)
    }

    /// The band of a `bind`, `tombstone` or `select`, which looks at ids of `pages`.
    fn bound_band(&self, band: &BandRef, pages: &[Operand]) -> Result<(u8, u8), Diagnostic> {
        let home = pages.first().map_or((0, 0), |operand| (operand.arena, operand.band));
        self.names.view(band, home)
    }

    fn var(&self, name: &Name, what: &str) -> Result<u8, Diagnostic> {
        self.names.vars.iter().position(|var| var.name == name.text).map(|at| at as u8).ok_or_else(|| {
            let known = self.names.vars.iter().map(|var| var.name.as_str());
            Diagnostic::new(
                name.span.clone(),
                format!("nothing gives `{}` a value", name.text),
                format!("expected {what}"),
            )
            .nearest(&name.text, known)
        })
    }

    fn number_var(&self, name: &Name) -> Result<u8, Diagnostic> {
        let at = self.var(name, "a number")?;
        match self.names.vars[at as usize].kind {
            VarKind::Number => Ok(at),
            _ => {
                Err(Diagnostic::new(name.span.clone(), format!("`{}` is not a number", name.text), "expected a number"))
            }
        }
    }

    fn named_pages(&self, name: &Name) -> Result<u8, Diagnostic> {
        let at = self.var(name, "pages or addresses")?;
        match self.names.vars[at as usize].kind {
            VarKind::Number => Err(Diagnostic::new(
                name.span.clone(),
                format!("`{}` is a number", name.text),
                "expected pages or addresses",
            )),
            _ => Ok(at),
        }
    }

    fn addresses(&self, name: &Name) -> Result<u8, Diagnostic> {
        let at = self.var(name, "addresses")?;
        match self.names.vars[at as usize].kind {
            VarKind::Addresses(_) => Ok(at),
            _ => Err(Diagnostic::new(
                name.span.clone(),
                format!("`{}` holds no addresses", name.text),
                "expected what `translate` gives",
            )),
        }
    }

    fn buffer(&self, name: &Name) -> Result<u8, Diagnostic> {
        self.names.buffers.iter().position(|buffer| buffer.name == name.text).map(|at| at as u8).ok_or_else(|| {
            let known = self.names.buffers.iter().map(|buffer| buffer.name.as_str());
            Diagnostic::new(name.span.clone(), format!("nothing produces `{}`", name.text), "expected an index buffer")
                .help("an index buffer is filled by `S: produce BUFFER from PAGES`")
                .nearest(&name.text, known)
        })
    }

    /// A variable or buffer whose addresses an operand uses, and the band they are in.
    fn address(&self, name: &Name) -> Result<(At, (u8, u8)), Diagnostic> {
        if let Some(at) = self.names.buffers.iter().position(|buffer| buffer.name == name.text) {
            return Ok((At::Buffer(at as u8), self.names.buffers[at].home));
        }
        let at = self.addresses(name)?;
        Ok((At::Var(at), self.names.vars[at as usize].home))
    }

    fn one(&self, pages: &[PagesExpr]) -> Result<Operand, Diagnostic> {
        match pages {
            [one] => self.operand(one),
            _ => {
                let span = pages[0].name.span.start..pages[pages.len() - 1].name.span.end;
                Err(Diagnostic::new(span, "a list of pages", "one name here, please"))
            }
        }
    }

    fn pages(&self, pages: &[PagesExpr]) -> Result<Vec<Operand>, Diagnostic> {
        let span = pages[0].name.span.start..pages[pages.len() - 1].name.span.end;
        if pages.len() > usize::from(limits::PAGES_OF_A_STEP) {
            let message = format!("{} names in one list", pages.len());
            return Err(Diagnostic::new(span, message, format!("at most {}", limits::PAGES_OF_A_STEP)));
        }
        let operands: Vec<Operand> = pages.iter().map(|expr| self.operand(expr)).collect::<Result<_, _>>()?;
        if self.count(&operands) > limits::PAGES_OF_A_STEP {
            let message = format!("{} pages in one step", self.count(&operands));
            return Err(Diagnostic::new(span, message, format!("at most {}", limits::PAGES_OF_A_STEP)));
        }
        Ok(operands)
    }

    fn pages_at(&self, pages: &[PagesExpr], at: &Arg) -> Result<Vec<Operand>, Diagnostic> {
        let mut operands = self.pages(pages)?;
        if let Arg::Name(name) = at {
            let (address, _) = self.address(name)?;
            for operand in &mut operands {
                operand.at = address;
            }
        }
        Ok(operands)
    }

    fn operand(&self, expr: &PagesExpr) -> Result<Operand, Diagnostic> {
        let (ids, home, cap, at) = match self.names.buffers.iter().position(|buffer| buffer.name == expr.name.text) {
            Some(at) => {
                let buffer = &self.names.buffers[at];
                (Ids::Buffer(at as u8), buffer.home, buffer.cap, At::Buffer(at as u8))
            }
            None => {
                let at = self.var(&expr.name, "pages")?;
                let var = &self.names.vars[at as usize];
                let address = match var.kind {
                    VarKind::Pages => At::Now,
                    VarKind::Addresses(_) => At::Var(at),
                    VarKind::Number => {
                        let message = format!("`{}` is a number", expr.name.text);
                        return Err(Diagnostic::new(expr.name.span.clone(), message, "expected pages"));
                    }
                };
                (Ids::Var(at), var.home, var.cap, address)
            }
        };
        let (arena, band) = match &expr.band {
            Some(band) => self.names.view(band, home)?,
            None => home,
        };
        let (from, to) = expr.range.unwrap_or((0, cap));
        if from > to || to > cap {
            let message = format!("`{}` has at most {cap} pages", expr.name.text);
            return Err(Diagnostic::new(
                expr.name.span.clone(),
                message,
                format!("pages {from}..{to} of it do not exist"),
            ));
        }
        Ok(Operand { ids, from, to, arena, band, at })
    }

    fn key(&mut self, name: &Name, cap: u8) -> Result<u8, Diagnostic> {
        if let Some(at) = self.names.keys.iter().position(|key| key.name == name.text) {
            self.names.keys[at].cap = self.names.keys[at].cap.max(cap);
            return Ok(at as u8);
        }
        if self.names.keys.len() >= limits::NAMES {
            return Err(Diagnostic::new(name.span.clone(), "too many keys", format!("at most {}", limits::NAMES)));
        }
        let at = self.names.keys.len() as u8;
        self.names.keys.push(KeyDef { name: name.text.clone(), strings: [at; 4], cap, offset: 0 });
        Ok(at)
    }

    fn value(&self, value: &ValueExpr) -> Result<Value, Diagnostic> {
        Ok(match value {
            ValueExpr::Number(number) => Value::Number(*number),
            ValueExpr::Name(name) => Value::Var(self.var(name, "a number or pages")?),
        })
    }

    fn cond(&self, cond: &CondExpr) -> Result<Cond, Diagnostic> {
        let (left, right) = (self.value(&cond.left)?, self.value(&cond.right)?);
        let pages =
            |value: &Value| matches!(value, Value::Var(var) if self.names.vars[*var as usize].kind != VarKind::Number);
        if pages(&left)
            && pages(&right)
            && !matches!(cond.compare, Compare::Eq | Compare::Ne)
            && let ValueExpr::Name(name) = &cond.left
        {
            return Err(Diagnostic::new(name.span.clone(), "pages can only be equal or not", "expected `==` or `!=`"));
        }
        Ok(Cond { left, compare: cond.compare, right })
    }
}

fn number(arg: &Arg) -> Option<u32> {
    match arg {
        Arg::Number(number) => Some(*number),
        _ => None,
    }
}
