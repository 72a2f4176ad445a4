//! `bytes`, `either`, `indexmap`.

use bytes::{Bytes, BytesMut};
use either::Either;
use indexmap::{IndexMap, IndexSet};
use serde_json::{Value, json};

use crate::{echo, type_test};

type_test! { bytes: Bytes, {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}};
keeps Bytes::new(), Bytes::from_static(&[0, 255]);
accepts [1.0];
rejects "text", [256], [-1], ["a"], {}, null; }

type_test! { mutable_bytes: BytesMut, {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}};
keeps BytesMut::from(&b"abc"[..]);
rejects "abc", [1.5]; }

type_test! { either: Either<u8, Option<String>>,
{"anyOf": [
    {"type": "object", "properties": {"Left": {"type": "integer", "minimum": 0, "maximum": 255}}, "required": ["Left"], "additionalProperties": false},
    {"type": "object", "properties": {"Right": {"anyOf": [{"type": "string"}, {"type": "null"}]}}, "required": ["Right"], "additionalProperties": false},
]};
keeps Either::Left(7), Either::Right(None), Either::Right(Some("a".into()));
accepts {"Left": 7.0};
rejects 7, "Left", "a", null, {}, {"Left": 256}, {"Left": null}, {"Left": 1, "Right": null}, {"left": 1}, [7]; }

type_test! { index_map: IndexMap<String, Vec<Option<bool>>>,
{"type": "object", "additionalProperties": {"type": "array", "items": {"anyOf": [{"type": "boolean"}, {"type": "null"}]}}};
keeps IndexMap::new(), IndexMap::from([("b".into(), vec![None, Some(true)]), (String::new(), vec![])]);
rejects [], null, "a", {"a": true}, {"a": [1]}; }

type_test! { index_map_of_integers: IndexMap<u16, u8>,
{"type": "object", "patternProperties": {"^(0|[1-9][0-9]*)$": {"type": "integer", "minimum": 0, "maximum": 255}}, "additionalProperties": false};
keeps IndexMap::from([(7, 1), (3, 2)]);
rejects {"a": 1}, {"-1": 1}, {"1": "1"}; }

type_test! { index_set: IndexSet<i32>, {"type": "array", "items": {"type": "integer"}};
keeps IndexSet::from([3, 1, 2]);
accepts [1, 1], [2.0];
rejects ["1"], {}, 1; }

#[test]
fn an_index_map_keeps_its_order_and_rejects_repeated_keys() {
    /// Lists keys.
    #[tool_core::tool(unlinked)]
    fn list(value: IndexMap<String, u8>) -> Vec<String> {
        value.into_keys().collect()
    }
    let tools = tool_core::tools![list];
    let registry = tool_core::Registry::builder().tools(tools).build().unwrap();
    let call = |text: &str| registry.call_blocking(tool_core::ToolCall::new("id", "list", text));
    let result = call(r#"{"value": {"z": 1, "a": 2, "m": 3}}"#);
    assert_eq!(result.structured(), Some(json!(["z", "a", "m"])));
    assert!(call(r#"{"value": {"z": 1, "z": 2}}"#).is_error());
}

#[test]
fn an_error_inside_of_a_container_has_a_path() {
    let schema = json!({"type": "array", "items": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}}});
    let echo = echo!(Vec<Bytes>, schema);
    let result = echo.call(&json!([[1], [2, 256]]));
    assert!(
        result
            .content()
            .contains("value[1][1]: 256 is above the maximum 255"),
        "{}",
        result.content()
    );
    assert_eq!(
        echo.gives(&json!([[1], []])),
        Value::from(vec![vec![1], vec![]])
    );
}
