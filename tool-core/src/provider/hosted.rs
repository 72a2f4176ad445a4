//! Which hosted tools a provider has.

use std::fmt;

use serde_json::Value;

use crate::provider::dialect::JsonWriter;
use crate::provider::hosted_tool::HostedTool;
use crate::schema::messages::shorten;

/// A hosted tool that a dialect left out, in words.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RefusedTool {
    /// The tool.
    pub tool: HostedTool,
    /// Why it is left out.
    pub message: String,
}

impl RefusedTool {
    pub(crate) fn new(tool: &HostedTool, who: &str) -> RefusedTool {
        let json = tool.to_string();
        RefusedTool {
            message: format!(
                "{who} has no hosted tool {}; it is left out",
                shorten(&json)
            ),
            tool: tool.clone(),
        }
    }
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
