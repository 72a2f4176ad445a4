//! Characters that nobody sees, and texts in which none of them is left.
//!
//! A model, a server or a file can write text that reads as something else: controls of a terminal,
//! characters that change the direction of text, letters without a shape that carry a second message. A
//! person or a model that decides by such a text needs it in another form:
//!
//! | for | use |
//! |---|---|
//! | prose: descriptions, results, errors, logs | [`escape`], [`escape_json`], [`remove`] |
//! | what somebody approves: names and reasons | [`line()`] |
//! | what somebody approves: arguments | [`json`] |
//! | a single character, such as one of a file name | [`is_hidden`], [`is_unclear`] |
//!
//! Prose keeps line breaks, tabs and the invisible characters that writing needs: a variation selector
//! after a symbol (`✔️`, `1️⃣`), a joiner between two symbols (`👩‍🚀`), and joiners between letters of
//! scripts that have them, such as Arabic and Devanagari. None of them can carry words, because each needs
//! a visible character on one or both sides. Tags are never kept, so the flags of England, Scotland and
//! Wales lose their crosses. A text for an approval keeps nothing.
//!
//! Letters of different scripts that look alike (`a` and `а`) stay, and so do accents, which can be written in two ways.
//!
//! ```
//! use tool_core::visible;
//!
//! let hostile = "Adds.\u{202e} \u{e0041}\u{e0042}👩\u{200d}🚀";
//! assert_eq!(visible::remove(hostile), "Adds. 👩\u{200d}🚀");
//! assert_eq!(visible::escape(hostile), "Adds.\\u{202e} \\u{e0041}\\u{e0042}👩\u{200d}🚀");
//! assert_eq!(visible::line("to\nAda\u{a0}"), r"to\nAda\u{a0}");
//! assert_eq!(visible::json("{\"to\" : \"Ada\u{200b}\"}"), r#"{"to":"Ada\u200b"}"#);
//! ```

use std::borrow::Cow;
use std::fmt::Write;

use serde::de::IgnoredAny;

/// Returns `true` for characters that show nothing or change the layout: control characters, format characters, line and
/// paragraph separators, and all that Unicode ignores by default, such as variation selectors, tags and fillers.
///
/// Line breaks and tabs are among them. These are the properties `Default_Ignorable_Code_Point`, `Cc`, `Cf`, `Zl` and `Zp`
/// of Unicode 17.0 (`DerivedCoreProperties.txt` and `DerivedGeneralCategory.txt`, 2025-09), without
/// `Prepended_Concatenation_Mark`, whose characters show a sign.
///
/// ```
/// use tool_core::visible::is_hidden;
///
/// assert!(['\n', '\u{1b}', '\u{ad}', '\u{200b}', '\u{202e}', '\u{fe0f}', '\u{e0041}'].into_iter().all(is_hidden));
/// assert!(!['a', ' ', '\u{a0}', 'é', '\u{301}', '日'].into_iter().any(is_hidden));
/// ```
pub const fn is_hidden(character: char) -> bool {
    // A test of `tests/properties` compares the ranges with the tables of another library.
    matches!(
        character,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns `true` for characters that a person can't tell from another: the [hidden](is_hidden) ones, blanks other than the
/// space, and code points for private use or without a character, which all look the same.
///
/// Characters that are newer than the standard library of the program count as code points without one.
///
/// ```
/// use tool_core::visible::is_unclear;
///
/// assert!(['\u{200b}', '\u{a0}', '\u{3000}', '\u{2800}', '\u{e000}', '\u{ffff}'].into_iter().all(is_unclear));
/// assert!(![' ', 'a', '\u{301}', '日', '🦀'].into_iter().any(is_unclear));
/// ```
pub fn is_unclear(character: char) -> bool {
    if matches!(character, ' '..='~') {
        return false;
    }
    // Braille without dots and a musical symbol for nothing are blanks to the eye alone.
    is_hidden(character)
        || matches!(character, '\u{2800}' | '\u{1d159}')
        || !is_printable(character)
}

/// Returns `false` for characters that `Debug` escapes in the middle of a string: the categories `C` and
/// `Z`, but the space.
fn is_printable(character: char) -> bool {
    let mut text = [0; 5];
    text[0] = b'a';
    let end = 1 + character.encode_utf8(&mut text[1..]).len();
    // After another character, it is not escaped for being a combining mark.
    let text = std::str::from_utf8(&text[..end]).unwrap_or_default();
    text.escape_debug().nth(1) == Some(character)
}

/// Returns `true` for an invisible character that changes the direction of the text around it: the property
/// `Bidi_Control`.
#[doc(hidden)]
pub const fn is_bidi_control(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns `true` for a character that overrides the direction of letters. No text needs one, and it can make text read as
/// something else.
#[doc(hidden)]
pub const fn is_bidi_override(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}')
}

/// Returns prose with an escape for each hidden character that it does not need: `\u{202e}`. The module says what it
/// keeps.
///
/// ```
/// let hidden = "price\u{202e}";
/// assert_eq!(tool_core::visible::escape(hidden), r"price\u{202e}");
/// ```
pub fn escape(text: &str) -> Cow<'_, str> {
    replace_hidden(text, |out, hidden| out.extend(hidden.escape_default()))
}

/// Returns prose like [`escape`], with the escapes of JSON: `\u202e`. JSON text stays the same JSON.
///
/// ```
/// let json = "{\"note\":\"a\u{202e}b\"}";
/// assert_eq!(tool_core::visible::escape_json(json), r#"{"note":"a\u202eb"}"#);
/// ```
pub fn escape_json(text: &str) -> Cow<'_, str> {
    replace_hidden(text, push_json_escape)
}

