//! Amazon Bedrock's Converse.

use serde_json::{Value, json};

use crate::call::{ToolCall, ToolResult};
use crate::provider::dialect::{Dialect, JsonWriter, NameRules, wire_id, write_head};
use crate::provider::hosted_tool::{self, HostedTool};
use crate::provider::profile::{Count, Profile};
use crate::provider::response::{ResponseError, ResponseFormat, content_text};
use crate::provider::rules::{BrokenRule, Rule, Source, Target, broken};
use crate::provider::stream::{self, StreamReader};
use crate::tool::ToolEntry;

const TOOLS_MIN: Rule = Rule::limit(
    "bedrock.tools_min",
    1,
    Source::new(
        "botocore 1.43, data/bedrock-runtime/2023-09-30/service-2.json",
        "2026-11",
    ),
);

pub(crate) const PROFILE: Profile = Profile {
    name: "Amazon Bedrock",
    title: "Amazon Bedrock",
    rules: &[&TOOLS_MIN],
    request_limits: &[(Count::MinTools, &TOOLS_MIN)],
    ..Profile::EMPTY
};

#[cfg(feature = "docs")]
pub(crate) const DIALECTS: &[(&str, &dyn Dialect)] = &[("Amazon Bedrock", &Bedrock {})];

/// Amazon Bedrock's Converse (`/model/{id}/converse`).
///
/// The tools are the value of `toolConfig.tools`; a request without tools has no `toolConfig`. All
/// results go into one user message. Calls of the provider's own server tools are ignored.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::Bedrock;
/// use tool_core::{Registry, tool, tools};
///
/// /// Lists the alarms.
/// #[tool]
/// fn list_alarms() -> Vec<u32> {
///     vec![7, 19]
/// }
///
/// let registry = Registry::builder().tools(tools![list_alarms]).build()?;
/// let request = json!({ "toolConfig": { "tools": registry.render(&Bedrock::default()) } });
/// assert_eq!(
///     request["toolConfig"]["tools"][0]["toolSpec"]["inputSchema"]["json"]["type"],
///     "object"
/// );
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Bedrock {}

const FORMAT: ResponseFormat = ResponseFormat {
    response: "a response of Converse",
    call: "a `toolUse` block in `output.message.content`",
    id: "toolUse.toolUseId",
    id_is_optional: false,
    name: "toolUse.name",
    arguments: "toolUse.input",
    // The service's model, `StopReason`.
    stop_reason: "stopReason",
    truncated: &[
        "max_tokens",
        "model_context_window_exceeded",
        "malformed_tool_use",
        "malformed_model_output",
        "content_filtered",
        "guardrail_intervened",
        "stop_sequence",
    ],
};

impl Dialect for Bedrock {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        out.array(|out| {
            for tool in tools {
                out.object(|out| {
                    out.word("toolSpec").object(|out| {
                        write_head(tool, out);
                        out.word("inputSchema").object(|out| {
                            out.word("json").raw(tool.portable_json());
                        });
                    });
                });
            }
            hosted_tool::write(hosted, out);
        });
    }

    /// Accepts `systemTool` and `cachePoint` (the union `Tool` of the service's model).
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::has_keys(tool, |key| matches!(key, "systemTool" | "cachePoint"))
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        const RULES: NameRules = NameRules::COMMON;
        RULES.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "Amazon Bedrock"
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        if response["output"].is_null() {
            FORMAT.check_error(response)?;
            return Err(if response["message"].is_string() {
                FORMAT.provider_error(response)
            } else {
                FORMAT.error("`output` is missing")
            });
        }
        let message = &response["output"]["message"];
        let blocks = FORMAT.array(message, "content")?;
        FORMAT.calls(response, blocks, |block| {
            let call = &block["toolUse"];
            call.is_object() && call["type"] != "server_tool_use"
        })
    }

    /// Each event is an object with one key, the type of the event (`:event-type` in the headers of the
    /// AWS event stream), as the SDKs of AWS return it.
    fn stream(&self) -> Box<dyn StreamReader> {
        stream::reader(stream::bedrock::ConverseStream::new(&FORMAT))
    }

    /// Returns the assistant's message. The API rejects an empty one, so that it is omitted.
    fn turn(&self, response: &Value) -> Vec<Value> {
        let message = &response["output"]["message"];
        match &message["content"] {
            Value::Array(blocks) if !blocks.is_empty() => vec![message.clone()],
            _ => Vec::new(),
        }
    }

    fn text(&self, response: &Value) -> String {
        let blocks = response["output"]["message"]["content"].as_array();
        let texts = blocks.into_iter().flatten().map(|block| {
            // Text with citations.
            let cited = content_text(&block["citationsContent"]["content"]);
            cited + block["text"].as_str().unwrap_or_default()
        });
        texts.collect()
    }

    fn user_message(&self, text: &str) -> Value {
        json!({"role": "user", "content": [{"text": text}]})
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let block = |result: &ToolResult| {
            let mut block = json!({
                "toolUseId": wire_id(result),
                "content": [{ "text": result.content() }],
            });
            // Not every model knows the key.
            if result.is_error() {
                block["status"] = "error".into();
            }
            json!({ "toolResult": block })
        };
        let blocks: Vec<_> = results.iter().map(block).collect();
        if blocks.is_empty() {
            return Vec::new();
        }
        vec![json!({ "role": "user", "content": blocks })]
    }

    fn broken_rules(&self, tools: &[ToolEntry], hosted: &[HostedTool]) -> Vec<BrokenRule> {
        // Hosted tools count, too.
        if tools.is_empty() && !hosted.is_empty() {
            Vec::new()
        } else {
            broken(Target::Bedrock, tools)
        }
    }
}
