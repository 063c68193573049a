//! Any text is a litmus file or gets an error that can be shown; printing one and reading it again changes nothing.
//!
//! Text that does not begin as TOML does is taken for a step program, in a small file around it: that is where most of
//! the grammar is.

use leasecheck_sim::litmus::{self, Diagnostic, Frame, Source};
use leasecheck_sim::program::Program;
use std::sync::LazyLock;

/// The file around a step program; the arenas, events and streams are what programs name.
static FRAME: LazyLock<Frame> = LazyLock::new(|| {
    let text = r#"name = "n"
source = "s"
claim = "c"
rdma = ["nic"]
[arena.d]
bytes = 40
sink = true
gates.g = ["f"]
bands.a = { envelope = 4, page_tokens = 2, grow = "up" }
bands.b = { envelope = 2, page_tokens = 2, grow = "down", ids_of = "a" }
[arena.h]
bytes = 24
bands.a = { envelope = 4, page_tokens = 2, grow = "up" }
[[case]]
name = "c"
expect = "unreachable"
witness = ["finished"]
threads.t = """
"""
"#;
    let source = Source { path: "frame".to_owned(), text: text.to_owned() };
    Frame::new(&source).unwrap_or_else(|wrong| panic!("{}", wrong.render(&source)))
});

/// Reads the text that the bytes are.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if text.starts_with("name") {
        let file = |source: &Source| {
            let mut file = litmus::load(source)?;
            file.cases.iter_mut().for_each(forget);
            Ok(file)
        };
        let source = Source { path: "any".to_owned(), text: text.to_owned() };
        read(source, file, |source| litmus::print(source).map(|text| Source { path: "printed".to_owned(), text }));
    } else {
        let program = |source: &Source| {
            let mut program = FRAME.load(source)?;
            forget(&mut program);
            Ok(program)
        };
        let print = |source: &Source| FRAME.print(source).map(|program| FRAME.with("printed", &program));
        read(FRAME.with("any", text), program, print);
    }
}

/// What printing may change: how steps are written, and on which line.
fn forget(program: &mut Program) {
    for instr in &mut program.code {
        instr.text.clear();
        instr.line = 0;
    }
}

fn read<T: PartialEq>(
    source: Source,
    load: impl Fn(&Source) -> Result<T, Diagnostic>,
    print: impl Fn(&Source) -> Result<Source, Diagnostic>,
) {
    let meaning = match load(&source) {
        Ok(meaning) => meaning,
        Err(wrong) => {
            let shown = wrong.render(&source);
            assert!(!wrong.message.is_empty() && shown.contains("any:"), "{shown}");
            assert!(shown.len() < 8_000, "an error of {} bytes", shown.len());
            assert!(shown.chars().all(|letter| letter == '\n' || !letter.is_control()), "{shown:?}");
            return;
        }
    };
    let wrong =
        |what: &str, wrong: Diagnostic, of: &Source| -> ! { panic!("{what}\n{}\n{}", wrong.render(of), of.text) };
    let printed = match print(&source) {
        Ok(printed) => printed,
        Err(error) => wrong("a file that loads cannot be printed", error, &source),
    };
    match load(&printed) {
        Ok(again) => {
            assert!(meaning == again, "printing changed the file:\n{}\nbecame\n{}", source.text, printed.text);
        }
        Err(error) => wrong("what was printed does not load", error, &printed),
    }
    match print(&printed) {
        Ok(twice) => assert_eq!(twice.text, printed.text, "printing twice"),
        Err(error) => wrong("what was printed cannot be printed", error, &printed),
    }
}
