//! Catalogues of dynamic tools.

use serde_json::{Value, json};
use tool_core::Registry;
use tool_core::dynamic::DynamicTool;
use tool_docs::lock::{Class, Lock, compare};
use tool_docs::{Docs, example};

fn tool(name: &str, parameters: Value) -> DynamicTool {
    let tool = DynamicTool::builder(name)
        .description("Does <b>things</b>.")
        .parameters(parameters);
    let tool = tool.build(async |_, _| Ok::<_, String>(String::new()));
    tool.expect("it is a tool")
}

fn registry(tools: impl IntoIterator<Item = DynamicTool>) -> Registry {
    let registry = Registry::builder()
        .group("live", tools.into_iter().map(Into::into))
        .build();
    registry.expect("unique names")
}

#[test]
fn dynamic_tools_are_listed_with_an_example_that_fits() {
    let parameters = json!({
        "type": "object",
        "properties": {
            "kind": {"enum": ["b", "a"]},
            "when": {"type": "string", "format": "date"},
            "step": {"type": "integer", "minimum": 5, "multipleOf": 4},
            "list": {"type": "array", "items": {"$ref": "#/$defs/item"}, "minItems": 2, "uniqueItems": true},
        },
        "required": ["kind", "when", "step", "list"],
        "additionalProperties": false,
        "$defs": {"item": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}},
    });
    let tool = tool("live", parameters);
    let example: Value =
        serde_json::from_str(&example(tool.spec()).expect("it has one")).expect("JSON");
    assert_eq!(
        example,
        json!({"kind": "b", "when": "2026-01-01", "step": 8, "list": [{"n": 1}, {"n": 2}]})
    );
    let markdown = Docs::new(&registry([tool])).to_markdown();
    for part in [
        "\nDoes \\<b\\>things\\</b\\>.\n",
        "| <code>kind</code> | value | yes | one of \"b\", \"a\" |  |\n",
        "| <code>list</code> | array of item | yes | at least 2 items<br>no duplicate items |  |\n",
        "\n**item**\n",
    ] {
        assert!(markdown.contains(part), "{part} is missing in\n{markdown}");
    }
    // The schema is sent as written, so it breaks no rule of a strict mode.
    assert!(!markdown.contains("**Provider limits**"), "{markdown}");
}

#[test]
fn a_group_without_a_name_has_a_heading() {
    let live = |name| tool(name, json!({"type": "object"}));
    for unnamed in ["", " "] {
        let registry = Registry::builder()
            .group(unnamed, [live("a").into()])
            .group("live", [live("b").into()])
            .build();
        let docs = Docs::new(&registry.expect("unique names"));
        let (markdown, html) = (docs.to_markdown(), docs.to_html());
        assert!(markdown.contains("\n## other tools\n"), "{markdown}");
        assert!(html.contains("<h2>other tools</h2>"), "{html}");
        assert!(!markdown.contains("****") && !html.contains("<h2></h2>"));
    }
}

#[test]
fn a_page_without_tools_says_why_there_may_be_none() {
    let docs = Docs::new(&Registry::new());
    let markdown = docs.to_markdown();
    assert!(
        markdown.contains("write `use my_tools as _;` in"),
        "{markdown}"
    );
    let html = docs.to_html();
    assert!(html.contains("<code>use my_tools as _;</code>"), "{html}");
}

#[test]
fn no_example_is_generated_for_a_complex_schema() {
    let of = |parameters: Value| example(tool("live", parameters).spec());
    let object =
        |member: Value| json!({"type": "object", "properties": {"p": member}, "required": ["p"]});
    for intricate in [
        json!({"type": "integer", "allOf": [{"minimum": 3}]}),
        json!({"type": "string", "pattern": "^[0-9]+$"}),
        json!({"type": "string", "format": "unknown"}),
    ] {
        let why = of(object(intricate.clone())).expect_err("nothing is known to fit");
        assert!(
            why.starts_with("`p` has ") && why.ends_with("; add an example"),
            "{why}"
        );
        let mut told = intricate;
        told["examples"] = json!([12]);
        let fits = told["type"] == "integer";
        // An example that does not fit is not used.
        assert_eq!(of(object(told.clone())).is_ok(), fits, "{told}");
    }
}

#[test]
fn changes_of_dynamic_tools_are_classified() {
    let lock = |parameters| Lock::new(&registry([tool("live", parameters)]));
    let old = lock(json!({"type": "object", "properties": {"a": {"type": "integer"}}}));
    let new = lock(json!({"type": "object", "properties": {"a": {"type": "number"}}}));
    assert_eq!(compare(&old, &new).class(), Some(Class::Compatible));
    assert_eq!(compare(&new, &old).class(), Some(Class::Breaking));
}
