//! Dynamic tools: tools that are built at run time.

mod bounds;
mod building;
mod calling;
mod foreign;
mod messages;
mod rendering;
mod typed;
mod unions;
#[path = "../../support/watchdog.rs"]
mod watchdog;

use std::convert::Infallible;

use serde_json::{Value, json};
use tool_core::dynamic::{DynamicTool, DynamicToolBuilder};
use tool_core::{Registry, ToolCall, ToolResult};

fn builder(name: &str, schema: Value) -> DynamicToolBuilder {
    DynamicTool::builder(name)
        .description("Does something.")
        .parameters(schema)
}

/// Returns a registry with a tool that returns its arguments.
fn echo(schema: Value) -> Registry {
    let tool = builder("echo", schema).build(async |arguments, _| Ok::<_, Infallible>(arguments));
    Registry::builder().tool(tool.unwrap()).build().unwrap()
}

fn call(registry: &Registry, arguments: &str) -> ToolResult {
    registry.call_blocking(ToolCall::new("1", "echo", arguments))
}

fn violations(result: &ToolResult) -> Vec<String> {
    let error = result.error().expect("an error");
    error.violations().iter().map(ToString::to_string).collect()
}

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn trip() -> DynamicTool {
    DynamicTool::builder("plan")
        .title("Plan a trip")
        .description("Plans.")
        .when_to_use("A trip is wanted.")
        .returns("Its days.")
        .read_only(true)
        .destructive(None)
        .parameters(
            json!({"type": "object", "properties": {"to": {"type": "string", "maxLength": 9}}}),
        )
        .output(json!({"type": "object", "properties": {"days": {"type": "integer"}}}))
        .build(async |_, _| Ok::<_, Infallible>(json!({"days": 3})))
        .unwrap()
}
