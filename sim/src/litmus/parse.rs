//! Step programs to statements, driven by the table of [`super::steps`].

use super::diagnostics::Diagnostic;
use super::lex::{Lexeme, Token, lex};
use super::steps::{Part, Queued, RESERVED, STEPS, Slot, Step, StepDef, parts};
use crate::program::{Class, Compare, Fold, limits};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

/// A word and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Range<usize>,
}

/// `band` or `arena.band`.
#[derive(Clone, Debug)]
pub(crate) struct BandRef {
    pub(crate) arena: Option<Name>,
    pub(crate) band: Name,
}

impl BandRef {
    pub(crate) fn span(&self) -> Range<usize> {
        let start = self.arena.as_ref().map_or(self.band.span.start, |arena| arena.span.start);
        start..self.band.span.end
    }
}

/// Pages as written.
#[derive(Clone, Debug)]
pub(crate) struct PagesExpr {
    pub(crate) band: Option<BandRef>,
    pub(crate) name: Name,
    pub(crate) range: Option<(u8, u8)>,
}

#[derive(Clone, Debug)]
pub(crate) enum ValueExpr {
    Number(i16),
    Name(Name),
}

#[derive(Clone, Debug)]
pub(crate) struct CondExpr {
    pub(crate) left: ValueExpr,
    pub(crate) compare: Compare,
    pub(crate) right: ValueExpr,
}

/// What stood in a slot.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    /// An optional part that was left out.
    Absent,
    /// An optional part without slots that was there.
    Present,
    Name(Name),
    Names(Vec<Name>),
    Band(BandRef),
    Requests(Vec<(BandRef, u32)>),
    Pages(Vec<PagesExpr>),
    Number(u32),
    Key(Name, Option<u8>),
    Attributes(Vec<(Name, String)>),
    Cond(CondExpr),
    Value(ValueExpr),
}

/// A statement: a step, and the blocks it governs.
#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub(crate) step: Step,
    pub(crate) stream: Option<Name>,
    pub(crate) args: Vec<Arg>,
    pub(crate) span: Range<usize>,
    pub(crate) block: Vec<Stmt>,
    pub(crate) otherwise: Vec<Stmt>,
}

/// The words of [`Slot::Class`].
pub(crate) const CLASSES: [(&str, Class); 5] = [
    ("live", Class::Live),
    ("cached", Class::Cached),
    ("pinned", Class::Pinned),
    ("pending", Class::Pending),
    ("holes", Class::Holes),
];

/// The words of [`Slot::Fold`].
pub(crate) const FOLDS: [(&str, Fold); 3] = [("min", Fold::Min), ("max", Fold::Max), ("sum", Fold::Sum)];

/// Blocks nested deeper than this are refused: nobody writes them, and recursion stays shallow.
const MAX_DEPTH: usize = 16;

/// The table, its syntaxes split into parts.
pub(crate) static SYNTAXES: LazyLock<Vec<(&'static StepDef, Vec<Part>)>> =
    LazyLock::new(|| STEPS.iter().map(|def| (def, parts(def.syntax))).collect());

/// The places in [`SYNTAXES`] of those that may start with a word.
static STARTS: LazyLock<BTreeMap<&'static str, Vec<usize>>> = LazyLock::new(|| {
    let mut starts: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (at, (_, parts)) in SYNTAXES.iter().enumerate() {
        // After an optional word, the word behind it.
        let count = if matches!(parts.first(), Some(Part::Optional(_))) { 2 } else { 1 };
        for part in parts.iter().take(count) {
            let word = match part {
                Part::Optional(group) => group.first(),
                part => Some(part),
            };
            if let Some(Part::Word(word)) = word {
                starts.entry(*word).or_default().push(at);
            }
        }
    }
    starts
});

