//! A run as a drawing that does not move, for pasting where a page cannot go: the lanes of `html/picture.js`, the order
//! that is missing, and the arenas at the start and at the end.

use crate::html::data::state;
use crate::model::{ArenaReport, BandReport, CaseReport, CounterexampleReport, RowReport};
use crate::picture::{EndReport, LeftReport};
use crate::plain::{plain, short};
use askama::Template;
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthStr;

const ROW: usize = 26;
const LEFT: usize = 40;
const HOLD: usize = 20;
/// Pixels between the marks of operations that wait in the same queue.
const SLOT: usize = 9;
/// The longest run that is drawn whole; of a longer one, the end.
const MOST_ROWS: usize = 300;
const MOST_GHOSTS: usize = 12;
const STRIP: usize = 640;

/// Something drawn. Places are pixels.
enum Shape {
    Box { class: String, x: usize, y: usize, width: usize, height: usize },
    Dot { class: &'static str, x: usize, y: usize },
    Line { class: &'static str, x1: usize, y1: usize, x2: usize, y2: usize },
    Path { class: &'static str, d: String, both: bool },
    Text { class: &'static str, x: usize, y: usize, text: String },
}

#[derive(Template)]
#[template(path = "run.svg")]
struct Drawing {
    title: String,
    description: String,
    width: usize,
    height: usize,
    shapes: Vec<Shape>,
}

struct Lane {
    x: usize,
    width: usize,
    text: usize,
}

/// A step that is still to come, drawn below the last row.
struct Ghost {
    agent: u8,
    queued: Option<usize>,
    text: String,
    shown: String,
    class: &'static str,
    nth: usize,
}

struct Plan<'a> {
    run: &'a CounterexampleReport,
    /// The first step that is drawn.
    first: usize,
    lanes: BTreeMap<u8, Lane>,
    /// For each queued operation, by the step that queued it: its slot in the lane, and the step that ran it.
    operations: BTreeMap<usize, (usize, Option<usize>)>,
    ghosts: Vec<Ghost>,
    held: Vec<u8>,
    top: usize,
    width: usize,
    shapes: Vec<Shape>,
}

/// Pixels of a text in the drawing's font.
fn pixels(text: &str) -> usize {
    text.width() * 29 / 4
}

fn cut(text: &str, width: usize) -> String {
    short(text, (width * 4 / 29).max(6))
}

/// Draws the run.
///
/// # Errors
/// When the drawing cannot be written, which no run has.
pub fn render(case: &CaseReport, run: &CounterexampleReport) -> Result<String, String> {
    let mut plan = Plan::new(run);
    let title = format!("{} / {}", short(&case.claim, 100), short(&case.case, 100));
    plan.text("title", 12, 22, &title);
    let statement = short(&case.statement, 160);
    plan.text("dim", 12, 40, &statement);
    plan.draw_lanes();
    let mut y = plan.draw_end();
    for (at, arena) in run.arenas.iter().enumerate() {
        y = plan.draw_arena(at, arena, y);
    }
    plan.text("dim", 12, y + 18, &run.replay);
    let width = plan.width.max(STRIP + 160).max(pixels(&short(&run.replay, 200)) + 24);
    let description = format!("{}: {}", run.code, plain(&run.message));
    let drawing = Drawing { title, description, width, height: y + 30, shapes: plan.shapes };
    drawing.render().map_err(|error| error.to_string())
}

/// The lane in which a step's mark stands.
fn lane_of(row: &RowReport) -> u8 {
    row.queue.unwrap_or(row.agent)
}

impl<'a> Plan<'a> {
    fn new(run: &'a CounterexampleReport) -> Plan<'a> {
        let first = run.rows.len().saturating_sub(MOST_ROWS) + 1;
        let mut held: Vec<u8> = run.holds.iter().map(|hold| hold.arena).collect();
        held.sort_unstable();
        held.dedup();
        let mut plan = Plan {
            run,
            first,
            lanes: BTreeMap::new(),
            operations: BTreeMap::new(),
            ghosts: ghosts(run),
            held,
            top: 76,
            width: 0,
            shapes: Vec::new(),
        };
        let slots = plan.place_operations();
        plan.place_lanes(&slots);
        plan
    }

    /// Gives every queued operation a slot of its lane for as long as it waits; the slots that each lane needs.
    fn place_operations(&mut self) -> BTreeMap<u8, usize> {
        let ran: BTreeMap<usize, usize> =
            self.run.rows.iter().enumerate().filter_map(|(at, row)| Some((row.queued?, at + 1))).collect();
        let mut busy: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
        for (at, row) in self.run.rows.iter().enumerate() {
            let (step, Some(queue)) = (at + 1, row.queue) else { continue };
            let slots = busy.entry(queue).or_default();
            let until = ran.get(&step).copied();
            let slot = slots.iter().position(|until| *until <= step).unwrap_or(slots.len().min(5));
            slots.resize(slots.len().max(slot + 1), 0);
            slots[slot] = until.unwrap_or(usize::MAX);
            self.operations.insert(step, (slot, until));
        }
        busy.into_iter().map(|(queue, slots)| (queue, slots.len())).collect()
    }

    fn place_lanes(&mut self, slots: &BTreeMap<u8, usize>) {
        let mut x = LEFT + self.held.len() * HOLD + 8;
        for (at, name) in self.run.agents.iter().enumerate() {
            let agent = at as u8;
            let rows = self.run.rows[self.first - 1..].iter();
            let texts = rows.filter_map(|row| match row.queue {
                Some(queue) if row.agent == agent => Some(self.enqueues(queue)),
                Some(queue) if queue != agent => None,
                None if row.agent != agent => None,
                _ => Some(plain(&row.text)),
            });
            let mine = self.ghosts.iter().filter(|ghost| ghost.agent == agent);
            let next =
                self.run.next().into_iter().flatten().filter(|end| end.agent == agent).map(|end| plain(&end.text));
            let widest = texts.chain(mine.map(|ghost| ghost.shown.clone())).chain(next).map(|text| pixels(&text)).max();
            let Some(widest) = widest else { continue };
            let marks = 16 + slots.get(&agent).map_or(0, |slots| slots.saturating_sub(1) * SLOT);
            let width = (marks + 14 + widest.max(pixels(&plain(name)))).clamp(110, 330);
            self.lanes.insert(agent, Lane { x, width, text: x + marks + 4 });
            x += width + 10;
        }
        self.width = x;
    }

    fn enqueues(&self, queue: u8) -> String {
        format!("enqueue on {}", plain(&self.run.agents[usize::from(queue)]))
    }

    fn y(&self, step: usize) -> usize {
        self.top + (step + 1).saturating_sub(self.first) * ROW - ROW / 2
    }

    /// The last row: that of the last step, or of the two steps that can both come next.
    fn last_row(&self) -> usize {
        self.run.rows.len() + self.run.next().map_or(0, |next| next.len())
    }

    /// Which of the two steps that can both come next this is, if it is one: its row.
    fn next_row(&self, agent: u8, queued: Option<usize>, text: &str) -> Option<usize> {
        let same = |end: &&EndReport| (end.agent, end.queued, end.text.as_str()) == (agent, queued, text);
        let at = self.run.next()?.iter().position(same)?;
        Some(self.run.rows.len() + 1 + at)
    }

    fn ghost_y(&self, nth: usize) -> usize {
        self.y(self.last_row()) + ROW / 2 + 74 + nth * ROW
    }

    fn mark(&self, agent: u8, queued: Option<usize>) -> usize {
        let slot = queued.and_then(|step| self.operations.get(&step)).map_or(0, |(slot, _)| *slot);
        self.lanes.get(&agent).map_or(LEFT, |lane| lane.x) + 8 + slot * SLOT
    }

    /// Where the mark of a step stands.
    fn point(&self, step: usize) -> (usize, usize) {
        let row = &self.run.rows[step - 1];
        let queued = if row.queue.is_some() { Some(step) } else { row.queued };
        (self.mark(lane_of(row), queued), self.y(step))
    }

    fn end(&self, end: &EndReport) -> Option<(usize, usize)> {
        if let Some(ran) = end.ran {
            return Some(self.point(ran));
        }
        if let Some(row) = self.next_row(end.agent, end.queued, &end.text) {
            return Some((self.mark(end.agent, end.queued), self.y(row)));
        }
        let mine = |ghost: &&Ghost| ghost.agent == end.agent && ghost.class != "late";
        let exact = self.ghosts.iter().filter(mine).find(|ghost| ghost.text == end.text && ghost.queued == end.queued);
        let ghost = exact.or_else(|| self.ghosts.iter().find(mine))?;
        Some((self.mark(ghost.agent, ghost.queued), self.ghost_y(ghost.nth)))
    }

    fn text(&mut self, class: &'static str, x: usize, y: usize, text: &str) {
        self.shapes.push(Shape::Text { class, x, y, text: plain(text) });
    }

    fn arrow(&mut self, class: &'static str, from: (usize, usize), to: (usize, usize), both: bool) {
        let bend = (from.0.abs_diff(to.0) / 2).clamp(24, 90);
        let d = if from.0.abs_diff(to.0) < 4 {
            let side = from.0.saturating_sub(bend);
            format!("M{},{} C{side},{} {side},{} {},{}", from.0, from.1, from.1, to.1, to.0 - 7, to.1)
        } else if to.0 > from.0 {
            let (one, other) = (from.0 + bend, to.0.saturating_sub(bend));
            format!("M{},{} C{one},{} {other},{} {},{}", from.0 + 6, from.1, from.1, to.1, to.0 - 8, to.1)
        } else {
            let (one, other) = (from.0.saturating_sub(bend), to.0 + bend);
            format!("M{},{} C{one},{} {other},{} {},{}", from.0 - 6, from.1, from.1, to.1, to.0 + 8, to.1)
        };
        self.shapes.push(Shape::Path { class, d, both });
    }

    fn draw_lanes(&mut self) {
        let (run, last) = (self.run, self.run.rows.len());
        let bottom = self.y(self.last_row()) + ROW / 2;
        let lanes: Vec<(u8, usize, usize, usize)> =
            self.lanes.iter().map(|(agent, lane)| (*agent, lane.x, lane.width, lane.text)).collect();
        for (agent, x, width, _) in &lanes {
            let height = bottom - self.top;
            self.shapes.push(Shape::Box { class: "lane".to_owned(), x: x - 4, y: self.top, width: width + 6, height });
            let kind = match run.kinds[usize::from(*agent)] {
                "thread" => "host thread",
                "rdma" => "RDMA agent",
                "finally" => "at the end",
                kind => kind,
            };
            let name = cut(&format!("{} ({kind})", run.agents[usize::from(*agent)]), *width);
            self.text("head", *x, self.top - 8, &name);
        }
        self.draw_holds(bottom);
        if self.first > 1 {
            let text = format!("{} earlier steps are left out", self.first - 1);
            self.text("dim", LEFT, self.top - 24, &text);
        }
        let spans: Vec<(u8, usize, Option<usize>)> = (run.rows.iter().enumerate())
            .filter_map(|(at, row)| Some((row.queue?, at + 1, self.operations.get(&(at + 1))?.1)))
            .collect();
        for (queue, step, until) in spans {
            let x = self.mark(queue, Some(step));
            let ghost = self.ghosts.iter().find(|ghost| ghost.queued == Some(step)).map(|ghost| ghost.nth);
            let next = run.next().and_then(|next| next.iter().position(|end| end.queued == Some(step)));
            let until = match (until, next, ghost) {
                (Some(until), ..) => self.y(until),
                (None, Some(at), _) => self.y(last + 1 + at),
                (None, None, Some(nth)) => self.ghost_y(nth),
                (None, None, None) => continue,
            };
            let from = self.y(step.max(self.first));
            if until > from {
                self.shapes.push(Shape::Line { class: "span", x1: x, y1: from, x2: x, y2: until });
            }
        }
        let first = self.first;
        for order in run.orders.iter().filter(|order| order.from >= first && order.kind == "event") {
            let (from, to) = (self.point(order.from), self.point(order.to));
            self.arrow("event", from, to, false);
            self.text("event", (from.0 + to.0) / 2, (from.1 + to.1) / 2 - 4, &order.name);
        }
        for step in self.first..=last {
            self.draw_row(step);
        }
        for (at, end) in run.next().into_iter().flatten().enumerate() {
            self.draw_next(at, end);
        }
    }

    fn draw_holds(&mut self, bottom: usize) {
        let (run, first) = (self.run, self.first);
        for hold in run.holds.iter().filter(|hold| hold.to.is_none_or(|to| to >= first)) {
            let nth = self.held.iter().position(|arena| *arena == hold.arena).unwrap_or(0);
            let y = self.y(hold.from.max(self.first));
            let height = hold.to.map_or(bottom, |to| self.y(to)).saturating_sub(y).max(ROW / 2);
            let x = LEFT + nth * HOLD;
            self.shapes.push(Shape::Box { class: format!("hold {}", hold.kind), x, y, width: HOLD - 6, height });
            if let Some(lane) = self.lanes.get(&hold.agent).filter(|_| hold.kind == "lease") {
                let (x, width) = (lane.x - 4, lane.width + 6);
                self.shapes.push(Shape::Box { class: "leased".to_owned(), x, y, width, height });
            }
        }
    }

    /// One of the two steps that can both come next.
    fn draw_next(&mut self, at: usize, end: &EndReport) {
        let (x, y) = (self.mark(end.agent, end.queued), self.y(self.run.rows.len() + 1 + at));
        self.text("number", 4, y + 4, if at == 0 { "next" } else { "or" });
        let Some((text, room)) = self.lanes.get(&end.agent).map(|lane| (lane.text, lane.x + lane.width - lane.text))
        else {
            return;
        };
        self.shapes.push(Shape::Dot { class: "open", x, y });
        self.text("wrong", text, y + 4, &cut(&end.text, room));
    }

    fn draw_row(&mut self, step: usize) {
        let row = &self.run.rows[step - 1];
        let wrong = self.run.is_wrong(step);
        let (x, y) = self.point(step);
        self.text("number", 10, y + 4, &step.to_string());
        let lane = lane_of(row);
        let Some((text, room)) = self.lanes.get(&lane).map(|lane| (lane.text, lane.x + lane.width - lane.text)) else {
            return;
        };
        if let Some(queue) = row.queue {
            if let Some(mine) = self.lanes.get(&row.agent) {
                let (at, words) = (mine.text, cut(&self.enqueues(queue), mine.x + mine.width - mine.text));
                self.text("dim", at, y + 4, &words);
            }
            self.shapes.push(Shape::Dot { class: "queued", x, y });
            self.text("dim", text, y + 4, &cut(&row.text, room));
            return;
        }
        let class = match (wrong, row.kind) {
            (true, _) => "wrong",
            (false, "run") => "ran",
            (false, _) => "host",
        };
        self.shapes.push(Shape::Dot { class, x, y });
        self.text(if wrong { "wrong" } else { "what" }, text, y + 4, &cut(&row.text, room));
    }

    /// What is said below the last row, what was still to come, and the order that is missing; the place below it.
    fn draw_end(&mut self) -> usize {
        let y = self.y(self.last_row()) + ROW / 2;
        let run = self.run;
        if !run.code.is_empty() {
            self.text("wrong", 10, y + 20, &format!("{}: {}.", run.code, short(&run.message, 200)));
        }
        if let Some(missing) = &run.missing {
            self.text("wrong", 10, y + 38, &short(&missing.sentence, 200));
        }
        let rows = self.ghosts.iter().map(|ghost| ghost.nth + 1).max().unwrap_or(0);
        if rows > 0 {
            self.text("dim", 10, y + 58, "not done yet when it happens:");
        }
        for at in 0..self.ghosts.len() {
            let Ghost { agent, queued, ref shown, class, nth, .. } = self.ghosts[at];
            let (shown, x, y) = (shown.clone(), self.mark(agent, queued), self.ghost_y(nth));
            let Some(lane) = self.lanes.get(&agent) else { continue };
            let (text, room) = (lane.text, lane.x + lane.width - lane.text);
            self.shapes.push(Shape::Dot { class: "ghost", x, y });
            self.text(class, text, y + 4, &cut(&shown, room));
        }
        if let Some(missing) = &run.missing
            && let (Some(from), Some(to)) = (self.end(&missing.before), self.end(&missing.after))
        {
            self.arrow("missing", from, to, missing.symmetric);
        }
        let words = pixels(&run.missing.as_ref().map_or(String::new(), |missing| short(&missing.sentence, 200)));
        self.width = self.width.max(words + 20).max(pixels(&short(&run.message, 200)) + 20);
        y + if rows > 0 { 74 + rows * ROW } else { 50 }
    }

    fn draw_arena(&mut self, at: usize, arena: &ArenaReport, mut y: usize) -> usize {
        let size = usize::try_from(arena.bytes).unwrap_or(usize::MAX).max(1);
        self.text("head", 12, y + 22, &format!("arena {} ({} bytes)", short(&arena.name, 60), arena.bytes));
        y += 30;
        let end: Vec<Vec<i16>> =
            arena.bands.iter().enumerate().map(|(band, def)| self.last_state(at, band, def)).collect();
        let start = arena.bands.iter().map(|band| band.before.iter().map(|word| state(word)).collect()).collect();
        for (when, states) in [("at the start", start), ("at the end", end)] {
            self.text("dim", 12, y + 18, when);
            self.shapes.push(Shape::Box { class: "strip".to_owned(), x: 110, y, width: STRIP, height: 26 });
            for (nth, (band, states)) in arena.bands.iter().zip::<Vec<Vec<i16>>>(states).enumerate() {
                let envelope = usize::try_from(band.envelope).unwrap_or(usize::MAX);
                for (page, state) in states.into_iter().enumerate().filter(|(_, state)| *state != -4) {
                    let (x, right) = (page * envelope * STRIP / size, (page + 1) * envelope * STRIP / size);
                    let word = match state {
                        -1 => "sink".to_owned(),
                        -2 => "hole".to_owned(),
                        -3 => "pending".to_owned(),
                        id => format!("{} {id}", plain(&band.name)),
                    };
                    let owner = match state {
                        id @ 0.. => format!("page c{}", (usize::from(id.unsigned_abs()) * 5 + nth * 3) % 8),
                        _ => "page none".to_owned(),
                    };
                    let width = (right - x).saturating_sub(1).max(1);
                    self.shapes.push(Shape::Box { class: owner, x: 110 + x, y: y + 1, width, height: 24 });
                    if width > pixels(&word) {
                        self.text("page", 113 + x, y + 17, &word);
                    }
                }
            }
            y += 32;
        }
        y
    }

    /// What the pages of a band are after the last step.
    fn last_state(&self, arena: usize, at: usize, band: &BandReport) -> Vec<i16> {
        let mut states: Vec<i16> = band.before.iter().map(|word| state(word)).collect();
        for change in self.run.rows.iter().flat_map(|row| &row.changes) {
            if (usize::from(change.arena), usize::from(change.band)) == (arena, at)
                && let Some(page) = states.get_mut(usize::from(change.page))
            {
                *page = state(&change.state);
            }
        }
        states
    }
}

/// What could not happen before the run ended.
fn ghosts(run: &CounterexampleReport) -> Vec<Ghost> {
    let mut ghosts: Vec<Ghost> = Vec::new();
    let mut add = |agent: u8, queued: Option<usize>, text: &str, (class, prefix): (&'static str, &str)| {
        let nth = ghosts.iter().filter(|ghost| ghost.agent == agent).count();
        if nth < MOST_GHOSTS {
            let shown = format!("{prefix}{}", plain(text));
            ghosts.push(Ghost { agent, queued, text: text.to_owned(), shown, class, nth });
        }
    };
    let is_next = |left: &&LeftReport| {
        let same = |end: &EndReport| (end.agent, end.queued, &end.text) == (left.agent, left.queued, &left.text);
        run.next().is_some_and(|next| next.into_iter().any(same))
    };
    for left in run.left.iter().filter(|left| !is_next(left)) {
        let how = if left.queued.is_some() { ("dim", "") } else { ("dim", "next: ") };
        add(left.agent, left.queued, &left.text, how);
    }
    for late in run.missing.iter().flat_map(|missing| &missing.late) {
        let line = run.program.iter().find(|line| line.line == *late);
        let agent = line.and_then(|line| run.agents.iter().position(|name| *name == line.thread));
        if let (Some(line), Some(agent)) = (line, agent) {
            add(agent as u8, None, &line.text, ("late", "too late: "));
        }
    }
    ghosts
}
