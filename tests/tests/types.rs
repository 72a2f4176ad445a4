//! Parameter types: the schema of each, what it accepts, what it rejects.

// Tests read the values through `Debug`.
#![allow(dead_code, clippy::option_option)]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tool_core::{Registry, Tool, ToolCall, ToolResult, ToolType, by_serde, tool, tools};

fn run(arguments: &Value) -> ToolResult {
    let call = ToolCall::new("id", "take", arguments.clone());
    Registry::linked()
        .expect("unique names")
        .call_blocking(call)
}

/// Defines a test of a tool with one parameter `value: $ty`: its schema, and values with verdicts.
macro_rules! type_test {
    ($test:ident: $ty:ty, $schema:tt, accepts $($value:tt => $seen:literal),*; rejects $($bad:tt),*) => {
        #[test]
        fn $test() {
            /// Takes a value.
            #[tool(unlinked)]
            fn take(value: $ty) -> String {
                format!("{value:?}")
            }

            let parameters: Value = serde_json::from_str(take::SPEC.parameters_json()).unwrap();
            assert_eq!(parameters["properties"]["value"], json!($schema));
            let registry = Registry::builder().tools(tools![take]).build().unwrap();
            let validator = jsonschema::validator_for(&parameters).unwrap();
            $({
                let arguments = json!({"value": $value});
                let result = registry.call_blocking(ToolCall::new("id", "take", arguments.clone()));
                assert_eq!(result.content(), $seen, "{arguments}");
                // `null` for an optional value is a documented exception.
                assert!(validator.is_valid(&arguments) || arguments.to_string().contains("null"), "{arguments}");
            })*
            $({
                let arguments = json!({"value": $bad});
                let result = registry.call_blocking(ToolCall::new("id", "take", arguments.clone()));
                assert!(result.is_error(), "{arguments} gave {}", result.content());
                assert!(!validator.is_valid(&arguments), "{arguments}");
            })*
        }
    };
}

#[derive(Debug, Deserialize, ToolType, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
enum Colour {
    DeepRed,
    #[serde(rename = "GREEN")]
    Green,
}

/// A point.
#[derive(Debug, Deserialize, ToolType)]
#[serde(rename_all = "camelCase")]
struct Point {
    /// To the right.
    x_axis: i32,
    #[serde(rename = "why")]
    y_axis: Option<i32>,
    #[serde(default)]
    flags: Vec<bool>,
}

#[derive(Debug, Deserialize, Default, ToolType)]
#[serde(default)]
struct AllDefault {
    size: u8,
    colour: Option<Colour>,
}

/// A temperature.
#[derive(Debug, Deserialize, ToolType)]
struct Celsius(f64);

#[derive(Debug, Deserialize, ToolType)]
struct Pair<T> {
    left: T,
    right: T,
}

type Maybe<T> = Option<T>;

