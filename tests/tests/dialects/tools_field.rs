//! The `tools` field of a request, in each dialect.

use serde_json::{Value, json};
use tool_core::dialect::HostedTool;
use tool_core::dialect::write::JsonWriter;
use tool_core::dialect::{Dialect, ResponseError, Turn};
use tool_core::{Registry, ToolCall, ToolEntry, ToolResult, tools};
use tool_dialects::{
    Anthropic, Bedrock, Cohere, Gemini, GeminiInteractions, Mcp, Mistral, OpenAiChat,
    OpenAiResponses, XAi,
};

use super::{dialects, get_forecast, list_alarms, refusal, registry};

fn small_registry() -> Registry {
    let tools = tools![get_forecast, list_alarms];
    Registry::builder().tools(tools).build().unwrap()
}

const PROMPT: &str = "Weather forecast for a city.\n\nWhen to use: The user asks about weather.\n\nReturns: One entry a day.";
const ALARMS: &str = "Lists \"alarms\": tabs\\slashes, ünïcödé 🌦.";

fn forecast_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "City and country."},
            "days": {"type": "integer", "minimum": 0, "maximum": 255},
        },
        "required": ["city"],
        "additionalProperties": false,
    })
}

fn closed() -> Value {
    json!({"type": "object", "properties": {}, "additionalProperties": false})
}

#[test]
fn chat_completions_nest_the_function() {
    let tools = json!(small_registry().render(&OpenAiChat::default()));
    assert_eq!(
        tools,
        json!([
            {"type": "function", "function": {
                "name": "get_forecast", "description": PROMPT, "parameters": forecast_schema(),
            }},
            {"type": "function", "function": {
                "name": "list_alarms", "description": ALARMS, "parameters": closed(),
            }},
        ])
    );
}

#[test]
fn responses_always_state_strict() {
    let tools = json!(small_registry().render(&OpenAiResponses::default()));
    assert_eq!(
        tools,
        json!([
            {"type": "function", "name": "get_forecast", "description": PROMPT,
             "parameters": forecast_schema(), "strict": false},
            {"type": "function", "name": "list_alarms", "description": ALARMS,
             "parameters": closed(), "strict": false},
        ])
    );
}

#[test]
fn anthropic_names_the_schema_input_schema() {
    let tools = json!(small_registry().render(&Anthropic::default()));
    assert_eq!(
        tools,
        json!([
            {"name": "get_forecast", "description": PROMPT, "input_schema": forecast_schema()},
            {"name": "list_alarms", "description": ALARMS, "input_schema": closed()},
        ])
    );
}

#[test]
fn gemini_gets_json_schema_and_no_schema_for_no_parameters() {
    let tools = json!(small_registry().render(&Gemini::default()));
    assert_eq!(
        tools,
        json!([{"functionDeclarations": [
            {"name": "get_forecast", "description": PROMPT,
             "parametersJsonSchema": forecast_schema()},
            {"name": "list_alarms", "description": ALARMS},
        ]}])
    );
}

#[test]
fn the_interactions_of_gemini_have_the_same_schema_in_a_flat_tool() {
    let tools = json!(small_registry().render(&GeminiInteractions::default()));
    assert_eq!(
        tools,
        json!([
            {"type": "function", "name": "get_forecast", "description": PROMPT,
             "parameters": forecast_schema()},
            {"type": "function", "name": "list_alarms", "description": ALARMS},
        ])
    );
}

#[test]
fn bedrock_wraps_the_tool_and_its_schema() {
    let tools = json!(small_registry().render(&Bedrock::default()));
    let tool = |name: &str, description: &str, schema: Value| json!({"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}});
    assert_eq!(
        tools,
        json!([
            tool("get_forecast", PROMPT, forecast_schema()),
            tool("list_alarms", ALARMS, closed()),
        ])
    );
}

/// None of them accepts a `strict` on the tool, or needs it.
#[test]
fn other_dialects_share_the_format_of_chat_completions() {
    let chat = json!(small_registry().render(&OpenAiChat::default()));
    assert_eq!(json!(small_registry().render(&XAi::default())), chat);
    assert_eq!(json!(small_registry().render(&Cohere::default())), chat);
    assert_eq!(json!(small_registry().render(&Mistral::default())), chat);
}

#[test]
fn mcp_sends_only_the_hints_and_titles_that_are_set() {
    let output = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "highs": {"type": "array", "items": {"type": "number"}},
        },
        "required": ["city", "highs"],
        "additionalProperties": false,
    });
    let mut expected = json!([
        {"name": "get_forecast", "title": "Forecast", "description": PROMPT,
         "inputSchema": forecast_schema(), "outputSchema": output,
         "annotations": {"readOnlyHint": true, "openWorldHint": false}},
        {"name": "list_alarms", "description": ALARMS, "inputSchema": closed(),
         "outputSchema": {"type": "array", "items": {"type": "integer", "minimum": 0}}},
    ]);
    assert_eq!(json!(small_registry().render(&Mcp::default())), expected);
    assert_eq!(
        json!(small_registry().render(&Mcp::v2026_07_28())),
        expected
    );

    expected[1].as_object_mut().unwrap().remove("outputSchema");
    assert_eq!(
        json!(small_registry().render(&Mcp::v2025_11_25())),
        expected
    );
}

