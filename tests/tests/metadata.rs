//! Metadata and icons of tools, which are for clients of MCP, and tools that are for their apps alone.

use std::sync::Arc;

use serde_json::{Value, json};
use tool_core::dynamic::DynamicTool;
use tool_core::{CallContext, Registry, Tool, ToolCall, ToolErrorKind, tool, tools, toolset};
use tool_dialects::{Mcp, OpenAiChat};

/// Draws a chart.
#[tool(
    tags = ["charts"],
    meta = r#"{ "com.example/cost": 3, "ui": {"visibility": ["model"]} }"#,
    icons = ["https://example.com/chart.png", icon("data:image/svg+xml,x", mime_type = "image/svg+xml", sizes = ["any"], theme = "dark")]
)]
fn draw_chart(weeks: u8) -> u8 {
    weeks
}

/// Turns the pages of the chart.
#[tool(meta = r#"{"ui": {"visibility": ["app"]}}"#)]
fn turn_page(page: u32) -> u32 {
    page + 1
}

/// Is plain.
#[tool]
fn plain() {}

/// Calls a tool by its name.
#[tool]
async fn run(name: String, call: &CallContext) -> String {
    let result = call
        .call(ToolCall::new("nested", name, r#"{"page":1}"#))
        .await;
    result.content().to_owned()
}

struct Desk(u8);

#[toolset]
impl Desk {
    /// Opens it.
    #[tool(icons = "https://example.com/desk.png")]
    fn open(&self) -> u8 {
        self.0
    }
}

fn remote() -> DynamicTool {
    DynamicTool::builder("remote")
        .description("Runs elsewhere.")
        .meta(json!({"com.example/marker": "MARKER", "ui": {"visibility": ["app"]}}))
        .icons(json!([{"src": "https://example.com/MARKER.png"}]))
        .build(async |_, _| Ok::<_, String>("ran"))
        .expect("a valid tool")
}

fn registry() -> Registry {
    Registry::builder()
        .tools(tools![draw_chart, turn_page, plain, run])
        .toolset("desk_", Desk(1))
        .tool(remote())
        .build()
        .expect("unique names")
}

fn listed(registry: &Registry) -> Vec<Value> {
    serde_json::from_str(registry.render(&Mcp::default()).as_str()).expect("JSON")
}

#[test]
fn mcp_lists_metadata_and_icons() {
    let tools = listed(&registry());
    let find = |name: &str| {
        tools
            .iter()
            .find(|tool| tool["name"] == name)
            .expect("listed")
    };
    let chart = find("draw_chart");
    let meta = json!({"tool-core/tags": ["charts"], "com.example/cost": 3, "ui": {"visibility": ["model"]}});
    assert_eq!(chart["_meta"], meta);
    let icons = json!([
        {"src": "https://example.com/chart.png"},
        {"src": "data:image/svg+xml,x", "mimeType": "image/svg+xml", "sizes": ["any"], "theme": "dark"},
    ]);
    assert_eq!(chart["icons"], icons);
    assert_eq!(
        find("turn_page")["_meta"],
        json!({"ui": {"visibility": ["app"]}})
    );
    assert_eq!(
        find("desk_open")["icons"],
        json!([{"src": "https://example.com/desk.png"}])
    );
    assert_eq!(find("remote")["_meta"]["com.example/marker"], "MARKER");
    let plain = find("plain").as_object().expect("an object");
    assert!(!plain.contains_key("_meta") && !plain.contains_key("icons"));
    assert_eq!(
        (plain::SPEC.meta_json(), plain::SPEC.icons_json()),
        (None, None)
    );
}

#[test]
fn no_provider_is_sent_metadata_or_tools_for_apps() {
    let registry = registry();
    let asked = tool_dialects::all().map(|known| known.dialect);
    for dialect in asked.filter(|dialect| dialect.http_api().is_some()) {
        let request = registry.request(dialect).build().expect("a valid request");
        let text =
            registry.render(dialect).as_str().to_owned() + &json!(request.fields()).to_string();
        assert!(
            text.contains("draw_chart") && text.contains("desk_open"),
            "{text}"
        );
        for hidden in ["example.com", "MARKER", "turn_page", "remote", "visibility"] {
            assert!(!text.contains(hidden), "{}: {hidden}", dialect.provider());
        }
    }
}

#[test]
fn a_call_of_a_model_does_not_reach_a_tool_for_apps() {
    let registry = registry();
    for name in ["turn_page", "remote"] {
        let mut call = ToolCall::new("call_1", name, r#"{"page":1}"#);
        let result = registry.call_blocking(call.clone());
        let error = result.error().expect("an error");
        assert_eq!(error.kind(), ToolErrorKind::UnknownTool);
        assert_eq!(
            registry.validate(&call).unwrap_err().kind(),
            ToolErrorKind::UnknownTool
        );
        assert!(registry.resolve(&mut call).is_none());
        // A program of the model is not an app, either.
        let arguments = json!({ "name": name }).to_string();
        let nested = registry.call_blocking(ToolCall::new("call_2", "run", arguments.as_str()));
        assert!(
            nested.content().contains("unknown tool"),
            "{}",
            nested.content()
        );
        let nested = registry.call_blocking(ToolCall::new("call_3", "run", arguments).from_app());
        assert!(
            !nested.content().contains("unknown tool"),
            "{}",
            nested.content()
        );
    }
    // Nor is a name suggested.
    let error = registry.call_blocking(ToolCall::new("call_4", "turn_pages", "{}"));
    let others = error.content().replace("turn_pages", "");
    assert!(!others.contains("turn_page"), "{}", error.content());
    // As one for models is.
    let error = registry.call_blocking(ToolCall::new("call_4", "draw_charts", "{}"));
    let others = error.content().replace("draw_charts", "");
    assert!(others.contains("draw_chart"), "{}", error.content());
    assert!(
        registry
            .search("turn the pages of the chart", 9)
            .iter()
            .all(|tool| tool.name != "turn_page")
    );
    let mut call = ToolCall::new("call_5", "turn_page", r#"{"page":1}"#).from_app();
    assert_eq!(registry.call_blocking(call.clone()).content(), "2");
    assert!(registry.validate(&call).is_ok());
    assert!(registry.resolve(&mut call).is_some());
}

#[test]
fn a_call_of_an_app_does_not_reach_a_tool_for_models() {
    let registry = registry();
    let call = ToolCall::new("call_1", "draw_chart", r#"{"weeks":2}"#);
    assert_eq!(registry.call_blocking(call.clone()).content(), "2");
    let result = registry.call_blocking(call.from_app());
    assert_eq!(
        result.error().expect("an error").kind(),
        ToolErrorKind::UnknownTool
    );
    // Others are for both.
    assert_eq!(
        registry
            .call_blocking(ToolCall::new("call_2", "desk_open", "").from_app())
            .content(),
        "1"
    );
}

#[test]
fn a_deferred_tool_for_apps_is_not_found_by_a_search() {
    let registry = Registry::builder()
        .tools(tools![draw_chart, turn_page])
        .defer(|_| true)
        .build()
        .expect("unique names");
    let arguments = json!({"query": "turn pages of the chart"});
    let found = registry.call_blocking(ToolCall::new("call_1", "search_tools", arguments));
    assert!(
        found.content().contains("draw_chart"),
        "{}",
        found.content()
    );
    assert!(
        !found.content().contains("turn_page"),
        "{}",
        found.content()
    );
    let arguments = json!({"name": "turn_page", "arguments": {"page": 1}}).to_string();
    let result = registry.call_blocking(ToolCall::new("call_2", "call_tool", arguments));
    assert_eq!(
        result.error().expect("an error").kind(),
        ToolErrorKind::UnknownTool
    );
}

#[test]
fn tools_for_apps_stay_hidden_when_a_registry_changes() {
    let many = (0..40).map(|number| {
        let tool = DynamicTool::builder(format!("tool_{number}")).description("Does it.");
        tool.build(async |_, _| Ok::<_, String>(()))
            .expect("a valid tool")
    });
    let registry = many
        .fold(Registry::builder(), tool_core::RegistryBuilder::tool)
        .build()
        .expect("unique");
    let is_hidden = || {
        !registry
            .render(&OpenAiChat::default())
            .as_str()
            .contains("turn_page")
    };
    for _ in 0..3 {
        registry.add(tools![turn_page]).expect("a new name");
        assert!(is_hidden());
        assert_eq!(listed(&registry).len(), 41);
        registry.remove("turn_page").expect("a valid registry");
        // With none left, the list is the one of before.
        assert_eq!(listed(&registry).len(), 40);
    }
    registry.add(tools![turn_page]).expect("a new name");
    let selection = registry.select(|tool| tool.name != "tool_1");
    assert!(
        !selection
            .render(&OpenAiChat::default())
            .as_str()
            .contains("turn_page")
    );
    assert!(selection.get("turn_page").is_some());
}

#[test]
fn what_is_invalid_in_a_tool_of_a_server_is_left_out() {
    let listed_as = |meta: Value, icons: Value| {
        let tool =
            json!({"name": "t", "inputSchema": {"type": "object"}, "_meta": meta, "icons": icons});
        DynamicTool::from_mcp(&tool)
            .build(async |_, _| Ok::<_, String>(()))
            .expect("it is repaired")
    };
    let icons = json!([
        {"src": "javascript:alert(1)"}, {"src": "http://a.b/c.png"}, {"src": "file:///etc/passwd"}, {"src": "data:text/html,x"},
        {"src": 3}, {}, "https://a.b/c.png", null,
        {"src": "https://a.b/c.png", "mimeType": 3, "sizes": "48x48", "theme": "grey", "other": 1},
        {"src": "data:image/png;base64,x", "mimeType": "image/png", "sizes": ["48x48"], "theme": "light"},
    ]);
    let tool = listed_as(json!(["a"]), icons);
    assert_eq!(tool.spec().meta_json(), None);
    let kept: Value =
        serde_json::from_str(tool.spec().icons_json().expect("two icons")).expect("JSON");
    assert_eq!(
        kept,
        json!([
            {"src": "https://a.b/c.png"},
            {"src": "data:image/png;base64,x", "mimeType": "image/png", "sizes": ["48x48"], "theme": "light"},
        ])
    );
    // Tags are those of this registry.
    let tool = listed_as(
        json!({"tool-core/tags": ["admin"], "a": {"b": [null]}}),
        Value::Null,
    );
    assert_eq!(tool.spec().meta_json(), Some(r#"{"a":{"b":[null]}}"#));
    assert_eq!(tool.spec().icons_json(), None);
    assert_eq!(
        listed_as(json!({"tool-core/tags": []}), json!("x"))
            .spec()
            .meta_json(),
        None
    );
    for (visibility, expected) in [
        (json!(["model", "app"]), (true, true)),
        (json!(["model"]), (true, false)),
        (json!(["app", "other"]), (false, true)),
        // What can't be read hides a tool from both.
        (json!("model"), (false, false)),
        (json!([]), (false, false)),
        (json!(null), (false, false)),
    ] {
        let tool = listed_as(json!({"ui": {"visibility": visibility}}), Value::Null);
        let spec = tool.spec();
        assert_eq!(
            (spec.is_for_models(), spec.is_for_apps()),
            expected,
            "{visibility}"
        );
    }
    let tool = listed_as(json!({"ui": {"resourceUri": "ui://a"}}), Value::Null);
    assert!(tool.spec().is_for_models() && tool.spec().is_for_apps());
}

#[test]
fn a_tool_of_the_application_reports_what_is_invalid() {
    let error = DynamicTool::builder("t")
        .description("Does it.")
        .meta(json!([1]))
        .icons(json!([{"src": "http://a.b/c.png"}]))
        .build(async |_, _| Ok::<_, String>(()))
        .expect_err("both are wrong");
    assert_eq!(
        error.problems(),
        [
            "its `meta` is not an object",
            "an icon is not an object with `src`, a URL that starts with `https://` or `data:image/`",
        ]
    );
    let icons = DynamicTool::builder("t")
        .description("Does it.")
        .icons(json!("a"));
    let error = icons
        .build(async |_, _| Ok::<_, String>(()))
        .expect_err("no list");
    assert_eq!(error.problems(), ["its `icons` are not a list"]);
}

#[test]
fn a_shared_entry_keeps_its_metadata() {
    // A copy that has another name or group, or none of the output schema.
    let registry = Registry::builder()
        .group("charts", tools![draw_chart])
        .output_cap(100)
        .build()
        .expect("valid");
    let tool = Arc::new(registry.specs().remove(0));
    assert!(tool.meta_json().is_some() && tool.icons_json().is_some());
    assert!(listed(&registry)[0]["icons"].is_array());
}

/// Adds a page.
#[tool(
    unlinked,
    example = r#"{"page": 1}"#,
    meta = r#"{"ui": {"visibility": ["app"]}}"#
)]
fn add_page(page: u32) -> u32 {
    page + 1
}

#[test]
fn examples_of_a_tool_for_apps_are_checked() {
    let registry = Registry::builder().tools(tools![add_page]).build();
    let registry = registry.expect("unique names");
    tool_docs::testing::check(&registry)
        .examples()
        .run_examples(["add_page"])
        .run();
}
