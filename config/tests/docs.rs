//! The page in `docs/config.md`: its file is a gate file, and the answer it shows is the answer it gets.

use leasecheck_config::{analyse, parse, render_text};

#[test]
fn the_page_shows_what_the_command_says() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/config.md");
    let page = std::fs::read_to_string(page).expect("the page is there");
    let blocks: Vec<&str> = page.split("```").skip(1).step_by(2).collect();
    let toml: String = blocks.iter().filter_map(|block| block.strip_prefix("toml\n")).collect();
    let shown = blocks.iter().find(|block| block.starts_with("\nclaim: ")).expect("the page shows an answer");
    let file = parse("claim.toml", &toml).unwrap_or_else(|wrong| panic!("{wrong}"));
    let text = render_text(&analyse(&file, None));
    assert!(text.starts_with(shown.trim_start()), "the page shows another answer; this is the one:\n{text}");
}
