//! xAI's chat completions.

use serde_json::Value;

use crate::call::{ToolCall, ToolResult};
use crate::content::{Content, Image};
use crate::provider::chat::{self, ChatRequest};
use crate::provider::dialect::{Dialect, JsonWriter, NameRules, RequestParts, RequestWriter};
use crate::provider::hosted_tool::{self, HostedTool};
#[cfg(feature = "http")]
use crate::provider::http_api::{self, HttpApi};
use crate::provider::media::{self, Accepts, OmittedPart, Unwritable};
use crate::provider::profile::{Construct, Profile};
use crate::provider::reshape;
use crate::provider::response::{ResponseError, ResponseFormat};
use crate::provider::rules::{BrokenRule, Rule, Source, Target, broken};
use crate::provider::stream::{self, StreamReader};
use crate::provider::subset::{Subset, is_anchored, is_simple};
use crate::tool::ToolEntry;

const GUIDE: Source = Source::new("docs.x.ai, \"Structured Outputs\"", "2026");
const SUPPORTED: Rule = Rule::list(
    "xai.supported",
    &[
        "string", "number", "integer", "boolean", "null", "enum", "const", "array", "object",
        "anyOf", "$ref", "$defs",
    ],
    GUIDE,
);

pub(crate) const REJECTED: Rule = Rule::list(
    "xai.rejected",
    &["minContains", "maxContains", "items as an array"],
    GUIDE,
);

const FORMATS: Rule = Rule::list(
    "xai.formats",
    &[
        "date",
        "time",
        "date-time",
        "email",
        "uuid",
        "ipv4",
        "ipv6",
        "uri",
    ],
    GUIDE,
);

const KEYWORDS: Rule = Rule::list(
    "xai.keywords",
    &[
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
        "pattern",
        "format",
        "const",
        "prefixItems",
        "additionalProperties",
    ],
    GUIDE,
);

const IMAGE_TYPES: Rule = Rule::list(
    "xai.image_types",
    &["image/jpeg", "image/png"],
    Source::new("docs.x.ai, \"Image Understanding\"", "2026"),
);
const IMAGE_BYTES: Rule = Rule::limit(
    "xai.image_max_bytes",
    20 << 20,
    Source::new("docs.x.ai, \"Image Understanding\"", "2026"),
);

const IMAGES: Accepts = Accepts {
    size: Some(&IMAGE_BYTES),
    schemes: media::WEB,
    ..Accepts::types(&IMAGE_TYPES)
};

pub(crate) const PROFILE: Profile = Profile {
    name: "xAI",
    title: "xAI",
    rules: &[
        &SUPPORTED,
        &REJECTED,
        &FORMATS,
        &KEYWORDS,
        &IMAGE_TYPES,
        &IMAGE_BYTES,
    ],
    rejected: &[(Construct::Recursion, &SUPPORTED)],
    ..Profile::EMPTY
};

pub(crate) const SUBSET: Subset = Subset {
    keywords: &[&KEYWORDS],
    formats: Some(&FORMATS),
    pattern: |pattern| is_simple(pattern) && is_anchored(pattern),
    ..Subset::BASE
};

#[cfg(feature = "docs")]
pub(crate) const DIALECTS: &[(&str, &dyn Dialect)] = &[("xAI", &XAi {})];

/// xAI's chat completions (`/v1/chat/completions`).
///
/// Every tool is strict, in any case. Constraints that xAI does not enforce go into the description.
/// An object with arbitrary keys says so, as objects are closed by default.
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

const FORMAT: ResponseFormat = ResponseFormat {
    response: "a chat completion of xAI",
    ..chat::FORMAT
};

impl Dialect for XAi {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        chat::write_tools(tools, hosted, out, |tool, out| {
            out.word("parameters");
            reshape::write_tool(tool, &SUBSET, out);
        });
    }

    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        const FORM: ChatRequest = ChatRequest {
            required: "required",
            has_allowed_tools: false,
            has_custom_tools: false,
        };
        chat::write_request(self, &FORM, parts, out);
        match parts
            .answer()
            .map(|format| format.reduced(Target::XAi, &SUBSET))
        {
            Some(Ok(schema)) => chat::write_answer(&schema, true, out),
            Some(Err(problem)) => out.rejects_answer(&problem),
            None => {}
        }
    }

    /// xAI has none here. Its tools are for its Responses API, which
    /// [`OpenAiResponses`](crate::dialect::OpenAiResponses) supports, and live search was removed (xAI's
    /// guide to its tools; vercel/ai#15718).
    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::is_of_type(tool, |_| false)
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        const RULES: NameRules = NameRules::COMMON;
        RULES.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "chat completions of xAI"
    }

    #[cfg(feature = "http")]
    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&http_api::XAI)
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        chat::calls(&FORMAT, response)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        let calls = |response: &Value| chat::calls(&FORMAT, response);
        stream::reader(stream::chat::Chunks::new(&FORMAT, calls))
    }

    fn turn(&self, response: &Value) -> Vec<Value> {
        chat::turn(response)
    }

    fn text(&self, response: &Value) -> String {
        chat::text(response)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        chat::results(results, part)
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, |result| chat::written(result, part))
    }

    fn broken_rules(&self, tools: &[ToolEntry], _: &[HostedTool]) -> Vec<BrokenRule> {
        broken(Target::XAi, tools)
    }
}

/// Writes a part for the user's message after the results.
fn part(content: &Content) -> Result<Value, Unwritable> {
    match content {
        Content::Image(Image(media)) => {
            IMAGES.check(media)?;
            Ok(media::chat_image(media))
        }
        _ => Err(media::no_form("xAI")),
    }
}
