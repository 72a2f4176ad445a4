//! Text of errors.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;

/// Writes an error's message, and the messages of its sources that it does not contain already.
pub(crate) fn write(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut text = error.to_string();
    let mut source = error.source();
    // A chain of sources may be circular.
    for _ in 0..32 {
        let Some(error) = source else {
            break;
        };
        let message = error.to_string();
        if !text.contains(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
        source = error.source();
    }
    f.write_str(&text)
}

/// Removes references such as ` [ref 7K3QZ9]`, because they differ in each process.
pub(crate) fn without_references(text: &str) -> Cow<'_, str> {
    const START: &str = " [ref ";
    let mut kept = Cow::Borrowed(text);
    let mut from = 0;
    while let Some(found) = kept[from..].find(START) {
        let start = from + found;
        let name = start + START.len();
        let length = kept[name..].find(|c: char| !c.is_ascii_alphanumeric());
        match length {
            Some(length) if length > 0 && kept[name + length..].starts_with(']') => {
                kept.to_mut().replace_range(start..=name + length, "");
                from = start;
            }
            _ => from = name,
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::without_references;

    #[test]
    fn references_are_removed_and_nothing_else() {
        for (text, kept) in [
            ("", ""),
            ("a [ref 7K3QZ9]: b [ref A1]", "a: b"),
            ("a [ref ]", "a [ref ]"),
            ("a [ref é]", "a [ref é]"),
            ("a [ref 7K3", "a [ref 7K3"),
            (" [ref  [ref A]", " [ref "),
        ] {
            assert_eq!(without_references(text), kept, "{text:?}");
        }
    }
}
