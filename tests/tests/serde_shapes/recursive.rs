//! Recursive types.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::{Value, json};
use tool_core::{Registry, Tool, ToolType, tool, tools};

use super::Subject;

#[derive(Debug, Deserialize, ToolType)]
struct Node {
    name: String,
    #[serde(default)]
    children: Vec<Node>,
    next: Option<Box<Node>>,
}

#[derive(Debug, Deserialize, ToolType)]
enum Expr {
    Number(i64),
    Sum(Box<Expr>, Box<Self>),
    All { of: HashMap<String, Expr> },
}

#[derive(Debug, Deserialize, ToolType)]
struct Tree<T> {
    value: T,
    branches: Vec<Tree<T>>,
}

#[derive(Debug, Deserialize, ToolType)]
struct Folder {
    files: Vec<File>,
}

#[derive(Debug, Deserialize, ToolType)]
struct File {
    name: String,
    #[param(recursive)]
    inside: Option<Box<Folder>>,
}

#[test]
fn recursive_types_refer_to_a_definition() {
    let subject = subject!(Node);
    let node = json!({"$ref": "#/$defs/Node"});
    subject.schema(node.clone());
    assert_eq!(
        subject.parameters["$defs"],
        json!({"Node": {"type": "object", "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": node}, "next": node},
               "required": ["name"], "additionalProperties": false}})
    );
    subject.accepts(
        json!({"name": "a", "children": [{"name": "b", "next": {"name": "c"}}]}),
        "Node { name: \"a\", children: [Node { name: \"b\", children: [], next: Some(Node { name: \"c\", children: [], next: None }) }], next: None }",
    );
    subject.refuses(
        json!({"name": "a", "children": [{"name": 1}]}),
        "value.children[0].name: expected a string",
    );

    let subject = subject!(Expr);
    subject.accepts(
        json!({"Sum": [{"Number": 1}, {"All": {"of": {"x": {"Number": 2}}}}]}),
        "Sum(Number(1), All { of: {\"x\": Number(2)} })",
    );
    subject.refuses(
        json!({"Sum": [{"Number": 1}, {"All": {"of": {"x": {"Number": "2"}}}}]}),
        "value.Sum[1].All.of.x.Number: expected an integer",
    );

    let subject = subject!(Tree<bool>);
    subject.accepts(
        json!({"value": true, "branches": []}),
        "Tree { value: true, branches: [] }",
    );
    subject.refuses(
        json!({"value": true, "branches": [{"value": 1, "branches": []}]}),
        "value.branches[0].value",
    );

    let subject = subject!(Folder);
    subject.accepts(
        json!({"files": [{"name": "a", "inside": {"files": []}}]}),
        "Folder { files: [File { name: \"a\", inside: Some(Folder { files: [] }) }] }",
    );
    subject.refuses(
        json!({"files": [{"name": "a", "inside": {"files": [1]}}]}),
        "value.files[0].inside.files[0]",
    );
}

#[test]
fn a_value_nested_beyond_every_limit_is_rejected_with_a_message() {
    let subject = subject!(Tree<()>);
    let mut deep = json!({"value": null, "branches": []});
    for _ in 0..90 {
        deep = json!({"value": null, "branches": [deep]});
    }
    let result = subject.call(&deep);
    assert!(
        result.content().contains("nested deeper than 127 levels"),
        "{}",
        result.content()
    );
}

#[derive(Debug, Deserialize, ToolType)]
#[serde(untagged, deny_unknown_fields)]
enum Chain {
    End(bool),
    Short { x: Box<Chain> },
    Long { x: Box<Chain>, y: Option<u8> },
    Wide { y: Box<Chain>, z: Box<Chain> },
}

#[test]
fn nested_unions_are_checked_in_bounded_time() {
    let subject = subject!(Chain);
    let nested = |levels: usize, end: Value, y: Value| {
        (0..levels).fold(end, |inner, _| json!({"x": inner, "y": y}))
    };
    subject.accepts(
        json!({"x": {"x": true, "y": 1}}),
        "Short { x: Long { x: End(true), y: Some(1) } }",
    );
    // Two ways at every level: 2 to the 60th if each were tried.
    let deep = (0..60).fold(json!(7), |inner, _| json!({"x": inner}));
    let result = subject.call(&deep);
    assert!(result.is_error(), "{}", result.content());
    let wrong = nested(60, json!(true), json!("y"));
    assert!(subject.call(&wrong).is_error());
    assert_eq!(
        subject
            .call(&nested(3, json!(true), json!(1)))
            .content()
            .matches("Long")
            .count(),
        3
    );
}
