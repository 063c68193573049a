//! What steps are about: pages, bands, variables, conditions.

use super::Compiler;
use crate::litmus::diagnostics::Diagnostic;
use crate::litmus::names::intern;
use crate::litmus::parse::{Arg, BandRef, CondExpr, Name, PagesExpr, ValueExpr};
use crate::litmus::read::ArenaText;
use crate::program::{At, Compare, Cond, Ids, KeyDef, Operand, Value, VarKind, limits};
use std::ops::Range;

impl Compiler<'_> {
    pub(super) fn value_for(&mut self, pages: &[Operand], span: &Range<usize>) -> Result<u16, Diagnostic> {
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

    pub(super) fn count(&self, pages: &[Operand]) -> u8 {
        pages.iter().fold(0_u8, |sum, operand| sum.saturating_add(operand.to - operand.from))
    }

    pub(super) fn requests(&self, requests: &[(BandRef, u32)]) -> Result<(u8, Vec<(u8, u32)>), Diagnostic> {
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

    pub(super) fn arena_or_default(&self, arg: &Arg, span: &Range<usize>) -> Result<u8, Diagnostic> {
        match arg {
            Arg::Name(name) => self.names.arena(name),
            _ => self.names.default_arena(span),
        }
    }

    pub(super) fn event(&mut self, name: &Name) -> Result<u8, Diagnostic> {
        let event = intern(&mut self.names.events, name)?;
        if usize::from(event) == self.first_uses.len() {
            self.first_uses.push(name.span.clone());
        }
        Ok(event)
    }

    pub(super) fn event_or_none(&mut self, arg: &Arg) -> Result<Option<u8>, Diagnostic> {
        match arg {
            Arg::Name(name) => Ok(Some(self.event(name)?)),
            _ => Ok(None),
        }
    }

    pub(super) fn events(&mut self, arg: &Arg) -> Result<Vec<u8>, Diagnostic> {
        let Arg::Names(names) = arg else { return Ok(Vec::new()) };
        let mut events = Vec::new();
        for name in names {
            let event = self.event(name)?;
            if !events.contains(&event) {
                events.push(event);
            }
        }
        Ok(events)
    }

    /// A barrier, which [`Names::collect`] has found.
    pub(super) fn group(&self, name: &Name) -> u8 {
        self.names.barriers.iter().position(|(other, _)| *other == name.text).unwrap_or(0) as u8
    }

    /// The first tokens of a page, as many as there are in a page at most; 0 for all of it.
    pub(super) fn tokens(&self, arg: &Arg, pages: &[Operand], span: &Range<usize>) -> Result<u8, Diagnostic> {
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

    pub(super) fn gate(&mut self, gate: &BandRef) -> Result<u8, Diagnostic> {
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
    pub(super) fn bound_band(&self, band: &BandRef, pages: &[Operand]) -> Result<(u8, u8), Diagnostic> {
        let home = pages.first().map_or((0, 0), |operand| (operand.arena, operand.band));
        self.names.view(band, home)
    }

    pub(super) fn var(&self, name: &Name, what: &str) -> Result<u8, Diagnostic> {
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

    pub(super) fn number_var(&self, name: &Name) -> Result<u8, Diagnostic> {
        let at = self.var(name, "a number")?;
        match self.names.vars[at as usize].kind {
            VarKind::Number => Ok(at),
            _ => {
                Err(Diagnostic::new(name.span.clone(), format!("`{}` is not a number", name.text), "expected a number"))
            }
        }
    }

    pub(super) fn named_pages(&self, name: &Name) -> Result<u8, Diagnostic> {
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

    pub(super) fn addresses(&self, name: &Name) -> Result<u8, Diagnostic> {
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

    pub(super) fn buffer(&self, name: &Name) -> Result<u8, Diagnostic> {
        self.names.buffers.iter().position(|buffer| buffer.name == name.text).map(|at| at as u8).ok_or_else(|| {
            let known = self.names.buffers.iter().map(|buffer| buffer.name.as_str());
            Diagnostic::new(name.span.clone(), format!("nothing produces `{}`", name.text), "expected an index buffer")
                .help("an index buffer is filled by `S: produce BUFFER from PAGES`")
                .nearest(&name.text, known)
        })
    }

    /// A variable or buffer whose addresses an operand uses, and the band they are in.
    pub(super) fn address(&self, name: &Name) -> Result<(At, (u8, u8)), Diagnostic> {
        if let Some(at) = self.names.buffers.iter().position(|buffer| buffer.name == name.text) {
            return Ok((At::Buffer(at as u8), self.names.buffers[at].home));
        }
        let at = self.addresses(name)?;
        Ok((At::Var(at), self.names.vars[at as usize].home))
    }

    pub(super) fn one(&self, pages: &[PagesExpr]) -> Result<Operand, Diagnostic> {
        match pages {
            [one] => self.operand(one),
            _ => {
                let span = pages[0].name.span.start..pages[pages.len() - 1].name.span.end;
                Err(Diagnostic::new(span, "a list of pages", "one name here, please"))
            }
        }
    }

    pub(super) fn pages(&self, pages: &[PagesExpr]) -> Result<Vec<Operand>, Diagnostic> {
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

    pub(super) fn pages_at(&self, pages: &[PagesExpr], at: &Arg) -> Result<Vec<Operand>, Diagnostic> {
        let mut operands = self.pages(pages)?;
        if let Arg::Name(name) = at {
            let (address, _) = self.address(name)?;
            for operand in &mut operands {
                operand.at = address;
            }
        }
        Ok(operands)
    }

    pub(super) fn operand(&self, expr: &PagesExpr) -> Result<Operand, Diagnostic> {
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
        if from > to {
            let message = format!("pages {from}..{to} of `{}` end before they begin", expr.name.text);
            return Err(Diagnostic::new(expr.name.span.clone(), message, format!("did you mean [{to}..{from}]?")));
        }
        if to > cap {
            let message = format!("`{}` has at most {cap} pages", expr.name.text);
            return Err(Diagnostic::new(
                expr.name.span.clone(),
                message,
                format!("pages {from}..{to} of it do not exist"),
            ));
        }
        Ok(Operand { ids, from, to, arena, band, at })
    }

    pub(super) fn key(&mut self, name: &Name, cap: u8) -> Result<u8, Diagnostic> {
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

    pub(super) fn value(&self, value: &ValueExpr) -> Result<Value, Diagnostic> {
        Ok(match value {
            ValueExpr::Number(number) => Value::Number(*number),
            ValueExpr::Name(name) => Value::Var(self.var(name, "a number or pages")?),
        })
    }

    pub(super) fn cond(&self, cond: &CondExpr) -> Result<Cond, Diagnostic> {
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

pub(super) fn number(arg: &Arg) -> Option<u32> {
    match arg {
        Arg::Number(number) => Some(*number),
        _ => None,
    }
}
