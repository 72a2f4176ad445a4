//! What a model made of a spoken command, beside what it should have made of it.

use std::fmt;

use serde::Deserialize;
use serde_json::{Map, Value};
use tool_core::dialect::Dialect;
use tool_core::{Registry, ToolCall, ToolResult};

/// One recorded turn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Turn {
    /// What was said.
    pub(crate) said: String,
    /// The calls that are right, in their order; none when there is nothing to call.
    expected: Vec<Expected>,
    /// The provider's response, as it came.
    response: Value,
}

/// A call that is right.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// How a turn went.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    /// The right tools with the right arguments.
    Correct,
    /// Other tools or other arguments, and which.
    Wrong(String),
    /// No call where one was wanted.
    None,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Correct => "correct",
            Verdict::Wrong(_) => "wrong",
            Verdict::None => "none",
        })
    }
}

/// Judges one turn.
///
/// Expected and actual calls go the same way through the registry, so that they are compared by
/// what the tools understood and not by how the JSON is spelled.
///
/// # Errors
///
/// When the record is no good: the response is none, or a tool refuses what is expected of it.
pub(crate) fn judge(
    turn: &Turn,
    registry: &Registry,
    dialect: &dyn Dialect,
) -> Result<Verdict, String> {
    let calls = dialect
        .calls(&turn.response)
        .map_err(|error| error.to_string())?;
    let mut expected = Vec::new();
    for Expected { tool, arguments } in &turn.expected {
        let call = ToolCall::new("expected", tool, arguments.clone());
        let result = registry.call_blocking(call);
        if result.is_error() {
            return Err(format!("what is expected is refused: {}", result.content()));
        }
        expected.push(result);
    }
    if calls.is_empty() && !expected.is_empty() {
        return Ok(Verdict::None);
    }
    let calls = calls.into_iter();
    let results: Vec<_> = calls.map(|call| registry.call_blocking(call)).collect();
    let mut wanted = expected.iter().map(Some).chain(std::iter::repeat(None));
    for result in &results {
        if let Some(reason) = difference(wanted.next().flatten(), result) {
            return Ok(Verdict::Wrong(reason));
        }
    }
    Ok(match wanted.next().flatten() {
        Some(missing) => Verdict::Wrong(format!("{} is missing", missing.name())),
        None => Verdict::Correct,
    })
}

/// How an answer differs from the one that is wanted.
fn difference(wanted: Option<&ToolResult>, got: &ToolResult) -> Option<String> {
    let Some(wanted) = wanted else {
        return Some(format!("{} was not asked for", got.name()));
    };
    if got.name() != wanted.name() {
        return Some(format!("{} instead of {}", got.name(), wanted.name()));
    }
    if got.is_error() {
        return Some(got.content().to_owned());
    }
    let (Some(wanted), Some(got)) = (wanted.structured(), got.structured()) else {
        return None;
    };
    let slots = wanted.as_object().into_iter().flatten();
    let unlike: Vec<_> = slots
        .filter(|(slot, value)| got[slot.as_str()] != **value)
        .map(|(slot, value)| format!("{slot} is {}, not {value}", got[slot.as_str()]))
        .collect();
    (!unlike.is_empty()).then(|| unlike.join("; "))
}
