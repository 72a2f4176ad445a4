//! The JSON texts of a tool's two schemas, rendered at compile time.
//!
//! The texts are constants of generic functions, so the compiler evaluates them during code
//! generation and not during `cargo check`. The length of an array cannot depend on a generic type,
//! so a text is first written into a draft that fits nearly all, then copied into the smallest of
//! several buffer sizes.

use std::marker::PhantomData;

use crate::schema::difference::Difference;
use crate::schema::json::write_both;
use crate::spec::JsonTexts;
use crate::tool::Tool;
use crate::tool::draft::INLINE_CAPACITY;

impl JsonTexts {
    /// Returns the texts of a tool.
    pub(crate) const fn of<T: Tool>() -> JsonTexts {
        const { JsonTexts::render::<T>() }
    }

    #[allow(unsafe_code, clippy::cast_possible_truncation)]
    const fn render<T: Tool>() -> JsonTexts {
        let draft = &T::DRAFT;
        let (both, _) = buffer::<T>().split_at(draft.length);
        JsonTexts {
            // Validating again costs 1.6 s of compile time for 400 tools.
            // SAFETY: only `ConstJsonWriter` writes the bytes. It appends whole `&str`s and ASCII digits,
            // starting at the first byte, and both texts end at `length`. A concatenation of UTF-8 texts is
            // UTF-8.
            both: unsafe { core::str::from_utf8_unchecked(both) },
            middle: draft.middle as u32,
        }
    }
}

/// A buffer of `BYTES` bytes for the texts of a tool.
struct SizedBuffer<T, const BYTES: usize>(PhantomData<T>);

impl<T: Tool, const BYTES: usize> SizedBuffer<T, BYTES> {
    const TEXTS: &'static [u8] = &Self::texts();

    const fn texts() -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let draft = &T::DRAFT;
        if draft.length > INLINE_CAPACITY {
            write_both(T::SOURCE.parameters, T::SOURCE.output_schema(), &mut bytes);
        } else {
            let (text, _) = draft.bytes.split_at(draft.length);
            let (place, _) = bytes.split_at_mut(draft.length);
            place.copy_from_slice(text);
        }
        bytes
    }
}

/// Returns the smallest buffer that fits the texts of a tool. The compiler evaluates only this one.
const fn buffer<T: Tool>() -> &'static [u8] {
    const fn sized<T: Tool, const BYTES: usize>() -> &'static [u8] {
        SizedBuffer::<T, BYTES>::TEXTS
    }
    macro_rules! smallest {
        ($($bytes:literal)*) => {
            match T::DRAFT.length {
                $(0..=$bytes => sized::<T, $bytes>(),)*
                _ => panic!("the schema of this tool is longer than 4 MiB; split the tool"),
            }
        };
    }
    smallest! {
        16 32 48 64 80 96 112 128 136 144 152 160 168 176 184 192 200 208 216 224 232 240 248 256
        264 272 280 288 296 304 312 320 328 336 344 352 360 368 376 384 392 400 408 416 424 432
        440 448 456 464 472 480 488 496 504 512 520 528 536 544 552 560 568 576 584 592 600 608
        616 624 632 640 656 672 688 704 720 736 752 768 784 800 816 832 848 864 880 896 912 928
        944 960 976 992 1008 1024 1152 1280 1408 1536 1792 2048 2560 3072 3584 4096 6144 8192
        12_288 16_384 24_576 32_768 49_152 65_536 98_304 131_072 196_608
        262_144 524_288 1_048_576 2_097_152 4_194_304
    }
}

/// Asserts that the JSON text of a tool's parameters is `expected`, ignoring white space outside of
/// strings.
///
/// # Panics
///
/// Panics at the first difference.
#[track_caller]
pub const fn assert_schema<T: Tool>(expected: &str) {
    let found = JsonTexts::of::<T>().parameters();
    if let Some(difference) = Difference::find(found, expected) {
        let message = difference.message(T::SOURCE.name, found, expected);
        panic!("{}", message.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::OutputSchema;
    use crate::schema::{Property, Schema, Text};
    use crate::spec::Location;
    use crate::tool::StaticSpec;
    use crate::tool::draft::Draft;

    const OUTPUT: &Schema = &Schema::integer(-10, 9);

    macro_rules! tools {
        ($($tool:ident: $parameters:expr;)*) => {$(
            struct $tool;

            impl Tool for $tool {
                const SOURCE: StaticSpec = StaticSpec {
                    parameters: $parameters,
                    output: Some(OutputSchema {
                        schema: OUTPUT,
                        writes: 0,
                    }),
                    ..StaticSpec::EMPTY
                };
                const LOCATION: Location = Location::EMPTY;
            }
        )*};
    }

    tools! {
        Point: &[
            Property::new(
                Text::new("x"),
                &Schema::integer(i128::MIN, i128::MAX).describe(Text::new("→ länger als ein Byte 🦀")),
            ),
            Property::new(
                Text::new("y"),
                &Schema::nullable(
                    &Schema::BOOLEAN.describe(crate::__private::text("\"\n\\\"\\n", 2)),
                ),
            ),
        ];
        Wide: &[Property::new(
            Text::new("n"),
            &Schema::strings(&[Text::new("some value of an enum with a long name"); 200]),
        )];
    }

    #[test]
    fn texts_rendered_at_compile_time_and_at_run_time_are_equal() {
        let texts = JsonTexts::of::<Point>();
        let (text, output) = (texts.parameters(), texts.output());
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
        // Rendered at run time, so that Miri can check it.
        let draft = Draft::new(Point::SOURCE.parameters, None);
        assert_eq!(&draft.bytes[..draft.length], text.as_bytes());
    }

    #[test]
    fn a_text_that_exceeds_the_draft_is_rendered_again() {
        let texts = JsonTexts::of::<Wide>();
        let (text, output) = (texts.parameters(), texts.output());
        assert!(text.len() > INLINE_CAPACITY);
        assert_eq!(text, Schema::object(Wide::SOURCE.parameters).to_json());
        assert_eq!(output, OUTPUT.to_json());
    }
}
