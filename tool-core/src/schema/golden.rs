//! `assert_schema!`: a tool's schema beside the text that it should be, while compiling.

/// How much of each text an error shows, in bytes.
const SHOWN: usize = 60;

/// Where two JSON texts part.
pub(crate) struct Parting {
    found: usize,
    expected: usize,
    in_string: bool,
}

impl Parting {
    /// `found` is compact: it has white space in strings alone.
    ///
    /// The compiler interprets this, a step for every part of an expression, so what runs for a byte
    /// is as little as can be: no call, no index, no sum.
    pub(crate) const fn of(found: &[u8], expected: &[u8]) -> Option<Parting> {
        let (mut rest, mut beside) = (found, expected);
        let mut in_string = false;
        loop {
            if let [byte, after @ ..] = rest
                && let [other, after_other @ ..] = beside
                && *byte == *other
            {
                (rest, beside) = (after, after_other);
                match *byte {
                    b'"' => in_string = !in_string,
                    b'\\' => {
                        // Whatever it is, it ends no string.
                        if let [byte, after @ ..] = rest
                            && let [other, after_other @ ..] = beside
                            && *byte == *other
                        {
                            (rest, beside) = (after, after_other);
                        }
                    }
                    _ => {}
                }
            } else if let [b' ' | b'\n' | b'\r' | b'\t', after @ ..] = beside
                && !in_string
            {
                beside = after;
            } else {
                break;
            }
        }
        if rest.is_empty() && beside.is_empty() {
            return None;
        }
        Some(Parting {
            found: found.len() - rest.len(),
            expected: expected.len() - beside.len(),
            in_string,
        })
    }

    pub(crate) const fn tell(&self, tool: &str, found: &[u8], expected: &[u8]) -> Words {
        let mut words = Words::new();
        words.put(b"the schema of the tool `");
        words.put(tool.as_bytes());
        if self.expected >= expected.len() && self.found == 0 {
            words.put(b"` has no expected text; if the schema is right, write\n");
            let start = words.end;
            words.put(found);
            if words.end == start {
                words.put(b"the value of `SPEC.parameters_json()`");
            }
            return words;
        }
        words.put(b"` differs from the expected text at line ");
        let (line, column) = place(expected, self.expected);
        words.number(line);
        words.put(b", byte ");
        words.number(column);
        words.put(b"; after\n  ");
        words.before(found, self.found);
        words.put(b"\nfound\n  ");
        words.excerpt(found, self.found, self.in_string);
        words.put(b"\nexpected\n  ");
        words.excerpt(expected, self.expected, self.in_string);
        words
    }
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

/// Whether a character begins here, as everywhere but inside of one.
const fn is_boundary(text: &[u8], at: usize) -> bool {
    at >= text.len() || text[at] & 0b1100_0000 != 0b1000_0000
}

/// Line and byte of a place, from 1.
const fn place(text: &[u8], end: usize) -> (usize, usize) {
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

/// A text that grows as long as there is room.
pub(crate) struct Words {
    bytes: [u8; 8192],
    end: usize,
}

impl Words {
    const fn new() -> Words {
        Words {
            bytes: [0; 8192],
            end: 0,
        }
    }

    pub(crate) const fn text(&self) -> &[u8] {
        let (text, _) = self.bytes.split_at(self.end);
        text
    }

    const fn push(&mut self, byte: u8) {
        self.bytes[self.end] = byte;
        self.end += 1;
    }

    /// All of a text, or none of it.
    const fn put(&mut self, text: &[u8]) {
        if self.end + text.len() > self.bytes.len() {
            return;
        }
        let mut at = 0;
        while at < text.len() {
            self.push(text[at]);
            at += 1;
        }
    }

    const fn number(&mut self, number: usize) {
        if number >= 10 {
            self.number(number / 10);
        }
        self.push(b"0123456789"[number % 10]);
    }

    /// The text from a place on, with white space outside of strings left out.
    const fn excerpt(&mut self, text: &[u8], from: usize, mut in_string: bool) {
        let (mut at, mut shown, mut is_escaped) = (from, 0, false);
        // Both texts may part inside of a character.
        while !is_boundary(text, at) {
            at -= 1;
        }
        if at >= text.len() {
            self.put(b"the end");
            return;
        }
        while at < text.len() && (shown < SHOWN || !is_boundary(text, at)) {
            if in_string || !is_space(text[at]) {
                self.push(text[at]);
                shown += 1;
            }
            match text[at] {
                b'"' if !is_escaped => in_string = !in_string,
                _ => {}
            }
            is_escaped = text[at] == b'\\' && !is_escaped;
            at += 1;
        }
        if at < text.len() {
            self.put("…".as_bytes());
        }
    }

    /// The text up to a place.
    const fn before(&mut self, text: &[u8], to: usize) {
        let mut end = to;
        while !is_boundary(text, end) {
            end -= 1;
        }
        let mut at = end.saturating_sub(SHOWN);
        while !is_boundary(text, at) {
            at += 1;
        }
        if at > 0 {
            self.put("…".as_bytes());
        }
        if end == 0 {
            self.put(b"the beginning");
        }
        while at < end {
            self.push(text[at]);
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(found: &str, expected: &str) -> Option<String> {
        let (found, expected) = (found.as_bytes(), expected.as_bytes());
        let words = Parting::of(found, expected)?.tell("f", found, expected);
        Some(String::from_utf8(words.text().to_vec()).expect("whole characters"))
    }

    #[test]
    fn white_space_counts_inside_of_strings_alone() {
        for (found, expected) in [
            (r#"{"a":[1,"b c"]}"#, " {\r\n\t\"a\" : [ 1 , \"b c\" ]\n}\n"),
            (r#"{"a":"\" b"}"#, r#"{ "a": "\" b" }"#),
            (r#"{"a":"\\","b":1}"#, r#"{"a": "\\", "b": 1}"#),
        ] {
            assert_eq!(told(found, expected), None);
        }
        for (found, expected) in [
            (r#"{"a":"b c"}"#, r#"{"a":"bc"}"#),
            (r#"{"a":"\" b"}"#, r#"{"a":"\"b"}"#),
            ("[1,2]", "[1 2]"),
            ("{}", "{"),
            ("{", "{}"),
            ("{}", ""),
        ] {
            assert!(told(found, expected).is_some(), "{found} is {expected}");
        }
    }

    #[test]
    fn both_texts_are_shown_from_where_they_part() {
        let found = r#"{"type":"object","properties":{"days":{"type":"integer","minimum":0}}}"#;
        let expected = "{\n  \"type\": \"object\",\n  \"properties\": {\n    \"days\": {\"type\": \"number\"}\n  }\n}";
        let words = told(found, expected).unwrap();
        assert_eq!(
            words,
            "the schema of the tool `f` differs from the expected text at line 4, byte 23; \
             after\n  {\"type\":\"object\",\"properties\":{\"days\":{\"type\":\"\n\
             found\n  integer\",\"minimum\":0}}}\nexpected\n  number\"}}}"
        );
    }

    #[test]
    fn nothing_is_told_to_be_the_whole() {
        assert!(told("{}", " \n").unwrap().ends_with("write\n{}"));
    }

    #[test]
    fn characters_are_shown_whole() {
        let (one, other) = ("ü".repeat(200), "ö".repeat(200));
        for (found, expected) in [
            (format!("\"{one}"), format!("\"{other}")),
            (format!("\"a{one}"), format!("\"a{one}b")),
            (format!("\"{one}x"), format!("\"{one}y")),
        ] {
            assert!(told(&found, &expected).unwrap().len() < 500);
        }
    }
}
