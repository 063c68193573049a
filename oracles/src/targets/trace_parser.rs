//! Lines of a foreign trace: any text is an event, a first line or an error of a few words, and what is written again is
//! read as the same.

use leasecheck_trace::format::{Event, Header};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// Reads the lines that the bytes are.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for line in text.lines() {
        comes_back::<Event>(line);
        comes_back::<Header>(line);
    }
}

fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(line: &str) {
    let read = match serde_json::from_str::<T>(line) {
        Ok(read) => read,
        Err(wrong) => {
            let shown = wrong.to_string();
            assert!(!shown.is_empty() && shown.len() < 2_000 + 2 * line.len(), "an error of {} bytes", shown.len());
            return;
        }
    };
    let written = serde_json::to_string(&read).unwrap_or_else(|wrong| panic!("cannot be written: {wrong}"));
    match serde_json::from_str::<T>(&written) {
        Ok(again) => {
            assert_eq!(again, read, "{line} became {written}");
            assert_eq!(serde_json::to_string(&again).ok(), Some(written), "written twice");
        }
        Err(wrong) => panic!("{line} became {written}: {wrong}"),
    }
}
