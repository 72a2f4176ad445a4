//! Checks the body of a request as the servers of providers do, for tests: what [`check`] rejects, some server of the
//! format answers with a status of 400 or 500, for this request and for every later one with the same history.
//!
//! It is an independent judge of the dialects: it uses nothing of `tool-core`. Each rule names its source and its date.
//! A rule that no source has is not here, so a request that passes may still be rejected.
//!
//! ```
//! use serde_json::json;
//! use strict::{Format, Server, check};
//!
//! let arguments = "{\"city\":\"Os";
//! let request = json!({"model": "any", "messages": [
//!     {"role": "user", "content": "How warm is it in Oslo?"},
//!     {"role": "assistant", "content": null, "tool_calls": [
//!         {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": arguments}},
//!     ]},
//!     {"role": "tool", "tool_call_id": "call_1", "content": "the arguments are cut off"},
//! ]});
//! let error = check(Format::Chat(Server::Vllm), &request).unwrap_err();
//! assert_eq!(error, "messages[1].tool_calls[0]: the arguments are no JSON object: {\"city\":\"Os");
//! ```

mod anthropic;
mod bedrock;
mod chat;
mod fields;
mod gemini;
mod responses;
mod shared;

use serde_json::{Value, json};

pub use fields::check_fields;

/// The format of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Chat completions of OpenAI, and of the servers that imitate them.
    Chat(Server),
    /// The Responses API of OpenAI.
    Responses,
    /// The Messages API of Anthropic.
    Anthropic,
    /// `generateContent` of Gemini.
    Gemini,
    /// The Interactions API of Gemini.
    Interactions,
    /// The Converse API of Bedrock.
    Bedrock,
    /// The Chat API of Cohere, version 2.
    Cohere,
    /// Chat completions of Mistral.
    Mistral,
    /// Chat completions of xAI.
    XAi,
}

/// A server of chat completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// OpenAI.
    OpenAi,
    /// `llama-server` of llama.cpp.
    LlamaCpp,
    /// The server of llama-cpp-python.
    LlamaCppPython,
    /// vLLM, and `SGLang`, which reads a history alike.
    Vllm,
    /// Groq.
    Groq,
    /// Cerebras.
    Cerebras,
    /// `DeepSeek` in its thinking mode, in which every response has a `reasoning_content`.
    DeepSeek,
}

impl Server {
    /// All servers.
    pub const ALL: [Server; 7] = [
        Server::OpenAi,
        Server::LlamaCpp,
        Server::LlamaCppPython,
        Server::Vllm,
        Server::Groq,
        Server::Cerebras,
        Server::DeepSeek,
    ];
}

impl Format {
    /// Returns all formats, that of chat completions with each of its servers.
    pub fn all() -> impl Iterator<Item = Format> {
        let others = [
            Format::Responses,
            Format::Anthropic,
            Format::Gemini,
            Format::Interactions,
            Format::Bedrock,
            Format::Cohere,
            Format::Mistral,
            Format::XAi,
        ];
        Server::ALL.into_iter().map(Format::Chat).chain(others)
    }

    /// Returns the formats of a dialect of `tool-core` by its name: several for `openai-chat`, none for an unknown name.
    ///
    /// ```
    /// use strict::{Format, Server};
    ///
    /// assert!(Format::of("openai-chat").any(|format| format == Format::Chat(Server::Groq)));
    /// assert_eq!(Format::of("bedrock").collect::<Vec<_>>(), [Format::Bedrock]);
    /// ```
    pub fn of(dialect: &str) -> impl Iterator<Item = Format> {
        Format::all().filter(move |format| format.dialect() == dialect)
    }

    /// Returns the name of the dialect in `tool-core`.
    pub fn dialect(self) -> &'static str {
        match self {
            Format::Chat(_) => "openai-chat",
            Format::Responses => "openai-responses",
            Format::Anthropic => "anthropic",
            Format::Gemini => "gemini",
            Format::Interactions => "gemini-interactions",
            Format::Bedrock => "bedrock",
            Format::Cohere => "cohere",
            Format::Mistral => "mistral",
            Format::XAi => "xai",
        }
    }

    /// Returns the key of the conversation in a request.
    pub fn history(self) -> &'static str {
        match self {
            Format::Responses | Format::Interactions => "input",
            Format::Gemini => "contents",
            _ => "messages",
        }
    }

    /// Returns a request with this conversation and tools with these names, without parameters.
    ///
    /// ```
    /// use serde_json::json;
    /// use strict::{Format, check};
    ///
    /// let messages = vec![json!({"role": "user", "content": [{"text": "Hello!"}]})];
    /// let request = Format::Bedrock.request(messages, &["ping"]);
    /// assert_eq!(request["toolConfig"]["tools"][0]["toolSpec"]["name"], "ping");
    /// check(Format::Bedrock, &request).unwrap();
    /// ```
    pub fn request(self, history: Vec<Value>, tools: &[&str]) -> Value {
        let mut request = json!({ self.history(): history });
        if tools.is_empty() {
            return request;
        }
        let schema = || json!({"type": "object", "properties": {}});
        let entries: Vec<_> = tools
            .iter()
            .map(|name| match self {
                Format::Chat(_) | Format::Cohere | Format::Mistral | Format::XAi => {
                    json!({"type": "function", "function": {"name": name, "parameters": schema()}})
                }
                Format::Responses | Format::Interactions => {
                    json!({"type": "function", "name": name, "parameters": schema()})
                }
                Format::Anthropic => json!({"name": name, "input_schema": schema()}),
                Format::Gemini => json!({ "name": name }),
                Format::Bedrock => {
                    json!({"toolSpec": {"name": name, "inputSchema": {"json": schema()}}})
                }
            })
            .collect();
        match self {
            Format::Gemini => request["tools"] = json!([{ "functionDeclarations": entries }]),
            Format::Bedrock => request["toolConfig"] = json!({ "tools": entries }),
            _ => request["tools"] = entries.into(),
        }
        request
    }
}

/// Checks the body of a request.
///
/// # Errors
///
/// Returns the first fault with its place, in words of this library: servers word them differently.
pub fn check(format: Format, request: &Value) -> Result<(), String> {
    let key = format.history();
    let history = match &request[key] {
        // A text alone is a message of the user in the two APIs whose key is `input`.
        Value::String(text) if key == "input" && !text.is_empty() => &[][..],
        Value::Array(history) if !history.is_empty() => history,
        _ => return Err(format!("{key}: there are no messages")),
    };
    shared::tools(format, request)?;
    match format {
        Format::Chat(server) => chat::check(chat::Rules::of_server(server), history),
        Format::Cohere => chat::check(chat::Rules::COHERE, history),
        Format::Mistral => chat::check(chat::Rules::MISTRAL, history),
        Format::XAi => chat::check(chat::Rules::XAI, history),
        Format::Responses => responses::check(request, history),
        Format::Anthropic => anthropic::check(request, history),
        Format::Gemini => gemini::check(history),
        Format::Interactions => gemini::check_interactions(request, history),
        Format::Bedrock => bedrock::check(request, history),
    }
}
