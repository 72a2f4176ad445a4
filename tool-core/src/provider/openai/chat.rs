//! OpenAI's chat completions, which many other providers and local servers speak too.

use serde_json::Value;

use crate::call::{ToolCall, ToolResult};
use crate::provider::chat;
use crate::provider::dialect::{Dialect, JsonWriter, strict_or_plain};
use crate::provider::hosted;
use crate::provider::hosted_tool::HostedTool;
use crate::provider::reshape::Style;
use crate::provider::response::{Layout, ResponseError};
use crate::provider::rules::{BrokenRule, Target, broken};
use crate::tool::ToolEntry;

/// OpenAI's chat completions (`/v1/chat/completions`).
///
/// Calls are read from the first choice. Unless it is [strict](OpenAiChat::strict), `strict` is
/// left out, which means `false` here (OpenAI's API description, `FunctionObject`).
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenAiChat {
    is_strict: bool,
}

impl OpenAiChat {
    /// With strict tools: the provider holds every call to the schema.
    ///
    /// Every key is required there, and `null` stands for what is left out; what the strict subset
    /// of JSON Schema can't say is said in words. A tool that the mode can't take at all is sent
    /// as it is and is not strict. The feature `openai-strict` makes it a compile error.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::OpenAiChat;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Rolls dice.
    /// #[tool]
    /// fn roll(#[param(range = 1..=6, default = 1)] dice: u8, name: Option<String>) -> u8 {
    ///     # let _ = name;
    ///     4 * dice
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![roll]).build()?;
    /// let tools = json!(registry.render(&OpenAiChat::strict()));
    /// assert_eq!(tools[0]["function"]["strict"], true);
    /// assert_eq!(
    ///     tools[0]["function"]["parameters"],
    ///     json!({
    ///         "type": "object",
    ///         "properties": {
    ///             "dice": {"type": ["integer", "null"], "minimum": 1, "maximum": 6,
    ///                      "description": "null means the default, 1."},
    ///             "name": {"type": ["string", "null"]},
    ///         },
    ///         "required": ["dice", "name"],
    ///         "additionalProperties": false,
    ///     })
    /// );
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn strict() -> OpenAiChat {
        OpenAiChat { is_strict: true }
    }
}

const LAYOUT: Layout = Layout {
    response: "a chat completion",
    ..chat::LAYOUT
};

impl Dialect for OpenAiChat {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        chat::write_tools(tools, hosted, out, |tool, out| {
            if self.is_strict {
                let target = Target::OpenAiStrict;
                strict_or_plain(tool, target, &Style::OPENAI_STRICT, "parameters", out);
            } else {
                chat::parameters(tool, out);
            }
        });
    }

    /// None that OpenAI documents; servers that speak like it may have some, which are to be
    /// [unchecked](HostedTool::unchecked).
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted::is_of_type(tool, |_| false)
    }

    fn provider(&self) -> &'static str {
        "chat completions"
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
        broken(Target::OpenAiStrict, tools)
    }
}
