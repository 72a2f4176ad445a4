//! Why an import failed.

use std::error::Error;
use std::fmt;
use std::process::ExitStatus;

#[cfg(feature = "client-http")]
use super::http::error::of_client;

/// Why an import failed. Its text contains no secrets.
///
/// ```no_run
/// use tokio::process::Command;
/// use tool_core::Registry;
/// use tool_mcp::Import;
///
/// # async fn import(registry: &Registry) {
/// // A server that fails does not have to end the program.
/// if let Err(error) = Import::command(Command::new("notes-server")).connect(registry).await {
///     eprintln!("the tools of notes are missing: {error}");
/// }
/// # }
/// ```
#[derive(Clone)]
pub struct ImportError {
    pub(super) kind: ImportErrorKind,
    pub(super) text: String,
    /// The code of the error of the server.
    pub(super) code: Option<i32>,
}

/// The kinds of failures of an import.
///
/// ```
/// use tool_mcp::{ImportError, ImportErrorKind};
///
/// fn advice(error: &ImportError) -> &'static str {
///     match error.kind() {
///         ImportErrorKind::Start => "is the server installed?",
///         ImportErrorKind::Unauthorized => "the token has expired",
///         ImportErrorKind::Pins => "look at what has changed, then accept it",
///         _ => "try again later",
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ImportErrorKind {
    /// The program can't be started, or the address is invalid.
    Start,
    /// The handshake failed.
    Handshake,
    /// The server requires authorization.
    Unauthorized,
    /// The server did not answer in time.
    TimedOut,
    /// The tools can't be listed.
    List,
    /// The registry rejects the tools.
    Registry,
    /// The file of accepted tools can't be read or written, or a tool can't be accepted.
    Pins,
    /// The server is away, or the import is closed.
    Away,
    /// The server rejects a request, or its result can't be used.
    Rejected,
    /// The server imports the gateway that imports it, or too many servers have started each other. It is not tried again.
    Loop,
}

impl ImportError {
    pub(super) fn new(kind: ImportErrorKind, text: impl Into<String>) -> ImportError {
        ImportError {
            kind,
            text: text.into(),
            code: None,
        }
    }

    /// Names the server.
    pub(super) fn of(mut self, server: &str) -> ImportError {
        self.text = format!("{server}: {}", self.text);
        self
    }

    /// Adds how the program ended, and its output: standard error, and text in place of a message.
    pub(super) fn of_program(
        &mut self,
        program: &str,
        (status, words): (Option<ExitStatus>, String),
        unreadable: Option<String>,
        inherits_stderr: bool,
    ) {
        let text = &mut self.text;
        let is_closed = text.ends_with(CLOSED);
        let is_silent = is_closed || self.kind == ImportErrorKind::TimedOut;
        // After another error it ends because its input does.
        if let Some(status) = status.filter(|_| is_closed) {
            text.push_str(&format!("; `{program}` has ended: {status}"));
        }
        if let Some(unreadable) = unreadable {
            text.push_str(&format!(
                "; its standard output is for messages alone, and it wrote {unreadable:?} there"
            ));
        } else if words.is_empty() && is_silent && !inherits_stderr {
            text.push_str(&format!(
                "; it wrote nothing to its standard error: check that `{program}` with its arguments is an MCP server"
            ));
        }
        if !words.is_empty() {
            text.push_str("; it wrote:\n");
            text.push_str(&words);
        }
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> ImportErrorKind {
        self.kind
    }
}

impl fmt::Display for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The message, because `main` may return the error.
impl fmt::Debug for ImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for ImportError {}

pub(super) const CLOSED: &str = "the server closed the connection during the handshake";

/// Returns the messages of an error and its sources.
pub(super) fn chain(error: &(dyn Error + 'static)) -> String {
    #[cfg(feature = "client-http")]
    if let Some(error) = of_client(error) {
        return chain(error);
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let next = error.to_string();
        if !text.contains(&next) {
            text.push_str(": ");
            text.push_str(&next);
        }
        source = error.source();
    }
    text
}
