//! [`Rendered`]: the tools of a request as JSON.

use std::borrow::Cow;
use std::fmt;

use serde::ser::{Error, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::provider::entry;
use crate::provider::hosted_tool::{HostedTool, RejectedTool, given_name, is_same, names};
use crate::provider::rules::BrokenRule;
use crate::provider::wire::Dialect;
use crate::provider::writer::JsonWriter;
use crate::tool::ToolEntry;

/// The value of a request's `tools` field, as JSON text.
///
/// Created by [`Registry::render`](crate::Registry::render). It serializes as that JSON, so it can be
/// used in `serde_json::json!` and as a field of a request struct.
///
/// The text keeps the order of the parameters, which is the order in which models fill them with
/// some providers. A `serde_json::Value` sorts its keys unless the feature `preserve_order` of
/// `serde_json` is enabled.
///
/// ```
/// use tool_dialects::OpenAiChat;
/// use tool_core::{Registry, tool, tools};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let registry = Registry::builder().tools(tools![add]).build()?;
/// let tools = registry.render(&OpenAiChat::default());
/// let body = serde_json::json!({"model": "…", "tools": tools});
/// assert_eq!(body["tools"][0]["function"]["name"], "add");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    json: String,
    broken: Vec<BrokenRule>,
    rejected: Vec<RejectedTool>,
}

impl Rendered {
    pub(crate) fn new(
        dialect: &(impl Dialect + ?Sized),
        tools: &[ToolEntry],
        hosted: &[HostedTool],
    ) -> Rendered {
        let mut out = JsonWriter::with_capacity(entry::capacity(tools));
        let (tools, mut rejected) = accepted(dialect, tools);
        let (hosted, rejected_hosted) = select(dialect, &tools, hosted);
        rejected.extend(rejected_hosted);
        dialect.write_tools(&tools, &hosted, &mut out);
        Rendered {
            json: out.into_string(),
            broken: dialect.broken_rules(&tools, &hosted),
            rejected,
        }
    }

    pub(crate) fn from_parts(
        json: String,
        broken: Vec<BrokenRule>,
        rejected: Vec<RejectedTool>,
    ) -> Rendered {
        Rendered {
            json,
            broken,
            rejected,
        }
    }

    pub(super) fn replace_json(&mut self, json: &str) {
        json.clone_into(&mut self.json);
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
    /// use tool_core::Registry;
    /// use tool_dialects::Bedrock;
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
    pub fn rejected(&self) -> &[RejectedTool] {
        &self.rejected
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

/// Returns the tools that a dialect accepts, and the tools that are left out.
pub(super) fn accepted<'t>(
    dialect: &(impl Dialect + ?Sized),
    tools: &'t [ToolEntry],
) -> (Cow<'t, [ToolEntry]>, Vec<RejectedTool>) {
    let (mut accepted, mut rejected) = (Vec::new(), Vec::new());
    if !tools.iter().any(|tool| tool.is_dynamic()) {
        return (Cow::Borrowed(tools), rejected);
    }
    for (at, tool) in tools.iter().enumerate() {
        // The names and keys of every other tool are checked earlier.
        let problem = tool.is_dynamic().then(|| dialect.problem(tool)).flatten();
        match problem {
            Some(problem) => {
                if rejected.is_empty() {
                    accepted = tools[..at].to_vec();
                }
                rejected.push(RejectedTool::function(tool, dialect.provider(), &problem));
            }
            None if rejected.is_empty() => {}
            None => accepted.push(tool.clone()),
        }
    }
    if rejected.is_empty() {
        (Cow::Borrowed(tools), rejected)
    } else {
        (Cow::Owned(accepted), rejected)
    }
}

/// Returns the hosted tools that a request has, and the hosted tools that are left out.
///
/// No two tools of a request have the same name: a provider rejects such a request, or runs one
/// where the model means the other. The registry's tool is kept, because its hooks and checks
/// protect the application.
pub(super) fn select(
    dialect: &(impl Dialect + ?Sized),
    tools: &[ToolEntry],
    hosted: &[HostedTool],
) -> (Vec<HostedTool>, Vec<RejectedTool>) {
    let (mut sent, mut rejected) = (Vec::<HostedTool>::new(), Vec::new());
    for tool in hosted {
        let is_taken = |name: &str| {
            tools.iter().any(|other| is_same(&other.name, name))
                || sent.iter().any(|other| given_name(other) == Some(name))
        };
        if !dialect.hosts(tool) {
            rejected.push(RejectedTool::unknown(tool, dialect.provider()));
        } else if let Some(name) = names(tool).into_iter().find(|name| is_taken(name)) {
            rejected.push(RejectedTool::name_taken(tool, dialect.provider(), name));
        } else if let Some(other) = tools.iter().find(|other| {
            other
                .provides()
                .is_some_and(|kind| tool.json()["type"] == kind)
        }) {
            rejected.push(RejectedTool::name_taken(
                tool,
                dialect.provider(),
                &other.name,
            ));
        } else {
            sent.push(tool.clone());
        }
    }
    (sent, rejected)
}
