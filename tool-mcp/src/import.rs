//! Tools of other servers.

/// Adds the tools of another server to a registry.
#[derive(Debug)]
pub struct Import(());
