//! Writes a schema tree as JSON text, in constants as well as at run time.
//!
//! The compiler asks for a tool's texts when it writes the program, not when it checks it: they
//! are constants of functions that know the tool by its type. A type can't say how long an array
//! is, so a text is written into a buffer that holds nearly every one, and then moved into the
//! smallest of some rooms that it fits.

mod members;
mod names;
mod scalars;
mod sink;

use std::marker::PhantomData;

pub(crate) use self::names::{Names, find, resolve};
use self::sink::Sink;
use super::{Property, Schema};
use crate::tool::Tool;

/// Which way the values of a schema go. It matters for what may be left out: a call should leave
/// it out, while serde writes a result's `None` as `null`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From a model to a tool.
    Arguments,
    /// From a tool to a model.
    Result,
}

/// The JSON texts of a tool's two schemas.
#[derive(Clone, Copy)]
pub(crate) struct JsonTexts {
    pub(crate) parameters: &'static str,
    /// Empty for none.
    pub(crate) output: &'static str,
}

impl JsonTexts {
    /// The texts of a tool, rendered while compiling.
    pub(crate) const fn of<T: Tool>() -> JsonTexts {
        const { JsonTexts::render::<T>() }
    }

    #[allow(unsafe_code)]
    const fn render<T: Tool>() -> JsonTexts {
        let draft = &T::DRAFT;
        let (both, _) = room::<T>().split_at(draft.length);
        let (parameters, output) = both.split_at(draft.middle);
        // Validating again costs 1.6 s of compile time for 400 tools.
        // SAFETY: the bytes are written by `Sink` alone, which copies whole `&str`s and ASCII
        // digits one behind the other from the first byte on. The first text ends at `middle`,
        // and the second at `length`. A row of whole UTF-8 texts is UTF-8.
        unsafe {
            JsonTexts {
                parameters: core::str::from_utf8_unchecked(parameters),
                output: core::str::from_utf8_unchecked(output),
            }
        }
    }
}

/// How many bytes of JSON a tool's schemas mostly take at most.
const MOSTLY: usize = 4096;

/// The JSON texts of a tool's two schemas, one behind the other, for the compiler alone.
pub struct Draft {
    bytes: [u8; MOSTLY],
    /// Where the text of the parameters ends.
    middle: usize,
    /// How long both are together. More than there are bytes when they don't fit.
    length: usize,
}

impl Draft {
    /// Renders the schema of the arguments and that of the result, if there is one.
    pub(crate) const fn new(
        parameters: &'static [Property],
        output: Option<&'static Schema>,
    ) -> Draft {
        let mut bytes = [0; MOSTLY];
        let (middle, length) = write_both(parameters, output, &mut bytes);
        Draft {
            bytes,
            middle,
            length,
        }
    }
}

/// Room for the texts of a tool.
struct Room<T, const BYTES: usize>(PhantomData<T>);

impl<T: Tool, const BYTES: usize> Room<T, BYTES> {
    const TEXTS: &'static [u8] = &Self::texts();

    const fn texts() -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let draft = &T::DRAFT;
        if draft.length > MOSTLY {
            write_both(T::SOURCE.parameters, T::SOURCE.output, &mut bytes);
        } else {
            let (text, _) = draft.bytes.split_at(draft.length);
            let (place, _) = bytes.split_at_mut(draft.length);
            place.copy_from_slice(text);
        }
        bytes
    }
}

/// The smallest room that the texts of a tool fit, and no other is ever made. What stays empty is
/// a seventh on average.
const fn room<T: Tool>() -> &'static [u8] {
    const fn take<T: Tool, const BYTES: usize>() -> &'static [u8] {
        Room::<T, BYTES>::TEXTS
    }
    macro_rules! smallest {
        ($($bytes:literal)*) => {
            match T::DRAFT.length {
                $(0..=$bytes => take::<T, $bytes>(),)*
                _ => panic!("the schema of this tool is longer than 4 MiB; split the tool"),
            }
        };
    }
    smallest! {
        64 96 128 160 192 224 256 320 384 448 512 640 768 896 1024 1280 1536 1792 2048 2560 3072
        3584 4096 6144 8192 12_288 16_384 24_576 32_768 49_152 65_536 98_304 131_072 196_608
        262_144 524_288 1_048_576 2_097_152 4_194_304
    }
}

