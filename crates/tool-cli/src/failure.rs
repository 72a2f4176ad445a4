//! [`Failure`]: why a command fails.

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use tool_core::ToolError;

use crate::terminal::{BAD, Terminal, indented};

/// The reason why a command fails, with an exit code other than 0.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A tool or a check failed.
    Failed(String),
    /// The command line or the arguments are wrong.
    Wrong(String),
    /// A person cancelled the call.
    Cancelled(String),
    /// The reader of the output is gone, which is not an error.
    Closed,
}

impl Failure {
    pub(crate) fn failed(error: impl Display) -> Failure {
        Failure::Failed(error.to_string())
    }

    pub(crate) fn wrong(error: impl Display) -> Failure {
        Failure::Wrong(error.to_string())
    }

    /// Writes the message, and returns the exit code.
    pub(crate) fn end(self) -> ExitCode {
        let (code, message) = match self {
            Failure::Closed => return ExitCode::SUCCESS,
            Failure::Failed(message) => (1, message),
            Failure::Wrong(message) => (2, message),
            Failure::Cancelled(message) => (130, message),
        };
        if !message.is_empty() {
            let mut out = Terminal::stderr();
            // If nobody can read the error, there is still the exit code.
            let _ = out.styled(BAD, "error");
            let _ = writeln!(out, ": {message}");
        }
        ExitCode::from(code)
    }
}

/// Returns the message of an error for the person at the terminal: with its cause, which a model does not see, and without
/// its reference, which leads to a log that nobody writes here.
pub(crate) fn in_words(error: &ToolError) -> String {
    let reference = format!(" [ref {}]", error.id());
    let message = error.message().replace(&reference, "");
    let detail = error.detail();
    if detail.is_empty() || message.contains(detail) {
        return message;
    }
    format!("{message}\n  {}", indented(detail, 4))
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Failure::Closed,
            _ => Failure::failed(format!("can't write the output: {error}")),
        }
    }
}
