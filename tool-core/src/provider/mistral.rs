//! Mistral's chat completions.

use serde_json::{Value, json};

use crate::call::{ToolCall, ToolResult};
use crate::content::{Audio, Content, Image};
use crate::provider::chat::{self, ChatRequest};
use crate::provider::dialect::{Dialect, JsonWriter, NameRules, RequestParts, RequestWriter};
use crate::provider::hosted_tool::{self, HostedTool};
#[cfg(feature = "http")]
use crate::provider::http_api::{self, HttpApi};
use crate::provider::media::{self, Accepts, OmittedPart, Unwritable};
use crate::provider::profile::Profile;
use crate::provider::response::{ResponseError, ResponseFormat};
use crate::provider::rules::{Rule, Source};
use crate::provider::stream::{self, StreamReader};
use crate::tool::ToolEntry;

const IMAGE_TYPES: Rule = Rule::list(
    "mistral.image_types",
    &["image/png", "image/jpeg", "image/webp", "image/gif"],
    Source::new("docs.mistral.ai, \"Vision\"", "2026"),
);
const IMAGE_BYTES: Rule = Rule::limit(
    "mistral.image_max_bytes",
    10 << 20,
    Source::new("docs.mistral.ai, \"Vision\"", "2026"),
);

const IMAGES: Accepts = Accepts {
    size: Some(&IMAGE_BYTES),
    schemes: media::WEB,
    ..Accepts::types(&IMAGE_TYPES)
};

const AUDIO_TYPES: Rule = Rule::list(
    "mistral.audio_types",
    &["audio/mpeg", "audio/wav"],
    Source::new("docs.mistral.ai, \"Audio\"", "2026"),
);
const DOCUMENT_TYPES: Rule = Rule::list(
    "mistral.document_types",
    &["application/pdf"],
    Source::new("mistralai 3.7.0 (Python), `DocumentURLChunk`", "2026-11"),
);
const ORDER: Rule = Rule::new(
    "mistral.message_order",
    Source::new(
        "datapizza-labs/datapizza-ai#98, avante-corp/avante.nvim#2695 (code 3230)",
        "2025-12-04",
    ),
);

const AUDIO: Accepts = Accepts::types(&AUDIO_TYPES);
const DOCUMENTS: Accepts = Accepts {
    schemes: media::WEB,
    ..Accepts::types(&DOCUMENT_TYPES)
};

pub(crate) const PROFILE: Profile = Profile {
    name: "Mistral",
    title: "Mistral",
    rules: &[
        &IMAGE_TYPES,
        &IMAGE_BYTES,
        &AUDIO_TYPES,
        &DOCUMENT_TYPES,
        &ORDER,
    ],
    ..Profile::EMPTY
};

#[cfg(feature = "docs")]
pub(crate) const DIALECTS: &[(&str, &dyn Dialect)] = &[("Mistral", &Mistral {})];

/// Mistral's chat completions (`/v1/chat/completions`).
///
/// The id of a call is repeated unchanged: the API requires nine letters or digits, which its own
/// ids are.
///
/// If hosted tools ran, a choice has several messages, with the calls of those tools and their
/// results (Mistral's guide, "Using Connectors in Chat Completions"). All of them are part of the
/// turn. Only calls without a result are returned.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::{Dialect, Mistral};
///
/// let refused = json!({"object": "error", "message": "Invalid model", "code": "1500"});
/// let error = Mistral::default().calls(&refused).unwrap_err();
/// assert!(error.to_string().ends_with("the provider answered with the error 1500: Invalid model"));
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Mistral {}

/// Connectors and built-in tools (Mistral's Python SDK, `ChatCompletionRequest.tools`).
const HOSTED: [&str; 6] = [
    "code_interpreter",
    "connector",
    "document_library",
    "image_generation",
    "web_search",
    "web_search_premium",
];

const FORMAT: ResponseFormat = ResponseFormat {
    response: "a chat completion of Mistral",
    // Optional in the SDK's `ToolCall`.
    id_is_optional: true,
    truncated: &["length", "model_length", "error"],
    ..chat::FORMAT
};