type_test! { booleans: bool, {"type": "boolean"},
accepts true => "true", false => "false"; rejects 1, "true", null }
type_test! { bytes: u8, {"type": "integer", "minimum": 0, "maximum": 255},
accepts 0 => "0", 255 => "255", 7.0 => "7"; rejects 256, (-1), 1.5, "1", null }
type_test! { signed_bytes: i8, {"type": "integer", "minimum": -128, "maximum": 127},
accepts (-128) => "-128"; rejects (-129), 128 }
type_test! { shorts: i16, {"type": "integer", "minimum": -32768, "maximum": 32767},
accepts (-5) => "-5"; rejects 32768 }
type_test! { unsigned_shorts: u16, {"type": "integer", "minimum": 0, "maximum": 65535},
accepts 65535 => "65535"; rejects 65536 }
type_test! { unsigned: u32, {"type": "integer", "minimum": 0},
accepts 4_294_967_295_u32 => "4294967295"; rejects (-1) }
type_test! { integers: i32, {"type": "integer"}, accepts (-7) => "-7"; rejects 0.5, "x", [1] }
type_test! { longs: i64, {"type": "integer"},
accepts (i64::MIN) => "-9223372036854775808", 1e3 => "1000"; rejects 1e-1 }
type_test! { unsigned_longs: u64, {"type": "integer", "minimum": 0},
accepts (u64::MAX) => "18446744073709551615"; rejects (-1) }
type_test! { sizes: usize, {"type": "integer", "minimum": 0}, accepts 3 => "3"; rejects (-3) }
type_test! { signed_sizes: isize, {"type": "integer"}, accepts (-3) => "-3"; rejects 3.3 }
type_test! { wide: i128, {"type": "integer"}, accepts (-3) => "-3", 2.0 => "2"; rejects "3" }
type_test! { unsigned_wide: u128, {"type": "integer", "minimum": 0}, accepts 3 => "3"; rejects (-3) }
type_test! { floats: f64, {"type": "number"}, accepts 1 => "1.0", (-0.5) => "-0.5"; rejects "1", true }
type_test! { single_floats: f32, {"type": "number"}, accepts 0.5 => "0.5"; rejects null }
type_test! { characters: char, {"type": "string", "minLength": 1, "maxLength": 1},
accepts "é" => "'é'", "\u{1f980}" => "'🦀'"; rejects "", "ab", 1 }
type_test! { strings: String, {"type": "string"},
accepts "a\"\\\n\u{1}é" => "\"a\\\"\\\\\\n\\u{1}é\""; rejects 1, null, ["a"] }
type_test! { borrowed_strings: &str, {"type": "string"},
accepts "plain" => "\"plain\"", "esc\naped" => "\"esc\\naped\""; rejects 1 }
type_test! { cows: Cow<'_, str>, {"type": "string"}, accepts "a\tb" => "\"a\\tb\""; rejects {} }
type_test! { options: Option<u8>, {"type": "integer", "minimum": 0, "maximum": 255},
accepts 1 => "Some(1)", null => "None"; rejects 256, "1" }
type_test! { aliased_options: Maybe<String>, {"type": "string"},
accepts "a" => "Some(\"a\")", null => "None"; rejects 1 }
type_test! { borrowed_options: Option<&str>, {"type": "string"},
accepts "a\nb" => "Some(\"a\\nb\")", null => "None"; rejects 1 }
type_test! { options_of_slices: Option<&[u8]>, {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}},
accepts [1, 2.0] => "Some([1, 2])", null => "None"; rejects [256] }
type_test! { nested_options: Option<Option<bool>>, {"type": "boolean"},
accepts true => "Some(Some(true))", null => "None"; rejects 1 }
type_test! { lists: Vec<i32>, {"type": "array", "items": {"type": "integer"}},
accepts [] => "[]", [1, 2.0, -3] => "[1, 2, -3]"; rejects [1, "2"], {}, "[]" }
type_test! { lists_of_options: Vec<Option<bool>>,
{"type": "array", "items": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}},
accepts [true, null] => "[Some(true), None]"; rejects [1] }
type_test! { borrowed_paths: &std::path::Path, {"type": "string"}, accepts "a/b\n" => "\"a/b\\n\""; rejects 1 }
type_test! { tuples: (bool, Option<String>),
{"type": "array", "prefixItems": [{"type": "boolean"}, {"anyOf": [{"type": "string"}, {"type": "null"}]}], "items": false, "minItems": 2, "maxItems": 2},
accepts [true, null] => "(true, None)", [false, "a"] => "(false, Some(\"a\"))"; rejects [true], [true, "a", 1], {} }
type_test! { units: (), {"type": "null"}, accepts null => "()"; rejects [], {} }
type_test! { signed_nonzeros: std::num::NonZeroI8,
{"anyOf": [{"type": "integer", "minimum": 1, "maximum": 127}, {"type": "integer", "minimum": -128, "maximum": -1}]},
accepts (-128) => "-128", 1.0 => "1"; rejects 0, 128 }
type_test! { unsigned_nonzeros: std::num::NonZeroU32, {"type": "integer", "minimum": 1}, accepts 7 => "7"; rejects 0 }
type_test! { durations: std::time::Duration,
{"type": "object", "properties": {"secs": {"type": "integer", "minimum": 0, "description": "Whole seconds."},
 "nanos": {"type": "integer", "minimum": 0, "maximum": 999_999_999, "description": "Nanoseconds beyond them."}}, "required": ["secs", "nanos"], "additionalProperties": false},
accepts {"secs": 1, "nanos": 500_000_000} => "1.5s"; rejects {"secs": 1}, [1, 2], 1.5 }
type_test! { ranges: std::ops::Range<u8>,
{"type": "object", "properties": {"start": {"type": "integer", "minimum": 0, "maximum": 255, "description": "First of the range."},
 "end": {"type": "integer", "minimum": 0, "maximum": 255, "description": "End of the range, not part of it."}}, "required": ["start", "end"], "additionalProperties": false},
accepts {"start": 1, "end": 3} => "1..3"; rejects {"start": 1}, [1, 3] }
type_test! { slices: &[String], {"type": "array", "items": {"type": "string"}},
accepts ["a", "b\n"] => "[\"a\", \"b\\n\"]"; rejects [1] }
type_test! { borrowed_values: &Point,
{"type": "object", "properties": {"xAxis": {"type": "integer", "description": "To the right."}, "why": {"type": "integer"},
 "flags": {"type": "array", "items": {"type": "boolean"}}}, "required": ["xAxis"], "additionalProperties": false, "description": "A point."},
accepts {"xAxis": 1} => "Point { x_axis: 1, y_axis: None, flags: [] }"; rejects [1, 2, []] }
type_test! { arrays: [bool; 2], {"type": "array", "items": {"type": "boolean"}, "minItems": 2, "maxItems": 2},
accepts [true, false] => "[true, false]"; rejects [true], [true, true, true] }
type_test! { deques: VecDeque<bool>, {"type": "array", "items": {"type": "boolean"}}, accepts [true] => "[true]"; rejects true }
type_test! { sets: BTreeSet<i32>, {"type": "array", "items": {"type": "integer"}}, accepts [2, 1, 2] => "{1, 2}"; rejects ["1"] }
type_test! { hash_sets: HashSet<Colour>, {"type": "array", "items": {"type": "string", "enum": ["deep-red", "GREEN"]}},
accepts ["GREEN"] => "{Green}"; rejects ["greener"] }
type_test! { boxes: Box<u8>, {"type": "integer", "minimum": 0, "maximum": 255}, accepts 1 => "1"; rejects 256 }
type_test! { counted: Rc<str>, {"type": "string"}, accepts "a" => "\"a\""; rejects 1 }
type_test! { shared: Arc<Vec<bool>>, {"type": "array", "items": {"type": "boolean"}}, accepts [true] => "[true]"; rejects [1] }
type_test! { maps: BTreeMap<String, u8>, {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0, "maximum": 255}},
accepts {} => "{}", {"a b": 1, "": 2.0} => "{\"\": 2, \"a b\": 1}"; rejects {"a": 256}, [] }
type_test! { hash_maps: HashMap<String, Vec<Option<u8>>>,
{"type": "object", "additionalProperties": {"type": "array", "items": {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "null"}]}}},
accepts {"a": [null, 1]} => "{\"a\": [None, Some(1)]}"; rejects {"a": null} }
type_test! { any_value: Value, {}, accepts null => "Null", {"a": [1, "b"]} => "Object {\"a\": Array [Number(1), String(\"b\")]}"; rejects }
type_test! { any_object: Map<String, Value>, {"type": "object"}, accepts {"a": null} => "{\"a\": Null}"; rejects [], null }
type_test! { enums: Colour, {"type": "string", "enum": ["deep-red", "GREEN"]},
accepts "deep-red" => "DeepRed", "GREEN" => "Green"; rejects "Greener", {"GREEN": null}, 0 }
type_test! { structs: Point,
{"type": "object", "properties": {"xAxis": {"type": "integer", "description": "To the right."}, "why": {"type": "integer"},
 "flags": {"type": "array", "items": {"type": "boolean"}}}, "required": ["xAxis"], "additionalProperties": false, "description": "A point."},
accepts {"xAxis": 1.0, "why": null, "flags": null} => "Point { x_axis: 1, y_axis: None, flags: [] }",
        {"flags": [true], "xAxis": 1, "why": 2} => "Point { x_axis: 1, y_axis: Some(2), flags: [true] }";
rejects {"x_axis": 1}, {"xAxis": 1, "z": 1}, {}, [1, 2, []], {"xAxis": null} }
type_test! { container_defaults: AllDefault,
{"type": "object", "properties": {"size": {"type": "integer", "minimum": 0, "maximum": 255}, "colour": {"type": "string", "enum": ["deep-red", "GREEN"]}}, "additionalProperties": false},
accepts {} => "AllDefault { size: 0, colour: None }"; rejects {"size": 256}, [] }
type_test! { newtypes: Celsius, {"type": "number", "description": "A temperature."}, accepts 21.5 => "Celsius(21.5)"; rejects [21.5], "21.5" }
type_test! { generic_types: Pair<Vec<u8>>,
{"type": "object", "properties": {"left": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}},
 "right": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}}}, "required": ["left", "right"], "additionalProperties": false},
