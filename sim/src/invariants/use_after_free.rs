//! Nothing is looked up or accessed through an id that was freed or never bound.

use super::{Code, Violation, page_name};
use crate::program::{Operand, Program};

pub(crate) fn id_is_dead(program: &Program, operand: &Operand, id: u8) -> Violation {
    let name = page_name(program, operand, id);
    Violation::new(Code::UseAfterFree, format!("{name} is used by its id, and was freed before")).about(operand, id)
}

pub(crate) fn address_is_dead(program: &Program, operand: &Operand, id: u8, page: u16) -> Violation {
    let name = page_name(program, operand, id);
    let message = format!("physical page {page} is used for {name}, which was freed after the address was captured");
    Violation::new(Code::UseAfterFree, message).about(operand, id)
}

pub(crate) fn access(program: &Program, operand: &Operand, id: u8, page: u16) -> Violation {
    let name = page_name(program, operand, id);
    let message = format!("physical page {page} is touched for {name}, which was freed meanwhile");
    Violation::new(Code::UseAfterFree, message).about(operand, id)
}

pub(crate) fn not_bound(program: &Program, operand: &Operand, id: u8) -> Violation {
    let name = page_name(program, operand, id);
    Violation::new(Code::UseAfterFree, format!("{name} is looked up, and nothing is bound there")).about(operand, id)
}