impl Dialect for Mistral {
    fn write_tools(&self, tools: &[ToolEntry], hosted: &[HostedTool], out: &mut JsonWriter) {
        chat::write_tools(tools, hosted, out, |tool, out| {
            chat::parameters(tool, out);
            if tool.strict() == Some(true) {
                out.word("strict").boolean(true);
            }
        });
    }

    fn write_request(&self, parts: &RequestParts<'_>, out: &mut RequestWriter) {
        const FORM: ChatRequest = ChatRequest {
            required: "any",
            has_allowed_tools: false,
            has_custom_tools: false,
        };
        chat::write_request(self, &FORM, parts, out);
        if let Some(format) = parts.answer() {
            chat::write_answer(&format.schema().to_json(), true, out);
        }
    }

    fn hosts(&self, tool: &HostedTool) -> bool {
        hosted_tool::is_of_type(tool, |name| HOSTED.contains(&name))
    }

    fn problem(&self, tool: &ToolEntry) -> Option<String> {
        const RULES: NameRules = NameRules::COMMON;
        RULES.problem(tool)
    }

    fn provider(&self) -> &'static str {
        "Mistral"
    }

    #[cfg(feature = "http")]
    fn http_api(&self) -> Option<&'static HttpApi> {
        Some(&http_api::MISTRAL)
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        if response["object"] == "error" {
            return Err(FORMAT.provider_error(response));
        }
        let choice = &response["choices"][0];
        if choice["message"].is_object() {
            return chat::calls(&FORMAT, response);
        }
        let Value::Array(messages) = &choice["messages"] else {
            return chat::calls(&FORMAT, response);
        };
        let answered = |call: &ToolCall| {
            let mut messages = messages.iter();
            messages.any(|message| message["tool_call_id"] == *call.id)
        };
        let mut pending = Vec::new();
        for (at, message) in messages.iter().enumerate() {
            let mut holder = json!({ "message": message });
            if at + 1 == messages.len() {
                holder["finish_reason"] = choice["finish_reason"].clone();
            }
            let calls = chat::calls_of(&FORMAT, &holder)?.into_iter();
            pending.extend(calls.filter(|call| !answered(call)));
        }
        Ok(pending)
    }

    fn stream(&self) -> Box<dyn StreamReader> {
        let calls = |response: &Value| Mistral {}.calls(response);
        let chunks = stream::chat::Chunks::new(&FORMAT, calls);
        stream::reader(chunks.with_hosted_calls())
    }

    fn turn(&self, response: &Value) -> Vec<Value> {
        match &response["choices"][0]["messages"] {
            Value::Array(messages) => messages.clone(),
            _ => chat::turn(response),
        }
    }

    fn text(&self, response: &Value) -> String {
        chat::text(response)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        let mut messages = chat::results(results, part);
        // A message of the user must not follow one of a tool (rule `mistral.message_order`).
        if messages.len() > results.len() {
            let reply = json!({ "role": "assistant", "content": "OK." });
            messages.insert(results.len(), reply);
        }
        messages
    }

    fn omitted(&self, results: &[ToolResult]) -> Vec<OmittedPart> {
        media::omitted(results, |result| chat::written(result, part))
    }
}

/// Writes a part for the user's message after the results.
fn part(content: &Content) -> Result<Value, Unwritable> {
    match content {
        Content::Image(Image(media)) => {
            IMAGES.check(media)?;
            Ok(media::chat_image(media))
        }
        Content::Audio(Audio(media)) => {
            AUDIO.check(media)?;
            Ok(json!({ "type": "input_audio", "input_audio": media.base64() }))
        }
        // Only documents at a URL.
        Content::File(file) if file.as_url().is_some() => {
            DOCUMENTS.check(&file.media)?;
            Ok(json!({
                "type": "document_url",
                "document_url": file.as_url(),
                "document_name": file.name(),
            }))
        }
        _ => Err(media::no_form("Mistral")),
    }
}