accepts {"left": [], "right": [1]} => "Pair { left: [], right: [1] }"; rejects {"left": [], "right": [256]} }

/// Defaults of all kinds.
#[tool(name = "take")]
fn take_defaults(
    #[param(default = -2)] offset: i32,
    #[param(default = "GREEN")] colour: Colour,
    #[param(default = [1, 2])] list: Value,
    #[param(default)] size: u8,
    #[param(rename = "type", default = true)] kind: bool,
    #[param(default = "a\"b")] text: &str,
) -> String {
    format!("{offset} {colour:?} {list} {size} {kind} {text}")
}

#[test]
fn defaults_are_shown_and_used() {
    let parameters: Value = serde_json::from_str(take_defaults::SPEC.parameters_json()).unwrap();
    let defaults = parameters["properties"].as_object().unwrap().iter();
    let defaults: Map<_, _> = defaults
        .filter_map(|(key, schema)| Some((key.clone(), schema.get("default")?.clone())))
        .collect();
    let expected =
        json!({"offset": -2, "colour": "GREEN", "list": [1, 2], "type": true, "text": "a\"b"});
    assert_eq!(Value::Object(defaults), expected);
    assert_eq!(parameters.get("required"), None);
    assert_eq!(run(&json!({})).content(), "-2 Green [1,2] 0 true a\"b");
    let nulls = json!({"offset": null, "colour": null, "size": null, "type": null, "text": null});
    assert_eq!(run(&nulls).content(), "-2 Green [1,2] 0 true a\"b");
    let all = json!({"offset": 1, "colour": "deep-red", "list": null, "size": 9, "type": false, "text": ""});
    assert_eq!(run(&all).content(), "1 DeepRed null 9 false ");
    assert!(run(&json!({"kind": true})).is_error());
}

