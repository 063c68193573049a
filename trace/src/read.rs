//! Reading a trace in one pass.

use crate::check::Checker;
use crate::format::{self, Event, Header};
use crate::report::{Broken, KEPT, Report};
use std::io::BufRead;

/// The longest line, in bytes.
pub const MAX_LINE: usize = 16 << 20;

/// How compressed files begin, what they are, and what unpacks them.
const COMPRESSED: [(&[u8], &str, &str); 4] = [
    (b"\x1f\x8b", "gzip", "gzip"),
    (b"\x28\xb5\x2f\xfd", "Zstandard", "zstd"),
    (b"BZh", "bzip2", "bzip2"),
    (b"\xfd7zXZ\0", "xz", "xz"),
];

/// The first line of a trace alone.
///
/// # Errors
/// When it is no first line.
pub fn header(mut input: impl BufRead) -> Result<Header, String> {
    begin(&mut input, &mut Vec::new()).map(|(header, _)| header)
}

/// Reads a trace to its end, or as far as it can be read, and reports what was found.
///
/// `file` is the name that reports use. A trace that cannot be read from the start has no findings and a
/// [`Broken`] line 1.
pub fn check(file: &str, mut input: impl BufRead) -> Report {
    let mut report = Report {
        file: file.to_owned(),
        producer: String::new(),
        events: 0,
        fitting: 0,
        found: 0,
        findings: Vec::new(),
        checked: Vec::new(),
        unchecked: Vec::new(),
        notes: Vec::new(),
        broken: None,
    };
    let broken = |line: u64, message: String| Some(Broken { line, message });
    let mut text = Vec::new();
    let mut checker = match begin(&mut input, &mut text) {
        Ok((header, checker)) => {
            report.producer = header.producer;
            checker
        }
        Err(message) => {
            report.broken = broken(1, message);
            return report;
        }
    };
    let mut line = 1;
    let mut ended = false;
    loop {
        match next_line(&mut input, &mut text) {
            Ok(false) => break,
            Ok(true) => line += 1,
            Err(message) => {
                report.broken = broken(line + 1, message);
                break;
            }
        }
        if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        if ended {
            report.broken = broken(line, "the trace goes on after its `end`".into());
            break;
        }
        let event = match format::event(&text) {
            Ok(event) => event,
            Err(error) => {
                report.broken = broken(line, of_line(&error));
                break;
            }
        };
        ended = matches!(event, Event::End(_));
        if let Err(message) = checker.line(line, &event) {
            report.broken = broken(line, message);
            break;
        }
        checker.quote(line, &text);
        report.events += 1;
        if checker.first().is_none() {
            report.fitting = report.events;
        }
    }
    if !ended && report.broken.is_none() {
        report.broken = broken(line + 1, "the trace was cut off: its last line is not `{\"k\":\"end\"}`".into());
    }
    report.found = checker.found();
    report.findings = checker.findings().to_vec();
    (report.checked, report.unchecked) = checker.coverage();
    report.notes = checker.notes();
    if report.found > KEPT as u64 {
        report.notes.insert(0, format!("the first {KEPT} of {} findings are listed", report.found));
    }
    report
}

fn begin(input: &mut impl BufRead, text: &mut Vec<u8>) -> Result<(Header, Checker), String> {
    if !next_line(input, text)? {
        return Err("the file is empty; a trace begins with a line `{\"leasecheck_trace\":1,…}`".into());
    }
    if let Some((_, name, tool)) = COMPRESSED.iter().find(|(magic, ..)| text.starts_with(magic)) {
        return Err(format!("the file is compressed ({name}): `{tool} -dc FILE | leasecheck trace /dev/stdin`"));
    }
    let header: Header = serde_json::from_slice(text).map_err(|error| {
        format!(
            "{}; a trace begins with a line `{{\"leasecheck_trace\":1,\"producer\":…,\"arenas\":[…]}}`",
            of_line(&error)
        )
    })?;
    let checker = Checker::new(&header)?;
    Ok((header, checker))
}

/// Reads a line, without its end; false at the end of the input.
fn next_line(input: &mut impl BufRead, text: &mut Vec<u8>) -> Result<bool, String> {
    text.clear();
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(format!("cannot be read: {error}")),
        };
        let (last, end) = (buffer.is_empty(), memchr::memchr(b'\n', buffer));
        let taken = end.map_or(buffer.len(), |at| at + 1);
        text.extend_from_slice(&buffer[..end.unwrap_or(taken)]);
        input.consume(taken);
        if text.len() > MAX_LINE {
            return Err(format!("the line is longer than {MAX_LINE} bytes"));
        }
        if last || end.is_some() {
            let any = end.is_some() || !text.is_empty();
            text.truncate(text.trim_ascii_end().len());
            return Ok(any);
        }
    }
}

/// What is wrong, and in which column; the parser sees one line only.
fn of_line(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.rsplit_once(" at line ").map_or(&text[..], |(what, _)| what);
    match (error.is_eof(), error.column()) {
        (true, _) => format!("the line ends in the middle: {what}"),
        (false, 0) => what.to_owned(),
        (false, column) => format!("{what}, in column {column}"),
    }
}
