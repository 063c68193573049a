//! Names of one case: who is defined where, as what.

use super::diagnostics::Diagnostic;
use super::parse::{Arg, BandRef, Name, PagesExpr, Stmt};
use super::read::ArenaText;
use super::steps::Step;
use crate::program::{BufferDef, KeyDef, Space, VarDef, VarKind, limits};
use leasecheck_core::Ids;
use std::ops::Range;

/// The tables that interning fills.
pub(crate) struct Names<'a> {
    pub(crate) arenas: &'a [ArenaText],
    pub(crate) streams: Vec<String>,
    pub(crate) events: Vec<String>,
    pub(crate) flags: Vec<String>,
    pub(crate) locks: Vec<String>,
    pub(crate) barriers: Vec<(String, u64)>,
    pub(crate) vars: Vec<VarDef>,
    pub(crate) buffers: Vec<BufferDef>,
    pub(crate) keys: Vec<KeyDef>,
}

fn too_many(name: &Name) -> Diagnostic {
    Diagnostic::new(name.span.clone(), "too many names", format!("at most {} of a kind", limits::NAMES))
}

/// Interns a name in a table.
pub(crate) fn intern(table: &mut Vec<String>, name: &Name) -> Result<u8, Diagnostic> {
    if let Some(at) = table.iter().position(|other| *other == name.text) {
        return Ok(at as u8);
    }
    if table.len() >= limits::NAMES {
        return Err(too_many(name));
    }
    table.push(name.text.clone());
    Ok(table.len() as u8 - 1)
}

