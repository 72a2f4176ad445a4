//! Descriptions that are constant expressions: trimmed, joined and escaped in constants.

/// A part of a description.
#[derive(Clone, Copy)]
pub struct Part {
    text: &'static str,
    /// Set if the rest of the description is for people.
    is_last: bool,
}

const EMPTY: &str = "empty description; write a sentence";

/// A part that is written as a literal.
pub const fn literal(text: &'static str) -> Part {
    Part {
        text,
        is_last: false,
    }
}

/// A constant, trimmed.
pub const fn constant(text: &'static str) -> Part {
    literal(trim(text))
}

/// Text in the docs of a function, trimmed. It ends before its first heading outside of code blocks.
///
/// # Panics
///
/// Panics if a section is one that the model should receive: the macro cannot read it.
#[track_caller]
pub const fn docs(text: &'static str) -> Part {
    let bytes = text.as_bytes();
    let mut end = bytes.len();
    let mut fence = 0;
    let mut at = 0;
    while at < bytes.len() {
        let mut content = at;
        while content < bytes.len() && bytes[content] == b' ' {
            content += 1;
        }
        let mark = fence_at(bytes, content);
        if fence != 0 {
            if mark == fence {
                fence = 0;
            }
        } else if mark != 0 {
            fence = mark;
        } else if let Some(title) = heading_at(bytes, at) {
            assert!(
                !has_title(bytes, title, "arguments")
                    && !has_title(bytes, title, "when to use")
                    && !has_title(bytes, title, "returns"),
                "the section `# Arguments`, `# When to use` or `# Returns` of this text cannot be \
                 read because the text is known too late; write it as a doc comment"
            );
            if end == bytes.len() {
                end = at;
            }
        }
        while at < bytes.len() && bytes[at] != b'\n' {
            at += 1;
        }
        at += 1;
    }
    let (head, rest) = text.split_at(end);
    Part {
        text: trim(head),
        is_last: !rest.is_empty(),
    }
}

/// Returns the byte that a fence of a code block consists of, or 0.
const fn fence_at(bytes: &[u8], at: usize) -> u8 {
    if at + 2 < bytes.len()
        && (bytes[at] == b'`' || bytes[at] == b'~')
        && bytes[at + 1] == bytes[at]
        && bytes[at + 2] == bytes[at]
    {
        bytes[at]
    } else {
        0
    }
}

/// Returns the start of the title if a heading starts here.
const fn heading_at(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    while at < bytes.len() && bytes[at] == b'#' {
        at += 1;
    }
    let is_heading = at > start && at - start <= 6 && at < bytes.len() && bytes[at] == b' ';
    while at < bytes.len() && bytes[at] == b' ' {
        at += 1;
    }
    if is_heading && at < bytes.len() && bytes[at] != b'\n' && bytes[at] != b'\r' {
        Some(at)
    } else {
        None
    }
}

/// Returns `true` if the rest of the line is this title, which is in lower case.
const fn has_title(bytes: &[u8], start: usize, title: &str) -> bool {
    let title = title.as_bytes();
    let mut at = 0;
    while at < title.len() {
        if start + at >= bytes.len() || bytes[start + at].to_ascii_lowercase() != title[at] {
            return false;
        }
        at += 1;
    }
    let mut end = start + at;
    while end < bytes.len() && (bytes[end] == b' ' || bytes[end] == b'\r' || bytes[end] == b'#') {
        end += 1;
    }
    end == bytes.len() || bytes[end] == b'\n'
}

const fn trim(text: &'static str) -> &'static str {
    text.trim_ascii()
}

/// Returns the text of a description that is a single constant.
///
/// # Panics
///
/// Panics if it is empty.
#[track_caller]
pub const fn checked(part: Part) -> &'static str {
    assert!(!part.text.is_empty(), "{}", EMPTY);
    part.text
}

/// Returns the length of the joined parts.
pub const fn length(parts: &[Part]) -> usize {
    let (mut length, mut at) = (0, 0);
    while at < parts.len() {
        length += parts[at].text.len();
        if parts[at].is_last {
            break;
        }
        at += 1;
    }
    length
}

/// Joins parts, up to the last for the model.
pub const fn join<const LENGTH: usize>(parts: &[Part]) -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    let (mut length, mut at) = (0, 0);
    while length < LENGTH {
        let text = parts[at].text.as_bytes();
        let (_, rest) = bytes.split_at_mut(length);
        let (place, _) = rest.split_at_mut(text.len());
        place.copy_from_slice(text);
        length += text.len();
        at += 1;
    }
    bytes
}

