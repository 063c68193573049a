//! A transfer that reports success moved exactly the bytes it described.

use super::{Code, Violation};
use crate::program::{Operand, Pc, Program};

pub(crate) fn short(program: &Program, pc: Pc, described: usize, moved: usize) -> Violation {
    let text = &program.code[usize::from(pc)].text;
    Violation::new(Code::LostBytes, format!("`{text}` describes {described} pages, moves {moved} and reports success"))
}

pub(crate) fn envelopes(program: &Program, source: &Operand, target: &Operand) -> Violation {
    let bytes =
        |operand: &Operand| program.arenas[usize::from(operand.arena)].config.bands[usize::from(operand.band)].envelope;
    let message = format!(
        "pages of {} bytes ({}) are copied to pages of {} bytes ({}) and the transfer reports success",
        bytes(source),
        program.band_name(source.arena, source.band),
        bytes(target),
        program.band_name(target.arena, target.band)
    );
    Violation::new(Code::LostBytes, message)
}