impl<'a> Names<'a> {
    /// Collects every definition of the programs, until nothing new is found: a result's kind may follow from a step
    /// that stands later or in another thread.
    pub(crate) fn collect(arenas: &'a [ArenaText], programs: &[(usize, &[Stmt])]) -> Result<Names<'a>, Diagnostic> {
        let mut names = Names {
            arenas,
            streams: Vec::new(),
            events: Vec::new(),
            flags: Vec::new(),
            locks: Vec::new(),
            barriers: Vec::new(),
            vars: Vec::new(),
            buffers: Vec::new(),
            keys: Vec::new(),
        };
        for (_, program) in programs {
            names.streams(program)?;
        }
        loop {
            let before = (names.vars.len(), names.buffers.len());
            for (_, program) in programs {
                names.definitions(program)?;
            }
            if before == (names.vars.len(), names.buffers.len()) {
                break;
            }
        }
        for (thread, program) in programs {
            names.barriers(*thread, program)?;
        }
        let mut offset = 0;
        for (cap, slot) in names.vars.iter_mut().map(|var| (var.cap, &mut var.offset)) {
            *slot = offset;
            offset += u16::from(cap);
        }
        for (cap, slot) in names.buffers.iter_mut().map(|buffer| (buffer.cap, &mut buffer.offset)) {
            *slot = offset;
            offset += u16::from(cap);
        }
        Ok(names)
    }

    /// Page slots of all variables and buffers.
    pub(crate) fn ref_slots(&self) -> usize {
        let vars = self.vars.iter().map(|var| usize::from(var.cap));
        vars.chain(self.buffers.iter().map(|buffer| usize::from(buffer.cap))).sum()
    }

    fn streams(&mut self, program: &[Stmt]) -> Result<(), Diagnostic> {
        for stmt in program {
            if let Some(stream) = &stmt.stream {
                intern(&mut self.streams, stream)?;
            }
            self.streams(&stmt.block)?;
            self.streams(&stmt.otherwise)?;
        }
        Ok(())
    }

    fn barriers(&mut self, thread: usize, program: &[Stmt]) -> Result<(), Diagnostic> {
        for stmt in program {
            if let (Step::Barrier | Step::Agree | Step::Gather, Some(Arg::Name(name))) = (stmt.step, stmt.args.first())
            {
                let known = self.barriers.len();
                match self.barriers.iter_mut().find(|(other, _)| *other == name.text) {
                    Some((_, threads)) => *threads |= 1 << thread,
                    None if known >= limits::NAMES => return Err(too_many(name)),
                    None => self.barriers.push((name.text.clone(), 1 << thread)),
                }
            }
            self.barriers(thread, &stmt.block)?;
            self.barriers(thread, &stmt.otherwise)?;
        }
        Ok(())
    }

    fn definitions(&mut self, program: &[Stmt]) -> Result<(), Diagnostic> {
        for stmt in program {
            self.definition(stmt)?;
            self.definitions(&stmt.block)?;
            self.definitions(&stmt.otherwise)?;
        }
        Ok(())
    }

    fn definition(&mut self, stmt: &Stmt) -> Result<(), Diagnostic> {
        match (stmt.step, stmt.args.as_slice()) {
            (Step::Alloc, [_, Arg::Requests(requests), Arg::Names(into)])
            | (Step::AllocWait, [Arg::Requests(requests), Arg::Names(into)]) => {
                let mut owners = Vec::new();
                // A band that binds another band's ids cannot hand out any: such a call is refused when it runs.
                let owns = |band: &BandRef| self.band(band).map(|(arena, at)| self.owner(arena, at) == at);
                let none = requests.iter().all(|(band, _)| owns(band).is_ok_and(|owns| !owns));
                for (band, pages) in requests {
                    let (arena, band_at) = self.band(band)?;
                    if none {
                        owners.push((arena, self.owner(arena, band_at), *pages, band.span()));
                        continue;
                    }
                    if self.arenas[arena as usize].config.bands[band_at as usize].ids == Ids::Own {
                        owners.push((arena, band_at, *pages, band.span()));
                    }
                }
                if owners.len() != into.len() {
                    let message = format!("{} results for {} requests", into.len(), owners.len());
                    return Err(Diagnostic::new(stmt.span.clone(), message, "expected one name for each request")
                        .help("bands that bind another band's ids get no name of their own"));
                }
                for ((arena, band, pages, span), name) in owners.into_iter().zip(into) {
                    let cap = u8::try_from(pages).ok().filter(|pages| *pages < 255).ok_or_else(|| {
                        Diagnostic::new(span, format!("{pages} pages in one request"), "at most 254 in a litmus file")
                    })?;
                    self.define(name, VarKind::Pages, (arena, band), cap)?;
                }
            }
            (Step::Admit, [_, Arg::Name(into)])
            | (Step::Available | Step::Valid | Step::Query | Step::TrySync, [_, Arg::Name(into)])
            | (Step::Lookup | Step::Evict | Step::TryRead | Step::Count | Step::TryBind, [_, _, Arg::Name(into)])
            | (Step::Gather, [_, _, _, Arg::Name(into)])
            | (Step::LeaseHeld, [_, Arg::Name(into)])
            | (Step::Let, [Arg::Name(into), ..]) => self.define(into, VarKind::Number, (0, 0), 0)?,
            (Step::Translate | Step::Raw | Step::Kernel, [Arg::Pages(pages), Arg::Name(into)]) => {
                let space = match stmt.step {
                    Step::Raw => Space::Logical,
                    Step::Kernel => Space::Kernel,
                    _ => Space::Physical,
                };
                if let Some((home, cap)) = self.extent(pages) {
                    self.define(into, VarKind::Addresses(space), home, cap)?;
                }
            }
            (Step::Select, [Arg::Band(band), Arg::Pages(pages), _, _, Arg::Name(into)]) => {
                if let Some((home, cap)) = self.extent(pages) {
                    let home = self.view(band, home)?;
                    self.define(into, VarKind::Addresses(Space::Physical), home, cap)?;
                }
            }
            (Step::ReadBuffer, [Arg::Name(buffer), Arg::Name(into)]) => {
                if let Some(def) = self.buffers.iter().find(|other| other.name == buffer.text) {
                    let (home, cap) = (def.home, def.cap);
                    self.define(into, VarKind::Addresses(Space::Physical), home, cap)?;
                }
            }
            (Step::Produce, [Arg::Name(buffer), Arg::Pages(pages)]) => {
                if let Some((home, cap)) = self.extent(pages) {
                    self.define_buffer(buffer, home, cap)?;
                }
            }
            (Step::CopyBuffer, [Arg::Name(from), Arg::Name(to)]) => {
                if let Some(def) = self.buffers.iter().find(|other| other.name == from.text) {
                    let (home, cap) = (def.home, def.cap);
                    self.define_buffer(to, home, cap)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn define(&mut self, name: &Name, kind: VarKind, home: (u8, u8), cap: u8) -> Result<(), Diagnostic> {
        if let Some(def) = self.vars.iter_mut().find(|other| other.name == name.text) {
            if (def.kind, def.home) != (kind, home) {
                let message = format!("`{}` holds something else elsewhere", name.text);
                return Err(Diagnostic::new(name.span.clone(), message, "choose another name")
                    .help("a name holds pages of one band, addresses in one band, or numbers"));
            }
            def.cap = def.cap.max(cap);
            return Ok(());
        }
        if self.vars.len() >= limits::NAMES {
            return Err(Diagnostic::new(name.span.clone(), "too many names", format!("at most {}", limits::NAMES)));
        }
        self.vars.push(VarDef { name: name.text.clone(), kind, home, cap, offset: 0 });
        Ok(())
    }

    fn define_buffer(&mut self, name: &Name, home: (u8, u8), cap: u8) -> Result<(), Diagnostic> {
        if let Some(def) = self.buffers.iter_mut().find(|other| other.name == name.text) {
            if def.home != home {
                let message = format!("index buffer `{}` holds pages of another band elsewhere", name.text);
                return Err(Diagnostic::new(name.span.clone(), message, "choose another name"));
            }
            def.cap = def.cap.max(cap);
            return Ok(());
        }
        if self.buffers.len() >= limits::NAMES {
            return Err(too_many(name));
        }
        self.buffers.push(BufferDef { name: name.text.clone(), home, cap, offset: 0 });
        Ok(())
    }

    /// Home and number of pages of an expression, as far as its names are known yet.
    fn extent(&self, pages: &[PagesExpr]) -> Option<((u8, u8), u8)> {
        let mut home = None;
        let mut sum = 0_u8;
        for expr in pages {
            let (own, cap) = match self.vars.iter().find(|var| var.name == expr.name.text) {
                Some(var) => (var.home, var.cap),
                None => {
                    let buffer = self.buffers.iter().find(|buffer| buffer.name == expr.name.text)?;
                    (buffer.home, buffer.cap)
                }
            };
            let own = match &expr.band {
                Some(band) => self.view(band, own).ok()?,
                None => own,
            };
            home = home.or(Some(own));
            sum = sum.saturating_add(expr.range.map_or(cap, |(from, to)| to.saturating_sub(from)));
        }
        Some((home?, sum))
    }

    pub(crate) fn arena(&self, name: &Name) -> Result<u8, Diagnostic> {
        let known = self.arenas.iter().map(|arena| arena.name.value.as_str());
        self.arenas.iter().position(|arena| arena.name.value == name.text).map(|at| at as u8).ok_or_else(|| {
            Diagnostic::new(name.span.clone(), format!("unknown arena `{}`", name.text), "not an arena of this file")
                .nearest(&name.text, known)
        })
    }

    /// The arena that is meant where none is named: the only one, or the one called `host`.
    pub(crate) fn default_arena(&self, span: &Range<usize>) -> Result<u8, Diagnostic> {
        if self.arenas.len() == 1 {
            return Ok(0);
        }
        let host = self.arenas.iter().position(|arena| arena.name.value == "host");
        host.map(|at| at as u8).ok_or_else(|| {
            Diagnostic::new(span.clone(), "which arena?", "there are several, and none is called `host`: name one")
        })
    }

    pub(crate) fn band(&self, band: &BandRef) -> Result<(u8, u8), Diagnostic> {
        let places = |arena: usize| {
            let bands = &self.arenas[arena].config.bands;
            bands.iter().position(|other| other.name == band.band.text).map(|at| (arena as u8, at as u8))
        };
        if let Some(arena) = &band.arena {
            let arena_at = self.arena(arena)? as usize;
            return places(arena_at).ok_or_else(|| {
                let known = self.arenas[arena_at].config.bands.iter().map(|band| band.name.as_str());
                let message = format!("arena `{}` has no band `{}`", arena.text, band.band.text);
                Diagnostic::new(band.band.span.clone(), message, "not a band").nearest(&band.band.text, known)
            });
        }
        let found: Vec<(u8, u8)> = (0..self.arenas.len()).filter_map(places).collect();
        match found.as_slice() {
            [one] => Ok(*one),
            [] => {
                let known = self.arenas.iter().flat_map(|arena| &arena.config.bands).map(|band| band.name.as_str());
                let message = format!("unknown band `{}`", band.band.text);
                Err(Diagnostic::new(band.span(), message, "not a band of this file").nearest(&band.band.text, known))
            }
            _ => Err(Diagnostic::new(
                band.span(),
                format!("several arenas have a band `{}`", band.band.text),
                "which arena?",
            )
            .help(format!("write `ARENA.{}`", band.band.text))),
        }
    }

    /// The band that owns the ids of a band.
    fn owner(&self, arena: u8, band: u8) -> u8 {
        match self.arenas[arena as usize].config.bands[band as usize].ids {
            Ids::Own => band,
            Ids::Of(owner) => owner.0,
        }
    }

    /// The band in which ids of `home` are looked at.
    pub(crate) fn view(&self, band: &BandRef, home: (u8, u8)) -> Result<(u8, u8), Diagnostic> {
        let arena = &self.arenas[home.0 as usize];
        let found = match &band.arena {
            Some(_) => self.band(band)?,
            None => match arena.config.bands.iter().position(|other| other.name == band.band.text) {
                Some(at) => (home.0, at as u8),
                None => self.band(band)?,
            },
        };
        if found.0 == home.0 && self.owner(found.0, found.1) == self.owner(home.0, home.1) {
            return Ok(found);
        }
        let message = format!("band `{}` does not share ids with these pages", band.band.text);
        Err(Diagnostic::new(band.span(), message, "expected a band whose `ids_of` is theirs"))
    }
}
