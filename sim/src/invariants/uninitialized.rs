//! Bytes are read only after something was written to them since they were handed out.

use super::{Code, Violation, page_name};
use crate::program::{Operand, Program};

pub(crate) fn read(program: &Program, operand: &Operand, id: u8, issued: bool) -> Violation {
    let name = page_name(program, operand, id);
    let why = if issued {
        "the write that was issued has not run yet"
    } else {
        "nothing was written to it since it was handed out"
    };
    Violation::new(Code::Uninitialized, format!("{name} is read, but {why}")).about(operand, id)
}
