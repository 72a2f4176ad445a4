//! A result is what its output schema says, or an error of its own kind.

use std::collections::BTreeMap;

use jsonschema::validator_for;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value, json};
use tool_core::hooks::Gate;
use tool_core::{Registry, ToolCall, ToolEntry, ToolErrorKind, ToolResult, ToolType, tool, tools};

fn call(tool: &ToolEntry) -> ToolResult {
    let registry = Registry::builder().tools([tool.clone()]).build().unwrap();
    registry.call_blocking(ToolCall::new("id", &*tool.name, ""))
}

fn schema(tool: &ToolEntry) -> Value {
    serde_json::from_str(tool.output_json().expect("an output schema")).unwrap()
}

/// Asserts that a tool's result is this value and matches the tool's output schema.
#[track_caller]
fn fits(tool: &ToolEntry, expected: Value) {
    let result = call(tool);
    assert!(!result.is_error(), "{:?}", result.error());
    let value = result.structured();
    let value = value.unwrap_or_else(|| result.content().into());
    assert_eq!(value, expected);
    let schema = schema(tool);
    let validator = validator_for(&schema).unwrap();
    assert!(validator.is_valid(&value), "{value} against {schema}");
}

/// Asserts that a result is an error with this violation, which the model does not see.
#[track_caller]
fn violates(result: &ToolResult, violation: &str) {
    let error = result.error().expect("an error");
    assert_eq!(error.kind(), ToolErrorKind::InvalidResult);
    assert_eq!(error.violations()[0].to_string(), violation);
    assert!(error.detail().starts_with(violation), "{}", error.detail());
    let text = result.content().replace(error.id(), "…");
    assert_eq!(
        text,
        format!(
            "{} returned an invalid result [ref …]: the call was carried out, but its result can't \
             be shown; it has been reported, so do not repeat the call",
            result.name()
        )
    );
    assert!(!error.is_retryable());
}

macro_rules! returns {
    ($($name:ident: $ty:ty = $value:expr;)*) => {$(
        /// Returns a value.
        #[tool(unlinked)]
        fn $name() -> $ty {
            $value
        }
    )*};
}

macro_rules! entry {
    ($name:ident) => {
        &ToolEntry::of::<$name>()
    };
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum Colour {
    Red,
    Green,
    #[serde(other)]
    Unknown,
}

#[derive(Serialize, ToolType)]
struct Painted {
    colour: Colour,
}

#[derive(Serialize, Deserialize, ToolType)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum OtherTag {
    #[allow(dead_code)]
    Known { x: u8 },
    #[serde(other)]
    Unknown,
}

returns! {
    other: Painted = Painted { colour: Colour::Unknown };
    other_key: BTreeMap<Colour, u8> = BTreeMap::from([(Colour::Unknown, 1)]);
    other_tag: OtherTag = OtherTag::Unknown;
}

/// Accepts a colour.
#[tool(unlinked)]
fn accepts(colour: Colour) -> bool {
    matches!(colour, Colour::Unknown)
}

#[test]
fn the_variant_for_other_names_is_a_result_under_its_own_name() {
    fits(entry!(other), json!({"colour": "unknown"}));
    fits(entry!(other_key), json!({"unknown": 1}));
    fits(entry!(other_tag), json!({"kind": "unknown"}));
    let arguments: Value = serde_json::from_str(entry!(accepts).parameters_json()).unwrap();
    assert_eq!(
        arguments["properties"]["colour"]["enum"],
        json!(["red", "green"])
    );
}

macro_rules! skipped_variants {
    ($($name:ident $returns:ident [$($attribute:tt)*] = $unit:expr, $struct:expr;)*) => {$(
        #[derive(Serialize, Deserialize, ToolType)]
        #[allow(dead_code)]
        $($attribute)*
        enum $name {
            Kept { x: u8 },
            #[serde(skip_deserializing)]
            Lost,
            #[serde(skip_deserializing)]
            Sent { text: String },
            #[serde(skip_serializing)]
            Read(u16),
        }

        #[test]
        fn $returns() {
            returns! {
                unit: $name = $name::Lost;
                fields: $name = $name::Sent { text: "t".into() };
            }
            /// Accepts the enum.
            #[tool(unlinked)]
            fn accepts(value: $name) -> bool {
                matches!(value, $name::Lost)
            }
            fits(entry!(unit), $unit);
            fits(entry!(fields), $struct);
            assert!(!entry!(unit).output_json().unwrap().contains("65535"));
            let tool = entry!(accepts);
            let arguments = tool.parameters_json();
            assert!(!arguments.contains("text"), "{arguments}");
            assert!(arguments.contains("65535"), "{arguments}");
        }
    )*};
}

