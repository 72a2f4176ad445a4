//! Tools that a provider runs itself.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::provider::dialect::JsonWriter;
use crate::schema::messages::shorten;

/// A tool that a provider runs itself, such as a web search: its JSON object in the `tools` of a
/// request.
///
/// A [dialect](crate::dialect) that knows the tool sends it. Any other dialect leaves it out, reports
/// it by [`Rendered::refused`](crate::dialect::Rendered::refused), and logs it. So a registry may
/// contain the web searches of several providers, and each provider is sent its own.
///
/// ```
/// use serde_json::json;
/// use tool_core::dialect::{Gemini, OpenAiResponses};
/// use tool_core::{HostedTool, Registry};
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
///     gemini.refused()[0].to_string(),
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
    /// use tool_core::dialect::{OpenAiChat, OpenAiResponses};
    /// use tool_core::{HostedTool, Registry};
    ///
    /// let search = HostedTool::unchecked(json!({"type": "x_search"}));
    /// let registry = Registry::builder().hosted(search).build()?;
    /// // xAI's Responses API is like that of OpenAI.
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

/// A hosted tool that a dialect left out.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RefusedTool {
    /// The tool.
    pub tool: HostedTool,
    /// The reason.
    pub message: String,
}

impl RefusedTool {
    pub(crate) fn new(tool: &HostedTool, provider: &str) -> RefusedTool {
        let json = tool.to_string();
        RefusedTool {
            message: format!(
                "{provider} has no hosted tool {}; it is left out",
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

/// Returns `true` for a tool that is identified by its `type`, and is known or unchecked.
pub(crate) fn is_of_type(tool: &HostedTool, is_known: impl Fn(&str) -> bool) -> bool {
    match &tool.json()["type"] {
        // A function belongs to the registry.
        Value::String(name) => name != "function" && (tool.is_unchecked() || is_known(name)),
        _ => false,
    }
}

/// Returns `true` for a tool that is identified by its keys, and is known or unchecked.
pub(crate) fn has_keys(tool: &HostedTool, is_known: impl Fn(&str) -> bool) -> bool {
    let Value::Object(members) = tool.json() else {
        return false;
    };
    let is_accepted = |key: &str| key != "type" && (tool.is_unchecked() || is_known(key));
    !members.is_empty() && members.keys().all(|key| is_accepted(key))
}

pub(crate) fn write(hosted: &[HostedTool], out: &mut JsonWriter) {
    for tool in hosted {
        out.raw(&tool.to_string());
    }
}
