//! [`Change`]: what clients of a server or a gateway are notified of.

/// What has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    #[cfg(feature = "server")]
    Tools,
    Resources,
    Prompts,
    /// The content of the resource with this URI.
    Updated(String),
}
