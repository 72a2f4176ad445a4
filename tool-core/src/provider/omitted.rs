//! [`OmittedPart`]: a part of a result that a provider has no form for.

use crate::provider::rule::Rule;

/// A part of a result that a dialect replaces by a note.
///
/// [`Dialect::omitted`](crate::dialect::Dialect::omitted) returns it.
///
/// ```
/// use tool_core::content::Audio;
/// use tool_core::dialect::Dialect;
/// use tool_dialects::Anthropic;
/// use tool_core::{ToolCall, ToolResult};
///
/// let call = ToolCall::new("call_1", "read_aloud", "");
/// let result = ToolResult::new(&call, Audio::mp3([0; 96]));
/// for omitted in Anthropic::default().omitted(&[result]) {
///     println!("part {} of {} is not sent: {}", omitted.part, omitted.call_id, omitted.note);
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OmittedPart {
    /// The id of the call.
    pub call_id: String,
    /// The position among the [parts](crate::ToolResult::parts) of the result.
    pub part: usize,
    /// The provider's rule, if one says so. Otherwise the provider has no form for such a part.
    pub rule: Option<&'static Rule>,
    /// The note, which the model gets.
    pub note: String,
}

impl OmittedPart {
    /// Creates one, for your own [`Dialect`](crate::dialect::Dialect).
    pub fn new(
        call_id: impl Into<String>,
        part: usize,
        rule: Option<&'static Rule>,
        note: impl Into<String>,
    ) -> OmittedPart {
        OmittedPart {
            call_id: call_id.into(),
            part,
            rule,
            note: note.into(),
        }
    }
}
