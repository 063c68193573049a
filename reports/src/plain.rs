//! Names and texts as they may be shown: on one line, in the order in which they are written.

/// The text on one line. Control characters, which would break lines apart or do worse to a terminal, become blanks;
/// marks that turn the direction of writing, with which a name can look like another, are spelled out.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
                out += &format!("⟨U+{:04X}⟩", u32::from(c));
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// At most so many characters of the text, on one line.
#[must_use]
pub fn short(text: &str, most: usize) -> String {
    let text = plain(text);
    if text.chars().count() <= most {
        return text;
    }
    text.chars().take(most.saturating_sub(1)).collect::<String>() + "…"
}
