//! [`truncate`]: limits the length of a string.

use crate::schema::messages::floor_char_boundary;

/// Truncates a string longer than `cap` bytes at a character boundary and appends a note with the
/// number of bytes omitted. Returns `true` if the text was truncated.
///
/// Frees the memory of the omitted text, and the spare capacity of a short text.
pub(crate) fn truncate(text: &mut String, cap: usize) -> bool {
    let length = text.len();
    if length <= cap {
        // Growing text doubles its capacity, so more than that is an unusual buffer.
        if text.capacity() / 2 > cap.max(SPARE) {
            text.shrink_to_fit();
        }
        return false;
    }
    let end = floor_char_boundary(text, cap);
    let omitted = length - end;
    let note = format!("\n[truncated: {omitted} of {length} bytes omitted]");
    // A new buffer, because the old one may be large.
    *text = [&text[..end], &note].concat();
    true
}

/// The spare capacity in bytes that is not worth a reallocation.
const SPARE: usize = 4 << 10;
