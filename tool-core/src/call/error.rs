//! What goes wrong with a call, told to two audiences: the model and the operator.

mod earlier;
mod reference;
mod transient;

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::call::panic_payload::{self, Payload};
use crate::call::truncate;
use crate::schema::messages::{self, nearest, push};
use crate::schema::violation::{Violation, Violations};

use earlier::Earlier;
use reference::Reference;
use transient::AGAIN;

pub use transient::Transient;

/// The ways in which a call can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ToolErrorKind {
    /// The registry has no tool of that name.
    UnknownTool,
    /// The arguments are not JSON.
    MalformedJson,
    /// The arguments are JSON, but not what the tool's schema describes.
    InvalidArguments,
    /// The tool ran and returned an error.
    Failed,
    /// The tool panicked, or something of the application that it went through.
    Panicked,
    /// The tool did not end in its time.
    TimedOut,
    /// The application ended the call.
    Cancelled,
    /// The application did not let the call through.
    Denied,
    /// The application is not set up for the call: a value of the context or the async runtime is
    /// missing.
    Unavailable,
}

impl ToolErrorKind {
    /// A stable name for logs and metrics, such as `invalid_arguments`: OpenTelemetry's
    /// `error.type`.
    pub fn as_str(self) -> &'static str {
        match self {
            ToolErrorKind::UnknownTool => "unknown_tool",
            ToolErrorKind::MalformedJson => "malformed_json",
            ToolErrorKind::InvalidArguments => "invalid_arguments",
            ToolErrorKind::Failed => "failed",
            ToolErrorKind::Panicked => "panicked",
            ToolErrorKind::TimedOut => "timed_out",
            ToolErrorKind::Cancelled => "cancelled",
            ToolErrorKind::Denied => "denied",
            ToolErrorKind::Unavailable => "unavailable",
        }
    }
}

impl fmt::Display for ToolErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a call has no result.
///
/// [`message`](ToolError::message) (and `Display`) is what the model sees: the tool's name, what
/// is wrong, what to do, and the reference. [`detail`](ToolError::detail) and the error's
/// `source` are for the operator alone, who finds the same reference in the log.
#[derive(Debug)]
pub struct ToolError {
    id: Reference,
    kind: ToolErrorKind,
    message: String,
    /// The message before the application changed it.
    original: Option<String>,
    detail: String,
    violations: Vec<Violation>,
    /// Shared with what is kept of the error while a hook has it.
    source: Option<Arc<dyn Error + Send + Sync>>,
    is_retryable: bool,
}

impl ToolError {
    /// The reference that the model's text and the operator's event share: six characters that
    /// can be read out over a telephone.
    pub fn id(&self) -> &str {
        self.id.as_str()
    }

    /// What kind of failure it is.
    pub fn kind(&self) -> ToolErrorKind {
        self.kind
    }

    /// The text for the model.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The text before the application [put it into other
    /// words](crate::RegistryBuilder::map_errors) or had it cut. The operator's event says this, so
    /// that what the model need not know is not lost.
    pub fn original_message(&self) -> &str {
        self.original.as_deref().unwrap_or(&self.message)
    }

    /// Whether the same call may do better another time: it ran out of time, or the tool's error is
    /// [`Transient`](crate::Transient). The model is told so.
    pub fn is_retryable(&self) -> bool {
        self.is_retryable
    }

    /// What only the operator may see: the payload of a panic, or what the application is not set
    /// up for. Empty when there is no more to say.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Everything that was wrong with the arguments, at most 20 entries.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// The parts of the headline stand before the reference, those of the body behind it.
    fn new(kind: ToolErrorKind, headline: [&str; 2], body: [&str; 2]) -> ToolError {
        let mut error = ToolError::headed(kind, headline, body[0].len() + body[1].len());
        error.message.push_str(body[0]);
        error.message.push_str(body[1]);
        error
    }

    /// An error that says no more than its headline, with room for a body of so many bytes.
    fn headed(kind: ToolErrorKind, headline: [&str; 2], body: usize) -> ToolError {
        let id = Reference::new();
        let [what, which] = headline;
        let reference = " [ref ABC123]".len();
        let mut message = String::with_capacity(what.len() + which.len() + reference + body);
        message.push_str(what);
        message.push_str(which);
        message.push_str(" [ref ");
        message.extend(id.characters());
        message.push(']');
        ToolError {
            message,
            id,
            kind,
            original: None,
            detail: String::new(),
            violations: Vec::new(),
            source: None,
            is_retryable: false,
        }
    }

