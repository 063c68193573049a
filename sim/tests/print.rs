//! Printing a litmus file and loading what was printed gives the same file; printing that gives the same text.
//!
//! Over the corpus; the fuzz target `litmus_parser` does the same for any text.

mod common;

use common::{corpus_texts, parse};
use leasecheck_sim::litmus::{LitmusFile, Source, print};

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

#[test]
fn the_corpus_survives_printing() {
    for (path, text) in corpus_texts() {
        let source = Source { path, text };
        let again = printed(&source);
        let (before, after) = (parse(&source.path, &source.text), parse(&source.path, &again.text));
        assert!(meaning(before) == meaning(after), "{} became\n{}", source.path, again.text);
        assert_eq!(printed(&again).text, again.text, "{}", source.path);
    }
}
