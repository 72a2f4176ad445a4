//! Structs, by the serde attributes of their fields, and maps by their keys.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::{Registry, Tool, ToolCall, ToolType, tool, tools};

use super::Subject;

#[derive(Debug, Deserialize, ToolType)]
struct Inner {
    a: u8,
    #[serde(default)]
    b: u8,
}

#[derive(Debug, Deserialize, ToolType)]
struct Flattened {
    name: String,
    #[serde(flatten)]
    inner: Inner,
    z: bool,
}

#[derive(Debug, Deserialize, ToolType)]
struct WithRest {
    name: String,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

#[test]
fn flattened_structs_and_maps() {
    let subject = subject!(Flattened);
    let byte = json!({"type": "integer", "minimum": 0, "maximum": 255});
    subject.schema(json!({"type": "object", "properties": {"name": {"type": "string"}, "a": byte, "b": byte, "z": {"type": "boolean"}},
        "required": ["name", "a", "z"], "additionalProperties": false}));
    subject.accepts(
        json!({"a": 1.0, "z": true, "name": "n"}),
        "Flattened { name: \"n\", inner: Inner { a: 1, b: 0 }, z: true }",
    );
    subject.refuses(
        json!({"a": 1, "z": true, "name": "n", "c": 1}),
        "value.c: unknown",
    );
    subject.refuses(json!({"z": true, "name": "n"}), "value.a: missing");
    let subject = subject!(WithRest);
    subject.schema(json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": byte}));
    subject.accepts(
        json!({"name": "n", "x": 1, "y": 2.0}),
        "WithRest { name: \"n\", rest: {\"x\": 1, \"y\": 2} }",
    );
    subject.refuses(json!({"name": "n", "x": 256}), "value.x: 256 is above");
}

#[derive(Debug, Serialize, Deserialize, ToolType)]
struct Renamed {
    #[serde(rename(serialize = "out", deserialize = "in"))]
    value: u8,
}

#[test]
fn a_type_written_differently_than_read_has_two_schemas() {
    /// Echoes.
    #[tool(unlinked)]
    fn echo(value: Renamed) -> Vec<Renamed> {
        vec![value]
    }
    assert!(echo::SPEC.parameters_json().contains("\"in\""));
    let spec = echo::SPEC;
    let output = spec.output_json().unwrap();
    assert!(output.contains("\"out\"") && !output.contains("\"in\""));
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(try_from = "u8")]
struct Even(u8);

impl TryFrom<u8> for Even {
    type Error = String;

    fn try_from(number: u8) -> Result<Even, String> {
        match number % 2 {
            0 => Ok(Even(number)),
            _ => Err(format!("{number} is odd")),
        }
    }
}

#[derive(Debug, Deserialize, ToolType)]
struct Unit;

#[derive(Debug, Deserialize, ToolType)]
#[serde(transparent)]
struct Transparent {
    inner: Option<u8>,
    #[serde(skip)]
    marker: PhantomData<String>,
}

#[derive(Debug, Deserialize, ToolType)]
struct Skipping {
    shown: bool,
    #[serde(skip)]
    hidden: u8,
    #[serde(with = "words")]
    #[param(as = String)]
    count: usize,
    #[serde(deserialize_with = "words::deserialize", default)]
    #[param(schema = r#"{"type":"string","maxLength":20,"description":"Words."}"#)]
    more: usize,
}

mod words {
    use serde::{Deserialize, Deserializer};

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<usize, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(text.split_whitespace().count())
    }
}

#[test]
fn conversions_and_replacement_schemas() {
    let subject = subject!(Even);
    subject.schema(json!({"type": "integer", "minimum": 0, "maximum": 255}));
    subject.accepts(json!(4.0), "Even(4)");
    let odd = subject.call(&json!(3));
    assert!(
        odd.content()
            .ends_with("\n- value: 3 is odd; expected an integer from 0 to 255"),
        "{}",
        odd.content()
    );
    subject!(Unit).accepts(json!(null), "Unit");
    let subject = subject!(Transparent);
    subject.schema(json!({"type": "integer", "minimum": 0, "maximum": 255}));
    subject.accepts(
        json!(1),
        "Transparent { inner: Some(1), marker: PhantomData<alloc::string::String> }",
    );
    let subject = subject!(Skipping);
    subject.schema(json!({"type": "object", "properties": {"shown": {"type": "boolean"}, "count": {"type": "string"},
        "more": {"type": "string", "maxLength": 20, "description": "Words."}}, "required": ["shown", "count"], "additionalProperties": false}));
    subject.accepts(
        json!({"shown": true, "count": "a b c"}),
        "Skipping { shown: true, hidden: 0, count: 3, more: 0 }",
    );
    subject.refuses(
        json!({"shown": true, "count": 3}),
        "value.count: expected a string",
    );
    subject.refuses(
        json!({"shown": true, "count": "", "more": "a".repeat(21)}),
        "value.more: expected a string of at most 20 characters",
    );
}

#[derive(Debug, Deserialize, Serialize, ToolType, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Key {
    Low,
    High,
}