skipped_variants! {
    External skipped_external [] = json!("Lost"), json!({"Sent": {"text": "t"}});
    Adjacent skipped_adjacent [#[serde(tag = "t", content = "c")]] = json!({"t": "Lost"}), json!({"t": "Sent", "c": {"text": "t"}});
}

#[derive(Serialize, Deserialize, ToolType)]
#[serde(tag = "t")]
enum Internal {
    #[allow(dead_code)]
    Kept { x: u8 },
    #[serde(skip_deserializing)]
    Lost,
}

#[derive(Serialize, Deserialize, ToolType)]
#[serde(untagged)]
enum Untagged {
    #[allow(dead_code)]
    Kept { x: u8 },
    #[serde(skip_deserializing)]
    Sent { x: u8, text: String },
}

#[derive(Serialize, Deserialize, ToolType)]
struct Pair(
    u8,
    #[serde(skip_serializing)]
    #[allow(dead_code)]
    u8,
);

#[derive(Serialize, Deserialize, ToolType)]
struct Renamed {
    #[serde(rename(serialize = "out", deserialize = "in"))]
    value: u8,
    #[serde(skip_deserializing)]
    sent: Option<bool>,
    #[serde(skip_serializing, default)]
    #[allow(dead_code)]
    read: u8,
}

#[derive(Serialize, Deserialize, ToolType)]
#[serde(tag = "type", rename = "place")]
struct TaggedStruct {
    x: u8,
}

#[derive(Clone, Serialize, Deserialize, ToolType)]
#[serde(from = "Option<u8>", into = "String")]
struct Converted(u8);

impl From<Option<u8>> for Converted {
    fn from(number: Option<u8>) -> Converted {
        Converted(number.unwrap_or_default())
    }
}

impl From<Converted> for String {
    fn from(converted: Converted) -> String {
        converted.0.to_string()
    }
}

#[derive(Serialize, Deserialize, ToolType)]
struct Holder {
    converted: Converted,
    list: Vec<Converted>,
    #[serde(flatten)]
    tagged: TaggedStruct,
}

returns! {
    internal: Internal = Internal::Lost;
    untagged: Untagged = Untagged::Sent { x: 1, text: "t".into() };
    pair: Vec<Pair> = vec![Pair(1, 2)];
    renamed: Renamed = Renamed { value: 1, sent: Some(true), read: 2 };
    tagged_struct: TaggedStruct = TaggedStruct { x: 1 };
    holder: Holder = Holder { converted: Converted(1), list: vec![Converted(2)], tagged: TaggedStruct { x: 3 } };
}

#[test]
fn an_output_schema_describes_what_serialize_writes() {
    fits(entry!(internal), json!({"t": "Lost"}));
    fits(entry!(untagged), json!({"x": 1, "text": "t"}));
    fits(entry!(pair), json!([[1]]));
    fits(entry!(renamed), json!({"out": 1, "sent": true}));
    assert_eq!(
        schema(entry!(renamed))["properties"]
            .as_object()
            .unwrap()
            .len(),
        2
    );
    fits(entry!(tagged_struct), json!({"type": "place", "x": 1}));
    fits(
        entry!(holder),
        json!({"converted": "1", "list": ["2"], "type": "place", "x": 3}),
    );
}

struct Opaque;

impl Serialize for Opaque {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("opaque")
    }
}

#[derive(Serialize, ToolType)]
#[allow(dead_code)]
enum WithOpaque {
    Kept(u8),
    #[serde(skip_deserializing)]
    Opaque(Opaque),
}

#[derive(Serialize, ToolType)]
struct Omitting(
    u8,
    #[serde(skip_serializing_if = "Option::is_none")] Option<u8>,
);

