//! A page is freed at most once. A design that checks its frees refuses; one that does not ends here.

use super::{Code, Violation, page_name};
use crate::program::{Operand, Program};

pub(crate) fn freed(program: &Program, operand: &Operand, id: u8) -> Violation {
    let name = page_name(program, operand, id);
    Violation::new(Code::DoubleFree, format!("{name} is freed, and was not live any more")).about(operand, id)
}

pub(crate) fn unpinned(program: &Program, operand: &Operand, id: u8) -> Violation {
    let name = page_name(program, operand, id);
    Violation::new(Code::DoubleFree, format!("a pin of {name} is taken off that is not there")).about(operand, id)
}
