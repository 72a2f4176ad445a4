//! Tells in an error what a response is that a dialect can't read: another provider's, or an object with other keys.

use serde_json::Value;
use tool_core::dialect::write::{name, shorten};

/// How to tell a form of responses and of the events of their streams.
struct Form {
    /// How the name of the form starts in errors.
    response: &'static str,
    api: &'static str,
    /// The advice, in words.
    advice: &'static str,
    is: fn(&Value) -> bool,
}

const FORMS: [Form; 9] = [
    Form {
        response: "a chat completion",
        api: "OpenAI's Chat Completions API",
        advice: "the dialect `OpenAiChat` reads it",
        is: |value| value["choices"].is_array(),
    },
    Form {
        response: "a response of OpenAI",
        api: "OpenAI's Responses API",
        advice: "the dialect `OpenAiResponses` reads it",
        is: |value| {
            let kind = value["type"].as_str().unwrap_or_default();
            value["output"].is_array() || kind.starts_with("response.")
        },
    },
    Form {
        response: "a message of Anthropic",
        api: "Anthropic's Messages API",
        advice: "the dialect `Anthropic` reads it",
        is: |value| {
            let has_content = value["content"].is_array();
            let is_message = value["type"] == "message" || value["stop_reason"].is_string();
            (has_content && is_message) || value["type"] == "message_start"
        },
    },
    Form {
        response: "a response of Gemini",
        api: "the Gemini API",
        advice: "the dialect `Gemini` reads it",
        is: |value| value["candidates"].is_array() || value["promptFeedback"].is_object(),
    },
    Form {
        response: "an interaction of Gemini",
        api: "the Interactions API of Gemini",
        advice: "the dialect `GeminiInteractions` reads it",
        is: |value| {
            let kind = value["event_type"].as_str().unwrap_or_default();
            let is_event = kind.starts_with("interaction.") || kind.starts_with("step.");
            value["object"] == "interaction" || value["steps"].is_array() || is_event
        },
    },
    Form {
        response: "a response of Converse",
        api: "Amazon Bedrock's Converse",
        advice: "the dialect `Bedrock` reads it",
        is: |value| value["output"]["message"].is_object() || value["messageStart"].is_object(),
    },
    Form {
        response: "a response of Cohere",
        api: "Cohere's Chat API",
        advice: "the dialect `Cohere` reads it",
        is: |value| {
            let has_message = value["message"].is_object();
            (has_message && value["finish_reason"].is_string()) || value["type"] == "message-start"
        },
    },
    Form {
        response: "a response of Ollama",
        api: "Ollama's own API",
        advice: "its API for `OpenAiChat` is at the path `/v1`",
        is: |value| value["message"].is_object() && value["done"].is_boolean(),
    },
    Form {
        response: "a JSON-RPC request",
        api: "JSON-RPC, such as MCP's",
        advice: "the dialect `Mcp` reads its requests",
        is: |value| value["jsonrpc"].is_string(),
    },
];

/// Returns what a response or an event looks like, if that is another form than the expected one, such as "a response of
/// OpenAI".
pub(crate) fn other(expected: &str, value: &Value) -> Option<String> {
    let form = FORMS.iter().find(|form| (form.is)(value))?;
    let is_other = !expected.starts_with(form.response);
    is_other.then(|| format!("it looks like a response of {}: {}", form.api, form.advice))
}

/// Returns what a response without an expected key is, to follow "; ".
pub(crate) fn found(expected: &str, value: &Value) -> String {
    const SHOWN: usize = 5;
    if let Some(other) = other(expected, value) {
        return other;
    }
    let found = match value {
        Value::Object(members) if members.is_empty() => "it is an empty object".into(),
        Value::Object(members) => {
            let listed = members.keys().take(SHOWN);
            let listed: Vec<_> = listed.map(|key| format!("`{}`", name(key))).collect();
            let others = match members.len() {
                0..=SHOWN => "",
                _ => " and others",
            };
            format!("it has {}{others}", listed.join(", "))
        }
        _ => format!("it is {}", shorten(&value.to_string())),
    };
    format!("{found}; check that the dialect is the server's")
}
