//! Printing a litmus file and loading what was printed gives the same file; printing that gives the same text.
//!
//! Over the corpus, and over the programs that the hunt draws; the fuzz target `litmus_parser` does the same for any text.

mod common;

use common::{cases, corpus_texts, parse};
use leasecheck_core::Rule;
use leasecheck_sim::hunt::{Settings, program_text};
use leasecheck_sim::litmus::{LitmusFile, Source, print};
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

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn what_the_hunt_draws_survives_printing(seed in any::<u64>(), off in prop::option::of(prop::sample::select(Rule::ALL))) {
        let settings = Settings { rules_off: off.into_iter().collect(), ..Settings::default() };
        survives_printing(&Source { path: "drawn".to_owned(), text: program_text(&settings, seed) });
    }
}
