//! Compares the reader with `serde_json`, and the strict mode with validation, on strings that differ
//! from valid ones in one or two characters.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use serde_json::de::StrRead;
use serde_json::value::RawValue;

use super::{Json, Reader};
use crate::schema::Schema;
use crate::schema::validate::{Options, conforms, normalise};
use crate::{Decode, DecodeOwned, ToolType};

#[derive(Debug, PartialEq, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Celsius,
    #[serde(alias = "F\"")]
    Fahrenheit,
}

#[derive(Debug, PartialEq, Deserialize, ToolType)]
struct Place {
    name: String,
    #[serde(alias = "lat")]
    latitude: f64,
    #[serde(default)]
    height: Option<i64>,
    #[serde(default)]
    tags: Vec<u8>,
}

#[derive(Debug, PartialEq, Deserialize, ToolType)]
#[serde(deny_unknown_fields)]
struct Closed {
    r#in: bool,
}

#[derive(Debug, PartialEq, Deserialize, ToolType)]
struct Meters(f64);

#[derive(Debug, PartialEq, Deserialize, ToolType)]
struct Pair(Unit, i8);

#[derive(Debug, PartialEq, Deserialize, ToolType)]
struct Nothing;

#[derive(Debug, PartialEq, Deserialize, ToolType)]
enum Shape {
    Point,
    Circle(Meters),
    Line(i32, Option<Unit>),
    Box { a: Closed, b: Option<Box<Place>> },
}

/// In another case `Point` is still that value, but serde reads it as `Other`.
#[derive(Debug, PartialEq, Deserialize, ToolType)]
enum Open {
    Point,
    #[serde(other)]
    Other,
}

#[derive(Debug, PartialEq, Deserialize, ToolType)]
struct Deep {
    places: Vec<Place>,
    shape: Option<Shape>,
    pair: (Closed, Unit),
}

#[derive(Debug, PartialEq, Deserialize, ToolType)]
#[serde(tag = "kind")]
enum Tagged {
    A { x: u8 },
    B(BTreeMap<String, i64>),
    C,
    D(Shape),
    E(Adjacent),
}

#[derive(Debug, PartialEq, Deserialize, ToolType)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    Newtype(Option<u8>),
    Tuple(u8, bool),
    Struct { x: Unit },
}

/// The characters that are inserted into valid strings.
const BYTES: &str = "{}[],:\"\\ \n\t\u{1}019-+.eEnulltrfsa/é";

/// Returns every text that results from an insertion, a deletion or a replacement.
fn near(good: &str) -> Vec<String> {
    let mut texts = vec![good.to_owned()];
    for (at, character) in good.char_indices() {
        let behind = &good[at + character.len_utf8()..];
        texts.push(format!("{}{behind}", &good[..at]));
        texts.push(good[..at].to_owned());
        for put in BYTES.chars() {
            texts.push(format!("{}{put}{behind}", &good[..at]));
            texts.push(format!("{}{put}{}", &good[..at], &good[at..]));
        }
    }
    texts
}

/// Reads with `serde_json`. Returns the value and the position after it.
fn by_json<'de, T: Deserialize<'de>>(text: &'de str) -> Option<(T, usize)> {
    let mut json = Json::new(StrRead::new(text));
    let value = T::deserialize(&mut json).ok()?;
    Some((value, json.into_iter::<IgnoredAny>().byte_offset()))
}

/// Reads with the reader. Returns the value and the position after it.
fn by_reader<'de, T: Deserialize<'de>>(text: &'de str, is_strict: bool) -> Option<(T, usize)> {
    let mut reader = Reader::new(text);
    // The arguments are a level around the value.
    reader.depth -= 1;
    reader.is_strict = is_strict;
    let value = T::deserialize(&mut reader).ok()?;
    Some((value, reader.cursor.position()))
}

/// Decodes as the type does in the strict mode. Returns the value and the position after it.
fn by_type<'de, T: Decode<'de>>(text: &'de str) -> Option<(T, usize)> {
    let mut reader = Reader::new(text);
    reader.is_strict = true;
    let value = T::decode(&mut reader).ok()?;
    Some((value, reader.cursor.position()))
}

/// Checks that both read the same.
fn agrees<T: for<'de> Deserialize<'de> + Debug>(good: &[&str]) -> Vec<String> {
    let texts: Vec<_> = good.iter().flat_map(|good| near(good)).collect();
    for text in &texts {
        // The values themselves need not be comparable.
        let [json, reader] = [by_json::<T>(text), by_reader::<T>(text, false)];
        assert_eq!(format!("{reader:?}"), format!("{json:?}"), "{text:?}");
    }
    texts
}

