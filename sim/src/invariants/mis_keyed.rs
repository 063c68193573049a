//! The pages of a transfer and its keys match one to one; a key's bytes are those it stands for.

use super::{Code, Violation};
use crate::program::Program;

pub(crate) fn count(program: &Program, key: u8, keys: usize, pages: usize) -> Violation {
    let name = &program.keys[usize::from(key)].name;
    Violation::new(Code::MisKeyed, format!("{pages} pages are stored under {keys} keys of chunk `{name}`"))
}

pub(crate) fn content(program: &Program, key: u8) -> Violation {
    let name = &program.keys[usize::from(key)].name;
    Violation::new(Code::MisKeyed, format!("`{name}` stands for other content than what is stored under it"))
}

pub(crate) fn fetched(program: &Program, key: u8) -> Violation {
    let def = &program.keys[usize::from(key)];
    let stored = &program.keys[usize::from(def.string(program.rules))].name;
    let message = format!(
        "fetching `{}` gives content that it does not stand for (its stored name is that of `{stored}`)",
        def.name
    );
    Violation::new(Code::MisKeyed, message)
}
