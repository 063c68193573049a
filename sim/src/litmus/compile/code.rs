//! The steps of a program to instructions.

use super::Compiler;
use super::operands::number;
use crate::invariants::Code;
use crate::litmus::diagnostics::Diagnostic;
use crate::litmus::names::intern;
use crate::litmus::parse::{Arg, CLASSES, FOLDS, Stmt};
use crate::litmus::steps::Step;
use crate::program::{Class, END, Fold, Instr, Op, Operand, Pc, Space, limits};
use std::ops::Range;

impl Compiler<'_> {
    pub(super) fn emit(&mut self, op: Op, stream: Option<u8>, span: &Range<usize>) -> Result<usize, Diagnostic> {
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

    pub(super) fn block(&mut self, statements: &[Stmt]) -> Result<(), Diagnostic> {
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
                let event = self.event(event)?;
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
            (Step::Wait, [Arg::Name(event)]) => Op::Wait { event: self.event(event)? },
            (Step::Record, [Arg::Name(event)]) => Op::Record { event: self.event(event)? },
            (Step::Sync, [Arg::Name(name)]) => match self.names.streams.iter().position(|other| *other == name.text) {
                Some(stream) => Op::SyncStream { stream: stream as u8 },
                None => Op::SyncEvent { event: self.event(name)? },
            },
            (Step::TrySync, [Arg::Name(event), Arg::Name(into)]) => {
                Op::TrySync { event: self.event(event)?, into: self.var(into, "a number")? }
            }
            (Step::Query, [Arg::Name(event), Arg::Name(into)]) => {
                Op::Query { event: self.event(event)?, into: self.var(into, "a number")? }
            }
            (Step::FailQuery, [Arg::Name(event)]) => Op::FailQuery { event: self.event(event)? },
            (Step::FailWait, [Arg::Name(event)]) => Op::FailWait { event: self.event(event)? },
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
}
