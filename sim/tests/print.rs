//! Printing a litmus file and loading what was printed gives the same file; printing that gives the same text.
//!
//! Over the corpus, and over the programs that the hunt draws; the fuzz target `litmus_parser` does the same for any text.

mod common;

use common::{cases, corpus_texts, parse};
use leasecheck_core::Rule;
use leasecheck_sim::hunt::{Settings, program_text};
use leasecheck_sim::litmus::{Frame, LitmusFile, Source, load, print};
use proptest::prelude::*;

/// The file without what printing may change: how steps are written, and on which line.
fn meaning(mut file: LitmusFile) -> LitmusFile {
    for instr in file.cases.iter_mut().flat_map(|case| &mut case.code) {
        instr.text.clear();
        instr.line = 0;
    }
    file
}

fn printed(source: &Source) -> Source {
    let text = print(source).unwrap_or_else(|wrong| panic!("{}", wrong.render(source)));
    Source { path: "printed".to_owned(), text }
}

fn survives_printing(source: &Source) {
    let again = printed(source);
    let (before, after) = (parse(&source.path, &source.text), parse(&source.path, &again.text));
    assert!(meaning(before) == meaning(after), "{}:\n{}\nbecame\n{}", source.path, source.text, again.text);
    assert_eq!(printed(&again).text, again.text, "{}", source.path);
}

#[test]
fn the_corpus_survives_printing() {
    corpus_texts().into_iter().for_each(|(path, text)| survives_printing(&Source { path, text }));
}

#[test]
fn a_program_in_a_frame_is_what_it_is_in_a_file() {
    let text = "name = \"n\"\nsource = \"s\"\nclaim = \"c\"\n[arena.host]\nbytes = 16\nbands.a = { envelope = 4, page_tokens = 2, grow = \"up\" }
[[case]]\nname = \"c\"\nexpect = \"unreachable\"\nwitness = [\"finished\"]\nthreads.t = \"\"\"\n\"\"\"\n";
    let source = |text: &str| Source { path: "f".to_owned(), text: text.to_owned() };
    let frame = Frame::new(&source(text)).expect("one thread");
    let programs = [
        ("alloc a 2->p # two\nif 1 > 0 {\nfree   p\n}", true),
        ("", true),
        ("alloc b 2 -> p\n", false),
        ("free p\n", false),
        ("alloc a 2 -> p }\n", false),
    ];
    for (program, fine) in programs {
        let framed = frame.with("f", program);
        let loaded = frame.load(&framed);
        assert_eq!(loaded.is_ok(), fine, "{program}: {:?}", loaded.err());
        assert_eq!(loaded, load(&framed).map(|mut file| file.cases.remove(0)), "{program}");
        if fine {
            let printed = frame.print(&framed).expect("it loads");
            assert!(print(&framed).expect("it loads").ends_with(&format!("threads.t = \"\"\"\n{printed}\"\"\"\n")));
        }
    }
    // Its text need not be one that TOML can quote.
    assert!(frame.load(&frame.with("f", "# \"\"\" \\ \u{7}\n")).is_ok());
    let setup = text.replace("threads.t", "setup = \"\"\"\n\"\"\"\nthreads.t");
    let two = text.replace("threads.t", "threads.u = \"\"\"\n\"\"\"\nthreads.t");
    for several in [setup, two] {
        assert_eq!(Frame::new(&source(&several)).err().map(|wrong| wrong.message), Some("several programs".to_owned()));
    }
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn what_the_hunt_draws_survives_printing(seed in any::<u64>(), off in prop::option::of(prop::sample::select(Rule::ALL))) {
        let settings = Settings { rules_off: off.into_iter().collect(), ..Settings::default() };
        survives_printing(&Source { path: "drawn".to_owned(), text: program_text(&settings, seed) });
    }
}