#[test]
fn integers_outside_of_their_type_are_rejected_without_shown_bounds() {
    /// Takes integers.
    #[tool(unlinked)]
    fn wide(a: Option<i32>, b: Option<u64>, c: Option<u128>, d: Option<i128>) -> String {
        format!("{a:?} {b:?} {c:?} {d:?}")
    }
    let registry = Registry::builder().tools(tools![wide]).build().unwrap();
    let call = |text: &str| registry.call_blocking(ToolCall::new("id", "wide", text));
    let c = "340282366920938463463374607431768211455";
    assert_eq!(
        call(&format!(
            "{{\"c\":{c},\"d\":-17014118346046923173168730371588410572.0e1}}"
        ))
        .content(),
        format!("None None Some({c}) Some(-170141183460469231731687303715884105720)")
    );
    for (text, said) in [
        (
            "{\"a\":2147483648}",
            "a: 2147483648 is above the maximum 2147483647",
        ),
        (
            "{\"b\":18446744073709551616}",
            "b: 18446744073709551616 is above the maximum 18446744073709551615",
        ),
        (
            "{\"c\":340282366920938463463374607431768211456}",
            "c: 340282366920938463463374607431768211456 is above the maximum \
             340282366920938463463374607431768211455",
        ),
        ("{\"b\":1e400}", "b: 1e400 is above the maximum"),
    ] {
        let result = call(text);
        assert!(
            result.is_error() && result.content().contains(said),
            "{}",
            result.content()
        );
    }
}

/// A newtype that accepts less than its schema says.
#[derive(Debug)]
struct Even(u8);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u8::deserialize(deserializer)?;
        match number % 2 {
            0 => Ok(Even(number)),
            _ => Err(serde::de::Error::custom(format!(
                "{number} is odd; send an even number"
            ))),
        }
    }
}

by_serde!(Even);

impl ToolType for Even {
    const SCHEMA: &'static tool_core::schema::Schema = u8::SCHEMA;
}

#[derive(Debug, Deserialize, ToolType)]
struct EvenPair {
    name: String,
    even: Even,
}

#[test]
fn a_rejection_inside_of_a_value_has_a_path() {
    /// Takes even numbers.
    #[tool(unlinked)]
    fn take_even(pairs: Vec<EvenPair>, more: HashMap<String, Even>) -> String {
        format!("{pairs:?} {more:?}")
    }
    let registry = Registry::builder()
        .tools(tools![take_even])
        .build()
        .unwrap();
    for (text, said) in [
        (
            r#"{"more":{}, "pairs":[ {"name":"[a]","even":4}, {"even" : 3.0,
                "name":"b"}]}"#,
            ":\n- pairs[1].even: 3 is odd; send an even number",
        ),
        (
            r#"{"pairs":[],"more":{"x":2,"y z":5,"z":4}}"#,
            ":\n- more.y z: 5 is odd; send an even number",
        ),
        (
            r#"{"pairs":[],"more":{"x":5}}"#,
            ":\n- more.x: 5 is odd; send an even number",
        ),
    ] {
        let result = registry.call_blocking(ToolCall::new("id", "take_even", text));
        assert!(result.content().ends_with(said), "{}", result.content());
    }
}

#[test]
fn a_type_that_rejects_what_its_schema_allows_reports_its_error() {
    /// Takes an even number.
    #[tool(unlinked)]
    fn take_even(even: Even) -> String {
        format!("{even:?}")
    }
    let registry = Registry::builder()
        .tools(tools![take_even])
        .build()
        .unwrap();
    let call = |text: &str| registry.call_blocking(ToolCall::new("id", "take_even", text));
    assert_eq!(call("{\"even\":4.0}").content(), "Even(4)");
    let odd = call("{\"even\":3}");
    assert!(
        odd.content().ends_with(
            ":\n- even: 3 is odd; send an even number; expected an integer from 0 to 255"
        ),
        "{}",
        odd.content()
    );
}
