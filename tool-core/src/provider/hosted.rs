//! The hosted tools that a provider is sent.

use std::fmt;

use serde_json::Value;

use crate::provider::dialect::{Dialect, JsonWriter};
use crate::provider::hosted_tool::HostedTool;
use crate::schema::messages::{self, shorten};
use crate::tool::ToolEntry;

/// A hosted tool that is left out of a request.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RefusedTool {
    /// The tool.
    pub tool: HostedTool,
    /// The reason: the provider has no such tool, or another tool has its name.
    pub message: String,
}

impl RefusedTool {
    fn unknown(tool: &HostedTool, provider: &str) -> RefusedTool {
        let json = tool.to_string();
        RefusedTool {
            message: format!(
                "{provider} has no hosted tool {}; it is left out",
                shorten(&json)
            ),
            tool: tool.clone(),
        }
    }

    fn name_taken(tool: &HostedTool, provider: &str, name: &str) -> RefusedTool {
        RefusedTool {
            message: format!(
                "{provider} takes one tool with the name {}; the hosted one is left out: rename \
                 the other tool, or remove one of them",
                messages::name(name)
            ),
            tool: tool.clone(),
        }
    }
}

/// Returns the hosted tools that a request has, and those that are left out.
///
/// No two tools of a request have the same name: a provider rejects such a request, or runs one
/// where the model means the other. The registry's tool is kept, because its hooks and checks
/// protect the application.
pub(crate) fn select(
    dialect: &(impl Dialect + ?Sized),
    tools: &[ToolEntry],
    hosted: &[HostedTool],
) -> (Vec<HostedTool>, Vec<RefusedTool>) {
    let (mut sent, mut refused) = (Vec::<HostedTool>::new(), Vec::new());
    for tool in hosted {
        let is_taken = |name: &str| {
            tools.iter().any(|other| is_same(&other.name, name))
                || sent.iter().any(|other| given_name(other) == Some(name))
        };
        if !dialect.hosts(tool) {
            refused.push(RefusedTool::unknown(tool, dialect.provider()));
        } else if let Some(name) = names(tool).into_iter().find(|name| is_taken(name)) {
            refused.push(RefusedTool::name_taken(tool, dialect.provider(), name));
        } else {
            sent.push(tool.clone());
        }
    }
    (sent, refused)
}

/// Types of hosted tools that hold other tools and have no name for the model.
const CONTAINERS: [&str; 4] = ["connector", "mcp", "mcp_toolset", "namespace"];

/// Returns the names by which a model may call a hosted tool: its name, its type or its keys.
fn names(tool: &HostedTool) -> Vec<&str> {
    let json = tool.json();
    let kind = json["type"].as_str();
    match (given_name(tool), kind, json) {
        (_, Some(kind), _) if CONTAINERS.contains(&kind) => Vec::new(),
        (Some(name), ..) | (None, Some(name), _) => vec![name],
        (None, None, Value::Object(members)) => members.keys().map(String::as_str).collect(),
        _ => Vec::new(),
    }
}

/// Returns the name of a hosted tool that its JSON states: Anthropic's and OpenAI's `name`, or
/// Bedrock's `systemTool.name`.
fn given_name(tool: &HostedTool) -> Option<&str> {
    let json = tool.json();
    json["name"]
        .as_str()
        .or(json["systemTool"]["name"].as_str())
}

/// Returns `true` if a tool has the name of a hosted tool. Gemini's keys have two spellings, such
/// as `googleSearch` and `google_search`.
fn is_same(name: &str, hosted: &str) -> bool {
    is_spelling(hosted, name) || is_spelling(name, hosted)
}

/// Returns `true` if a key is `googleSearch`, as it is or as `google_search`.
pub(crate) fn is_spelling(key: &str, known: &str) -> bool {
    let snake = known.chars().flat_map(|letter| {
        let gap = letter.is_ascii_uppercase().then_some('_');
        gap.into_iter().chain([letter.to_ascii_lowercase()])
    });
    key == known || key.chars().eq(snake)
}

impl fmt::Display for RefusedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Whether a tool is told by its `type`, and is one of these.
pub(crate) fn is_of_type(tool: &HostedTool, is_known: impl Fn(&str) -> bool) -> bool {
    match &tool.json()["type"] {
        // A function is a tool of the registry.
        Value::String(name) => name != "function" && (tool.is_unchecked() || is_known(name)),
        _ => false,
    }
}

/// Whether a tool is told by its keys, which are some of these.
pub(crate) fn has_keys(tool: &HostedTool, is_known: impl Fn(&str) -> bool) -> bool {
    let Value::Object(members) = tool.json() else {
        return false;
    };
    let is_right = |key: &str| key != "type" && (tool.is_unchecked() || is_known(key));
    !members.is_empty() && members.keys().all(|key| is_right(key))
}

pub(crate) fn write(hosted: &[HostedTool], out: &mut JsonWriter) {
    for tool in hosted {
        out.raw(&tool.to_string());
    }
}
