//! [`Answered`]: what of a response has an answer in the response itself.

use std::collections::HashSet;

use serde_json::Value;

/// The ids of the calls that the response itself answers.
pub(crate) struct Answered<'r>(HashSet<&'r str>);

impl<'r> Answered<'r> {
    /// Collects the ids that `id` finds in the parts of a response.
    pub(crate) fn by(parts: &'r [Value], id: impl Fn(&'r Value) -> Option<&'r str>) -> Self {
        Answered(parts.iter().filter_map(id).collect())
    }

    /// Returns `true` if this id has an answer.
    pub(crate) fn has(&self, id: Option<&str>) -> bool {
        id.is_some_and(|id| self.0.contains(id))
    }
}

/// Returns a member of a part whose only key names what it holds, if the key is not among `known` and ends with one of
/// `ends`: what Gemini and Bedrock call a request of the model.
pub(crate) fn unknown_request<'p>(
    part: &'p Value,
    known: &[&str],
    ends: &[&str],
) -> Option<(&'p str, &'p Value)> {
    let mut members = part.as_object()?.iter();
    let (key, value) = members.find(|(key, value)| {
        value.is_object()
            && !known.contains(&key.as_str())
            && ends.iter().any(|end| key.ends_with(end))
    })?;
    Some((key, value))
}
