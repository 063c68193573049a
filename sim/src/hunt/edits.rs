//! Changes that make a draft simpler: of a step's text, or of everything that is said about a name.

use super::draft::{Draft, Stmt};
use std::collections::BTreeSet;

/// Simpler versions of a step.
pub(super) fn variants(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    if let Some(request) = Asked::read(text) {
        all.extend(request.simpler().map(|simpler| simpler.to_string()));
    }
    let words: Vec<&str> = text.split(' ').collect();
    // A list without one of its names.
    for at in 0..words.len().saturating_sub(1) {
        if let Some(name) = words[at].strip_suffix(',') {
            let without = [&words[..at], &words[at + 1..]].concat();
            let mut last = [&words[..=at], &words[at + 2..]].concat();
            // The name behind the comma may have a comma of its own.
            if !words[at + 1].ends_with(',') {
                last[at] = name;
            }
            all.extend([without.join(" "), last.join(" ")]);
        }
    }
    if let [rest @ .., "on" | "after" | "at" | "ttl" | "fails" | "only", _] = words.as_slice() {
        all.push(rest.join(" "));
    }
    all.retain(|other| other != text);
    all
}

/// A step that asks for pages: `try alloc host.full 2, host.swa 1 -> a, s`.
#[derive(Clone)]
struct Asked<'a> {
    head: &'a str,
    requests: Vec<(&'a str, u32)>,
    into: Vec<&'a str>,
}

impl<'a> Asked<'a> {
    fn read(text: &'a str) -> Option<Asked<'a>> {
        let head = ["try alloc ", "wait alloc ", "alloc ", "admit "].into_iter().find(|head| text.starts_with(head))?;
        let (requests, into) = text[head.len()..].split_once(" -> ")?;
        let request = |text: &'a str| {
            let (band, pages) = text.split_once(' ')?;
            Some((band, pages.parse().ok()?))
        };
        let requests = requests.split(", ").map(request).collect::<Option<_>>()?;
        Some(Asked { head, requests, into: into.split(", ").collect() })
    }

    /// The same with a page less, or without one of its bands.
    fn simpler(&self) -> impl Iterator<Item = Asked<'a>> + '_ {
        let less = (0..self.requests.len()).filter(|at| self.requests[*at].1 > 1).map(|at| {
            let mut less = self.clone();
            less.requests[at].1 -= 1;
            less
        });
        let without = (0..self.requests.len()).filter(|_| self.requests.len() > 1).map(|at| {
            let mut without = self.clone();
            if without.into.len() == without.requests.len() {
                without.into.remove(at);
            }
            without.requests.remove(at);
            without
        });
        less.chain(without)
    }
}

impl std::fmt::Display for Asked<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let requests: Vec<String> = self.requests.iter().map(|(band, pages)| format!("{band} {pages}")).collect();
        write!(f, "{}{} -> {}", self.head, requests.join(", "), self.into.join(", "))
    }
}

/// One step that does what two do: they ask for pages of different bands, or differ in one name.
pub(super) fn joined(one: &Stmt, other: &Stmt) -> Option<String> {
    if !one.block.is_empty() || !other.block.is_empty() {
        return None;
    }
    if let (Some(mut first), Some(second)) = (Asked::read(&one.text), Asked::read(&other.text)) {
        let apart = second.requests.iter().all(|(band, _)| first.requests.iter().all(|(known, _)| known != band));
        return (first.head == second.head && apart).then(|| {
            first.requests.extend(second.requests);
            first.into.extend(second.into);
            first.to_string()
        });
    }
    let (mut words, others): (Vec<&str>, Vec<&str>) = (one.text.split(' ').collect(), other.text.split(' ').collect());
    if words.len() != others.len() {
        return None;
    }
    let mut differing = (0..words.len()).filter(|at| words[*at] != others[*at]);
    let (at, None) = (differing.next()?, differing.next()) else { return None };
    let both = format!("{}, {}", words[at], others[at]);
    words[at] = &both;
    Some(words.join(" "))
}

/// The words of a step.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty())
}

/// The lists of a draft's steps.
fn programs(draft: &mut Draft) -> impl Iterator<Item = &mut Vec<Stmt>> {
    let Draft { setup, finally, threads, .. } = draft;
    [setup, finally].into_iter().chain(threads.iter_mut().map(|(_, steps)| steps))
}

