//! [`Rendered`]: the tools of a request as JSON.

use std::fmt;

use serde::ser::{Error, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::provider::dialect::{Dialect, JsonWriter, RefusedTool};
use crate::provider::hosted_tool::{self, HostedTool};
use crate::provider::rules::BrokenRule;
use crate::spec::ToolSpec;
use crate::tool::ToolEntry;

/// The value of a request's `tools` field, as JSON text.
///
/// Created by [`Registry::render`](crate::Registry::render). It serializes as that JSON, so it can be
/// used in `serde_json::json!` and as a field of a request struct.
///
/// The text keeps the order of the parameters, which is the order in which models fill them with
/// some providers. A `serde_json::Value` sorts its keys unless the feature `preserve_order` of
/// `serde_json` is enabled.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    json: String,
    broken: Vec<BrokenRule>,
    refused: Vec<RefusedTool>,
}

impl Rendered {
    pub(crate) fn new(
        dialect: &(impl Dialect + ?Sized),
        tools: &[ToolEntry],
        hosted: &[HostedTool],
    ) -> Rendered {
        let mut out = JsonWriter::with_capacity(Rendered::capacity(tools));
        let (tools, mut refused) = hosted_tool::accepted(dialect, tools);
        let (hosted, refused_hosted) = hosted_tool::select(dialect, &tools, hosted);
        refused.extend(refused_hosted);
        dialect.write_tools(&tools, &hosted, &mut out);
        Rendered {
            json: out.into_string(),
            broken: dialect.broken_rules(&tools, &hosted),
            refused,
        }
    }

    pub(crate) fn from_parts(
        json: String,
        broken: Vec<BrokenRule>,
        refused: Vec<RefusedTool>,
    ) -> Rendered {
        Rendered {
            json,
            broken,
            refused,
        }
    }

    /// Estimates the bytes of these tools.
    pub(crate) fn capacity(tools: &[ToolEntry]) -> usize {
        tools.iter().map(|tool| capacity(tool)).sum()
    }

    /// Returns the JSON text.
    pub fn as_str(&self) -> &str {
        &self.json
    }

    /// Converts into the JSON text.
    pub fn into_string(self) -> String {
        self.json
    }

    /// Returns the provider's rules that the tools break together, such as a limit on their number.
    ///
    /// ```
    /// use tool_core::{Registry, dialect::Bedrock};
    ///
    /// let rendered = Registry::new().render(&Bedrock::default());
    /// assert_eq!(rendered.broken_rules()[0].rule.id, "bedrock.tools_min");
    /// ```
    pub fn broken_rules(&self) -> &[BrokenRule] {
        &self.broken
    }

    /// Returns the tools that are left out: [hosted tools](HostedTool) that the dialect does not
    /// know or whose name another tool has, and dynamic tools with a name or a key that the provider
    /// rejects.
    pub fn refused(&self) -> &[RefusedTool] {
        &self.refused
    }
}

impl fmt::Display for Rendered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.json)
    }
}

impl Serialize for Rendered {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json: &RawValue = serde_json::from_str(&self.json).map_err(|error| {
            S::Error::custom(format_args!("the dialect wrote bad JSON: {error}"))
        })?;
        json.serialize(serializer)
    }
}

/// Estimates the bytes of a tool in the longest dialect.
fn capacity(tool: &ToolSpec) -> usize {
    let sections = [tool.when_to_use(), tool.returns()].into_iter().flatten();
    let prompt = tool.description.len() + sections.map(str::len).sum::<usize>();
    let schemas = tool.parameters_json().len() + tool.output_json().map_or(0, str::len);
    // Plus the keys around them, and escapes in the prompt.
    schemas + prompt + prompt / 8 + 320
}