/// Returns joined parts, trimmed.
///
/// # Panics
///
/// Panics if they are empty.
pub const fn joined(bytes: &'static [u8]) -> &'static str {
    checked(constant(utf8(bytes)))
}

/// Returns bytes as a string.
///
/// # Panics
///
/// Panics if they are not UTF-8.
pub const fn utf8(bytes: &'static [u8]) -> &'static str {
    match core::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(_) => panic!("texts are written whole"),
    }
}

/// Returns the length of a text and its form in JSON, or of the text if that is the same.
pub const fn length_of_both(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut length, mut at) = (0, 0);
    while at < bytes.len() {
        length += escaped(bytes[at]).1;
        at += 1;
    }
    if length == bytes.len() {
        length
    } else {
        bytes.len() + length
    }
}

/// Returns `before`, a text, and its form in JSON, if that differs.
pub const fn both<const LENGTH: usize>(before: &str, text: &str) -> [u8; LENGTH] {
    let mut both = [0; LENGTH];
    let bytes = text.as_bytes();
    let (first, rest) = both.split_at_mut(before.len());
    first.copy_from_slice(before.as_bytes());
    let (plain, json) = rest.split_at_mut(bytes.len());
    plain.copy_from_slice(bytes);
    let (mut length, mut at) = (0, 0);
    while length < json.len() {
        let (escaped, count) = escaped(bytes[at]);
        let mut index = 0;
        while index < count {
            json[length + index] = escaped[index];
            index += 1;
        }
        length += count;
        at += 1;
    }
    both
}

/// Returns the JSON form of a byte and its length.
const fn escaped(byte: u8) -> ([u8; 6], usize) {
    const fn short(byte: u8) -> ([u8; 6], usize) {
        ([b'\\', byte, 0, 0, 0, 0], 2)
    }
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'"' | b'\\' => short(byte),
        b'\n' => short(b'n'),
        b'\r' => short(b'r'),
        b'\t' => short(b't'),
        0x08 => short(b'b'),
        0x0c => short(b'f'),
        0..0x20 => {
            let (high, low) = (HEX[(byte >> 4) as usize], HEX[(byte & 15) as usize]);
            ([b'\\', b'u', b'0', b'0', high, low], 6)
        }
        _ => ([byte, 0, 0, 0, 0, 0], 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_docs_ends_before_its_first_heading() {
        for (text, expected, is_last) in [
            (" A\nb. \n", "A\nb.", false),
            ("A.\n\n# Examples\nb", "A.", true),
            ("# Examples\nb", "", true),
            (
                "A.\n#hashtag\n####### seven\n#",
                "A.\n#hashtag\n####### seven\n#",
                false,
            ),
            (
                "A.\n```sh\n# comment\n~~~\n```\n## End",
                "A.\n```sh\n# comment\n~~~\n```",
                true,
            ),
            ("ä\r\n\r\n# ö\r\n", "ä", true),
            ("", "", false),
        ] {
            let part = docs(text);
            assert_eq!((part.text, part.is_last), (expected, is_last), "{text}");
        }
    }

    #[cfg_attr(panic = "abort", ignore = "it catches a panic")]
    #[test]
    fn a_section_for_the_model_is_rejected() {
        for text in [
            "A.\n# Returns",
            "# Errors\n\n## ARGUMENTS ##\r\n",
            "# When to use\n",
        ] {
            assert!(std::panic::catch_unwind(|| docs(text)).is_err(), "{text}");
        }
        docs("# Returns to you\n```\n# Returns\n```");
    }

    #[test]
    fn escapes_are_those_of_serde_json() {
        const TEXT: &str = "ä \"quoted\"\n";
        const BOTH: [u8; 1 + length_of_both(TEXT)] = both("n", TEXT);

        for byte in 0..=0x7f_u8 {
            let text: &str = &char::from(byte).to_string();
            let (escaped, count) = escaped(byte);
            let json = format!("\"{}\"", std::str::from_utf8(&escaped[..count]).unwrap());
            assert_eq!(json, serde_json::to_string(text).unwrap());
        }
        assert_eq!(utf8(&BOTH), format!("n{TEXT}ä \\\"quoted\\\"\\n"));
        assert_eq!(both::<2>("", "ä"), "ä".as_bytes());
        assert_eq!(length_of_both("ä"), 2);
    }

    #[cfg_attr(panic = "abort", ignore = "it catches a panic")]
    #[test]
    fn parts_are_joined_up_to_the_last_one() {
        const PARTS: &[Part] = &[literal("\n"), literal("a\n"), docs("b\n# c"), literal("d")];
        const BYTES: &[u8] = &join::<{ length(PARTS) }>(PARTS);
        assert_eq!(joined(BYTES), "a\nb");
        assert!(std::panic::catch_unwind(|| joined(b" \n")).is_err());
    }
}
