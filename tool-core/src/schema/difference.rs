//! Compares a tool's schema with its expected text at compile time, for `assert_schema!`.

use super::const_string::ConstString;

/// The number of bytes of each text that the message shows.
const SHOWN: usize = 60;

/// The first difference between two JSON texts.
pub(crate) struct Difference {
    found: usize,
    expected: usize,
    in_string: bool,
}

impl Difference {
    /// Finds the first difference, ignoring white space outside of strings. `found` is compact.
    ///
    /// The compiler interprets this, one step for each part of an expression, so the loop over the
    /// bytes avoids calls, indexing and arithmetic.
    pub(crate) const fn find(found: &str, expected: &str) -> Option<Difference> {
        let (mut rest, mut other_rest) = (found.as_bytes(), expected.as_bytes());
        let mut in_string = false;
        loop {
            if let [byte, after @ ..] = rest
                && let [other, other_after @ ..] = other_rest
                && *byte == *other
            {
                (rest, other_rest) = (after, other_after);
                match *byte {
                    b'"' => in_string = !in_string,
                    b'\\' => {
                        // An escaped character does not end the string.
                        if let [byte, after @ ..] = rest
                            && let [other, other_after @ ..] = other_rest
                            && *byte == *other
                        {
                            (rest, other_rest) = (after, other_after);
                        }
                    }
                    _ => {}
                }
            } else if let [b' ' | b'\n' | b'\r' | b'\t', after @ ..] = other_rest
                && !in_string
            {
                other_rest = after;
            } else {
                break;
            }
        }
        if rest.is_empty() && other_rest.is_empty() {
            return None;
        }
        Some(Difference {
            found: found.len() - rest.len(),
            expected: expected.len() - other_rest.len(),
            in_string,
        })
    }

    /// Describes the difference. Both strings must be the compared ones.
    pub(crate) const fn message(&self, tool: &str, found: &str, expected: &str) -> Message {
        let mut message = Message::new("the schema of tool `");
        message.push(tool);
        if self.expected >= expected.len() && self.found == 0 {
            message.push("` has no expected text yet; if the schema is right, use this:\n");
            message.push(if found.len() < 8000 {
                found
            } else {
                "the value of `SPEC.parameters_json()`"
            });
            return message;
        }
        message.push("` differs from the expected text at line ");
        let (line, column) = position(expected.as_bytes(), self.expected);
        message.number(line);
        message.push(", byte ");
        message.number(column);
        message.push("; after\n  ");
        push_before(&mut message, found, self.found);
        message.push("\nthe schema is\n  ");
        push_excerpt(&mut message, found, self.found, self.in_string);
        message.push("\nbut expected\n  ");
        push_excerpt(&mut message, expected, self.expected, self.in_string);
        message
    }
}

/// The text of a compile error.
pub(crate) type Message = ConstString<8192>;

/// Returns the line and the byte in it, both from 1.
const fn position(text: &[u8], end: usize) -> (usize, usize) {
    let (mut line, mut start, mut at) = (1, 0, 0);
    while at < end {
        if text[at] == b'\n' {
            line += 1;
            start = at + 1;
        }
        at += 1;
    }
    (line, end - start + 1)
}

/// Appends the text from `from` on, without white space outside of strings.
const fn push_excerpt(message: &mut Message, text: &str, from: usize, mut in_string: bool) {
    let bytes = text.as_bytes();
    // The strings may differ inside of a character.
    let mut at = from;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    if at >= bytes.len() {
        message.push("the end");
        return;
    }
    let (mut shown, mut is_escaped) = (0, false);
    while at < bytes.len() && shown < SHOWN {
        let start = at;
        at += 1;
        while !text.is_char_boundary(at) {
            at += 1;
        }
        if in_string || !matches!(bytes[start], b' ' | b'\n' | b'\r' | b'\t') {
            push_slice(message, text, start, at);
            shown += at - start;
        }
        if bytes[start] == b'"' && !is_escaped {
            in_string = !in_string;
        }
        is_escaped = bytes[start] == b'\\' && !is_escaped;
    }
    if at < bytes.len() {
        message.push("…");
    }
}

/// Appends the end of the text before `to`.
const fn push_before(message: &mut Message, text: &str, to: usize) {
    let mut end = to;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut start = end.saturating_sub(SHOWN);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    if start > 0 {
        message.push("…");
    }
    if end == 0 {
        message.push("the beginning");
    }
    push_slice(message, text, start, end);
}

const fn push_slice(message: &mut Message, text: &str, start: usize, end: usize) {
    let (text, _) = text.split_at(end);
    let (_, text) = text.split_at(start);
    message.push(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn difference(found: &str, expected: &str) -> Option<String> {
        let message = Difference::find(found, expected)?.message("f", found, expected);
        Some(message.as_str().to_owned())
    }

    #[test]
    fn white_space_matters_only_inside_strings() {
        for (found, expected) in [
            (r#"{"a":[1,"b c"]}"#, " {\r\n\t\"a\" : [ 1 , \"b c\" ]\n}\n"),
            (r#"{"a":"\" b"}"#, r#"{ "a": "\" b" }"#),
            (r#"{"a":"\\","b":1}"#, r#"{"a": "\\", "b": 1}"#),
        ] {
            assert_eq!(difference(found, expected), None);
        }
        for (found, expected) in [
            (r#"{"a":"b c"}"#, r#"{"a":"bc"}"#),
            (r#"{"a":"\" b"}"#, r#"{"a":"\"b"}"#),
            ("[1,2]", "[1 2]"),
            ("{}", "{"),
            ("{", "{}"),
            ("{}", ""),
        ] {
            assert!(
                difference(found, expected).is_some(),
                "{found} is {expected}"
            );
        }
    }

    #[test]
    fn both_texts_are_shown_from_the_first_difference() {
        let found = r#"{"type":"object","properties":{"days":{"type":"integer","minimum":0}}}"#;
        let expected = "{\n  \"type\": \"object\",\n  \"properties\": {\n    \"days\": {\"type\": \"number\"}\n  }\n}";
        let message = difference(found, expected).unwrap();
        assert_eq!(
            message,
            "the schema of tool `f` differs from the expected text at line 4, byte 23; after\n  \
             {\"type\":\"object\",\"properties\":{\"days\":{\"type\":\"\nthe schema is\n  \
             integer\",\"minimum\":0}}}\nbut expected\n  number\"}}}"
        );
    }

    #[test]
    fn an_empty_text_shows_the_whole_schema() {
        assert!(difference("{}", " \n").unwrap().ends_with("this:\n{}"));
    }

    #[test]
    fn characters_are_shown_whole() {
        let (one, other) = ("ü".repeat(200), "ö".repeat(200));
        for (found, expected) in [
            (format!("\"{one}"), format!("\"{other}")),
            (format!("\"a{one}"), format!("\"a{one}b")),
            (format!("\"{one}x"), format!("\"{one}y")),
        ] {
            assert!(difference(&found, &expected).unwrap().len() < 500);
        }
    }
}
