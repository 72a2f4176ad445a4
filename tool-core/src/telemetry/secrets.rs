//! What telemetry may show of the arguments and the result of a call.
//!
//! All arguments that are recorded pass through [`ToolSpec::shown_arguments`]. Those of an unknown tool are not recorded at
//! all: they may have been meant for a tool with secrets, and no schema says which they are. In strings that a
//! tool with secrets writes, such as its error, the values of its secrets are replaced.

use crate::call::ToolCall;
use crate::schema::secret::{redact_arguments, redact_result, redact_text};
use crate::spec::ToolSpec;

/// The secrets of a call, to keep them out of messages; empty for most calls.
#[derive(Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// Returns a string without the secrets.
    pub(super) fn redact(&self, text: String) -> String {
        if self.0.is_empty() {
            return text;
        }
        redact_text(&text, &self.0)
    }
}

/// Returns the secrets in the arguments of a call.
#[inline]
pub(super) fn of_call(call: &ToolCall, tool: Option<&ToolSpec>) -> Secrets {
    match tool {
        Some(tool) if tool.has_secrets() => {
            let json = tool.arguments_json(&call.arguments);
            Secrets(redact_arguments(tool.properties(), &json).hidden)
        }
        _ => Secrets::default(),
    }
}

/// Returns the arguments of a call without secrets, or `None` for arguments of an unknown tool.
pub(super) fn arguments(call: &ToolCall, tool: Option<&ToolSpec>) -> Option<String> {
    tool.map(|tool| tool.shown_arguments(&call.arguments))
}

/// Returns the JSON text of a result without secrets.
pub(super) fn result(json: &str, tool: Option<&ToolSpec>) -> String {
    match tool.and_then(|tool| tool.output) {
        Some(schema) if schema.has_secrets() => redact_result(schema, json).text,
        _ => json.to_owned(),
    }
}
