//! A tool of `rig` in a registry: any type with its trait `Tool`, such as the types that `#[rig_tool]` makes.
//!
//! ```sh
//! cargo add tool-core --features dynamic
//! cargo add rig@0.44 serde_json
//! cargo run
//! ```
//!
//! Changed in between: calls are validated before the tool runs, and the model reads every violation. The schema is
//! repaired for all providers: `$schema`, `title` and `format` are left out. It stays open: unknown arguments reach the
//! tool, which ignores them.
//!
//! Lost in between: pictures, which `render` writes as text; the kind of an error; and the values of `ToolContext`.
//! Insert the values of `CallContext` that the tool needs.

use std::error::Error;
use std::sync::Arc;

use rig::rig_tool;
use rig::tool::{ErasedTool, Tool, ToolContext, ToolExecutionError, tool_definition};
use tool_core::dynamic::{DynamicTool, DynamicToolError};
use tool_core::{AnyOutput, Registry, ToolCall, ToolEntry};

/// Adds two numbers.
#[rig_tool(params(a = "The first.", b = "The second."))]
fn add(a: i32, b: i32) -> Result<i32, ToolExecutionError> {
    Ok(a + b)
}

/// Returns a tool of `rig` as one of a registry.
fn from_rig(tool: impl Tool + 'static) -> Result<ToolEntry, DynamicToolError> {
    let definition = tool_definition(&tool);
    let tool = Arc::new(tool);
    let tool = DynamicTool::foreign(definition.name.to_string())
        .description(definition.description)
        .parameters(definition.parameters)
        .build(move |arguments, _call| {
            let tool = tool.clone();
            async move {
                let mut context = ToolContext::new();
                let result = tool.execute(arguments.to_string(), &mut context).await;
                match result.into_result() {
                    Ok(output) => Ok(match output.as_json() {
                        Some(json) => AnyOutput::new(json),
                        None => AnyOutput::new(output.render()),
                    }),
                    Err(error) => Err(error.model_output().render()),
                }
            }
        })?;
    Ok(tool.into())
}

fn main() -> Result<(), Box<dyn Error>> {
    let tools = Registry::builder().tool(from_rig(Add)?).build()?;
    println!("{}", tools.get("add").expect("a tool").parameters_json());

    let sum = tools.call_blocking(ToolCall::new("call_1", "add", r#"{"a":2,"b":3}"#));
    assert_eq!(sum.content(), "5");

    let wrong = tools.call_blocking(ToolCall::new("call_2", "add", r#"{"a":"two"}"#));
    println!("{}", wrong.content());
    assert_eq!(wrong.error().expect("an error").violations().len(), 2);
    Ok(())
}

#[test]
fn a_tool_of_rig_runs_in_a_registry() {
    main().unwrap();
}
