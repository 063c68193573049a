//! A page is not handed out, and used by its new owner, while earlier work can still touch it.

use super::{Code, Violation, page_name};
use crate::program::{Operand, Program};
use crate::world::{NOBODY, UNMAPPED, whom};

fn taker(program: &Program, operand: &Operand, who: u16) -> String {
    if who == NOBODY || who == UNMAPPED.who {
        return "its bytes were moved or overwritten".to_owned();
    }
    let (band, id) = whom(who);
    format!("its bytes belong to page {id} of {} now", program.band_name(operand.arena, band))
}

pub(crate) fn read(program: &Program, operand: &Operand, id: u8, page: u16, who: u16) -> Violation {
    let name = page_name(program, operand, id);
    let message = format!(
        "{name} was freed while this read of physical page {page} was under way, and {}",
        taker(program, operand, who)
    );
    Violation::new(Code::EarlyReuse, message).about(operand, id)
}

pub(crate) fn write(program: &Program, operand: &Operand, id: u8, page: u16, who: u16) -> Violation {
    let name = page_name(program, operand, id);
    let message = format!(
        "{name} was freed while this write to physical page {page} was under way, and {}",
        taker(program, operand, who)
    );
    Violation::new(Code::EarlyReuse, message).about(operand, id)
}
