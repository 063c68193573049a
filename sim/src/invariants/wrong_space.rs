//! An id is used only in the space that its consumer declares.

use super::{Code, Violation, page_name};
use crate::program::{At, Operand, Program, Space, VarKind};

fn what(program: &Program, operand: &Operand) -> String {
    match operand.at {
        At::Var(var) => {
            let def = &program.vars[usize::from(var)];
            let home = program.band_name(def.home.0, def.home.1);
            match def.kind {
                VarKind::Addresses(Space::Logical) => format!("`{}` holds stable ids", def.name),
                VarKind::Addresses(Space::Kernel) => format!("`{}` holds kernel-facing indices", def.name),
                _ => format!("`{}` holds physical pages of {home}", def.name),
            }
        }
        At::Buffer(buffer) => {
            let def = &program.buffers[usize::from(buffer)];
            format!("`{}` holds physical pages of {}", def.name, program.band_name(def.home.0, def.home.1))
        }
        At::Now => "the address".to_owned(),
    }
}

pub(crate) fn touched(program: &Program, operand: &Operand, id: u8, used: u16, now: Option<u16>) -> Violation {
    let name = page_name(program, operand, id);
    let now = now.map_or("nowhere".to_owned(), |now| format!("physical page {now}"));
    let kernel = program.arenas[usize::from(operand.arena)].takes_kernel[usize::from(operand.band)];
    let taken = if kernel { "kernel-facing indices" } else { "physical pages" };
    let message = format!(
        "{} and is taken for {taken} here: physical page {used} is touched, {name} is {now}",
        what(program, operand)
    );
    Violation::new(Code::WrongSpace, message).about(operand, id)
}

pub(crate) fn outside(program: &Program, operand: &Operand, id: u8, used: u16) -> Violation {
    let name = page_name(program, operand, id);
    let message = format!("{}: {used} lies outside the arena, {name} was meant", what(program, operand));
    Violation::new(Code::WrongSpace, message).about(operand, id)
}
