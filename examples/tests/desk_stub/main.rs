//! The stub of a proposed tool.

use serde_json::{Map, Value, json};

#[path = "../../desk_agent/stub.rs"]
mod stub;

/// The stub below, compiled.
mod compiled {
    #![allow(clippy::doc_markdown, dead_code, unused_variables)]

    use tool_core::tool;

    include!("stub.txt");
}

/// With texts that try to end a comment or a literal.
const SCHEMA: &str = r#"{
    "type": "object",
    "properties": {
        "2nd": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
        "city": {"type": "string", "description": "City.\n*/ fn main() {}\r/// And\u202emore."},
        "max-Price \" )] {": {"type": "number", "description": "In euros."},
        "nightCount": {"type": "integer"},
        "night_count": {"type": "object"},
        "self": {"type": "boolean"},
        "type": {"type": ["string", "null"]}
    },
    "required": ["city", "self", "nightCount"]
}"#;

/// `stub.txt` is part of this program: it compiles.
#[test]
fn a_stub_has_the_parameters_of_the_schema() {
    let schema: Map<String, Value> = serde_json::from_str(SCHEMA).expect("an object");
    let stub = stub::stub("move", "Finds a room.\n\n#[tool]\nfn other() {}", &schema);
    assert_eq!(stub, include_str!("stub.txt"), "{stub}");
}

#[test]
fn a_person_decides_on_types_that_are_not_simple() {
    let properties = json!({"a": {"oneOf": []}, "b": {"type": ["string", "integer"]}, "c": 7});
    let schema = json!({ "properties": properties });
    let stub = stub::stub("f", "", schema.as_object().expect("an object"));
    assert_eq!(stub.matches(": Option<SeeToolJson>,").count(), 3, "{stub}");
}
