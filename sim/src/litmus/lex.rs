//! Tokens of step programs.

use super::diagnostics::Diagnostic;
use logos::Logos;
use std::ops::Range;

/// A token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r]+")]
#[logos(skip(r"#[^\n]*", allow_greedy = true))]
pub(crate) enum Token {
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*")]
    Word,
    #[regex(r"[0-9]+")]
    Number,
    #[token("->")]
    Arrow,
    #[token("..")]
    To,
    #[token("==")]
    Eq,
    #[token("!=")]
    Ne,
    #[token("<=")]
    Le,
    #[token(">=")]
    Ge,
    #[token("<")]
    Lt,
    #[token(">")]
    Gt,
    #[token("=")]
    Assign,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token(":")]
    Colon,
    #[token(",")]
    Comma,
    #[token(".")]
    Dot,
    #[token("[")]
    Open,
    #[token("]")]
    Close,
    #[token("{")]
    BlockOpen,
    #[token("}")]
    BlockClose,
    #[regex(r"[\n;]")]
    End,
}

/// A token and where it stands in the file.
#[derive(Clone, Debug)]
pub(crate) struct Lexeme {
    pub(crate) token: Token,
    pub(crate) span: Range<usize>,
}

/// Splits a program that starts at byte `offset` of the file.
pub(crate) fn lex(text: &str, offset: usize) -> Result<Vec<Lexeme>, Diagnostic> {
    let mut lexemes = Vec::new();
    for (token, span) in Token::lexer(text).spanned() {
        let span = span.start + offset..span.end + offset;
        match token {
            Ok(token) => lexemes.push(Lexeme { token, span }),
            Err(()) => {
                return Err(Diagnostic::new(span, "a character that no step uses", "not part of any step")
                    .help("steps are made of words, numbers and `-> .. , . : [ ] { } == != < <= > >= = + -`; `#` starts a comment"));
            }
        }
    }
    Ok(lexemes)
}
