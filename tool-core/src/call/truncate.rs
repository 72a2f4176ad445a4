//! [`truncate`]: limits the length of a text for the model.

/// Truncates a text longer than `cap` bytes at a character boundary and appends a note with the
/// number of bytes omitted. Returns `true` if the text was truncated.
pub(crate) fn truncate(text: &mut String, cap: usize) -> bool {
    let length = text.len();
    if length <= cap {
        return false;
    }
    let end = (0..=cap).rev().find(|&at| text.is_char_boundary(at));
    let end = end.unwrap_or_default();
    text.truncate(end);
    let omitted = length - end;
    text.push_str(&format!(
        "\n[truncated: {omitted} of {length} bytes omitted]"
    ));
    true
}
