//! Cohere's chat.

use serde_json::Value;

use crate::call::{ToolCall, ToolResult};
use crate::content::{Content, Image};
use crate::provider::chat;
use crate::provider::dialect::{
    Choice, Dialect, JsonWriter, NameRules, RequestParts, RequestWriter,
};
use crate::provider::hosted_tool::HostedTool;
#[cfg(feature = "http")]
use crate::provider::http_api::{self, HttpApi};
use crate::provider::media::{self, Accepts, OmittedPart, Unwritable};
use crate::provider::profile::{Count, Profile};
use crate::provider::response::{ResponseError, ResponseFormat, content_text};
use crate::provider::rules::{BrokenRule, Rule, Source, Target, broken};
use crate::provider::stream::{self, StreamReader};
use crate::tool::ToolEntry;

const GUIDE: Source = Source::new(
    "docs.cohere.com, \"Parameter types for tool use\" (v2)",
    "2026",
);
const REQUIRED: Rule = Rule::limit("cohere.strict.min_required_params_per_tool", 1, GUIDE);

const FIELDS: Rule = Rule::limit("cohere.strict.max_fields_total", 200, GUIDE);

const IMAGE_TYPES: Rule = Rule::list(
    "cohere.image_types",
    &["image/png", "image/jpeg", "image/webp", "image/gif"],
    Source::new(
        "docs.cohere.com, \"Using Cohere's Models to Work with Image Inputs\"",
        "2026",
    ),
);
const IMAGE_BYTES: Rule = Rule::limit(
    "cohere.images_max_bytes",
    20 << 20,
    Source::new(
        "docs.cohere.com, \"Using Cohere's Models to Work with Image Inputs\"",
        "2026",
    ),
);

const IMAGES: Accepts = Accepts {
    size: Some(&IMAGE_BYTES),
    schemes: media::WEB,
    ..Accepts::types(&IMAGE_TYPES)
};

pub(crate) const PROFILE: Profile = Profile {
    name: "Cohere",
    title: "Cohere, `strict_tools`",
    rules: &[&REQUIRED, &FIELDS, &IMAGE_TYPES, &IMAGE_BYTES],
    tool_limits: &[(Count::Properties, &FIELDS), (Count::Required, &REQUIRED)],
    request_limits: &[(Count::Properties, &FIELDS)],
    ..Profile::EMPTY
};

#[cfg(feature = "docs")]
pub(crate) const DIALECTS: &[(&str, &dyn Dialect)] = &[("Cohere", &Cohere {})];

/// Cohere's chat (`/v2/chat`).
///
/// Strictness is a property of the request (`strict_tools`), not of its tools. With the feature
/// `cohere`, a tool that a strict request rejects is a compile error.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::{Cohere, Dialect};
///
/// let response = json!({"id": "c14c", "finish_reason": "TOOL_CALL", "message": {
///     "role": "assistant",
///     "tool_plan": "I will look.",
///     "tool_calls": [{"id": "list_alarms_x7", "type": "function",
///                     "function": {"name": "list_alarms", "arguments": "{}"}}],
/// }});
/// let calls = Cohere::default().calls(&response)?;
/// assert_eq!(calls[0].name, "list_alarms");
/// assert_eq!(Cohere::default().turn(&response), [response["message"].clone()]);
/// # Ok::<(), tool_core::dialect::ResponseError>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Cohere {}

const FORMAT: ResponseFormat = ResponseFormat {
    response: "a response of Cohere",
    call: "a call in `message.tool_calls`",
    // The SDK's `ChatFinishReason`.
    truncated: &["MAX_TOKENS", "TIMEOUT", "ERROR"],
    ..chat::FORMAT
};

impl Dialect for Cohere {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        chat::write_tools(tools, hosted, out, chat::parameters);
    }

    /// A choice is `REQUIRED` or `NONE`, and structured output can't be combined with tools (Cohere's
    /// Python SDK, `V2ChatRequestToolChoice` and `JsonObjectResponseFormatV2`).
    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        let with_answer;
        let parts = match parts.answer() {
            Some(_) if !parts.is_empty() => {
                let reason = "can't combine structured output with tools";
                with_answer = parts.with_answer_tool(reason, out);
                &with_answer
            }
            Some(format) => {
                out.field(&["response_format"], |json| {
                    json.object(|json| {
                        json.word("type").string("json_object");
                        json.word("json_schema").raw(&format.schema().to_json());
                    });
                });
                parts
            }
            None => parts,
        };
        let parts = match parts.choice() {
            Some(Choice::Tool(tool)) => parts.with_only(tool, out),
            _ => parts.filtered(out),
        };
        out.tools(&["tools"], &parts, |json| {
            self.write_tools(parts.tools(), parts.hosted(), json);
        });
        if parts.is_empty() {
            return out.ignores_without_tools(&parts);
        }
        let choice = match parts.choice() {
            Some(Choice::Required) => Some("REQUIRED"),
            Some(Choice::None) => Some("NONE"),
            _ => None,
        };
        if let Some(choice) = choice {
            out.field(&["tool_choice"], |json| {
                json.string(choice);
            });
        }
        out.ignores_parallel(&parts);
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        const RULES: NameRules = NameRules::COMMON;
        RULES.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "Cohere"
    }

    #[cfg(feature = "http")]
    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&http_api::COHERE)
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        match &response["message"] {
            Value::Object(_) => chat::calls_of(&FORMAT, response),
            Value::String(_) => Err(FORMAT.provider_error(response)),
            _ => {
                FORMAT.check_error(response)?;
                Err(FORMAT.error("`message` is missing"))
            }
        }
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        stream::reader(stream::cohere::Chat::new(&FORMAT))
    }

    fn turn(&self, response: &Value) -> Vec<Value> {
        match &response["message"] {
            message @ Value::Object(_) => vec![message.clone()],
            _ => Vec::new(),
        }
    }

    fn text(&self, response: &Value) -> String {
        content_text(&response["message"]["content"])
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        chat::results(results, part)
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, |result| chat::written(result, part))
    }

    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        broken(Target::Cohere, tools)
    }
}

/// Writes a part for the user's message after the results.
fn part(content: &Content) -> Result<Value, Unwritable> {
    match content {
        Content::Image(Image(media)) => {
            IMAGES.check(media)?;
            Ok(media::chat_image(media))
        }
        _ => Err(media::no_form("Cohere")),
    }
}