/// Returns prose without the hidden characters that it does not need. The module says what it keeps.
///
/// ```
/// assert_eq!(tool_core::visible::remove("pr\u{200b}ice"), "price");
/// ```
pub fn remove(text: &str) -> Cow<'_, str> {
    replace_hidden(text, |_, _| {})
}

/// Replaces the hidden characters that prose does not need.
#[doc(hidden)]
pub fn replace_hidden(text: &str, mut write: impl FnMut(&mut String, char)) -> Cow<'_, str> {
    let is_plain = |byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    if text.bytes().all(is_plain) {
        return text.into();
    }
    let hidden = text.char_indices().filter(|&(at, character)| {
        is_hidden(character) && !matches!(character, '\n' | '\t') && !is_needed(text, at, character)
    });
    let (mut out, mut end) = (String::new(), 0);
    for (at, character) in hidden {
        out.push_str(&text[end..at]);
        write(&mut out, character);
        end = at + character.len_utf8();
    }
    if end == 0 {
        return text.into();
    }
    out.push_str(&text[end..]);
    out.into()
}

/// Returns `true` if the characters around a hidden one need it.
fn is_needed(text: &str, at: usize, character: char) -> bool {
    let mut before = text[..at].chars().rev();
    let Some(last) = before.next() else {
        return false;
    };
    let next = text[at + character.len_utf8()..].chars().next();
    match character {
        '\u{fe0e}' | '\u{fe0f}' => {
            is_symbol(last) || (matches!(last, '0'..='9' | '#' | '*') && next == Some('\u{20e3}'))
        }
        '\u{200d}' if next.is_some_and(is_symbol) => {
            is_symbol(last) || (last == '\u{fe0f}' && before.next().is_some_and(is_symbol))
        }
        '\u{200c}' | '\u{200d}' => is_joined(last) && next.is_some_and(is_joined),
        _ => false,
    }
}

/// Returns `true` for the blocks that hold all emoji, except for digits: `Extended_Pictographic` and modifiers.
const fn is_symbol(character: char) -> bool {
    matches!(
        character,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{27ff}'
            | '\u{2900}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}'
    )
}

/// Returns `true` for the blocks of scripts whose letters a joiner joins or separates: Arabic to Myanmar, Khmer and
/// Mongolian.
const fn is_joined(character: char) -> bool {
    matches!(character, '\u{600}'..='\u{109f}' | '\u{1780}'..='\u{18af}') && !is_hidden(character)
}

