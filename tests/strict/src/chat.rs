//! Chat completions.

use serde_json::Value;

use crate::shared::{Calls, Checked, arguments_text, id, items, name, text};
use crate::{Format, Server};

/// What differs between servers.
pub(crate) struct Rules {
    /// The format, for names.
    format: Format,
    /// The longest id of a call.
    max_id: usize,
    /// The only length of an id, which then has letters and digits alone.
    exact_id: Option<usize>,
    /// Keys of an assistant's message that the server rejects.
    unsupported: &'static [&'static str],
    /// Set if an assistant's message with calls needs a `content` that is a string.
    content_is_text: bool,
    /// Set if an assistant's message with calls needs some `content`, which may be empty.
    content_is_present: bool,
    /// Set if an assistant's message without calls needs a `content` that is not empty.
    content_is_not_empty: bool,
    /// Set if an assistant's message with calls needs its reasoning.
    reasons: bool,
    /// Set if a message of the user must not follow one of a tool.
    tool_before_assistant: bool,
}

impl Rules {
    const fn new(format: Format) -> Rules {
        Rules {
            format,
            max_id: usize::MAX,
            exact_id: None,
            unsupported: &[],
            content_is_text: false,
            content_is_present: false,
            content_is_not_empty: false,
            reasons: false,
            tool_before_assistant: false,
        }
    }

    pub(crate) const fn of_server(server: Server) -> Rules {
        let rules = Rules::new(Format::Chat(server));
        match server {
            // vercel/ai#8132 (2025-08-18), anomalyco/opencode#12653 (2026-02-08): "Expected a string with maximum length 40"
            Server::OpenAi => Rules {
                max_id: 40,
                ..rules
            },
            Server::LlamaCpp | Server::Vllm => rules,
            // llama-cpp-python 0.3.36, tried with `chatml-function-calling` (2026-11): a `content` of null, and none, are
            // answered with a status of 500; an empty one is accepted.
            Server::LlamaCppPython => Rules {
                content_is_text: true,
                ..rules
            },
            // karthink/gptel#774 (2025-04-10): "property 'reasoning' is unsupported"; tashfeenahmed/freellmapi#1070
            // (2026-08-30): the same for `reasoning_content`, and for every key that no request has
            Server::Groq => Rules {
                unsupported: &[
                    "reasoning",
                    "reasoning_content",
                    "reasoning_details",
                    "channel",
                    "executed_tools",
                ],
                ..rules
            },
            // vercel/ai#15042 (2026-05-05), proxysoul/Empryo#209 (2026-09-19): `reasoning_content` is unsupported, as is every
            // key that no request has; `reasoning` is accepted
            Server::Cerebras => Rules {
                unsupported: &[
                    "reasoning_content",
                    "reasoning_details",
                    "channel",
                    "executed_tools",
                ],
                ..rules
            },
            // api-docs.deepseek.com, "Thinking Mode"; continuedev/continue#10193 (2026-02-04),
            // NousResearch/hermes-agent#15353 (2026-04-24): "Missing `reasoning_content` field in the assistant message"
            Server::DeepSeek => Rules {
                reasons: true,
                ..rules
            },
        }
    }

    pub(crate) const COHERE: Rules = Rules {
        // langchain-ai/langchain-cohere#15 (2024-04-11): "all elements in history must have a message"
        content_is_not_empty: true,
        ..Rules::new(Format::Cohere)
    };

    pub(crate) const MISTRAL: Rules = Rules {
        // anomalyco/opencode#1680 (2025-08-07), nearai/ironclaw#1241 (2026-03-16), code 3280: "must be a-z, A-Z, 0-9, with a
        // length of 9"
        exact_id: Some(9),
        // OpenHands/OpenHands#8685 (2025-05-24): "must have either content or tool_calls, but not none"
        content_is_not_empty: true,
        // avante-corp/avante.nvim#2695, code 3230 (2025-12): "Unexpected role 'user' after role 'tool'"
        tool_before_assistant: true,
        ..Rules::new(Format::Mistral)
    };

    pub(crate) const XAI: Rules = Rules {
        // langchain-ai/langchain#34140 (2025-11-28), AstrBotDevs/AstrBot#6447 (2026-03-16): "Each message must have at least one
        // content element" for null, for an empty list and without the key; an empty text is accepted with calls
        content_is_present: true,
        // langbot-app/LangBot#1205 (2025-03-18): "Every message needs at least one non-empty content element"
        content_is_not_empty: true,
        ..Rules::new(Format::XAi)
    };
}

/// `true` if a content has nothing in it.
fn is_empty(content: &Value) -> bool {
    match content {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(parts) => parts.is_empty(),
        _ => false,
    }
}

/// Checks what every server checks in a content: that it is a text or a list of parts.
fn content(message: &Value, place: &str) -> Checked {
    match &message["content"] {
        Value::Null | Value::String(_) => Ok(()),
        Value::Array(parts) => match parts.iter().find(|part| !part["type"].is_string()) {
            // ggml-org/llama.cpp, common/chat.cpp: "Missing content part type" (2026-11)
            Some(part) => Err(format!("{place}.content: a part has no type: {part}")),
            None => Ok(()),
        },
        // openai/openai-openapi@f85dbe2, ChatCompletionRequestToolMessage and others (2026-08-21)
        other => Err(format!(
            "{place}.content: it is no text and no list: {other}"
        )),
    }
}

