//! [`Nested`]: the text of an error, returned by a tool that passed the call on.

use super::kind::ToolErrorKind;
use super::reference::Reference;

/// The text of a call's error, returned by a tool that passed the call on: to another registry or
/// to a server.
pub(super) struct Nested<'t> {
    pub(super) kind: ToolErrorKind,
    /// The words around the tool's name.
    pub(super) headline: [&'static str; 2],
    /// The text after the reference.
    pub(super) body: &'t str,
}

impl<'t> Nested<'t> {
    /// Parses the error of a call of this tool, the innermost if it was passed on several times. Errors of
    /// other tools are left alone, because the model did not send their arguments.
    pub(super) fn parse(tool: &str, message: &'t str) -> Option<Nested<'t>> {
        let mut nested = Nested::outermost(tool, message)?;
        while nested.kind == ToolErrorKind::Failed
            && let Some(body) = nested.body.strip_prefix(": ")
            && let Some(inner) = Nested::outermost(tool, body)
        {
            nested = inner;
        }
        Some(nested)
    }

    fn outermost(tool: &str, message: &'t str) -> Option<Nested<'t>> {
        const HEADLINES: [(ToolErrorKind, [&str; 2]); 8] = [
            (ToolErrorKind::Failed, ["", " failed"]),
            (
                ToolErrorKind::InvalidArguments,
                ["invalid arguments for ", ""],
            ),
            (
                ToolErrorKind::MalformedJson,
                ["the arguments for ", " are not valid JSON"],
            ),
            (
                ToolErrorKind::InvalidResult,
                ["", " returned an invalid result"],
            ),
            (ToolErrorKind::TimedOut, ["", " timed out"]),
            (ToolErrorKind::Cancelled, ["", " was cancelled"]),
            (ToolErrorKind::Denied, ["", " was not run"]),
            (ToolErrorKind::Interrupted, ["", " was interrupted"]),
        ];
        HEADLINES.into_iter().find_map(|(kind, headline)| {
            let rest = message.strip_prefix(headline[0])?.strip_prefix(tool)?;
            let body = Reference::strip(rest.strip_prefix(headline[1])?)?;
            Some(Nested {
                kind,
                headline,
                body,
            })
        })
    }
}
