//! What the recipes share: a server that answers from a script, for their tests.

#![doc = include_str!("../COMING-FROM.md")]

#[cfg(test)]
mod others;
#[path = "../../src/provider.rs"]
mod provider;

pub use provider::{Asked, Scripted};

use serde_json::{Value, json};

/// Creates the response of OpenAI's chat completions with one call.
pub fn chat_call(name: &str, arguments: &Value) -> Value {
    let function = json!({"name": name, "arguments": arguments.to_string()});
    chat(&json!({
        "role": "assistant",
        "content": null,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }))
}

/// Creates the response of OpenAI's chat completions with a text.
pub fn chat_text(text: &str) -> Value {
    chat(&json!({"role": "assistant", "content": text}))
}

fn chat(message: &Value) -> Value {
    let reason = if message["tool_calls"].is_array() {
        "tool_calls"
    } else {
        "stop"
    };
    json!({
        "id": "chat_1", "object": "chat.completion", "created": 1, "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": null}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    })
}
