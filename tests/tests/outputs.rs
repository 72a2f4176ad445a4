//! Return values: the text for the model, and an output schema that holds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_core::{Registry, ToolCall, ToolErrorKind, ToolType, tool, tools};

#[derive(Serialize, ToolType)]
struct Forecast {
    /// One entry a day.
    highs: Vec<f64>,
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<Tag>,
}

#[derive(Serialize, Deserialize, ToolType)]
#[serde(rename_all = "lowercase")]
enum Tag {
    Storm,
}

/// A number or nothing.
#[derive(Serialize, ToolType)]
#[serde(untagged)]
enum Maybe {
    Nothing,
    #[allow(dead_code)]
    Number(u8),
}

#[derive(Serialize)]
struct Marker;

#[derive(Serialize)]
struct Unlisted {
    n: u8,
}

type Fallible<T> = Result<T, String>;

macro_rules! returns {
    ($($name:ident: $ty:ty = $value:expr;)*) => {$(
        /// Returns a value.
        #[tool]
        fn $name() -> $ty {
            $value
        }
    )*};
}

returns! {
    nothing: () = ();
    nothing_or_error: Result<(), String> = Ok(());
    bare: String = "a \"quoted\"\nline".into();
    lent: &'static str = "lent";
    letter: char = 'é';
    variant: Tag = Tag::Storm;
    some_text: Option<String> = Some("text".into());
    no_text: Option<String> = None;
    number: f64 = 0.5;
    wide: u128 = u128::MAX;
    list: Vec<Option<u8>> = vec![Some(1), None];
    map: BTreeMap<String, bool> = BTreeMap::from([("a".into(), true)]);
    forecast: Result<Forecast, String> = Ok(Forecast { highs: vec![21.5], note: None, warning: None, tags: vec![] });
    full_forecast: Fallible<Forecast> = Ok(Forecast { highs: vec![], note: Some("n".into()), warning: Some("w"), tags: vec![Tag::Storm] });
    unlisted: Unlisted = Unlisted { n: 1 };
    opaque: impl Serialize = [1, 2];
    value: Value = json!({"a": 1});
    nested_result: Result<Result<u8, String>, String> = Ok(Ok(1));
    null_value: Value = Value::Null;
    null_variant: Maybe = Maybe::Nothing;
    unit_struct: Marker = Marker;
}

fn content(name: &str) -> String {
    let result = Registry::linked()
        .unwrap()
        .call_blocking(ToolCall::new("id", name, ""));
    assert!(!result.is_error(), "{}", result.content());
    result.content().to_owned()
}

#[test]
fn text_is_bare_and_everything_else_is_json() {
    for (name, text) in [
        ("nothing", "ok"),
        ("nothing_or_error", "ok"),
        ("bare", "a \"quoted\"\nline"),
        ("lent", "lent"),
        ("letter", "é"),
        ("variant", "storm"),
        ("some_text", "text"),
        ("no_text", "null"),
        ("number", "0.5"),
        ("wide", "340282366920938463463374607431768211455"),
        ("list", "[1,null]"),
        ("map", r#"{"a":true}"#),
        ("forecast", r#"{"highs":[21.5],"note":null}"#),
        (
            "full_forecast",
            r#"{"highs":[],"note":"n","warning":"w","tags":["storm"]}"#,
        ),
        ("unlisted", r#"{"n":1}"#),
        ("opaque", "[1,2]"),
        ("value", r#"{"a":1}"#),
        ("nested_result", r#"{"Ok":1}"#),
        ("null_value", "null"),
        ("null_variant", "null"),
        ("unit_struct", "null"),
    ] {
        assert_eq!(content(name), text, "{name}");
    }
}

#[test]
fn a_null_is_a_structured_value_and_nothing_is_none() {
    let registry = Registry::linked().unwrap();
    let structured = |name| {
        let result = registry.call_blocking(ToolCall::new("id", name, ""));
        result.structured_json().map(ToOwned::to_owned)
    };
    assert_eq!(structured("null_value").as_deref(), Some("null"));
    assert_eq!(structured("null_variant").as_deref(), Some("null"));
    assert_eq!(structured("unit_struct").as_deref(), Some("null"));
    assert_eq!(structured("nothing"), None);
}

#[test]
fn every_result_matches_its_output_schema() {
    let registry = Registry::linked().unwrap();
    let mut checked = 0;
    for tool in registry.specs() {
        let Some(schema) = tool.output_json() else {
            continue;
        };
        let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
        let result = registry.call_blocking(ToolCall::new("id", &*tool.name, ""));
        // The validator rounds integers of more than 64 bits, as `structured` must not.
        let json = result.structured_json();
        let value = json.map_or_else(
            || result.content().into(),
            |json| serde_json::from_str(json).unwrap(),
        );
        assert!(
            validator.is_valid(&value),
            "{}: {value} against {schema}",
            tool.name
        );
        checked += 1;
    }
    assert_eq!(checked, 15, "a schema is missing or surplus");
}

#[test]
fn an_output_schema_shows_members_that_a_result_may_omit() {
    let schema = Registry::linked().unwrap().get("forecast").unwrap();
    assert_eq!(
        schema.output_json(),
        Some(
            r#"{"type":"object","properties":{"highs":{"type":"array","items":{"type":"number"},"description":"One entry a day."},"note":{"anyOf":[{"type":"string"},{"type":"null"}]},"warning":{"anyOf":[{"type":"string"},{"type":"null"}]},"tags":{"type":"array","items":{"type":"string","enum":["storm"]}}},"required":["highs"],"additionalProperties":false}"#
        )
    );
}

/// A count that the application computes as a float.
#[derive(Serialize, ToolType)]
struct Counted {
    #[param(schema = r#"{"type":"integer","minimum":1}"#)]
    count: f64,
}

/// Counts.
#[tool(unlinked)]
fn count_as_float(count: f64) -> Counted {
    Counted { count }
}

#[test]
fn a_whole_float_is_an_integer() {
    let registry = Registry::builder().tools(tools![count_as_float]);
    let registry = registry.build().unwrap();
    let call = |count: &str| {
        let arguments = format!(r#"{{"count":{count}}}"#);
        registry.call_blocking(ToolCall::new("1", "count_as_float", arguments))
    };
    assert_eq!(call("2").content(), r#"{"count":2.0}"#);
    assert_eq!(call("1e300").content(), r#"{"count":1e+300}"#);
    for count in ["2.5", "0", "-3"] {
        let error = call(count).error().unwrap().kind();
        assert_eq!(error, ToolErrorKind::InvalidResult, "{count}");
    }
}