/// Names that the generator gave: a letter, or a word that ends in a number.
pub(super) fn names(draft: &Draft) -> BTreeSet<String> {
    fn collect(steps: &[Stmt], out: &mut BTreeSet<String>) {
        for stmt in steps {
            let given = |word: &&str| {
                let letter = word.starts_with(|first: char| first.is_ascii_lowercase());
                letter && (word.len() == 1 || word.ends_with(|last: char| last.is_ascii_digit()))
            };
            out.extend(words(&stmt.text).filter(given).map(str::to_owned));
            collect(&stmt.block, out);
        }
    }
    let mut out = BTreeSet::new();
    programs(&mut draft.clone()).for_each(|steps| collect(steps, &mut out));
    out
}

/// Pairs of different names, each way round.
pub(super) fn pairs(names: &BTreeSet<String>) -> Vec<(String, String)> {
    let all =
        |one: &String| names.iter().filter(|other| *other != one).map(|other| (one.clone(), other.clone())).collect();
    names.iter().flat_map(|one| -> Vec<(String, String)> { all(one) }).collect()
}

/// The text with one name in the place of another.
fn renamed(text: &str, from: &str, to: &str) -> String {
    let ends = |c: char| !c.is_ascii_alphanumeric();
    let word = |word: &str| match word.trim_end_matches(ends) {
        bare if bare == from => word.replacen(from, to, 1),
        _ => word.to_owned(),
    };
    text.split_inclusive(ends).map(word).collect()
}

/// How a step gives a name its meaning: pages stand alone behind an allocation, events behind `record`.
fn gives(text: &str, name: &str) -> Option<&'static str> {
    let allocates = text.contains("alloc ") && text.ends_with(&format!(" -> {name}"));
    let records = text.ends_with(&format!("record {name}"));
    if allocates { Some("alloc") } else { records.then_some("record") }
}

/// Says `to` wherever `from` stands, and drops the first step that gave `from` its meaning. Whether both names had one, of
/// the same kind.
pub(super) fn identify(draft: &mut Draft, to: &str, from: &str) -> bool {
    fn meaning(steps: &[Stmt], name: &str) -> Option<&'static str> {
        steps.iter().find_map(|stmt| gives(&stmt.text, name).or_else(|| meaning(&stmt.block, name)))
    }
    fn drop(steps: &mut Vec<Stmt>, name: &str) -> bool {
        if let Some(at) = steps.iter().position(|stmt| gives(&stmt.text, name).is_some()) {
            steps.remove(at);
            return true;
        }
        steps.iter_mut().any(|stmt| drop(&mut stmt.block, name))
    }
    fn rename(steps: &mut [Stmt], from: &str, to: &str) {
        for stmt in steps {
            stmt.text = renamed(&stmt.text, from, to);
            rename(&mut stmt.block, from, to);
        }
    }
    let kind = |draft: &mut Draft, name: &str| programs(draft).find_map(|steps| meaning(steps, name));
    let (mine, theirs) = (kind(draft, to), kind(draft, from));
    if mine.is_none() || mine != theirs {
        return false;
    }
    let dropped = programs(draft).any(|steps| drop(steps, from));
    programs(draft).for_each(|steps| rename(steps, from, to));
    dropped
}

/// Takes away the steps that name something.
pub(super) fn forget(draft: &mut Draft, name: &str) {
    fn drop(steps: &mut Vec<Stmt>, name: &str) {
        steps.retain(|stmt| words(&stmt.text).all(|word| word != name));
        steps.iter_mut().for_each(|stmt| drop(&mut stmt.block, name));
    }
    programs(draft).for_each(|steps| drop(steps, name));
}

/// Takes away blocks and threads that have become empty.
pub(super) fn tidy(draft: &mut Draft) {
    fn heads(steps: &mut Vec<Stmt>) {
        for stmt in steps.iter_mut() {
            heads(&mut stmt.block);
        }
        let head = |stmt: &Stmt| ["if ", "while ", "repeat "].iter().any(|word| stmt.text.starts_with(word));
        steps.retain(|stmt| !stmt.block.is_empty() || !head(stmt));
    }
    heads(&mut draft.setup);
    heads(&mut draft.finally);
    for (_, steps) in &mut draft.threads {
        heads(steps);
    }
    draft.threads.retain(|(_, steps)| !steps.is_empty());
}
