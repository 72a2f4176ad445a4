//! [`Secrets`]: the secret values of calls, to keep them out of other strings.

use std::fmt;

use crate::schema::secret::redact_text;

/// The [secret](macro@crate::tool#secrets) values of calls, to hide them in strings that may repeat them, such as the
/// answer of a model. [`Registry::secrets`](crate::Registry::secrets) returns those of a call.
///
/// A string that is shorter than four characters is not among them: it occurs by chance.
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

    /// Returns a string with `[secret]` in place of each value, also where it is escaped as in JSON. With more than a
    /// hundred values, all of the string is hidden.
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
