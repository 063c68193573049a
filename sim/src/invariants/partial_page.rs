//! Transfers carry whole, aligned pages; never the sink.

use super::{Code, Violation, page_name};
use crate::program::{Operand, Program};

pub(crate) fn loose(program: &Program, operand: &Operand, tokens: u8) -> Violation {
    let name = program.band_name(operand.arena, operand.band);
    let message = format!("a transfer of {name} has {tokens} tokens beyond whole pages");
    Violation::new(Code::PartialPage, message)
}

pub(crate) fn sink(program: &Program, operand: &Operand, id: u8) -> Violation {
    let name = page_name(program, operand, id);
    Violation::new(Code::PartialPage, format!("a transfer touches the sink in place of {name}")).about(operand, id)
}
