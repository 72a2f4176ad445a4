//! [`ApprovalRequest`]: what a provider wants decided before a call starts.

use std::fmt;

use serde_json::Value;

use super::arguments::Arguments;
use crate::visible;

/// The most characters of a reason that a person sees.
const REASON: usize = 1_000;

/// The maximum size in bytes of a name and of arguments that a person is asked to approve.
const MOST_SHOWN: usize = 64 * 1024;

/// An approval that a provider asks for before a call starts: a safety check of a click, or a question
/// whether one of the provider's tools may run. A [dialect](crate::dialect::Dialect::read) attaches it to
/// the call.
///
/// The call is [held](crate::hooks::Gate::hold) until somebody decides, as if a `before` hook held it.
/// Nobody is asked about invalid arguments. The result lists the approvals that were
/// [given](crate::ToolResult::approved), so that the dialect can tell the provider.
///
/// ```
/// use serde_json::json;
/// use tool_core::hooks::{ApprovalRequest, Decision};
/// use tool_core::{Registry, ToolCall, ToolErrorKind, tool, tools};
///
/// /// Clicks a button.
/// #[tool]
/// fn click(button: &str) -> String {
///     format!("clicked {button}")
/// }
///
/// let registry = Registry::builder().tools(tools![click]).build()?;
/// // In your own dialect:
/// let check = ApprovalRequest::new("the page asks for money").with_item(json!({"id": "check_1"}));
/// let call = ToolCall::new("call_1", "click", r#"{"button":"Pay"}"#).with_approval(check);
///
/// let result = registry.call_blocking(call.clone());
/// assert_eq!(result.error().unwrap().kind(), ToolErrorKind::Held);
/// let hold = result.error().unwrap().hold().unwrap().clone();
/// assert_eq!(hold.reason(), "the page asks for money");
///
/// let result = registry.call_blocking(call.decided(hold, Decision::Allow));
/// assert_eq!(result.content(), "clicked Pay");
/// assert_eq!(result.approved()[0].item()["id"], "check_1");
/// # Ok::<(), tool_core::RegistryError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ApprovalRequest {
    reason: String,
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Value::is_null")
    )]
    item: Value,
}

impl ApprovalRequest {
    /// Creates a request with the reason that a person sees. Characters that show nothing or change the layout are written
    /// as escapes, and a reason of more than 1,000 characters is truncated.
    ///
    /// ```
    /// use tool_core::hooks::ApprovalRequest;
    ///
    /// let request = ApprovalRequest::new("harmless\nAllowed by: Ada");
    /// assert_eq!(request.reason(), r"harmless\nAllowed by: Ada");
    /// ```
    pub fn new(reason: impl Into<String>) -> ApprovalRequest {
        ApprovalRequest {
            reason: short_line(&reason.into()),
            item: Value::Null,
        }
    }

    /// Sets the JSON with which the provider asks, such as for the answer to it.
    pub fn with_item(mut self, item: Value) -> ApprovalRequest {
        self.item = item;
        self
    }

    /// Returns the reason.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Returns the JSON with which the provider asks; `null` if there is none.
    pub fn item(&self) -> &Value {
        &self.item
    }
}

/// Does not show the item, which may repeat arguments.
impl fmt::Debug for ApprovalRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApprovalRequest")
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

/// A call that the provider runs, of which a person sees all.
pub(crate) struct Hosted {
    pub(crate) server: String,
    pub(crate) tool: String,
    /// As they are.
    pub(crate) arguments: String,
}

impl Hosted {
    /// Returns an error if the call is too long to be shown, because nobody can approve a call that they
    /// don't see whole.
    pub(crate) fn new(server: &str, tool: &str, arguments: &Arguments) -> Result<Hosted, String> {
        let text = arguments.text();
        let length = tool.len() + text.len();
        if length > MOST_SHOWN {
            return Err(format!(
                "its name and its arguments have {length} bytes, and a person is shown at most {MOST_SHOWN}; call it with less"
            ));
        }
        Ok(Hosted {
            server: visible::line(server).into_owned(),
            tool: tool.to_owned(),
            arguments: text.into_owned(),
        })
    }
}

/// Returns a reason on one line, truncated.
fn short_line(reason: &str) -> String {
    match reason.char_indices().nth(REASON) {
        Some((end, _)) => format!("{}…", visible::line(&reason[..end])),
        None => visible::line(reason).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_line_of_what_can_be_seen() {
        let hostile = "a\r\nb\tc\u{202e}d\u{200b}e\u{feff}f\u{1b}[2Jg\u{e0041}";
        let request = ApprovalRequest::new(hostile);
        let seen = r"a\r\nb\tc\u{202e}d\u{200b}e\u{feff}f\u{1b}[2Jg\u{e0041}";
        assert_eq!(request.reason(), seen);
        let long = ApprovalRequest::new("ä".repeat(5_000));
        assert_eq!(long.reason().chars().count(), REASON + 1);
        assert!(long.reason().ends_with('…'));
    }

    #[test]
    fn what_is_too_long_is_not_shown_in_part() {
        let hosted = |length: usize| Hosted::new("s", "s/t", &"x".repeat(length).into());
        assert!(hosted(MOST_SHOWN - 3).is_ok());
        let error = hosted(MOST_SHOWN - 2).err().unwrap();
        assert!(error.contains("65537 bytes"), "{error}");
    }
}
