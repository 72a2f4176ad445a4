//! OpenAI's responses.

use serde_json::{Value, json};

use crate::call::{ToolCall, ToolResult};
use crate::provider::dialect::{Dialect, JsonWriter, strict_or_plain, wire_id, write_head};
use crate::provider::hosted;
use crate::provider::hosted_tool::HostedTool;
use crate::provider::reshape::Style;
use crate::provider::response::{Layout, ResponseError, is_type, words};
use crate::provider::rules::{BrokenRule, Target, broken};
use crate::tool::ToolEntry;

/// OpenAI's responses (`/v1/responses`).
///
/// `strict` is always written: left out, the API makes schemas strict where it can, and optional
/// parameters required (OpenAI's API description, `FunctionToolParam`).
///
/// The turn is every item of the output, reasoning included. A request that names the
/// `previous_response_id` has the turn already and wants the results alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenAiResponses {
    is_strict: bool,
}

impl OpenAiResponses {
    /// With strict tools: the provider holds every call to the schema.
    ///
    /// Schemas are those of [`OpenAiChat::strict`](crate::dialect::OpenAiChat::strict), and so is what
    /// happens to a tool that the mode can't take.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::OpenAiResponses;
    /// use tool_core::{Registry, tool, tools};
    ///
    /// /// Says hello.
    /// #[tool]
    /// fn greet(name: Option<&str>) -> String {
    ///     format!("Hello, {}!", name.unwrap_or("you"))
    /// }
    ///
    /// let registry = Registry::builder().tools(tools![greet]).build()?;
    /// let tools = json!(registry.render(&OpenAiResponses::strict()));
    /// assert_eq!(tools[0]["strict"], true);
    /// assert_eq!(tools[0]["parameters"]["required"], json!(["name"]));
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn strict() -> OpenAiResponses {
        OpenAiResponses { is_strict: true }
    }
}

/// Whatever may stand in `tools` and is no function (OpenAI's Python SDK, `responses.ToolParam`).
const HOSTED: [&str; 17] = [
    "apply_patch",
    "code_interpreter",
    "computer",
    "computer_use_preview",
    "custom",
    "file_search",
    "image_generation",
    "local_shell",
    "mcp",
    "namespace",
    "programmatic_tool_calling",
    "shell",
    "tool_search",
    "web_search",
    "web_search_2025_08_26",
    "web_search_preview",
    "web_search_preview_2025_03_11",
];

const LAYOUT: Layout = Layout {
    response: "a response of OpenAI",
    call: "a call in `output`",
    id: "call_id",
    id_is_optional: false,
    name: "name",
    arguments: "arguments",
    stop: "status",
    cut_short: &["incomplete"],
};

impl Dialect for OpenAiResponses {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        out.array(|out| {
            for tool in tools {
                out.object(|out| {
                    out.word("type").string("function");
                    write_head(tool, out);
                    if self.is_strict {
                        let target = Target::OpenAiStrict;
                        strict_or_plain(tool, target, &Style::OPENAI_STRICT, "parameters", out);
                    } else {
                        out.word("parameters").raw(tool.parameters_json());
                        out.word("strict").boolean(false);
                    }
                });
            }
            hosted::write(hosted, out);
        });
    }

    /// Calls of those that the application is to run itself, such as `shell`, are not read.
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted::is_of_type(tool, |name| HOSTED.contains(&name))
    }

    fn provider(&self) -> &'static str {
        "the Responses API of OpenAI"
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        let items = LAYOUT.array(response, "output")?;
        LAYOUT.calls(response, items, |item| is_type(item, "function_call"))
    }

    fn turn(&self, response: &Value) -> Vec<Value> {
        response["output"].as_array().cloned().unwrap_or_default()
    }

    /// The texts of all messages, a paragraph each.
    fn text(&self, response: &Value) -> String {
        let items = response["output"].as_array().into_iter().flatten();
        let texts: Vec<_> = items
            .filter(|item| is_type(item, "message"))
            .map(|item| words(&item["content"]))
            .collect();
        texts.join("\n\n")
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let item = |result: &ToolResult| {
            json!({
                "type": "function_call_output",
                "call_id": wire_id(result),
                "output": result.content(),
            })
        };
        results.iter().map(item).collect()
    }

    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        broken(Target::OpenAiStrict, tools)
    }
}