/// Appends the escape of JSON for a character: `\u202e`, or two of them.
fn push_json_escape(out: &mut String, character: char) {
    for unit in character.encode_utf16(&mut [0; 2]) {
        // Writing to a string never fails.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// Returns a text on one line in which nothing is [unclear](is_unclear), for somebody who approves it. Backslashes stay as
/// they are.
///
/// ```
/// assert_eq!(tool_core::visible::line("two\nlines"), r"two\nlines");
/// ```
pub fn line(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unclear) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_unclear(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown.into()
}

/// Returns arguments as somebody who approves them reads them: the same JSON, without blanks between its values, on one
/// line, with an escape for each [unclear](is_unclear) character and for nothing that can be read as it is.
///
/// Texts with one shown form are the same JSON: strings of the same characters, the same keys, including
/// repeated ones, and numbers spelled the same. Any other text is shown as a string after the words
/// `not JSON: `.
///
/// ```
/// use tool_core::visible::json;
///
/// let text = "{ \"path\": \"\\u0061\u{200b}\\/b\", \"path\": 1.00 }";
/// assert_eq!(json(text), r#"{"path":"a\u200b/b","path":1.00}"#);
/// assert_eq!(json("rm\u{a0}-rf"), r#"not JSON: "rm\u00a0-rf""#);
/// ```
pub fn json(text: &str) -> Cow<'_, str> {
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        let mut shown = String::from("not JSON: ");
        push_json_string(&mut shown, text);
        return shown.into();
    }
    let mut is_plain = true;
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', ' ', '\t', '\n', '\r']) {
        let (before, from) = rest.split_at(at);
        shown.push_str(before);
        if !from.starts_with('"') {
            is_plain = false;
            rest = &from[1..];
            continue;
        }
        let string = &from[..string_length(from)];
        match serde_json::from_str::<Cow<'_, str>>(string) {
            Ok(value) => push_json_string(&mut shown, &value),
            // With half of a surrogate pair, which no text has.
            Err(_) => push_escaped(&mut shown, string),
        }
        is_plain &= shown.ends_with(string);
        rest = &from[string.len()..];
    }
    if is_plain {
        return text.into();
    }
    shown.push_str(rest);
    shown.into()
}

/// Returns the number of bytes of the JSON string at the start of a valid text.
fn string_length(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return at + 1,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
    text.len()
}

fn push_json_string(out: &mut String, value: &str) {
    push_escaped(out, &serde_json::Value::from(value).to_string());
}

/// Appends a JSON string with its unclear characters escaped.
fn push_escaped(out: &mut String, string: &str) {
    for character in string.chars() {
        if is_unclear(character) {
            push_json_escape(out, character);
        } else {
            out.push(character);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_keeps_what_writing_needs() {
        for text in [
            "two\nlines\tand a tab",
            "✔️ 1️⃣ ❤️‍🔥 👩🏽‍🚀 👩‍👩‍👧 🏳️‍🌈 ☎︎",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "Ä\u{a0}é e\u{301} 日\u{3000}本",
        ] {
            assert_eq!(escape(text), text);
        }
        for (text, removed) in [
            ("a\u{fe0f}b\u{200d}c\u{200c}d", "abcd"),
            ("🚀\u{fe0f}\u{fe0f}\u{fe01}\u{e0100}", "🚀\u{fe0f}"),
            ("👩\u{200d}\u{200d}🚀 👩\u{200d}", "👩🚀 👩"),
            ("1\u{fe0f}2", "12"),
            ("می\u{200c}\u{200c}خ", "میخ"),
            ("\u{200d}\u{feff}a\r\u{9b}\u{2028}", "a"),
            ("🏴\u{e0067}\u{e007f}", "🏴"),
        ] {
            assert_eq!(remove(text), removed, "{text:?}");
        }
    }

    #[test]
    fn escapes_of_json_leave_it_the_same_json() {
        let text = "{\"a\": \"\u{200b}\u{e0041}\"}";
        let escaped = escape_json(text);
        assert_eq!(escaped, r#"{"a": "\u200b\udb40\udc41"}"#);
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parse(&escaped), parse(text));
    }

    #[test]
    fn arguments_are_shown_whole_and_mean_the_same() {
        let text = "{\n \"a\" : \"x\u{202e}\\\"  y\\\\\", \"a\":\t[1,\u{20}2], \"b\u{200b}\": 12345678901234567890123}";
        let expected = r#"{"a":"x\u202e\"  y\\","a":[1,2],"b\u200b":12345678901234567890123}"#;
        assert_eq!(json(text), expected);
        assert!(matches!(json(expected), Cow::Borrowed(_)));
        assert_eq!(json("{\"a\":\"\u{e0041}\"}"), r#"{"a":"\udb40\udc41"}"#);
        // Half a pair stays, and the text around it is shown.
        assert_eq!(json("\"\\ud800\u{200b}\""), r#""\ud800\u200b""#);
        assert_eq!(json(r#""\u0064elete\/""#), r#""delete/""#);
    }

    #[test]
    fn what_is_not_json_is_never_shown_as_json() {
        assert_eq!(json("rm -rf\n/\u{200b}"), r#"not JSON: "rm -rf\n/\u200b""#);
        assert_ne!(json("rm"), json("\"rm\""));
        let twice = "not JSON: \"rm\"";
        assert_ne!(json("rm"), json(twice));
    }
}
