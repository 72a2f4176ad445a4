//! [`HostedTool`]: a tool that a provider runs itself.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// A tool that a provider runs itself, such as a web search: the JSON object that stands for it in
/// the `tools` of a request.
///
/// A [dialect](crate::dialect) that knows it puts it in its place. One that does not leaves it out,
/// and says so by [`Rendered::refused`](crate::dialect::Rendered::refused) and in the log. So a
/// registry may hold the web searches of several providers, and each is sent its own.
///
/// No request has two tools with the same name. If the registry has a tool with the name of a hosted
/// one (its `name`, or else its `type` or its key), the hosted one is left out, and
/// [`Rendered::refused`](crate::dialect::Rendered::refused) and the log say so.
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
    /// A tool for the providers whose documentation has it.
    pub fn new(json: impl Into<Value>) -> HostedTool {
        HostedTool(Arc::new(Hosted {
            json: json.into(),
            is_unchecked: false,
        }))
    }

    /// A tool for every provider that takes hosted tools of its shape, known or not: for what a
    /// provider, or a server that speaks like one, brought since this version.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_core::dialect::{OpenAiChat, OpenAiResponses};
    /// use tool_core::{HostedTool, Registry};
    ///
    /// let search = HostedTool::unchecked(json!({"type": "x_search"}));
    /// let registry = Registry::builder().hosted(search).build()?;
    /// // xAI's responses are like those of OpenAI.
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

    /// What is sent.
    pub fn json(&self) -> &Value {
        &self.0.json
    }

    /// Whether a dialect should send it without knowing it.
    pub fn is_unchecked(&self) -> bool {
        self.0.is_unchecked
    }
}

/// Its JSON text.
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
