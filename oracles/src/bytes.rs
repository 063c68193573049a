//! Numbers from a fuzzer's bytes.

use arbitrary::Unstructured;

/// A number below `bound`, which must not be 0.
pub(crate) fn below(bytes: &mut Unstructured<'_>, bound: u32) -> arbitrary::Result<u32> {
    // A choice without an alternative costs nothing.
    if bound > 1 && bytes.is_empty() {
        return Err(arbitrary::Error::NotEnoughData);
    }
    bytes.int_in_range(0..=bound - 1)
}

/// One bit, which costs a byte.
pub(crate) fn flip(bytes: &mut Unstructured<'_>) -> arbitrary::Result<bool> {
    Ok(below(bytes, 2)? == 1)
}
