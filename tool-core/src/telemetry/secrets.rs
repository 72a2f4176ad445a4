//! Decides which parts of the arguments and the result of a call telemetry may show.
//!
//! All arguments that are recorded pass through [`ToolSpec::shown_arguments`]. The arguments of an unknown
//! tool are not recorded at all, because they may have been meant for a tool with secrets, and no schema
//! says which values are secret. In strings that a tool with secrets writes, such as its error, the values
//! of its secrets are replaced.

use crate::call::{Secrets, ToolCall};
use crate::schema::secret::redact_result;
use crate::spec::ToolSpec;

/// Returns the secrets in the arguments of a call; none for most calls.
#[inline]
pub(super) fn of_call(call: &ToolCall, tool: Option<&ToolSpec>) -> Secrets {
    tool.map_or_else(Secrets::default, |tool| tool.secrets_in(&call.arguments))
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