/// Returns `true` if a value fits a schema, maybe with `null` for an absent property.
fn fits(schema: &Schema, text: &str) -> bool {
    conforms(schema, text).is_some()
        || text.contains("null") && normalise(schema, text, Options::default()).is_ok()
}

/// Checks that the strict mode accepts what both the schema and `serde_json` accept. `null` for an absent
/// property is accepted, too.
fn is_exact<T: DecodeOwned + DeserializeOwned + Debug + ToolType>(good: &[&str]) {
    const { assert!(T::EXACT) };
    for text in agrees::<T>(good) {
        let strict = by_type::<T>(&text);
        if let Some((_, length)) = strict {
            let read = &text[..length];
            let length = conforms(T::SCHEMA, read).unwrap_or(length);
            assert!(fits(T::SCHEMA, read) && length == read.len(), "{text:?}");
        }
        if serde_json::from_str::<IgnoredAny>(&text).is_ok() {
            // Some types leave the fraction of a number unread.
            let all = |(_, end): &(T, usize)| text[*end..].trim_ascii().is_empty();
            let fits = fits(T::SCHEMA, &text);
            let both = by_json::<T>(&text).filter(all).filter(|_| fits);
            if both.is_none() && fits && text.contains("null") {
                continue;
            }
            assert_eq!(
                format!("{:?}", strict.filter(all)),
                format!("{both:?}"),
                "{text:?}"
            );
        }
    }
}

#[test]
fn scalars_are_read_as_serde_json_reads_them() {
    let integers = [
        "0",
        "-0",
        "7",
        "-7",
        "255",
        "256",
        "-128",
        "65535",
        "4294967296",
        "2147483647",
        "9223372036854775807",
        "18446744073709551615",
        "999999999999999999",
        "1000000000000000000",
        "01",
        "1.0",
        "2e1",
        "-",
        "",
        " 12 ",
        "1 2",
    ];
    is_exact::<u8>(&integers);
    is_exact::<i8>(&integers);
    is_exact::<u16>(&integers);
    is_exact::<u32>(&integers);
    is_exact::<i64>(&integers);
    is_exact::<u64>(&integers);
    is_exact::<u128>(&integers);
    is_exact::<Option<i32>>(&["null", "nul", "-5", " null"]);
    is_exact::<bool>(&["true", "false", " true", "null"]);
    is_exact::<()>(&["null"]);
    let floats = [
        "38.7223",
        "-0.0",
        "0.1",
        "-12.5e3",
        "1e999",
        "123456789012345.5",
        "0.000000000000001",
        "12345678.1234567",
        "00.5",
        "5.",
        ".5",
        "3",
        "9007199254740993.0",
    ];
    is_exact::<f64>(&floats);
    agrees::<f32>(&floats);
    agrees::<f64>(&integers);
}

