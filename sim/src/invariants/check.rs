//! What the litmus file itself states: conditions, allocations that must fit, steps that must not be refused.

use super::{Code, Violation};
use crate::program::{Op, Pc, Program, Value};
use crate::world::World;

pub(crate) fn failed(program: &Program, world: &World, pc: Pc, code: Code) -> Violation {
    let instr = &program.code[usize::from(pc)];
    let mut values = Vec::new();
    if let Op::Check { cond, .. } = &instr.op {
        for value in [cond.left, cond.right] {
            if let Value::Var(var) = value {
                let name = &program.vars[usize::from(var)].name;
                values.push(format!("{name} is {}", world.describe(program, var)));
            }
        }
    }
    let values = if values.is_empty() { String::new() } else { format!(": {}", values.join(", ")) };
    Violation::new(code, format!("`{}` does not hold{values}", instr.text))
}

pub(crate) fn alloc_refused(program: &Program, pc: Pc) -> Violation {
    let text = &program.code[usize::from(pc)].text;
    Violation::new(Code::Check, format!("`{text}` is refused (write `try alloc` where that may happen)"))
}

pub(crate) fn refused(_: &Program, what: &str) -> Violation {
    Violation::new(Code::Check, what.to_owned())
}

pub(crate) fn unlock(program: &Program, lock: u8) -> Violation {
    let name = &program.locks[usize::from(lock)];
    Violation::new(Code::Check, format!("lock `{name}` is given back by a thread that does not hold it"))
}