/// A client rejects a result that its output schema does not allow: plain text has no structured
/// content, and a nested `None` is `null`.
#[test]
fn mcp_sends_only_output_schemas_that_hold() {
    let calls = [
        ("get_forecast", r#"{"city":"Lisbon"}"#),
        ("list_alarms", ""),
        ("cancel_booking", r#"{"id":0}"#),
        ("find_person", r#"{"name":"Ada"}"#),
        ("say", r#"{"what":"hello"}"#),
    ];
    for mcp in [Mcp::v2025_11_25(), Mcp::v2026_07_28()] {
        let tools = json!(registry().render(&mcp));
        for (name, arguments) in calls {
            let result = registry().call_blocking(ToolCall::new("1", name, arguments));
            assert!(!result.is_error(), "{}", result.content());
            let result = &mcp.results(&[result])[0]["result"];
            let mut tools = tools.as_array().unwrap().iter();
            let tool = tools.find(|tool| tool["name"] == name).unwrap();
            if let Some(schema) = tool.get("outputSchema") {
                let structured = result.get("structuredContent").expect(name);
                assert!(
                    jsonschema::is_valid(schema, structured),
                    "{name}: {structured}"
                );
            }
        }
    }
}

#[test]
fn no_tools_are_an_empty_array() {
    for (dialect, _) in dialects() {
        let mut out = JsonWriter::new();
        dialect.write_tools(&[], &[], &mut out);
        assert_eq!(out.into_string(), "[]");
    }
}

/// The text is written without a tree; only this test guards its commas and escapes.
#[test]
fn text_and_value_are_the_same_json() {
    fn check(dialect: &impl Dialect) {
        let rendered = registry().render(dialect);
        let parsed: Value = serde_json::from_str(rendered.as_str()).unwrap();
        assert_eq!(json!({ "tools": rendered }), json!({ "tools": parsed }));
        let embedded = serde_json::to_string(&rendered).unwrap();
        assert_eq!(embedded, rendered.as_str());
        assert_eq!(rendered.to_string(), rendered.clone().into_string());
    }
    check(&OpenAiChat::default());
    check(&OpenAiResponses::default());
    check(&Anthropic::default());
    check(&Gemini::default());
    check(&Mcp::default());
    check(&Mcp::v2025_11_25());
    check(&OpenAiChat::strict());
    check(&OpenAiResponses::strict());
    check(&Anthropic::strict());
    check(&Gemini::open_api());
    check(&GeminiInteractions::default());
    check(&Bedrock::default());
    check(&XAi::default());
    check(&Cohere::default());
    check(&Mistral::default());
}

#[test]
fn invalid_json_of_a_custom_dialect_is_an_error_and_not_sent() {
    struct Broken;
    impl Dialect for Broken {
        fn write_tools(&self, _: &[ToolEntry], _: &[HostedTool], out: &mut JsonWriter) {
            out.array(|out| {
                out.key("key in an array").boolean(true);
            });
        }
        fn read(&self, _response: &Value) -> Result<Turn, ResponseError> {
            Err(ResponseError::new("no answer of the broken provider"))
        }
        fn results(&self, _results: &[ToolResult]) -> Vec<Value> {
            Vec::new()
        }
    }
    let error = serde_json::to_value(registry().render(&Broken)).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the dialect wrote bad JSON: "),
        "{error}"
    );
    assert_eq!(
        refusal(&Broken, &json!({})),
        "no answer of the broken provider"
    );
}

/// One flag tracks commas, also after something empty.
#[test]
fn the_writer_separates_what_follows_an_empty_object() {
    let mut out = JsonWriter::new();
    out.array(|out| {
        out.object(|_| {}).array(|_| {}).string("");
        out.object(|out| {
            out.key("\"").object(|_| {});
            out.key("b").raw("1");
        });
    });
    assert_eq!(out.into_string(), r#"[{},[],"",{"\"":{},"b":1}]"#);
}
