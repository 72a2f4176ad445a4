//! xAI's chat completions.

use serde_json::Value;

use crate::call::{ToolCall, ToolResult};
use crate::provider::chat;
use crate::provider::dialect::{Dialect, JsonWriter};
use crate::provider::hosted;
use crate::provider::hosted_tool::HostedTool;
use crate::provider::reshape::{self, Style};
use crate::provider::response::{Layout, ResponseError};
use crate::provider::rules::{BrokenRule, Target, broken};
use crate::tool::ToolEntry;

/// xAI's chat completions (`/v1/chat/completions`).
///
/// Every tool is strict there, whether it says so or not. What a schema can't say there is said in
/// words, and an object with free keys says so: silence means a closed one.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use serde_json::json;
/// use tool_core::dialect::XAi;
/// use tool_core::{Registry, tool, tools};
///
/// /// Counts labels.
/// #[tool]
/// fn count(labels: BTreeMap<String, serde_json::Value>) -> usize {
///     labels.len()
/// }
///
/// let registry = Registry::builder().tools(tools![count]).build()?;
/// let tools = json!(registry.render(&XAi::default()));
/// assert_eq!(
///     tools[0]["function"]["parameters"]["properties"]["labels"],
///     json!({"type": "object", "additionalProperties": true})
/// );
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct XAi {}

const LAYOUT: Layout = Layout {
    response: "a chat completion of xAI",
    ..chat::LAYOUT
};

impl Dialect for XAi {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        chat::write_tools(tools, hosted, out, |tool, out| {
            out.word("parameters");
            reshape::write_tool(tool, &Style::XAI, out);
        });
    }

    /// None: xAI's own tools are for its Responses API, which
    /// [`OpenAiResponses`](crate::dialect::OpenAiResponses) speaks, and live search is gone from here
    /// (xAI's guide to its tools; vercel/ai#15718).
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted::is_of_type(tool, |_| false)
    }

    fn provider(&self) -> &'static str {
        "chat completions of xAI"
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        chat::calls(&LAYOUT, response)
    }

    fn turn(&self, response: &Value) -> Vec<Value> {
        chat::turn(response)
    }

    fn text(&self, response: &Value) -> String {
        chat::text(response)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        chat::results(results)
    }

    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        broken(Target::XAi, tools)
    }
}
