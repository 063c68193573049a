//! Bytes are read only after something was written to them since they were handed out.

use super::{Code, Violation, page_name};
use crate::program::{Operand, Program};
use crate::world::{NOBODY, whom};

pub(crate) fn read(program: &Program, operand: &Operand, id: u8, issued: bool) -> Violation {
    let name = page_name(program, operand, id);
    let why = if issued {
        "the write that was issued has not run yet"
    } else {
        "nothing was written to it since it was handed out"
    };
    Violation::new(Code::Uninitialized, format!("{name} is read, but {why}")).about(operand, id)
}

pub(crate) fn beyond(program: &Program, operand: &Operand, id: u8, who: u16) -> Violation {
    let name = page_name(program, operand, id);
    let left = if who == NOBODY {
        "never written".to_owned()
    } else {
        let (band, id) = whom(who);
        format!("what page {id} of {} left", program.band_name(operand.arena, band))
    };
    let message = format!("{name} is read beyond its valid length, where the bytes are {left}");
    Violation::new(Code::Uninitialized, message).about(operand, id)
}
