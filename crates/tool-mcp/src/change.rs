//! [`Change`]: what clients of a server or a gateway are notified of.

/// A kind of change that clients are notified of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    #[cfg(feature = "server")]
    Tools,
    Resources,
    Prompts,
    /// The content of the resource with this URI.
    Updated(String),
}
