//! Compares a model's calls for a spoken command with the expected calls.

use std::fmt;

use serde::Deserialize;
use serde_json::{Map, Value};
use tool_core::dialect::Dialect;
use tool_core::{Registry, ToolCall, ToolResult};

/// One recorded turn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Turn {
    /// The spoken command.
    pub(crate) said: String,
    /// The expected calls in order; empty if the model should call nothing.
    expected: Vec<Expected>,
    /// The provider's response.
    response: Value,
}

/// An expected call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
}

/// The score of a turn.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    /// The right tools with the right arguments.
    Correct,
    /// Wrong tools or arguments, with the difference.
    Wrong(String),
    /// No call, although one was expected.
    NoCall,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Correct => "correct",
            Verdict::Wrong(_) => "wrong",
            Verdict::NoCall => "no call",
        })
    }
}

/// Scores one turn.
///
/// The registry runs the expected calls too, so that the calls are compared by what the tools
/// understood, and not by the text of the JSON.
///
/// # Errors
///
/// Returns an error if the response is not one of the provider, or if a tool rejects an expected
/// call.
pub(crate) fn score(
    turn: &Turn,
    registry: &Registry,
    dialect: &dyn Dialect,
) -> Result<Verdict, String> {
    let read = dialect.read(&turn.response);
    let calls = read.map_err(|error| error.to_string())?.calls;
    let mut expected = Vec::new();
    for Expected { tool, arguments } in &turn.expected {
        let call = ToolCall::new("expected", tool, arguments.clone());
        let result = registry.call_blocking(call);
        if result.is_error() {
            return Err(format!("an expected call failed: {}", result.content()));
        }
        expected.push(result);
    }
    if calls.is_empty() && !expected.is_empty() {
        return Ok(Verdict::NoCall);
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

/// Describes how a result differs from the expected one.
fn difference(wanted: Option<&ToolResult>, got: &ToolResult) -> Option<String> {
    let Some(wanted) = wanted else {
        return Some(format!("{} was not expected", got.name()));
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