    /// Cuts the text to so many bytes. The reference comes early, and stays.
    pub(crate) fn truncate(&mut self, cap: usize) {
        let reference = self.message.find(self.id()).unwrap_or_default();
        let mut text = self.message.clone();
        if truncate(&mut text, cap.max(reference + self.id().len() + 1)) {
            self.map_message(text);
        }
    }

    /// Tells the model something else. The reference stays, or nobody finds the call again.
    pub(crate) fn map_message(&mut self, message: String) {
        let before = std::mem::replace(&mut self.message, message);
        self.original.get_or_insert(before);
        if !self.message.contains(self.id()) {
            self.message.push_str(" [ref ");
            self.message.push_str(self.id.as_str());
            self.message.push(']');
        }
    }

    pub(crate) fn unknown_tool<'a>(
        name: &str,
        names: impl ExactSizeIterator<Item = &'a str>,
    ) -> ToolError {
        let none = names.len() == 0;
        let hint = match nearest(name, names) {
            Some(name) => format!(": did you mean {name}?"),
            None if none => ": there are no tools".into(),
            None => ": call one of the tools you were given".into(),
        };
        let name = messages::name(name);
        ToolError::new(
            ToolErrorKind::UnknownTool,
            ["unknown tool ", &name],
            [&hint, ""],
        )
    }

    pub(crate) fn malformed_json(tool: &str, problem: &str) -> ToolError {
        ToolError::new(
            ToolErrorKind::MalformedJson,
            [&format!("the arguments for {tool}"), " are not valid JSON"],
            [": ", problem],
        )
    }

    pub(crate) fn invalid_arguments(tool: &str, violations: Violations) -> ToolError {
        let (listed, more) = violations.into_parts();
        let each = listed.iter().map(|violation| violation.as_str().len() + 3);
        // What follows the list is rare.
        let mut error = ToolError::headed(
            ToolErrorKind::InvalidArguments,
            ["invalid arguments for ", tool],
            1 + each.sum::<usize>(),
        );
        error.message.push(':');
        for violation in &listed {
            error.message.push_str("\n- ");
            error.message.push_str(violation.as_str());
        }
        if more > 0 {
            push(&mut error.message, format_args!("\n- and {more} more"));
        }
        error.violations = listed;
        error
    }

    pub(crate) fn failed(
        tool: &str,
        message: &str,
        source: Option<Box<dyn Error + Send + Sync>>,
    ) -> ToolError {
        let is_retryable = source
            .as_ref()
            .is_some_and(|source| source.is::<Transient>());
        let hint = if is_retryable { AGAIN } else { "" };
        let message = [message, hint].concat();
        let mut error = ToolError::new(ToolErrorKind::Failed, [tool, " failed"], [": ", &message]);
        error.source = source.map(Arc::from);
        error.is_retryable = is_retryable;
        error
    }

    pub(crate) fn timed_out(tool: &str, limit: Duration) -> ToolError {
        let body = format!(": it did not end within {limit:?}{AGAIN}");
        let mut error = ToolError::new(ToolErrorKind::TimedOut, [tool, " timed out"], [&body, ""]);
        error.is_retryable = true;
        error
    }

    pub(crate) fn cancelled(tool: &str) -> ToolError {
        ToolError::new(
            ToolErrorKind::Cancelled,
            [tool, " was cancelled"],
            [": the call was ended before the tool was done", ""],
        )
    }

    pub(crate) fn denied(tool: &str, reason: &str) -> ToolError {
        ToolError::new(
            ToolErrorKind::Denied,
            [tool, " was not run"],
            [": ", reason],
        )
    }

    pub(crate) fn unavailable(tool: &str, lack: String) -> ToolError {
        let mut error = ToolError::internal(ToolErrorKind::Unavailable, tool);
        error.detail = lack;
        error
    }

    /// What is the operator's business alone.
    fn internal(kind: ToolErrorKind, tool: &str) -> ToolError {
        let body = [": an internal error, which has been reported", ""];
        ToolError::new(kind, [tool, " failed"], body)
    }

    pub(crate) fn panicked(tool: &str, payload: Payload) -> ToolError {
        let mut error = ToolError::internal(ToolErrorKind::Panicked, tool);
        error.detail = panic_payload::text(&payload);
        panic_payload::discard(payload);
        error
    }

    /// What is kept of the error while a hook has it.
    pub(crate) fn earlier(&self) -> Earlier {
        Earlier::of(self)
    }

    /// Puts behind the error the one that was there before it.
    pub(crate) fn after(&mut self, earlier: Earlier) {
        self.source = Some(Arc::new(earlier));
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for ToolError {
    /// The error that the tool returned. Of a hook's panic, the error that the hook was given.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