/// Writes both texts as far as there is room, and says where each ends.
const fn write_both(
    parameters: &'static [Property],
    output: Option<&'static Schema>,
    out: &mut [u8],
) -> (usize, usize) {
    let middle = write(&Schema::object(parameters), Direction::Arguments, 0, out);
    match output {
        Some(output) => (middle, write(output, Direction::Result, middle, out)),
        None => (middle, middle),
    }
}

/// The JSON text of a schema of arguments, rendered at run time.
pub(super) fn to_string(schema: &Schema) -> String {
    let mut bytes = vec![0; write(schema, Direction::Arguments, 0, &mut [])];
    write(schema, Direction::Arguments, 0, &mut bytes);
    String::from_utf8(bytes).expect("a schema is written from whole strings")
}

/// Writes as much as there is room for, from `start` on, and says where the text ends.
const fn write(schema: &Schema, direction: Direction, start: usize, out: &mut [u8]) -> usize {
    let is_result = matches!(direction, Direction::Result);
    let names;
    let mut sink = Sink::new(out, start, is_result, &Names::NONE);
    sink.root(schema);
    if sink.has_references {
        // Few schemas are recursive, so they alone pay for the search.
        names = Names::of(schema);
        sink = Sink::new(sink.out, start, is_result, &names);
        sink.root(schema);
    }
    sink.at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Refusal;
    use crate::schema::Text;
    use crate::spec::StaticSpec;
    use crate::tool::Invoke;

    const OUTPUT: &Schema = &Schema::integer(-10, 9);

    macro_rules! tools {
        ($($tool:ident: $parameters:expr;)*) => {$(
            struct $tool;

            impl Tool for $tool {
                const SOURCE: StaticSpec = StaticSpec {
                    parameters: $parameters,
                    output: Some(OUTPUT),
                    ..StaticSpec::EMPTY
                };
                const INVOKE: Invoke = Invoke::Sync(|_| Err(Refusal::Malformed(String::new())));
            }
        )*};
    }

    tools! {
        Point: &[
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
        ];
        Wide: &[Property::new(
            Text::new("n"),
            Text::EMPTY,
            &Schema::strings(&[Text::new("some value of an enum with a long name"); 200]),
        )];
    }

    #[test]
    fn the_text_is_text_and_the_same_at_compile_time_and_at_run_time() {
        let JsonTexts {
            parameters: text,
            output,
        } = JsonTexts::of::<Point>();
        assert!(std::str::from_utf8(text.as_bytes()).is_ok());
        assert_eq!(text, Schema::object(Point::SOURCE.parameters).to_json());
        let json: serde_json::Value = serde_json::from_str(text).unwrap();
        let x = &json["properties"]["x"];
        assert_eq!(x["description"], "→ länger als ein Byte 🦀");
        assert!(text.contains(&format!("\"minimum\":{},", i128::MIN)));
        assert!(text.contains(&format!("\"maximum\":{},", i128::MAX)));
        assert_eq!(json["properties"]["y"]["description"], "\"\n");
        assert_eq!(text.chars().next_back(), Some('}'));
        assert_eq!(output, r#"{"type":"integer","minimum":-10,"maximum":9}"#);
        // Made at run time, where an interpreter of the language can watch it.
        let draft = Draft::new(Point::SOURCE.parameters, None);
        assert_eq!(&draft.bytes[..draft.length], text.as_bytes());
    }

    #[test]
    fn a_text_that_the_draft_cant_hold_is_written_anew() {
        let JsonTexts {
            parameters: text,
            output,
        } = JsonTexts::of::<Wide>();
        assert!(text.len() > MOSTLY);
        assert_eq!(text, Schema::object(Wide::SOURCE.parameters).to_json());
        assert_eq!(output, OUTPUT.to_json());
    }
}