pub(crate) fn check(rules: Rules, history: &[Value]) -> Checked {
    let mut calls = Calls::default();
    let mut last_role = "";
    for (at, message) in history.iter().enumerate() {
        let place = format!("messages[{at}]");
        let role = text(message, "role", &place)?;
        content(message, &place)?;
        if role == "tool" {
            // openai/openai-openapi@f85dbe2, ChatCompletionRequestToolMessage: `content` and `tool_call_id` are required
            // (2026-08-21)
            if message["content"].is_null() {
                return Err(format!("{place}: a result has no content"));
            }
            calls.result(text(message, "tool_call_id", &place)?, &place)?;
        } else {
            // OpenAI, Cohere (oracle/langchain-oracle#10, 2025-08-01), DeepSeek: "An assistant message with 'tool_calls' must be
            // followed by tool messages responding to each 'tool_call_id'"; Mistral, code 3230: "Not the same number of
            // function calls and responses" (mistralai/client-ts#106, 2025)
            calls.end(&place)?;
            calls.forget();
            match role {
                "assistant" => assistant(&rules, message, &mut calls, &place)?,
                "user" | "system" | "developer" => {
                    // ggml-org/llama.cpp, common/chat.cpp: all messages but the assistant's have a `content` (2026-11)
                    if is_empty(&message["content"]) {
                        return Err(format!("{place}: the message is empty"));
                    }
                    if rules.tool_before_assistant && last_role == "tool" {
                        return Err(format!("{place}: the role {role} follows a result"));
                    }
                }
                other => return Err(format!("{place}: there is no role {other:?}")),
            }
        }
        last_role = role;
    }
    calls.end("the end of the messages")
}

fn assistant<'a>(rules: &Rules, message: &'a Value, calls: &mut Calls<'a>, place: &str) -> Checked {
    if let Some(key) = rules
        .unsupported
        .iter()
        .find(|key| !message[**key].is_null())
    {
        return Err(format!("{place}: the property `{key}` is unsupported"));
    }
    let said = &message["content"];
    if message.get("tool_calls").is_none_or(Value::is_null) {
        // The older form, which a message of the role `function` answers, has no ids. Nothing here writes it.
        if !message["function_call"].is_null() {
            return Err(format!("{place}: `function_call` has no result"));
        }
        // OpenAI: "Invalid value for 'content': expected a string, got null"; ggml-org/llama.cpp, common/chat.cpp: "Assistant
        // message must contain either 'content' or 'tool_calls'" (2026-11)
        // A refusal stands for the content: openai/openai-openapi@f85dbe2, ChatCompletionRequestAssistantMessage (2026-08-21)
        if said.is_null() && message["refusal"].is_string() && !rules.content_is_not_empty {
            return Ok(());
        }
        if said.is_null() || rules.content_is_not_empty && is_empty(said) {
            return Err(format!(
                "{place}: the message has neither a content nor calls"
            ));
        }
        return Ok(());
    }
    // openai/openai-node#1341 (2025-02-20), NousResearch/hermes-agent#72619 (2026-07-27): "empty array. Expected an array with
    // minimum length 1"
    if message["tool_calls"].as_array().is_none_or(Vec::is_empty) {
        return Err(format!(
            "{place}: `tool_calls` is no list with calls: {}",
            message["tool_calls"]
        ));
    }
    if rules.content_is_text && !said.is_string() {
        return Err(format!("{place}: `content` is no string: {said}"));
    }
    if rules.content_is_present && (said.is_null() || said.as_array().is_some_and(Vec::is_empty)) {
        return Err(format!("{place}: the message has no content element"));
    }
    if rules.reasons && !message["reasoning_content"].is_string() {
        return Err(format!("{place}: `reasoning_content` is missing"));
    }
    for (place, call) in items(message, "tool_calls", place) {
        let call_id = text(call, "id", &place)?;
        match rules.exact_id {
            Some(length) if call_id.len() != length => {
                return Err(format!(
                    "{place}: the id has not {length} characters: {call_id:?}"
                ));
            }
            Some(length) => id(call_id, length, &place, |byte| byte.is_ascii_alphanumeric())?,
            // Other characters are known: maximhq/bifrost#5097 (2026-07-10) has `functions.Bash:0` of Kimi.
            None => id(call_id, rules.max_id, &place, |_| true)?,
        }
        // openai/openai-openapi@f85dbe2, ChatCompletionMessageToolCalls: the two types and what each requires (2026-08-21)
        let called = match text(call, "type", &place)? {
            "function" => {
                let called = text(&call["function"], "name", &place)?;
                name(rules.format, called, &place)?;
                arguments_text(&call["function"]["arguments"], &place)?;
                called
            }
            "custom" => {
                let called = text(&call["custom"], "name", &place)?;
                name(rules.format, called, &place)?;
                text(&call["custom"], "input", &place)?;
                called
            }
            other => return Err(format!("{place}: there is no type {other:?}")),
        };
        calls.call(call_id, called, &place)?;
    }
    Ok(())
}
