//! Selecting sliding-window pages from arbitrary index vectors: what comes out is whole pages, in order, never the
//! sink, and nothing that was asked for is left out; anything else is an error, never a shorter transfer.

use crate::bytes::below;
use arbitrary::Unstructured;
use leasecheck_core::select::{SelectError, tokens_above, whole_pages};
use leasecheck_core::{PhysicalPage, TokenIndex};

/// The most pages of a range.
const ROWS: usize = 24;

/// Selects from the range that the bytes stand for.
pub fn run(data: &[u8]) {
    let mut bytes = Unstructured::new(data);
    if let Ok((size, tokens)) = range(&mut bytes) {
        check(size, &tokens);
    }
}

/// Mostly rows of whole or unbound pages, some of them spoilt, and numbers from anywhere.
fn range(bytes: &mut Unstructured<'_>) -> arbitrary::Result<(u32, Vec<i64>)> {
    let drawn = below(bytes, 20)?;
    let size = if drawn < 17 { drawn } else { 64 };
    let mut tokens = Vec::new();
    for _ in 0..ROWS {
        let Ok(kind) = below(bytes, 16) else { break };
        match kind {
            0..=5 => whole(&mut tokens, bytes.arbitrary::<u8>()?.into(), size),
            6 => whole(&mut tokens, bytes.arbitrary::<u32>()?.into(), size),
            // A page number beyond those that exist, and the ends of the range of numbers.
            7 => whole(&mut tokens, i64::from(u32::MAX) + i64::from(bytes.arbitrary::<u8>()?), size),
            8 => whole(&mut tokens, i64::MAX / i64::from(size.max(1)) - i64::from(bytes.arbitrary::<u8>()?), size),
            9 => tokens.extend(std::iter::repeat_n(0, size as usize)),
            10 => tokens.extend(std::iter::repeat_n(i64::from(bytes.arbitrary::<i8>()?), size as usize)),
            // One token becomes another one.
            11 | 12 if !tokens.is_empty() => {
                let at = below(bytes, tokens.len() as u32)? as usize;
                tokens[at] = i64::from(bytes.arbitrary::<i8>()?);
            }
            13 if !tokens.is_empty() => {
                let at = below(bytes, tokens.len() as u32)? as usize;
                tokens[at] = tokens[at].saturating_add(i64::from(bytes.arbitrary::<i8>()?));
            }
            14 => tokens.push(bytes.arbitrary()?),
            15 => drop(tokens.pop()),
            _ => tokens.push(bytes.arbitrary::<i8>()?.into()),
        }
    }
    Ok((size, tokens))
}

fn whole(tokens: &mut Vec<i64>, page: i64, size: u32) {
    let start = page.saturating_mul(size.into());
    tokens.extend((0..i64::from(size)).map(|offset| start.saturating_add(offset)));
}

/// What a row is, by comparing it with what it could be.
enum Row {
    Unbound,
    Page(u32),
    Neither,
}

fn row(tokens: &[i64], size: i128) -> Row {
    if tokens.iter().all(|token| i128::from(*token) < size) {
        return Row::Unbound;
    }
    let page = i128::from(tokens[0]) / size;
    let whole = (0..size).map(|offset| page * size + offset).eq(tokens.iter().map(|token| i128::from(*token)));
    match u32::try_from(page) {
        Ok(page) if page >= 1 && whole => Row::Page(page),
        _ => Row::Neither,
    }
}

fn check(size: u32, tokens: &[i64]) {
    let indices: Vec<TokenIndex> = tokens.iter().copied().map(TokenIndex).collect();
    let selected = whole_pages(&indices, size);
    if size == 0 || !tokens.len().is_multiple_of(size as usize) {
        assert_eq!(selected, Err(SelectError::Length { tokens: tokens.len(), page_tokens: size }));
    } else {
        let mut expected = Ok(Vec::new());
        for (at, tokens) in tokens.chunks(size as usize).enumerate() {
            match (row(tokens, size.into()), &mut expected) {
                (Row::Page(page), Ok(pages)) => pages.push(PhysicalPage(page)),
                (Row::Neither, Ok(_)) => expected = Err(SelectError::PartialPage { row: at }),
                _ => {}
            }
        }
        assert_eq!(selected, expected, "{tokens:?} in pages of {size}");
    }
    for floor in [-1, 0, i64::from(size) - 1] {
        let kept: Vec<i64> = tokens_above(&indices, floor).map(|token| token.0).collect();
        let mut rest = tokens.iter().filter(|token| **token > floor);
        assert!(kept.iter().all(|token| rest.next() == Some(token)) && rest.next().is_none(), "above {floor}");
        // What is above the sink and what is selected are the same tokens.
        if let Ok(pages) = &selected
            && floor == i64::from(size) - 1
        {
            assert_eq!(kept.len(), pages.len() * size as usize, "a transfer became shorter");
        }
    }
}