#[test]
fn maps_by_the_type_of_their_keys() {
    let boolean = json!({"type": "boolean"});
    let subject = subject!(BTreeMap<Key, bool>);
    subject.schema(json!({"type": "object", "properties": {"low": boolean, "high": boolean}, "additionalProperties": false}));
    subject.accepts(json!({"high": true}), "{High: true}");
    subject.refuses(
        json!({"higher": true}),
        "value.higher: unknown; a key must be \"low\" or \"high\"",
    );
    let subject = subject!(BTreeMap<i32, bool>);
    subject.schema(json!({"type": "object", "patternProperties": {"^(0|-?[1-9][0-9]*)$": boolean}, "additionalProperties": false}));
    subject.accepts(json!({"-7": true, "0": false}), "{-7: true, 0: false}");
    for key in ["07", "+7", "7.0", "", "-0", " 7"] {
        subject.refuses(json!({key: true}), "a key must be an integer");
    }
    let subject = subject!(BTreeMap<bool, i32>);
    subject.accepts(json!({"true": 1}), "{true: 1}");
    for (arguments, expected) in [
        (
            r#"{"value":{"\u0074rue":1,"false":2}}"#,
            "{false: 2, true: 1}",
        ),
        (r#"{"value":{"fals\u0065":1}}"#, "{false: 1}"),
    ] {
        assert_eq!(subject.call_both(arguments).content(), expected);
    }
    let subject = subject!(BTreeMap<char, bool>);
    subject.accepts(json!({"é": true, "\n": false}), "{'\\n': false, 'é': true}");
    subject.refuses(
        json!({"ab": true}),
        "a key must be a string of exactly 1 character",
    );
}

#[derive(Debug, Deserialize, ToolType)]
struct Event {
    id: u8,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Kind {
    /// Nobody is there.
    Idle,
    Call {
        from: String,
    },
}

#[derive(Debug, Deserialize, ToolType)]
struct Paged {
    query: String,
    #[serde(flatten)]
    page: Option<Page>,
}

#[derive(Debug, Deserialize, ToolType)]
struct Page {
    offset: u8,
    limit: u8,
}

#[test]
fn a_flattened_enum_or_option_gives_an_object_several_forms() {
    let byte = json!({"type": "integer", "minimum": 0, "maximum": 255});
    let subject = subject!(Event);
    subject.schema(json!({"anyOf": [
        {"type": "object", "properties": {"id": byte, "kind": {"type": "string", "const": "idle"}},
            "required": ["id", "kind"], "additionalProperties": false, "description": "Nobody is there."},
        {"type": "object", "properties": {"id": byte, "kind": {"type": "string", "const": "call"}, "from": {"type": "string"}},
            "required": ["id", "kind", "from"], "additionalProperties": false},
    ]}));
    subject.accepts(
        json!({"kind": "idle", "id": 1}),
        "Event { id: 1, kind: Idle }",
    );
    subject.refuses(
        json!({"id": 1, "kind": "call", "from": 2}),
        "value.from: expected a string",
    );
    subject.refuses(
        json!({"id": 1, "kind": "calls"}),
        "value.kind: expected \"idle\" or \"call\", got \"calls\"; did you mean \"call\"?",
    );
    let subject = subject!(Paged);
    subject.accepts(json!({"query": "q"}), "Paged { query: \"q\", page: None }");
    subject.accepts(
        json!({"query": "q", "offset": 0, "limit": 9}),
        "Paged { query: \"q\", page: Some(Page { offset: 0, limit: 9 }) }",
    );
    subject.refuses(json!({"query": "q", "offset": 0}), "value");
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum Paint {
    Red,
    Green { shade: u8 },
}

#[derive(Debug, Deserialize, ToolType)]
struct Mixed {
    #[serde(flatten)]
    paint: Paint,
    #[serde(flatten)]
    rest: BTreeMap<String, Option<u8>>,
}

/// serde takes the first key that names a variant as the variant.
#[test]
fn a_key_of_a_flattened_map_may_be_the_name_of_a_variant() {
    let subject = subject!(Mixed);
    let expected = "Mixed { paint: Red, rest: {\"blue\": Some(2), \"green\": Some(5)} }";
    for order in [
        r#"{"red":null,"green":5,"blue":2}"#,
        r#"{"green":5,"red":null,"blue":2}"#,
        r#"{"blue":2.0,"green":5.0,"red":null}"#,
    ] {
        let text = format!(r#"{{"value":{order}}}"#);
        let result = subject
            .registry
            .call_blocking(ToolCall::new("1", "take", text));
        assert_eq!(result.content(), expected, "{order}");
    }
    subject.accepts(
        json!({"a": 1, "green": {"shade": 7}, "red": null}),
        "Mixed { paint: Green { shade: 7 }, rest: {\"a\": Some(1), \"red\": None} }",
    );
    subject.refuses(json!({"green": 5}), "value");
}

/// A type without `Default`, `Clone` and `Debug`.
#[derive(Deserialize, ToolType)]
struct Bare(u8);

fn bare() -> Bare {
    Bare(5)
}

#[derive(Deserialize, ToolType)]
#[serde(default = "all_bare")]
struct AllBare {
    first: Bare,
    #[serde(default = "bare")]
    second: Bare,
    #[serde(skip)]
    third: Option<Bare>,
}

fn all_bare() -> AllBare {
    AllBare {
        first: Bare(1),
        second: Bare(2),
        third: Some(Bare(3)),
    }
}

#[derive(Deserialize, ToolType)]
#[serde(default = "generic_bare")]
struct GenericBare<T> {
    list: Vec<T>,
}

fn generic_bare<T>() -> GenericBare<T> {
    GenericBare { list: Vec::new() }
}

#[derive(Deserialize, ToolType)]
#[serde(from = "Bare")]
struct FromBare(Bare);

impl From<Bare> for FromBare {
    fn from(bare: Bare) -> Self {
        FromBare(bare)
    }
}

#[derive(Deserialize, ToolType)]
#[serde(try_from = "Bare")]
struct TryFromBare(Bare);

impl TryFrom<Bare> for TryFromBare {
    type Error = &'static str;

    fn try_from(bare: Bare) -> Result<Self, Self::Error> {
        Ok(TryFromBare(bare))
    }
}

#[derive(Deserialize, ToolType)]
#[serde(transparent)]
struct TransparentBare {
    bare: Bare,
}

#[derive(Deserialize, ToolType)]
enum BareVariants {
    Newtype(Bare),
    Tuple(Bare, Bare),
    Struct {
        bare: Bare,
        #[serde(default)]
        absent: Option<Bare>,
        #[serde(skip, default = "bare")]
        skipped: Bare,
    },
    #[serde(skip)]
    Skipped(Bare),
}

/// Every attribute of serde on types that implement nothing else: what serde accepts compiles.
#[test]
fn types_need_no_other_traits_than_with_serde() {
    /// Adds.
    #[tool(unlinked)]
    fn add(
        all: AllBare,
        generic: GenericBare<Bare>,
        from: FromBare,
        try_from: TryFromBare,
        transparent: TransparentBare,
        variant: BareVariants,
    ) -> String {
        let third = all.third.map(|bare| bare.0);
        let variant = match variant {
            BareVariants::Newtype(one) => vec![one.0],
            BareVariants::Tuple(one, two) => vec![one.0, two.0],
            BareVariants::Struct {
                bare,
                absent,
                skipped,
            } => vec![bare.0, u8::from(absent.is_some()), skipped.0],
            BareVariants::Skipped(_) => Vec::new(),
        };
        format!(
            "{} {} {third:?} {} {} {} {} {variant:?}",
            all.first.0,
            all.second.0,
            generic.list.len(),
            from.0.0,
            try_from.0.0,
            transparent.bare.0
        )
    }
    let registry = Registry::builder().tools(tools![add]).build().unwrap();
    for (all, variant, expected) in [
        (json!({}), json!({"Newtype": 9}), "1 5 Some(3) 0 6 7 8 [9]"),
        (
            json!({"first": 10, "second": 11}),
            json!({"Struct": {"bare": 9}}),
            "10 11 Some(3) 0 6 7 8 [9, 0, 5]",
        ),
    ] {
        let arguments = json!({"all": all, "generic": {}, "from": 6, "try_from": 7, "transparent": 8, "variant": variant});
        let result = registry.call_blocking(ToolCall::new("id", "add", arguments));
        assert_eq!(result.content(), expected);
    }
}

#[derive(Debug, Deserialize, ToolType)]
struct Limits {
    #[serde(default = "five")]
    of_field: Option<u8>,
    #[serde(default)]
    of_type: Option<u8>,
    none: Option<u8>,
    #[serde(default)]
    of_struct: Inherited,
    #[serde(default)]
    any: Value,
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(default)]
struct Inherited {
    limit: Option<u8>,
}

impl Default for Inherited {
    fn default() -> Self {
        Inherited { limit: five() }
    }
}

fn five() -> Option<u8> {
    Some(5)
}

#[test]
fn null_is_absent_so_that_a_strict_form_reaches_every_default() {
    /// Lists.
    #[tool(unlinked)]
    fn list(#[param(default = 5)] limit: Option<u8>) -> String {
        format!("{limit:?}")
    }

    let subject = subject!(Limits);
    let five = "Limits { of_field: Some(5), of_type: None, none: None, of_struct: Inherited { limit: Some(5) }, any: Null }";
    for absent in [
        json!({}),
        json!({"of_field": null, "of_type": null, "none": null, "of_struct": {"limit": null}, "any": null}),
        json!({"of_struct": null}),
    ] {
        assert_eq!(subject.call(&absent).content(), five, "{absent}");
    }

    let registry = Registry::builder().tools(tools![list]).build().unwrap();
    for arguments in ["{}", r#"{"limit":null}"#, r#"{ "limit" : null }"#] {
        let result = registry.call_blocking(ToolCall::new("id", "list", arguments));
        assert_eq!(result.content(), "Some(5)", "{arguments}");
    }
}