struct Parser<'a> {
    /// The whole file.
    text: &'a str,
    lexemes: &'a [Lexeme],
    at: usize,
    end: usize,
    /// Statements so far, in all blocks.
    statements: usize,
    /// While it is only found out which syntax fits, nobody reads what is wrong with the others.
    quiet: bool,
}

/// Parses a program that stands at byte `offset` of `file`.
pub(crate) fn parse(file: &str, program: Range<usize>) -> Result<Vec<Stmt>, Diagnostic> {
    let text = file.get(program.clone()).unwrap_or_default();
    let lexemes = lex(text, program.start)?;
    let mut parser = Parser { text: file, lexemes: &lexemes, at: 0, end: program.end, statements: 0, quiet: false };
    let statements = parser.block(0)?;
    match parser.peek() {
        None => Ok(statements),
        Some(_) => Err(Diagnostic::new(parser.span(), "a block ends that was never opened", "no `{` belongs to this")),
    }
}

impl Parser<'_> {
    fn peek(&self) -> Option<Token> {
        self.lexemes.get(self.at).map(|lexeme| lexeme.token)
    }

    fn span(&self) -> Range<usize> {
        self.lexemes.get(self.at).map_or(self.end..self.end, |lexeme| lexeme.span.clone())
    }

    fn last_end(&self) -> usize {
        self.at.checked_sub(1).map_or(self.end, |at| self.lexemes[at].span.end)
    }

    fn str(&self) -> &str {
        self.text.get(self.span()).unwrap_or_default()
    }

    fn take(&mut self, token: Token) -> bool {
        let found = self.peek() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn block(&mut self, depth: usize) -> Result<Vec<Stmt>, Diagnostic> {
        if depth > MAX_DEPTH {
            return Err(Diagnostic::new(self.span(), "blocks are nested too deeply", format!("at most {MAX_DEPTH}")));
        }
        let mut statements = Vec::new();
        loop {
            while self.take(Token::End) {}
            match self.peek() {
                None | Some(Token::BlockClose) => return Ok(statements),
                Some(_) => statements.push(self.statement(depth)?),
            }
        }
    }

    fn statement(&mut self, depth: usize) -> Result<Stmt, Diagnostic> {
        let start = self.span().start;
        let mut stream = None;
        if self.peek() == Some(Token::Word)
            && self.lexemes.get(self.at + 1).is_some_and(|next| next.token == Token::Colon)
        {
            stream = Some(self.name(Slot::EventOrStream)?);
            self.at += 1;
        }
        self.statements += 1;
        if self.statements > limits::STEPS {
            let expected = format!("at most {} in a case", limits::STEPS);
            return Err(Diagnostic::new(self.span(), "too many steps", expected));
        }
        let (def, args) = self.step(stream.as_ref())?;
        let end = self.last_end();
        let mut statement =
            Stmt { step: def.step, stream, args, span: start..end, block: Vec::new(), otherwise: Vec::new() };
        if matches!(def.step, Step::If | Step::While | Step::Repeat) {
            statement.block = self.block(depth + 1)?;
            self.close(start)?;
            if def.step == Step::If && self.peek() == Some(Token::Word) && self.str() == "else" {
                self.at += 1;
                if !self.take(Token::BlockOpen) {
                    return Err(Diagnostic::new(self.span(), "`else` needs a block", "expected `{`"));
                }
                statement.otherwise = self.block(depth + 1)?;
                self.close(start)?;
            }
        }
        match self.peek() {
            None | Some(Token::BlockClose | Token::End) => Ok(statement),
            Some(_) => Err(Diagnostic::new(self.span(), "one step a line", "expected the end of the line")
                .help(format!("`{}` is complete before this; write the next step on a line of its own", def.syntax))),
        }
    }

    fn close(&mut self, start: usize) -> Result<(), Diagnostic> {
        if self.take(Token::BlockClose) {
            return Ok(());
        }
        Err(Diagnostic::new(start..start + 1, "a block is never closed", "this block needs a `}`"))
    }

    /// Matches the tokens against the syntaxes that start with the same word.
    fn step(&mut self, stream: Option<&Name>) -> Result<(&'static StepDef, Vec<Arg>), Diagnostic> {
        let start = self.at;
        let word = if self.peek() == Some(Token::Word) { self.str() } else { "" };
        let candidates = STARTS.get(word).map(Vec::as_slice).unwrap_or_default();
        self.quiet = true;
        let fits = candidates.iter().find_map(|at| self.syntax(*at, start, stream).ok());
        self.quiet = false;
        if let Some(fits) = fits {
            return Ok(fits);
        }
        let mut best: Option<(usize, Diagnostic, &StepDef)> = None;
        for at in candidates {
            if let Err(wrong) = self.syntax(*at, start, stream)
                && best.as_ref().is_none_or(|(reached, ..)| self.at > *reached)
            {
                best = Some((self.at, wrong, SYNTAXES[*at].0));
            }
        }
        self.at = start;
        let word = if self.peek() == Some(Token::Word) { self.str() } else { "" };
        Err(match best {
            Some((_, wrong, def)) => {
                wrong.help(format!("`{}`: {}; for example `{}`", usage(def), def.doc, def.example))
            }
            None if word.is_empty() => Diagnostic::new(self.span(), "a step starts with a word", "expected a step")
                .help("`leasecheck list steps` shows them all"),
            None => {
                let known = STEPS.iter().filter_map(|def| {
                    def.syntax.split(' ').find(|part| part.starts_with(|first: char| first.is_ascii_lowercase()))
                });
                let unknown = Diagnostic::new(self.span(), format!("unknown step `{word}`"), "not a step")
                    .help("`leasecheck list steps` shows them all");
                unknown.nearest(word, known)
            }
        })
    }

    /// Matches the tokens from `start` on against one syntax.
    fn syntax(
        &mut self,
        at: usize,
        start: usize,
        stream: Option<&Name>,
    ) -> Result<(&'static StepDef, Vec<Arg>), Diagnostic> {
        let (def, parts) = &SYNTAXES[at];
        self.at = start;
        let mut args = Vec::new();
        self.parts(parts, &mut args)?;
        let complete = matches!(self.peek(), None | Some(Token::End | Token::BlockClose))
            || matches!(parts.last(), Some(Part::Symbol("{")));
        let word = || self.text.get(self.lexemes[start].span.clone()).unwrap_or_default();
        match (def.queued, stream) {
            _ if !complete => {
                Err(self
                    .wrong(|| (format!("`{}` goes on unexpectedly", word()), "expected the end of the step".into())))
            }
            (Queued::Yes, None) => {
                let expected = "expected a stream in front, such as `copy:`";
                Err(Diagnostic::new(
                    self.lexemes[start].span.clone(),
                    format!("`{}` runs on a stream", word()),
                    expected,
                ))
            }
            (Queued::No, Some(stream)) => {
                let message = format!("`{}` cannot be queued", word());
                Err(Diagnostic::new(stream.span.clone(), message, "only the host thread does this"))
            }
            _ => Ok((def, args)),
        }
    }

    /// What is wrong with the next token: a message, and what was expected.
    fn wrong(&self, text: impl FnOnce() -> (String, String)) -> Diagnostic {
        let (message, expected) = if self.quiet { (String::new(), String::new()) } else { text() };
        Diagnostic::new(self.span(), message, expected)
    }

    fn parts(&mut self, parts: &[Part], args: &mut Vec<Arg>) -> Result<(), Diagnostic> {
        for part in parts {
            match part {
                Part::Word(word) => self.word(word)?,
                Part::Symbol(symbol) => self.symbol(symbol)?,
                Part::Slot(slot) => {
                    let arg = self.slot(*slot)?;
                    args.push(arg);
                }
                Part::Optional(group) => self.optional(group, args)?,
            }
        }
        Ok(())
    }

    fn optional(&mut self, group: &[Part], args: &mut Vec<Arg>) -> Result<(), Diagnostic> {
        let there = match group.first() {
            Some(Part::Word(word)) => self.peek() == Some(Token::Word) && self.str() == *word,
            Some(Part::Symbol(symbol)) => self.str() == *symbol,
            Some(Part::Slot(Slot::N)) => self.peek() == Some(Token::Number),
            Some(Part::Slot(_)) => self.peek() == Some(Token::Word) && !RESERVED.contains(&self.str()),
            _ => false,
        };
        let slots = group.iter().filter(|part| matches!(part, Part::Slot(_))).count();
        if there {
            if slots == 0 {
                args.push(Arg::Present);
            }
            self.parts(group, args)
        } else {
            args.extend(std::iter::repeat_n(Arg::Absent, slots.max(1)));
            Ok(())
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Diagnostic> {
        if self.peek() == Some(Token::Word) && self.str() == word {
            self.at += 1;
            return Ok(());
        }
        Err(self.wrong(|| (format!("expected `{word}`"), format!("expected `{word}`"))))
    }

    fn symbol(&mut self, symbol: &str) -> Result<(), Diagnostic> {
        if self.peek().is_some() && self.str() == symbol {
            self.at += 1;
            return Ok(());
        }
        Err(self.wrong(|| (format!("expected `{symbol}`"), format!("expected `{symbol}`"))))
    }

    fn name(&mut self, slot: Slot) -> Result<Name, Diagnostic> {
        if self.peek() == Some(Token::Word) && RESERVED.contains(&self.str()) {
            let message = || format!("`{}` is a word of the step language and cannot be a name", self.str());
            return Err(self.wrong(|| (message(), format!("expected {}", slot.expected()))));
        }
        self.any_word(slot)
    }

    fn any_word(&mut self, slot: Slot) -> Result<Name, Diagnostic> {
        let expected = slot.expected();
        if self.peek() != Some(Token::Word) {
            return Err(self.wrong(|| (format!("expected {expected}"), format!("expected {expected}"))));
        }
        let text = self.str().to_owned();
        if text.len() > limits::NAME {
            let message = format!("a name of {} letters", text.len());
            return Err(Diagnostic::new(self.span(), message, format!("at most {}", limits::NAME)));
        }
        let name = Name { text, span: self.span() };
        self.at += 1;
        Ok(name)
    }

    /// One of a few words.
    fn one_of(&mut self, slot: Slot, words: &[&'static str]) -> Result<Name, Diagnostic> {
        let name = self.name(slot)?;
        if words.contains(&name.text.as_str()) {
            return Ok(name);
        }
        let expected = format!("expected {}", slot.expected());
        Err(Diagnostic::new(name.span.clone(), format!("unknown word `{}`", name.text), expected)
            .nearest(&name.text, words.iter().copied()))
    }

    fn number(&mut self, most: u32) -> Result<u32, Diagnostic> {
        if self.peek() != Some(Token::Number) {
            return Err(Diagnostic::new(self.span(), "expected a number", "expected a number"));
        }
        let Some(number) = self.str().parse::<u32>().ok().filter(|number| *number <= most) else {
            let message = format!("`{}` is too large", self.str());
            return Err(Diagnostic::new(self.span(), message, format!("at most {most}")));
        };
        self.at += 1;
        Ok(number)
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Result<T, Diagnostic>) -> Result<Vec<T>, Diagnostic> {
        let mut all = vec![one(self)?];
        while self.take(Token::Comma) {
            all.push(one(self)?);
        }
        Ok(all)
    }

    fn band(&mut self, slot: Slot) -> Result<BandRef, Diagnostic> {
        let first = self.name(slot)?;
        if self.take(Token::Dot) {
            let band = self.name(slot)?;
            return Ok(BandRef { arena: Some(first), band });
        }
        Ok(BandRef { arena: None, band: first })
    }

    fn pages(&mut self) -> Result<PagesExpr, Diagnostic> {
        let first = self.band(Slot::Pages)?;
        let more = self.peek() == Some(Token::Word) && !RESERVED.contains(&self.str());
        let (band, name) = if more {
            (Some(first), self.name(Slot::Pages)?)
        } else if first.arena.is_some() {
            return Err(Diagnostic::new(self.span(), "a band, but of which pages?", "expected the name of pages"));
        } else {
            (None, first.band)
        };
        let mut range = None;
        if self.take(Token::Open) {
            let from = self.number(254)? as u8;
            let to = if self.take(Token::To) { self.number(255)? as u8 } else { from + 1 };
            self.symbol("]")?;
            range = Some((from, to));
        }
        Ok(PagesExpr { band, name, range })
    }

    fn value(&mut self) -> Result<ValueExpr, Diagnostic> {
        if self.peek() == Some(Token::Number) {
            return Ok(ValueExpr::Number(self.number(10_000)? as i16));
        }
        Ok(ValueExpr::Name(self.name(Slot::Value)?))
    }

    fn cond(&mut self) -> Result<CondExpr, Diagnostic> {
        if self.peek() == Some(Token::Word) && self.str() == "not" {
            self.at += 1;
            let left = self.value()?;
            return Ok(CondExpr { left, compare: Compare::Eq, right: ValueExpr::Number(0) });
        }
        let left = self.value()?;
        let compare = match self.peek() {
            Some(Token::Eq) => Compare::Eq,
            Some(Token::Ne) => Compare::Ne,
            Some(Token::Lt) => Compare::Lt,
            Some(Token::Le) => Compare::Le,
            Some(Token::Gt) => Compare::Gt,
            Some(Token::Ge) => Compare::Ge,
            _ => return Ok(CondExpr { left, compare: Compare::Ne, right: ValueExpr::Number(0) }),
        };
        self.at += 1;
        let right = self.value()?;
        Ok(CondExpr { left, compare, right })
    }

    fn slot(&mut self, slot: Slot) -> Result<Arg, Diagnostic> {
        Ok(match slot {
            Slot::Pages => Arg::Pages(self.list(Parser::pages)?),
            Slot::Vars | Slot::Arenas | Slot::Events | Slot::Keys => Arg::Names(self.list(|parser| parser.name(slot))?),
            Slot::Requests => Arg::Requests(self.list(|parser| {
                let band = parser.band(slot)?;
                Ok((band, parser.number(1_000_000)?))
            })?),
            Slot::Band | Slot::Gate | Slot::Place => Arg::Band(self.band(slot)?),
            Slot::N => Arg::Number(self.number(1_000)?),
            Slot::Cond => Arg::Cond(self.cond()?),
            Slot::Value => Arg::Value(self.value()?),
            Slot::Attributes => Arg::Attributes(self.list(|parser| {
                let name = parser.any_word(slot)?;
                if parser.peek() == Some(Token::Number) {
                    return Ok((name, parser.number(10_000)?.to_string()));
                }
                Ok((name, parser.any_word(slot)?.text))
            })?),
            Slot::Class => Arg::Name(self.one_of(slot, &CLASSES.map(|(word, _)| word))?),
            Slot::Fold => Arg::Name(self.one_of(slot, &FOLDS.map(|(word, _)| word))?),
            Slot::Key => {
                let name = self.name(slot)?;
                let mut index = None;
                if self.take(Token::Open) {
                    index = Some(self.number(254)? as u8);
                    self.symbol("]")?;
                }
                Arg::Key(name, index)
            }
            _ => Arg::Name(self.name(slot)?),
        })
    }
}

/// The syntax with the stream in front, as people write it.
#[must_use]
pub fn usage(def: &StepDef) -> String {
    match def.queued {
        Queued::Yes => format!("S: {}", def.syntax),
        Queued::Maybe => format!("[S:] {}", def.syntax),
        Queued::No => def.syntax.to_owned(),
    }
}
