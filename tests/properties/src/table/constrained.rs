//! Constraints, alone and combined, on parameters and on fields.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::IpAddr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tool_core::schema::Schema;
use tool_core::{ToolType, by_serde};

use super::Promise;
use super::enums::{Colour, External, Internal, Paint, UntaggedNumbers};
use super::structs::Named;

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Fields {
    #[param(range = 1..=14)]
    #[schemars(range(min = 1, max = 14))]
    days: u8,
    #[param(range = -0.5..0.5)]
    #[schemars(extend("minimum" = -0.5, "exclusiveMaximum" = 0.5))]
    offset: Option<f64>,
    #[param(length = 1..=3, unique)]
    #[schemars(length(min = 1, max = 3), extend("uniqueItems" = true))]
    tags: Vec<String>,
    #[param(pattern = "^[A-Z]{2}-[0-9]{3}$")]
    #[schemars(regex(pattern = "^[A-Z]{2}-[0-9]{3}$"))]
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    #[param(multiple_of = 5, example = 10)]
    #[schemars(extend("multipleOf" = 5), example = 10)]
    step: i32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Tuple(
    #[param(range = 1..=5)]
    #[schemars(range(min = 1, max = 5))]
    u8,
    #[param(length = 2..=2)]
    #[schemars(length(equal = 2))]
    Option<String>,
);

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct Percent(
    #[param(range = 0..=100)]
    #[schemars(range(max = 100))]
    u8,
);

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct MaybePercent(
    #[param(range = 0..=100)]
    #[schemars(range(max = 100))]
    Option<u8>,
);

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(transparent)]
struct Tag {
    #[param(length = 1..=3)]
    #[schemars(length(min = 1, max = 3))]
    text: String,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    Circle {
        #[param(range = 0.0..)]
        #[schemars(range(min = 0))]
        radius: f64,
    },
    Polygon {
        #[param(length = 3..)]
        #[schemars(length(min = 3))]
        corners: Vec<(i8, i8)>,
    },
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
enum Held {
    Low(
        #[param(range = ..=9)]
        #[schemars(range(max = 9))]
        u8,
    ),
    Some(
        #[param(range = 1..=9)]
        #[schemars(range(min = 1, max = 9))]
        Option<u8>,
    ),
    Pair(
        #[param(multiple_of = 2)]
        #[schemars(extend("multipleOf" = 2))]
        u8,
        bool,
    ),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, ToolType, JsonSchema)]
struct FlatConstrained {
    #[serde(flatten)]
    fields: Fields,
    #[serde(flatten)]
    others: BTreeMap<String, Percent>,
}

/// Accepts less than its schema can express.
#[derive(Debug, PartialEq, Serialize, ToolType)]
#[param(serde)]
#[serde(transparent)]
struct Even(u8);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u8::deserialize(deserializer)?;
        match number % 2 {
            0 => Ok(Even(number)),
            _ => Err(serde::de::Error::custom("odd")),
        }
    }
}

/// Its schema is written by hand.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct ByHand(Vec<Option<u8>>);

by_serde!(ByHand);

impl ToolType for ByHand {
    const SCHEMA: &'static Schema = &Schema::array(<Option<u8>>::SCHEMA);
}

/// The rows whose tools may rely on the number of values. `unique_variants` has a default, which
/// differs from an absent property.
pub fn promises() -> Vec<Promise> {
    vec![
        Promise::unique::<f64>("unique_numbers"),
        Promise::unique::<String>("unique_strings"),
        Promise::unique::<Value>("unique_values"),
        Promise::unique::<Named>("unique_structs"),
        Promise::unique::<Colour>("unique_enums"),
        Promise::unique::<Paint>("unique_aliased"),
        Promise::unique::<i64>("unique_integers"),
        Promise::unique::<f32>("unique_singles"),
        Promise::unique::<IpAddr>("unique_ips"),
        Promise::unique::<BTreeSet<u8>>("unique_sets"),
        Promise::unique::<BTreeMap<Colour, u8>>("unique_maps"),
        Promise::unique::<Internal>("unique_tagged"),
        Promise::unique::<UntaggedNumbers>("unique_untagged"),
        Promise::two::<BTreeSet<Colour>, _>("length_enum_set"),
        Promise::two::<HashSet<Paint>, _>("length_aliased_set"),
        Promise::two::<HashSet<i8>, _>("length_number_set"),
    ]
}

