//! A run as lanes: one column for each host thread, stream and agent that takes part, one line for each step.
//!
//! `○` is queued, `●` runs. Where two steps that conflict can both come next, they stand below the steps that were taken. A column for each arena whose layout is ever held shows `▌` while a lease holds it and
//! `▒` while an event does that a lease was handed off to.

use crate::model::CounterexampleReport;
use crate::plain::plain;
use unicode_width::UnicodeWidthStr;

/// The widest a lane gets; longer texts are cut.
const WIDEST: usize = 44;

fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        if short.width() + 2 > width {
            break;
        }
        short.push(c);
    }
    short + "…"
}

pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// The lanes of a run.
#[must_use]
pub fn render(run: &CounterexampleReport) -> String {
    let used: Vec<usize> = (0..run.agents.len())
        .filter(|agent| {
            let next = run.next().into_iter().flatten().any(|end| usize::from(end.agent) == *agent);
            next || run.rows.iter().any(|row| usize::from(row.agent) == *agent || row.queue == Some(*agent as u8))
        })
        .collect();
    let held: Vec<usize> = (0..run.arenas.len())
        .filter(|arena| run.rows.iter().any(|row| row.held.get(*arena).is_some_and(Option::is_some)))
        .collect();
    let cell = |row: &crate::model::RowReport, agent: usize| {
        let (mine, queue) = (usize::from(row.agent) == agent, row.queue == Some(agent as u8));
        let text = plain(&row.text);
        match row.kind {
            "queued" if queue => format!("○ {text}"),
            "queued" if mine => format!("queue → {}", plain(&run.agents[usize::from(row.queue.unwrap_or(0))])),
            "run" if mine => format!("● {text}"),
            "host" if mine => text,
            _ => String::new(),
        }
    };
    let next: Vec<(usize, String)> = (run.next().into_iter().flatten())
        .map(|end| {
            let text = plain(&end.text);
            (usize::from(end.agent), if run.is_queue(end.agent) { format!("● {text}") } else { text })
        })
        .collect();
    let widths: Vec<usize> = used
        .iter()
        .map(|agent| {
            let cells = run.rows.iter().map(|row| cell(row, *agent).width());
            let next = next.iter().filter(|(by, _)| by == agent).map(|(_, text)| text.width());
            cells.chain(next).chain([run.agents[*agent].width()]).max().unwrap_or(0).min(WIDEST)
        })
        .collect();
    let mut lines = Vec::new();
    let mut head = "  step".to_owned();
    for arena in &held {
        head += &format!("  {}", plain(&run.arenas[*arena].name));
    }
    for (agent, width) in used.iter().zip(&widths) {
        head += &format!("  {}", pad(&cut(&plain(&run.agents[*agent]), *width), *width));
    }
    lines.push(head.trim_end().to_owned());
    for (nth, row) in run.rows.iter().enumerate() {
        let mut line = format!("  {:>4}", nth + 1);
        for arena in &held {
            let mark = match row.held.get(*arena).copied().flatten() {
                Some("lease") => "▌",
                Some(_) => "▒",
                None => " ",
            };
            line += &format!("  {}", pad(mark, run.arenas[*arena].name.width()));
        }
        for (agent, width) in used.iter().zip(&widths) {
            line += &format!("  {}", pad(&cut(&cell(row, *agent), *width), *width));
        }
        lines.push(line.trim_end().to_owned());
        for note in &row.notes {
            lines.push(format!("          · {}", plain(note)));
        }
    }
    for ((by, text), label) in next.iter().zip(["next", "or"]) {
        let mut line = format!("  {label:>4}");
        held.iter().for_each(|arena| line += &" ".repeat(2 + run.arenas[*arena].name.width()));
        for (agent, width) in used.iter().zip(&widths) {
            let text = if agent == by { text.as_str() } else { "" };
            line += &format!("  {}", pad(&cut(text, *width), *width));
        }
        lines.push(line.trim_end().to_owned());
    }
    if !next.is_empty() {
        lines.push("          · not taken yet: either can be next".to_owned());
    }
    lines.join("\n")
}

/// The arenas at the start and when the last step begins: a letter or number for each page, page 0 first.
#[must_use]
pub fn arenas(run: &CounterexampleReport) -> String {
    let mut lines = Vec::new();
    for arena in &run.arenas {
        for band in &arena.bands {
            let width = band.before.len().to_string().len().max(2);
            let strip = |places: &[String]| {
                places
                    .iter()
                    .map(|place| {
                        let short = match place.as_str() {
                            "sink" => "S",
                            "hole" => "_",
                            "pending" => "~",
                            "free" => "·",
                            id => id,
                        };
                        format!("{short:>width$}")
                    })
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            let name = plain(&format!("{}.{}", arena.name, band.name));
            lines.push(format!("  {name:<16} at the start  {}", strip(&band.before)));
            lines.push(format!("  {:<16} at the end    {}", "", strip(&band.after)));
        }
    }
    lines.push("  (a number: the page with that id; S sink, _ hole, ~ pending, · free; page 0 first)".to_owned());
    lines.join("\n")
}
