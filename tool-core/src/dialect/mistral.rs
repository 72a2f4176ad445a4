//! Mistral's chat completions.

use serde_json::Value;

use super::chat;
use super::response::{Layout, ResponseError};
use super::{Dialect, JsonWriter};
use crate::call::{ToolCall, ToolResult};
use crate::rules::{BrokenRule, Target, broken};
use crate::tool::ToolEntry;

/// Mistral's chat completions (`/v1/chat/completions`).
///
/// The id of a call is repeated as it came: the API wants nine letters or digits, which its own
/// ids are.
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

const LAYOUT: Layout = Layout {
    response: "a chat completion of Mistral",
    // The SDK's `ToolCall` may come without.
    id_is_optional: true,
    ..chat::LAYOUT
};

impl Dialect for Mistral {
    fn write_tools(&self, tools: &[ToolEntry], out: &mut JsonWriter) {
        chat::write_tools(tools, out, chat::parameters);
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ResponseError> {
        if response["object"] == "error" {
            return Err(LAYOUT.refuse_said(response));
        }
        chat::calls(&LAYOUT, response)
    }

    fn turn(&self, response: &Value) -> Vec<Value> {
        chat::turn(response)
    }

    fn text(&self, response: &Value) -> String {
        chat::text(response)
    }

    fn results(&self, results: &[ToolResult]) -> Vec<Value> {
        chat::results(results)
    }

    fn broken_rules(&self, tools: &[ToolEntry]) -> Vec<BrokenRule> {
        broken(Target::Mistral, tools)
    }
}
