//! What people read: every error names what it is about, with the numbers, and ids print as their numbers.

use crate::common::*;
use leasecheck_core::select::SelectError;
use leasecheck_core::transfer::PairError;
use leasecheck_core::*;
use proptest::prelude::*;

/// Numbers that cannot be mistaken for each other.
fn names(text: &str, all: &[&str]) {
    let words: Vec<&str> = text.split(|letter: char| !letter.is_alphanumeric()).collect();
    for name in all {
        assert!(words.contains(name), "`{text}` does not say `{name}`");
    }
    assert!(words.len() >= 5, "`{text}` is no sentence");
}

#[test]
fn errors_name_what_they_are_about() {
    let (band, id) = (BandId(7), LogicalPage(4711));
    names(&Refusal::NoSuchBand(band).to_string(), &["7"]);
    names(&Refusal::Ids { band, wanted: 31, free: 29 }.to_string(), &["7", "31", "29"]);
    names(&Refusal::Bytes { wanted: 1001, free: 997 }.to_string(), &["1001", "997"]);
    names(&Refusal::Unowned(band).to_string(), &["7"]);
    names(&PageError::NoSuchBand(band).to_string(), &["7"]);
    names(&PageError::NotLive(band, id).to_string(), &["7", "4711"]);
    names(&PageError::Twice(band, id).to_string(), &["7", "4711", "twice"]);
    names(&PageError::AlreadyBound(band, id).to_string(), &["7", "4711", "bound"]);
    names(&PageError::OwnsIds(band).to_string(), &["7"]);
    names(&PageError::Full(Refusal::Bytes { wanted: 1001, free: 997 }).to_string(), &["1001", "997"]);
    names(&ConfigError::NoBands.to_string(), &["one"]);
    names(&ConfigError::TooManyBands(9).to_string(), &["8", "9"]);
    names(&ConfigError::EndTaken("swa".into()).to_string(), &["swa"]);
    names(&ConfigError::EmptyPage("swa".into()).to_string(), &["swa"]);
    names(&ConfigError::NoRoom { band: "swa".into(), envelope: 70, bytes: 64 }.to_string(), &["swa", "70", "64"]);
    let limit = (1 << 26).to_string();
    names(&ConfigError::TooManyPages { band: "swa".into(), pages: 99 }.to_string(), &["swa", "99", &limit]);
    names(&ConfigError::NotAnOwner("swa".into()).to_string(), &["swa"]);
    names(&SelectError::Length { tokens: 13, page_tokens: 4 }.to_string(), &["13", "4"]);
    names(&SelectError::PartialPage { row: 12 }.to_string(), &["12"]);
    names(&PairError::Count { source: 3, destination: 5 }.to_string(), &["3", "5"]);
    names(&PairError::Envelope { source: 96, destination: 64 }.to_string(), &["96", "64"]);
    names(&LeaseError::NotHeld(HolderId(17)).to_string(), &["17"]);
    names(&LeaseError::OwnLease(HolderId(17)).to_string(), &["17"]);
}

proptest! {
    #![proptest_config(cases(50))]

    #[test]
    fn ids_print_as_their_numbers(number in any::<u32>()) {
        prop_assert_eq!(LogicalPage(number).to_string(), number.to_string());
        prop_assert_eq!(BandId(number as u8).to_string(), (number as u8).to_string());
        prop_assert_eq!(TokenIndex(-i64::from(number)).to_string(), (-i64::from(number)).to_string());
        prop_assert_eq!(format!("{:>12}", PhysicalPage(number)), format!("{number:>12}"));
    }
}
