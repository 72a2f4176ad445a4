//! Requests of clients, which a server reads.

use serde_json::Value;
use tool_core::ToolCall;
use tool_core::dialect::{ResponseError, Turn, Unanswered};

use crate::provider::response::{NoId, ResponseFormat};

pub(super) const FORMAT: ResponseFormat = ResponseFormat {
    response: "a JSON-RPC request",
    call: "a `tools/call`",
    items: "",
    is_call: |message| message["method"] == "tools/call",
    id: "id",
    no_id: NoId::Reject,
    name: "params.name",
    arguments: "params.arguments",
    reasons: &[],
    custom: None,
    has_origin: false,
};

/// Returns the calls in a message, or in an array of messages.
pub(super) fn calls(response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
    let messages = match response {
        Value::Array(messages) => {
            if !messages.iter().all(Value::is_object) {
                return Err(FORMAT.error("an item of the array is not an object"));
            }
            messages
        }
        message => {
            FORMAT.check_error(message)?;
            if !message["method"].is_string() {
                return Err(FORMAT.missing(message, "method"));
            }
            std::slice::from_ref(message)
        }
    };
    FORMAT.calls(&Value::Null, messages)
}

/// Returns the turn of a message, or of an array of messages, without its calls. A request of another method expects an
/// answer; a notification has no id.
pub(super) fn outline(response: &Value) -> Turn {
    let messages = match response {
        Value::Array(messages) => messages,
        message => std::slice::from_ref(message),
    };
    let asked = messages.iter().filter_map(|message| {
        let method = message["method"].as_str()?;
        let id = match &message["id"] {
            Value::String(id) => id.clone(),
            Value::Number(id) => id.to_string(),
            _ => return None,
        };
        let asked = || Unanswered::new(method, Some(id), message.clone());
        (!(FORMAT.is_call)(message)).then(asked)
    });
    let mut turn = Turn::default();
    turn.unanswered = asked.collect();
    turn
}
