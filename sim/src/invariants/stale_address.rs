//! An access uses an address that still belongs to the id it was derived from.

use super::{Code, Violation, page_name};
use crate::program::{Operand, Program};

pub(crate) fn moved(program: &Program, operand: &Operand, id: u8, used: u16, now: Option<u16>) -> Violation {
    let name = page_name(program, operand, id);
    let now = match now {
        Some(now) => format!("the page is at physical page {now} now"),
        None => "the page has no place in this band now".to_owned(),
    };
    Violation::new(Code::StaleAddress, format!("{name} is accessed at physical page {used}, but {now}"))
        .about(operand, id)
}
