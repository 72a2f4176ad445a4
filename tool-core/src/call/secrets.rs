//! [`Secrets`]: the secret values of calls, to keep them out of other strings.

use std::fmt;

use super::arguments::Arguments;
use super::result::ToolResult;
use crate::schema::secret::{redact_arguments, redact_result, redact_text};
use crate::spec::{ToolSpec, wrapped};

/// The [secret](macro@crate::tool#secrets) values of calls, to hide them in strings that may repeat them,
/// such as the answer of a model. [`Registry::secrets`](crate::Registry::secrets) returns the values of a
/// call.
///
/// Strings shorter than four characters are not among them, because they occur by chance.
///
/// ```
/// use tool_core::{Registry, ToolCall, tool, tools};
///
/// /// Signs in.
/// #[tool]
/// fn sign_in(user: &str, #[param(secret)] password: &str) -> bool {
///     user.len() > 2 && password.len() > 8
/// }
///
/// let registry = Registry::builder().tools(tools![sign_in]).build()?;
/// let arguments = r#"{"user":"ada","password":"correct horse"}"#;
/// let call = ToolCall::new("call_1", "sign_in", arguments);
/// let secrets = registry.secrets(&call, None);
/// assert_eq!(secrets.hide("I used correct horse."), "I used [secret].");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, Default)]
pub struct Secrets(pub(crate) Vec<String>);

impl Secrets {
    /// Returns `true` if there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the values of others.
    pub fn add(&mut self, others: Secrets) {
        for value in others.0 {
            if !self.0.contains(&value) {
                self.0.push(value);
            }
        }
    }

    /// Returns a string with `[secret]` in place of each value, even where it is escaped as in JSON. With
    /// more than a hundred values, all of the string is hidden.
    pub fn hide(&self, text: &str) -> String {
        if self.is_empty() {
            return text.to_owned();
        }
        redact_text(text, &self.0)
    }
}

/// Shows no value.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

/// Secrets of calls of a tool.
impl ToolSpec {
    /// Returns the arguments of a call of this tool as JSON text, with `"[secret]"` for each
    /// [secret](macro@crate::tool#secrets), for a page or a log of the application. Hides all of a string that is
    /// not JSON, if the tool has secrets.
    ///
    /// ```
    /// use tool_core::call::Arguments;
    /// use tool_core::{Tool, tool};
    ///
    /// /// Signs in.
    /// #[tool]
    /// fn sign_in(user: &str, #[param(secret)] password: &str) -> usize {
    ///     user.len() + password.len()
    /// }
    ///
    /// let arguments = Arguments::from(r#"{"user":"ada","password":"hunter2"}"#);
    /// let shown = sign_in::SPEC.shown_arguments(&arguments);
    /// assert_eq!(shown, r#"{"user":"ada","password":"[secret]"}"#);
    /// ```
    pub fn shown_arguments(&self, arguments: &Arguments) -> String {
        let json = self.arguments_json(arguments);
        if self.has_secrets() {
            return redact_arguments(self.properties(), &json).text;
        }
        json
    }

    /// Returns the secrets in arguments.
    pub(crate) fn secrets_in(&self, arguments: &Arguments) -> Secrets {
        if !self.has_secrets() {
            return Secrets::default();
        }
        let json = self.arguments_json(arguments);
        Secrets(redact_arguments(self.properties(), &json).hidden)
    }

    /// Returns the secrets in a result.
    pub(crate) fn secrets_in_result(&self, result: &ToolResult) -> Secrets {
        match (self.output, result.structured_json()) {
            (Some(schema), Some(json)) if schema.has_secrets() => {
                Secrets(redact_result(schema, json).hidden)
            }
            _ => Secrets::default(),
        }
    }

    /// Returns arguments as the text that is decoded, which may not be JSON.
    pub(crate) fn arguments_json(&self, arguments: &Arguments) -> String {
        let arguments = arguments.clone();
        let text = arguments.into_text_with(|text| match self.freeform() {
            Some(freeform) => freeform.arguments(&text),
            None => text,
        });
        match self.provided() {
            Some(provided) => wrapped(provided.key, &text).unwrap_or(text),
            None => text,
        }
    }
}
