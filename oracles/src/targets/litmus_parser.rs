//! Any text is a litmus file or gets an error that can be shown; printing one and reading it again changes nothing.
//!
//! Text that does not begin as TOML does is taken for a step program, in a small file around it: that is where most of
//! the grammar is.

use leasecheck_sim::litmus::{self, LitmusFile, Source};

/// The file around a step program; the arenas, events and streams are what programs name. It is read with each program,
/// so that it is short.
const FRAME: &str = r#"name="n"
source="s"
claim="c"
rdma=["nic"]
arena.d={bytes=40,sink=true,gates.g=["f"],bands.a={envelope=4,page_tokens=2,grow="up"},bands.b={envelope=2,page_tokens=2,grow="down",ids_of="a"}}
arena.h={bytes=24,bands.a={envelope=4,page_tokens=2,grow="up"}}
case=[{name="c",expect="unreachable",witness=["finished"],threads.t="""
"#;
const END: &str = "\"\"\"}]\n";

/// Reads the text that the bytes are.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let whole = text.starts_with("name");
    read(if whole { text.to_owned() } else { format!("{FRAME}{text}{END}") });
}

fn read(text: String) {
    let source = Source { path: "any".to_owned(), text };
    let file = match litmus::load(&source) {
        Ok(file) => file,
        Err(wrong) => {
            let shown = wrong.render(&source);
            assert!(!wrong.message.is_empty() && shown.contains("any:"), "{shown}");
            assert!(shown.len() < 8_000, "an error of {} bytes", shown.len());
            assert!(shown.chars().all(|letter| letter == '\n' || !letter.is_control()), "{shown:?}");
            return;
        }
    };
    let wrong = |what: &str, wrong: litmus::Diagnostic, of: &Source| -> ! {
        panic!("{what}\n{}\n{}", wrong.render(of), of.text)
    };
    let printed = match litmus::print(&source) {
        Ok(text) => Source { path: "printed".to_owned(), text },
        Err(error) => wrong("a file that loads cannot be printed", error, &source),
    };
    let again = match litmus::load(&printed) {
        Ok(again) => again,
        Err(error) => wrong("what was printed does not load", error, &printed),
    };
    assert!(meaning(file) == meaning(again), "printing changed the file:\n{}\nbecame\n{}", source.text, printed.text);
    match litmus::print(&printed) {
        Ok(twice) => assert_eq!(twice, printed.text, "printing twice"),
        Err(error) => wrong("what was printed cannot be printed", error, &printed),
    }
}

/// The file without what printing may change: how steps are written, and on which line.
fn meaning(mut file: LitmusFile) -> LitmusFile {
    for instr in file.cases.iter_mut().flat_map(|case| &mut case.code) {
        instr.text.clear();
        instr.line = 0;
    }
    file
}
