//! Bytes are touched only while they are mapped, and unmapped once. Unlike reuse, which waits for a new owner to do
//! harm, an unmapping is felt by the next access, whoever makes it.

use super::{Code, Violation, page_name};
use crate::program::{Operand, Program};

pub(crate) fn touched(program: &Program, operand: &Operand, id: u8, page: u16) -> Violation {
    let name = page_name(program, operand, id);
    let message = format!("physical page {page} is touched for {name}, and its bytes are not mapped");
    Violation::new(Code::Unmapped, message).about(operand, id)
}

pub(crate) fn twice(program: &Program, operand: &Operand, id: u8) -> Violation {
    let name = page_name(program, operand, id);
    Violation::new(Code::Unmapped, format!("the bytes of {name} are unmapped, and were not mapped")).about(operand, id)
}
