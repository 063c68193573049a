//! An index buffer is read after the producer that the caller meant, and before the next one.

use super::{Code, Violation};
use crate::program::Program;

pub(crate) fn read(program: &Program, buffer: u8, version: u8, meant: u8) -> Violation {
    let name = &program.buffers[usize::from(buffer)].name;
    let message = if version > meant {
        format!("`{name}` is read after it was overwritten: version {version} is there, version {meant} was meant")
    } else if meant == 0 {
        format!("`{name}` is read, and nothing has been told to produce it")
    } else if version == 0 {
        format!("`{name}` is read before it was produced: nothing is in it yet")
    } else {
        format!("`{name}` is read before it was produced: version {version} is there, version {meant} was meant")
    };
    Violation::new(Code::StaleIndex, message)
}
