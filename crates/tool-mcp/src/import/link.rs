//! The state of the connection to a server.

use std::fmt;
use std::sync::Arc;

use super::live::Live;

/// The state of a connection, for calls.
#[derive(Clone)]
pub(super) enum Link {
    Up(Arc<Live>),
    Away { reason: String, restarts: bool },
    Closed,
}

impl Link {
    pub(super) fn status(&self) -> Status {
        match self {
            Link::Up(_) => Status::Connected,
            Link::Away { reason, restarts } => Status::Away {
                reason: reason.clone(),
                restarts: *restarts,
            },
            Link::Closed => Status::Closed,
        }
    }
}

/// The state of an import; see [`Import::status`](crate::Import::status).
///
/// ```
/// use tool_mcp::Status;
///
/// fn light(status: &Status) -> &'static str {
///     match status {
///         Status::Connected => "green",
///         Status::Away { restarts: true, .. } => "yellow",
///         _ => "red",
///     }
/// }
///
/// assert_eq!(light(&Status::Connected), "green");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The server is connected.
    Connected,
    /// The connection is lost.
    Away {
        /// How it was lost, or why the last attempt to restart failed.
        reason: String,
        /// `true` if there will be another attempt.
        restarts: bool,
    },
    /// The import is closed.
    Closed,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Status::Connected => f.write_str("the server is connected"),
            Status::Away { reason, .. } => write!(f, "the server is away: {reason}"),
            Status::Closed => f.write_str("the import is closed"),
        }
    }
}
