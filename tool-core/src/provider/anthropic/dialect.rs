//! Anthropic's messages.

use serde_json::{Value, json};

use crate::call::{ToolCall, ToolResult};
use crate::provider::dialect::{Dialect, JsonWriter, strict_or_plain, wire_id, write_head};
use crate::provider::hosted;
use crate::provider::hosted_tool::HostedTool;
use crate::provider::reshape::Style;
use crate::provider::response::{Layout, ResponseError, is_type, words};
use crate::provider::rules::{BrokenRule, Target, broken};
use crate::tool::ToolEntry;

/// Anthropic's messages (`/v1/messages`).
///
/// All results go into one user message, before any text of the user (Anthropic's guide to tool
/// use). Calls of the provider's own server tools are not for us and are passed over.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anthropic {
    is_strict: bool,
}

impl Anthropic {
    /// With strict tools: the provider holds every call to the schema.
    ///
    /// Bounds of numbers, lengths and the like are said in words there. A tool that the mode can't
    /// take at all is sent as it is and is not strict; the feature `anthropic-strict` makes it a
    /// compile error.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::Anthropic;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Rolls dice.
    /// #[tool]
    /// fn roll(#[param(range = 1..=6)] dice: u8, name: Option<String>) -> u8 {
    ///     # let _ = name;
    ///     4 * dice
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll]).build()?;
    /// let tools = json!(registry.render(&Anthropic::strict()));
    /// assert_eq!(tools[0]["strict"], true);
    /// assert_eq!(
    ///     tools[0]["input_schema"]["properties"],
    ///     json!({
    ///         "dice": {"type": "integer", "description": "Must be an integer from 1 to 6."},
    ///         "name": {"type": "string"},
    ///     })
    /// );
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn strict() -> Anthropic {
        Anthropic { is_strict: true }
    }
}

const LAYOUT: Layout = Layout {
    response: "a message of Anthropic",
    call: "a `tool_use` block in `content`",
    id: "id",
    id_is_optional: false,
    name: "name",
    arguments: "input",
    // Anthropic's guide "Stop reasons and fallback". What has no end may come as an empty object.
    stop: "stop_reason",
    cut_short: &[
        "max_tokens",
        "model_context_window_exceeded",
        "refusal",
        "stop_sequence",
    ],
};

impl Dialect for Anthropic {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        out.array(|out| {
            for tool in tools {
                out.object(|out| {
                    write_head(tool, out);
                    if self.is_strict {
                        let target = Target::AnthropicStrict;
                        let style = &Style::ANTHROPIC_STRICT;
                        strict_or_plain(tool, target, style, "input_schema", out);
                    } else {
                        out.word("input_schema").raw(tool.parameters_json());
                    }
                });
            }
            hosted::write(hosted, out);
        });
    }

    /// Those whose type has a version, such as `web_search_20250305`, and `mcp_toolset`
    /// (Anthropic's tool reference).
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted::is_of_type(tool, |name| name == "mcp_toolset" || has_version(name))
    }

    fn provider(&self) -> &'static str {
        "Anthropic"
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        let blocks = LAYOUT.array(response, "content")?;
        LAYOUT.calls(response, blocks, |block| is_type(block, "tool_use"))
    }

    /// The assistant's message; nothing when it is empty, which the API would not take back.
    fn turn(&self, response: &Value) -> Vec<Value> {
        match &response["content"] {
            Value::Array(blocks) if !blocks.is_empty() => {
                vec![json!({ "role": "assistant", "content": blocks })]
            }
            _ => Vec::new(),
        }
    }

    fn text(&self, response: &Value) -> String {
        words(&response["content"])
    }

    /// Where its server tools were at work for as long as one response may take (Anthropic's guide
    /// "Stop reasons and fallback").
    fn is_paused(&self, response: &Value) -> bool {
        response["stop_reason"] == "pause_turn"
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let block = |result: &ToolResult| {
            let mut block = json!({
                "type": "tool_result",
                "tool_use_id": wire_id(result),
                "content": result.content(),
            });
            if result.is_error() {
                block["is_error"] = true.into();
            }
            block
        };
        let blocks: Vec<_> = results.iter().map(block).collect();
        if blocks.is_empty() {
            return Vec::new();
        }
        vec![json!({ "role": "user", "content": blocks })]
    }

    /// Only strict tools are limited.
    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        match self.is_strict {
            true => broken(Target::AnthropicStrict, tools),
            false => Vec::new(),
        }
    }
}

/// Whether a date without separators stands at the end, as Anthropic writes versions.
fn has_version(name: &str) -> bool {
    name.rsplit_once('_')
        .is_some_and(|(_, date)| date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()))
}