super::table! {
    both {
        range_inclusive_both [range = 1..=14]: u8;
        range_exclusive [range = -5..5]: i32;
        range_open_above [range = 10..]: u64;
        range_open_below [range = ..=-1]: i64;
        range_wide [range = 0..=18_446_744_073_709_551_616]: u128;
        range_optional [range = 1..=5]: Option<i16>;
        range_floats [range = 0.5..=1.5]: f64;
        range_floats_exclusive [range = -1.0..1.0]: f32;
        range_floats_above [range = 0.0..]: Option<f64>;
        length_string [length = 1..=3]: String;
        length_exact [length = 2..=2]: String;
        length_above [length = 2..]: String;
        length_list [length = 1..=2]: Vec<u8>;
        length_set [length = ..=2]: BTreeSet<i8>;
        length_enum_set [length = 2..]: BTreeSet<Colour>;
        length_aliased_set [length = 2..=3]: HashSet<Paint>;
        length_number_set [length = 2..]: HashSet<i8>;
        length_three [length = 3]: String;
        length_three_items [length = 3]: Vec<bool>;
        length_map [length = 1..=2]: BTreeMap<String, u8>;
        length_enum_map [length = 1..=2]: BTreeMap<Colour, u8>;
        length_optional [length = 1..]: Option<Vec<bool>>;
        pattern_whole [pattern = "^[a-z]+$"]: String;
        pattern_part [pattern = "[0-9]"]: String;
        pattern_ecma [pattern = r"^\d+(-\w+)?$"]: Option<String>;
        pattern_unicode [pattern = "^.$"]: String;
        pattern_escapes [pattern = "^[^\"\\\\]*$"]: String;
        format_email [format = "email"]: String;
        format_date [format = "date-time"]: Option<String>;
        format_length [format = "uri", length = ..=10]: String;
        step [multiple_of = 5]: i32;
        step_unsigned [multiple_of = 3]: u8;
        step_float [multiple_of = 0.5]: f64;
        step_tenth [multiple_of = 0.1]: f64;
        unique_numbers [unique]: Vec<f64>;
        unique_strings [unique]: Vec<String>;
        unique_values [unique]: Vec<Value>;
        unique_structs [unique]: Vec<Named>;
        unique_enums [unique]: Vec<Colour>;
        unique_aliased [unique]: Vec<Paint>;
        unique_integers [unique]: Vec<i64>;
        unique_singles [unique]: Vec<f32>;
        unique_ips [unique]: Vec<IpAddr>;
        unique_sets [unique]: Vec<BTreeSet<u8>>;
        unique_maps [unique]: Vec<BTreeMap<Colour, u8>>;
        unique_variants [unique]: Vec<External>;
        unique_tagged [unique]: Vec<Internal>;
        unique_untagged [unique]: Vec<UntaggedNumbers>;
        unique_optional [unique]: Option<Vec<Option<i8>>>;
        range_and_step [range = 10..=100, multiple_of = 10]: u16;
        range_and_step_floats [range = 0.0..=1.0, multiple_of = 0.25]: f64;
        length_and_pattern [length = 2..=3, pattern = "^[a-z]"]: String;
        length_and_unique [length = 1..=3, unique]: Vec<u8>;
        all_of_a_string [length = 1..=6, pattern = "^[A-Z0-9-]+$", example = "AB-123"]: String;
        default_and_range [default = 3, range = 1..=5]: u8;
        default_of_type [default]: Vec<u8>;
        default_string [default = "a\"b"]: String;
        default_and_pattern [default = "ab", pattern = "^a"]: String;
        example_list [example = [1, 2]]: Vec<u8>;
        schema_string [schema = r#"{"type":"string","minLength":1,"pattern":"^a"}"#]: String;
        schema_integer [schema = r#"{"type":"integer","minimum":-3,"maximum":3}"#]: i8;
        schema_number [schema = r#"{"type":"number","exclusiveMinimum":0,"maximum":1.5,"multipleOf":0.5}"#]: f64;
        schema_enum [schema = r#"{"enum":["a","ab","\"","é"]}"#]: String;
        schema_const [schema = r#"{"type":"string","const":"a"}"#]: String;
        schema_array [schema = r#"{"type":"array","items":{"type":"boolean"},"maxItems":2,"uniqueItems":true}"#]: Vec<bool>;
        schema_tuple [schema = r#"{"type":"array","prefixItems":[{"type":"boolean"},{"type":"string","maxLength":1}]}"#]: (bool, String);
        schema_object [schema = r#"{"type":"object","properties":{"name":{"type":"string","description":"A \"name\"."},
            "count":{"type":"integer","minimum":0,"maximum":9},"note":{"type":["string","null"]}},
            "required":["name","count"],"additionalProperties":false}"#]: Named;
        schema_map [schema = r#"{"type":"object","additionalProperties":{"type":"integer","minimum":1,"maximum":9},"minProperties":1}"#]: BTreeMap<String, u8>;
        schema_any_of [schema = r#"{"anyOf":[{"type":"boolean"},{"type":"array","items":{}},{"type":"null"}]}"#]: Value;
        schema_any [schema = "{}"]: Value;
        as_type [as = u8]: u16;
        as_type_and_range [as = i32, range = 0..=9]: u8;
        fields: Fields;
        fields_flat: FlatConstrained;
        items: Tuple;
        percent: Percent;
        maybe_percent: MaybePercent;
        percents: Vec<Percent>;
        constrained_tag: Tag;
        shape: Shape;
        held: Held;
        parsed_even: Even;
        by_hand: ByHand;
    }
    read {
        borrowed_pattern [pattern = "^[a-z]*$"]: &str;
        borrowed_length [length = 1..=2]: &[u8];
        borrowed_optional_length [length = ..=1]: Option<&str>;
    }
}
