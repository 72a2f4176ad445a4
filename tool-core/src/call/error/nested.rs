//! [`Nested`]: the text of an error, returned by a tool that passed the call on.

use super::reference::Reference;
use super::{FITS, ToolError, ToolErrorKind};
use crate::call::boundary::OPERATOR_TEXT;
use crate::schema::messages::floor_char_boundary;
use crate::schema::violation::Violation;

/// The text of a call's error, returned by a tool that passed the call on: to another registry or
/// to a server.
pub(super) struct Nested<'t> {
    kind: ToolErrorKind,
    /// The words around the tool's name.
    headline: [&'static str; 2],
    /// The text after the reference.
    body: &'t str,
}

impl<'t> Nested<'t> {
    /// Parses the error of a call of this tool, the innermost if it was passed on several times. That
    /// of another tool is not parsed: its arguments are not those that the model sent.
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

    pub(super) fn into_error(self, tool: &str, invites_retry: bool) -> ToolError {
        let Nested {
            kind,
            headline,
            body,
        } = self;
        let headline = [headline[0], tool, headline[1]].concat();
        let mut error = ToolError::new(kind, [&headline, ""], [body, ""]);
        if kind == ToolErrorKind::InvalidArguments {
            let list = body.rfind(FITS).map_or(body, |at| &body[..at]);
            let lines = list.trim_start_matches(':').split("\n- ");
            let bounded = |line: &str| floor_char_boundary(line, OPERATOR_TEXT);
            let lines = lines.map(|line| Violation::parse(&line[..bounded(line)]));
            error.violations = lines.skip(1).take(20).collect();
        }
        let may_retry = matches!(kind, ToolErrorKind::Failed | ToolErrorKind::TimedOut);
        error.is_retryable = may_retry && invites_retry;
        error
    }
}