#[test]
fn strings_are_read_as_serde_json_reads_them() {
    let strings = [
        r#""""#,
        r#""Lisbon, Portugal""#,
        r#""a\"b\\c\/d\b\f\n\r\t""#,
        r#""caf\u00e9 é""#,
        r#""\ud83d\ude00""#,
        r#""\ud800""#,
        r#""\q""#,
        "\"a\nb\"",
        "\"12345678\u{1f}\"",
        "\"1234567",
        r#""1234567\"#,
        "5",
        "\"\u{7f}\u{80}é\"",
    ];
    is_exact::<String>(&strings);
    is_exact::<Box<str>>(&strings);
    is_exact::<char>(&[r#""a""#, r#""é""#, r#""\n""#, r#""\u00e9""#, r#""ab""#]);
    agrees::<std::path::PathBuf>(&strings);
    for text in strings.iter().flat_map(|good| near(good)) {
        let borrowed = |text: Option<(&str, usize)>| text.map(|(text, end)| (text.to_owned(), end));
        assert_eq!(
            borrowed(by_reader::<&str>(&text, false)),
            borrowed(by_json::<&str>(&text)),
            "{text:?}"
        );
    }
}

#[test]
fn special_characters_are_found_at_every_position() {
    for length in 0..40 {
        for at in 0..=length {
            for special in [
                "\\\"", "\\\\", "\\n", "\\u0041", "\u{1}", "\u{1f}", " ", "!", "#", "[", "]", "é",
                "\u{7f}",
            ] {
                let (before, after) = ("a".repeat(at), "b".repeat(length - at));
                let text = format!("\"{before}{special}{after}\"");
                assert_eq!(
                    by_reader::<String>(&text, false),
                    by_json(&text),
                    "{text:?}"
                );
            }
        }
    }
}

#[test]
fn structs_and_enums_are_read_as_serde_json_reads_them() {
    is_exact::<Unit>(&[
        r#""celsius""#,
        r#"{"celsius":null}"#,
        r#""F\"""#,
        r#""\u0063elsius""#,
        r#""Celsius""#,
    ]);
    is_exact::<Place>(&[
        r#"{"name":"a","latitude":1.5,"height":-3,"tags":[1,2]}"#,
        r#"{ "latitude" : 2.0 , "name" : "é\n" }"#,
        r#"{"lat":1.5,"name":"a","height":null}"#,
        r#"{"na\u006de":"a","latitude":1.5}"#,
        r#"{"name":"a","latitude":1.5,"more":[{"x":[]}]}"#,
        r#"{"name":"a","name":"b","latitude":1.5}"#,
        r#"["a",1.5,null,[]]"#,
    ]);
    is_exact::<Closed>(&[r#"{"in":true}"#, r#"{"in":true,"out":1}"#, "[true]", "{}"]);
    is_exact::<Meters>(&["1.5", "[1.5]"]);
    is_exact::<Pair>(&[r#"["celsius",3]"#, r#"["celsius"]"#, r#"["celsius",3,4]"#]);
    is_exact::<Nothing>(&["null", "[]", "{}"]);
    is_exact::<Shape>(&[
        r#""Point""#,
        r#"{"Point":null}"#,
        r#"{"Circle":1.5}"#,
        r#"{"Line":[1,"celsius"]}"#,
        r#"{"Line":[1,null]}"#,
        r#"{"Box":{"a":{"in":true},"b":null}}"#,
        r#"{"Box":[{"in":true},null]}"#,
        r#"{"Circle":1.5,"Line":[1,null]}"#,
        r#""other""#,
        r#"{"other":null}"#,
        "{}",
    ]);
}

#[test]
fn the_other_variant_is_not_for_strings_in_another_case() {
    let read = |text| by_type::<Open>(text).map(|(value, _)| value);
    assert_eq!(read(r#""Point""#), Some(Open::Point));
    assert_eq!(read(r#""Circle""#), Some(Open::Other));
    assert_eq!(read(r#""point""#), None);
}

#[test]
fn the_strict_mode_applies_to_nested_values() {
    let good = r#"{"places":[{"name":"a","latitude":0.5}],"shape":{"Circle":2.5},"pair":[{"in":false},"celsius"]}"#;
    is_exact::<Deep>(&[good]);
    is_exact::<Vec<Option<Deep>>>(&[&format!("[null,{good}]")]);
    assert!(by_reader::<Deep>(good, true).is_some());
    for (part, lax) in [
        (r#"{"name":"a","latitude":0.5}"#, r#"["a",0.5,null,[]]"#),
        (
            r#"{"name":"a","latitude":0.5}"#,
            r#"{"name":"a","latitude":0.5,"x":1}"#,
        ),
        (r#"{"in":false}"#, "[false]"),
        (r#""celsius""#, r#"{"celsius":null}"#),
        (r#"{"Circle":2.5}"#, r#"{"Point":null}"#),
    ] {
        let text = good.replacen(part, lax, 1);
        assert!(by_reader::<Deep>(&text, false).is_some(), "{text}");
        assert!(by_reader::<Deep>(&text, true).is_none(), "{text}");
    }
}

#[test]
fn hand_written_deserializers_are_left_to_serde_json() {
    let values = [
        r#"{"a":[1,2.5,"x",null,{"b":true}],"c":-0.0}"#,
        r#"{"kind":"A","x":3}"#,
        r#"{"x":3,"kind":"A"}"#,
        r#"{"kind":"B","x":3}"#,
        "[[],{}]",
        "12345678901234567890123",
    ];
    agrees::<Value>(&values);
    agrees::<Tagged>(&values);
    agrees::<Box<RawValue>>(&values);
    agrees::<BTreeMap<u8, Vec<Place>>>(&[r#"{"1":[],"2":[{"name":"a","latitude":1}]}"#]);
    agrees::<std::time::Duration>(&[r#"{"secs":1,"nanos":2}"#, "[1,2]"]);
    // A hand-written type may accept anything, so it can't be read in the strict mode.
    assert!(by_reader::<Value>("1", true).is_none());
    assert!(by_reader::<BTreeMap<String, u8>>("{}", true).is_none());
}

#[test]
fn nesting_ends_where_that_of_serde_json_does() {
    #[derive(Debug, Deserialize)]
    struct Tree {
        #[allow(dead_code)]
        below: Vec<Tree>,
    }
    for levels in [1, 62, 63, 64, 65, 1_000] {
        let text = format!(
            "{}[]{}",
            r#"{"below":["#.repeat(levels),
            "]}".repeat(levels)
        );
        let text = text.replacen("[[]]", "[]", 1);
        let [json, reader] = [by_json::<Tree>(&text), by_reader::<Tree>(&text, false)];
        assert_eq!(reader.is_some(), json.is_some(), "{levels}");
    }
}