#[derive(Serialize, ToolType)]
struct WithFunction {
    #[serde(serialize_with = "as_text")]
    number: u8,
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn as_text<S: Serializer>(number: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

returns! {
    with_opaque: WithOpaque = WithOpaque::Opaque(Opaque);
    omitting: Omitting = Omitting(1, None);
    with_function: WithFunction = WithFunction { number: 1 };
}

#[test]
fn a_type_that_is_written_in_an_unknown_form_has_no_output_schema() {
    for (tool, content) in [
        (entry!(with_opaque), r#"{"Opaque":"opaque"}"#),
        (entry!(omitting), "[1]"),
        (entry!(with_function), r#"{"number":"1"}"#),
    ] {
        assert_eq!(tool.output_json(), None);
        assert_eq!(call(tool).content(), content);
    }
}

#[derive(Serialize, ToolType)]
struct Reading {
    celsius: f64,
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    more: Option<Box<Reading>>,
}

#[derive(Serialize, ToolType)]
struct Percent {
    #[param(range = 0..=100)]
    value: u8,
    #[param(length = 1..)]
    tags: Vec<String>,
}

/// A newtype whose schema is written by hand.
#[derive(Serialize)]
struct ByHand(i32);

impl ToolType for ByHand {
    const SCHEMA: &'static tool_core::schema::Schema = u8::SCHEMA;
}

mod half {
    use serde::{Deserialize, Deserializer, Serializer};

    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(super) fn serialize<S: Serializer>(number: &u8, serializer: S) -> Result<S::Ok, S::Error> {
        match number % 2 {
            0 => serializer.serialize_u8(number / 2),
            _ => serializer.serialize_str("odd"),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
        u8::deserialize(deserializer)
    }
}

/// Other types in the place of its members, which are written in other forms than they are read.
#[derive(Serialize, Deserialize, ToolType)]
struct Inserting<T> {
    own: u8,
    #[serde(flatten)]
    inserted: T,
}

#[derive(Serialize, Deserialize, ToolType)]
#[serde(tag = "kind")]
enum Inserted {
    #[serde(rename(serialize = "written"))]
    Renamed { x: u8 },
    #[serde(skip_deserializing)]
    Colour(InsertedColour),
}

#[derive(Serialize, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum InsertedColour {
    Red,
    #[serde(other)]
    Other,
}

#[derive(Serialize, Deserialize, ToolType)]
struct KeyTwice {
    #[serde(rename(serialize = "red"))]
    own: u8,
    #[serde(flatten)]
    colour: InsertedColour,
}

returns! {
    inserted_other: Inserting<InsertedColour> = Inserting { own: 1, inserted: InsertedColour::Other };
    inserted_none: Inserting<Option<InsertedColour>> = Inserting { own: 1, inserted: None };
    inserted_renamed: Inserting<Inserted> = Inserting { own: 1, inserted: Inserted::Renamed { x: 2 } };
    inserted_skipped: Inserting<Inserted> = Inserting { own: 1, inserted: Inserted::Colour(InsertedColour::Red) };
    key_twice: KeyTwice = KeyTwice { own: 1, colour: InsertedColour::Other };
}

#[test]
fn inserted_types_are_described_as_they_are_written() {
    fits(entry!(inserted_other), json!({"own": 1, "other": null}));
    fits(entry!(inserted_none), json!({"own": 1}));
    fits(
        entry!(inserted_renamed),
        json!({"own": 1, "kind": "written", "x": 2}),
    );
    fits(
        entry!(inserted_skipped),
        json!({"own": 1, "kind": "Colour", "red": null}),
    );
    let forms = schema(entry!(inserted_skipped));
    assert_eq!(forms["anyOf"].as_array().map(Vec::len), Some(3), "{forms}");
}

#[test]
fn an_object_that_may_have_a_key_twice_has_no_output_schema() {
    let tool = entry!(key_twice);
    assert_eq!(tool.output_json(), None);
    assert!(!call(tool).is_error());
}

#[derive(Serialize, Deserialize, ToolType)]
struct Halved {
    #[serde(with = "half")]
    #[param(as = u8)]
    number: u8,
}

#[derive(Serialize, Deserialize, ToolType)]
struct WithRest {
    name: String,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

#[derive(Serialize, ToolType)]
struct Code(#[param(length = ..=2)] String);

fn reading(celsius: f64) -> Reading {
    Reading {
        celsius,
        note: None,
        more: None,
    }
}

returns! {
    nan: f64 = f64::NAN;
    infinite: Result<Vec<f32>, String> = Ok(vec![0.5, f32::INFINITY]);
    finite: Vec<f64> = vec![0.5, 1e300];
    nested: Reading = Reading { more: Some(Box::new(reading(f64::NAN))), ..reading(0.5) };
    nested_finite: Reading = reading(0.5);
    optional: Option<f64> = Some(f64::NAN);
    out_of_range: Percent = Percent { value: 101, tags: vec!["a".into()] };
    empty: Percent = Percent { value: 1, tags: vec![] };
    in_range: Percent = Percent { value: 100, tags: vec!["a".into()] };
    by_hand: ByHand = ByHand(-1);
    by_hand_valid: ByHand = ByHand(1);
    odd: Halved = Halved { number: 1 };
    even: Halved = Halved { number: 2 };
    overwritten: WithRest = WithRest { name: "n".into(), rest: BTreeMap::from([("name".into(), 1)]) };
    long: Code = Code("abc".into());
    short: Code = Code("ab".into());
}

/// Returns a value later.
#[tool(unlinked)]
async fn later() -> f64 {
    tokio::task::yield_now().await;
    f64::NEG_INFINITY
}

#[test]
fn a_result_that_does_not_match_is_an_error() {
    violates(&call(entry!(nan)), "expected a number, got null");
    violates(&call(entry!(later)), "expected a number, got null");
    violates(&call(entry!(infinite)), "[1]: expected a number, got null");
    violates(
        &call(entry!(nested)),
        "more.celsius: expected a number, got null",
    );
    violates(
        &call(entry!(out_of_range)),
        "value: 101 is above the maximum 100",
    );
    violates(
        &call(entry!(empty)),
        "tags: expected an array of at least 1 item, got 0",
    );
    violates(&call(entry!(by_hand)), "-1 is below the minimum 0");
    violates(
        &call(entry!(odd)),
        "number: expected an integer from 0 to 255, got \"odd\"",
    );
    violates(&call(entry!(overwritten)), "name: given twice");
    violates(
        &call(entry!(long)),
        "expected a string of at most 2 characters, got \"abc\"",
    );
}

#[test]
fn a_result_that_matches_is_no_error() {
    fits(entry!(finite), json!([0.5, 1e300]));
    fits(entry!(nested_finite), json!({"celsius": 0.5, "note": null}));
    fits(entry!(optional), json!(null));
    fits(entry!(in_range), json!({"value": 100, "tags": ["a"]}));
    fits(entry!(by_hand_valid), json!(1));
    fits(entry!(even), json!({"number": 1}));
    fits(entry!(short), json!("ab"));
}

#[test]
fn the_answer_of_a_hook_is_validated_too() {
    let answer = |tool: ToolEntry, gate: fn() -> Gate| {
        let registry = Registry::builder().tools([tool.clone()]);
        let registry = registry
            .before(move |_| async move { gate() })
            .build()
            .unwrap();
        registry.call_blocking(ToolCall::new("id", &*tool.name, ""))
    };
    let result = answer(ToolEntry::of::<in_range>(), || {
        Gate::answer(json!({"value": 1, "tags": []}))
    });
    violates(&result, "tags: expected an array of at least 1 item, got 0");
    let result = answer(ToolEntry::of::<pair>(), || Gate::answer("text"));
    violates(&result, "expected an array, got \"text\"");
    let result = answer(ToolEntry::of::<pair>(), || Gate::answer([[5]]));
    assert_eq!(result.content(), "[[5]]");
    let result = answer(ToolEntry::of::<other>(), || {
        Gate::answer(json!({"colour": "blue"}))
    });
    violates(
        &result,
        "colour: expected \"red\", \"green\" or \"unknown\", got \"blue\"",
    );
    let result = answer(ToolEntry::of::<with_opaque>(), || Gate::answer("anything"));
    assert_eq!(result.content(), "anything");
}

#[test]
fn a_call_passed_on_keeps_the_kind() {
    mod remote {
        /// Returns no number.
        #[tool_core::tool(unlinked)]
        pub(super) fn measure() -> f64 {
            f64::NAN
        }
    }
    /// Passes the call on.
    #[tool(unlinked)]
    async fn measure(#[param(context)] remote: &Registry) -> Result<String, String> {
        let result = remote.call(ToolCall::new("inner", "measure", "")).await;
        result.into_result().map_err(|error| error.to_string())
    }
    let remote = Registry::builder()
        .tools(tools![remote::measure])
        .build()
        .unwrap();
    let registry = Registry::builder()
        .tools(tools![measure])
        .context(remote)
        .build()
        .unwrap();
    let result = registry.call_blocking(ToolCall::new("id", "measure", ""));
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ToolErrorKind::InvalidResult);
    assert!(!error.is_retryable());
}
