//! Writes a schema tree as JSON text, in constants as well as at run time.
//!
//! One function serves both passes of the compile-time rendering: it measures when it is given
//! too little room and writes when it is given enough, so the two can't drift apart.

mod members;
mod names;
mod sink;

use self::names::Names;
use self::sink::Sink;
use super::Schema;

/// Which way the values of a schema go. It matters for what may be left out: a call should leave
/// it out, while serde writes a result's `None` as `null`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From a model to a tool.
    Arguments,
    /// From a tool to a model.
    Result,
}

/// The JSON text of a schema, rendered while compiling.
///
/// Only [`JsonText::of`] makes one, so its bytes are text: see [`JsonText::as_str`].
pub struct JsonText<const LENGTH: usize>([u8; LENGTH]);

impl<const LENGTH: usize> JsonText<LENGTH> {
    /// Renders `schema`, whose JSON text is `LENGTH` bytes long; no schema has no text.
    ///
    /// # Panics
    ///
    /// When `LENGTH` is not what [`json_length`] says.
    pub const fn of(schema: Option<&Schema>, direction: Direction) -> Self {
        let mut bytes = [0; LENGTH];
        let length = write(schema, direction, &mut bytes);
        assert!(
            length == LENGTH,
            "the length of a schema's text was miscounted"
        );
        JsonText(bytes)
    }

    /// The text.
    #[allow(unsafe_code)]
    pub const fn as_str(&self) -> &str {
        // Validating again costs 1.6 s of compile time for 400 tools.
        // SAFETY: `of` is the only constructor. It fills the bytes through `Sink::put_bytes` alone,
        // which copies whole `&str`s (or ASCII digits) one behind the other from the first byte
        // on, and it asserts that they end at the last. A row of whole UTF-8 texts is UTF-8.
        unsafe { core::str::from_utf8_unchecked(&self.0) }
    }
}

/// How many bytes the JSON text of a schema takes; 0 for none.
pub const fn json_length(schema: Option<&Schema>, direction: Direction) -> usize {
    write(schema, direction, &mut [])
}

/// The JSON text of a schema of arguments, rendered at run time.
pub(super) fn to_string(schema: &Schema) -> String {
    let mut bytes = vec![0; json_length(Some(schema), Direction::Arguments)];
    write(Some(schema), Direction::Arguments, &mut bytes);
    String::from_utf8(bytes).expect("a schema is written from whole strings")
}

/// Writes as much as there is room for and says how much room is needed.
const fn write(schema: Option<&Schema>, direction: Direction, out: &mut [u8]) -> usize {
    let Some(schema) = schema else { return 0 };
    let mut names = Names::NONE;
    names.collect(schema);
    let mut sink = Sink {
        out,
        at: 0,
        is_result: matches!(direction, Direction::Result),
        names,
    };
    sink.root(schema);
    sink.at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Property, Text};

    const POINT: &Schema = &Schema::object(&[
        Property::new(
            Text::new("x"),
            Text::new("→ länger als ein Byte 🦀"),
            &Schema::integer(i128::MIN, i128::MAX),
        ),
        Property::new(
            Text::new("y"),
            Text::escaped("\"\n", "\\\"\\n"),
            &Schema::nullable(&Schema::BOOLEAN),
        ),
    ]);
    const LENGTH: usize = json_length(Some(POINT), Direction::Arguments);
    static TEXT: JsonText<LENGTH> = JsonText::of(Some(POINT), Direction::Arguments);

    #[test]
    fn the_text_is_text_and_the_same_at_compile_time_and_at_run_time() {
        let text = TEXT.as_str();
        assert!(std::str::from_utf8(text.as_bytes()).is_ok());
        assert_eq!(text, POINT.to_json());
        let json: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(
            json["properties"]["x"]["description"],
            "→ länger als ein Byte 🦀"
        );
        assert_eq!(json["properties"]["y"]["description"], "\"\n");
        let last = text.chars().next_back();
        assert_eq!(last, Some('}'));
        // Made at run time, where an interpreter of the language can watch it.
        let again = JsonText::<LENGTH>::of(Some(POINT), Direction::Arguments);
        assert_eq!(again.as_str(), text);
        assert_eq!(JsonText::<0>::of(None, Direction::Result).as_str(), "");
    }

    #[test]
    #[should_panic(expected = "miscounted")]
    fn a_wrong_length_makes_no_text() {
        let _ = JsonText::<8>::of(Some(POINT), Direction::Arguments);
    }
}
