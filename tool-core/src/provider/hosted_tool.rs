//! Tools that a provider runs itself.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::schema::messages::{self, shorten};
use crate::tool::ToolEntry;

/// A tool that a provider runs itself, such as a web search: its JSON object in the `tools` of a
/// request.
///
/// A [dialect](crate::dialect) that knows the tool sends it. Any other dialect leaves it out, reports
/// it by [`Rendered::rejected`](crate::dialect::Rendered::rejected), and logs it. So a registry may
/// contain the web searches of several providers, and each provider is sent its own.
///
/// Some of them only have their schema from the provider, and the application runs them, such as the shell of OpenAI. A
/// function [provides](macro@crate::tool#trained-tools) them. As a hosted tool, what such a tool asks is
/// [unanswered](crate::dialect::Turn::unanswered), or a call by the name of the tool.
///
/// No request has two tools with the same name. If the registry has a tool with the name of a hosted
/// one (its `name`, or else its `type` or its key), the hosted one is left out, reported and logged.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::HostedTool;
/// use tool_dialects::{Gemini, OpenAiResponses};
/// use tool_core::Registry;
///
/// let registry = Registry::builder()
///     .hosted(HostedTool::new(json!({"type": "web_search"})))
///     .hosted(HostedTool::new(json!({"google_search": {}})))
///     .build()?;
/// let openai = registry.render(&OpenAiResponses::default());
/// assert_eq!(openai.as_str(), r#"[{"type":"web_search"}]"#);
/// let gemini = registry.render(&Gemini::default());
/// assert_eq!(gemini.as_str(), r#"[{"google_search":{}}]"#);
/// assert_eq!(
///     gemini.rejected()[0].to_string(),
///     r#"Gemini has no hosted tool {"type":"web_search"}; it is left out"#
/// );
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct HostedTool(Arc<Hosted>);

#[derive(PartialEq)]
struct Hosted {
    json: Value,
    is_unchecked: bool,
}

impl HostedTool {
    /// Creates a tool for the providers that document it.
    pub fn new(json: impl Into<Value>) -> HostedTool {
        HostedTool(Arc::new(Hosted {
            json: json.into(),
            is_unchecked: false,
        }))
    }

    /// Creates a tool for every provider whose hosted tools have this shape, known or not. Use it
    /// for tools that are newer than this version, and for servers that imitate a provider.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::HostedTool;
    /// use tool_dialects::{OpenAiChat, OpenAiResponses};
    /// use tool_core::Registry;
    ///
    /// let search = HostedTool::unchecked(json!({"type": "x_search"}));
    /// let registry = Registry::builder().hosted(search).build()?;
    /// // xAI's Responses API is like OpenAI's.
    /// let rendered = registry.render(&OpenAiResponses::default());
    /// assert_eq!(rendered.as_str(), r#"[{"type":"x_search"}]"#);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn unchecked(json: impl Into<Value>) -> HostedTool {
        HostedTool(Arc::new(Hosted {
            json: json.into(),
            is_unchecked: true,
        }))
    }

    /// Returns the JSON to send.
    pub fn json(&self) -> &Value {
        &self.0.json
    }

    /// Returns `true` if dialects should send the tool without knowing it.
    pub fn is_unchecked(&self) -> bool {
        self.0.is_unchecked
    }
}

/// Writes the JSON text.
impl fmt::Display for HostedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.json().fmt(f)
    }
}

impl fmt::Debug for HostedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HostedTool").field(self.json()).finish()
    }
}

/// A tool that is left out of a request.
///
/// ```
/// use serde_json::json;
/// use tool_core::Registry;
/// use tool_core::dialect::HostedTool;
/// use tool_dialects::Gemini;
///
/// let search = HostedTool::new(json!({"type": "web_search"}));
/// let registry = Registry::builder().hosted(search.clone()).build()?;
/// let rendered = registry.render(&Gemini::default());
/// let rejected = &rendered.rejected()[0];
/// assert_eq!(rejected.tool, search);
/// assert!(rejected.message.starts_with("Gemini has no hosted tool"));
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RejectedTool {
    /// The tool.
    pub tool: Rejected,
    /// The reason, such as that the dialect does not know the tool, or another tool has its name.
    pub message: String,
}

/// The tool of a [`RejectedTool`].
///
/// ```
/// use tool_core::dialect::{Rejected, RejectedTool};
///
/// fn name(rejected: &RejectedTool) -> String {
///     match &rejected.tool {
///         Rejected::Hosted(tool) => tool.to_string(),
///         Rejected::Function(name) => name.clone(),
///         _ => "a tool".into(),
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Rejected {
    /// A hosted tool.
    Hosted(HostedTool),
    /// A tool of the registry, by its name.
    Function(String),
}

impl PartialEq<HostedTool> for Rejected {
    fn eq(&self, other: &HostedTool) -> bool {
        matches!(self, Rejected::Hosted(tool) if tool == other)
    }
}

impl RejectedTool {
    pub(super) fn function(tool: &ToolEntry, provider: &str, problem: &str) -> RejectedTool {
        let name = messages::name(&tool.name);
        RejectedTool {
            message: format!(
                "{provider} does not accept the tool {name}: {problem}; it is left out: rename it, \
                 or build the tool with `DynamicTool::foreign`"
            ),
            tool: Rejected::Function(tool.name.to_string()),
        }
    }

    pub(super) fn unknown(tool: &HostedTool, provider: &str) -> RejectedTool {
        let json = tool.to_string();
        RejectedTool {
            message: format!(
                "{provider} has no hosted tool {}; it is left out",
                shorten(&json)
            ),
            tool: Rejected::Hosted(tool.clone()),
        }
    }

    pub(super) fn name_taken(tool: &HostedTool, provider: &str, name: &str) -> RejectedTool {
        RejectedTool {
            message: format!(
                "{provider} takes one tool with the name {}; the hosted one is left out: rename \
                 the other tool, or remove one of them",
                messages::name(name)
            ),
            tool: Rejected::Hosted(tool.clone()),
        }
    }
}

/// Types of hosted tools that hold other tools and have no name for the model.
const CONTAINERS: [&str; 5] = ["connector", "mcp", "mcp_server", "mcp_toolset", "namespace"];

/// Returns the names by which a model may call a hosted tool: its name, its type or its keys.
pub(crate) fn names(tool: &HostedTool) -> Vec<&str> {
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
pub(super) fn given_name(tool: &HostedTool) -> Option<&str> {
    let json = tool.json();
    json["name"]
        .as_str()
        .or(json["systemTool"]["name"].as_str())
}

/// Returns `true` if a tool has the name of a hosted tool. Gemini's keys have two spellings, such
/// as `googleSearch` and `google_search`.
pub(super) fn is_same(name: &str, hosted: &str) -> bool {
    is_spelling(hosted, name) || is_spelling(name, hosted)
}

/// Returns `true` if a key is `known` in camel case, as it is or in snake case.
///
/// ```
/// use tool_core::dialect::write::is_spelling;
///
/// assert!(is_spelling("googleSearch", "googleSearch"));
/// assert!(is_spelling("google_search", "googleSearch"));
/// assert!(!is_spelling("search", "googleSearch"));
/// ```
pub fn is_spelling(key: &str, known: &str) -> bool {
    let snake = known.chars().flat_map(|letter| {
        let gap = letter.is_ascii_uppercase().then_some('_');
        gap.into_iter().chain([letter.to_ascii_lowercase()])
    });
    key == known || key.chars().eq(snake)
}

impl fmt::Display for RejectedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
