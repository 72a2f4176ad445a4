//! Shared by both sides of a gateway: detects a chain of gateways that leads back to its start.

/// The key of gateway ids in the metadata of a list of tools: the gateways that the tools may come from.
pub(crate) const GATEWAYS: &str = "tool-core/gateways";

/// More gateways behind a list are taken for a loop, and so are longer ids.
pub(crate) const MAX_GATEWAYS: usize = 64;

/// The key of the number of gateways that a request has passed, in its metadata.
pub(crate) const HOPS: &str = "tool-core/hops";

/// A request that has passed more gateways is rejected. Few are nested in practice.
#[cfg(feature = "server")]
pub(crate) const MAX_HOPS: u64 = 8;

/// The number of gateways that a call has passed, as a context value of the call.
#[derive(Clone, Copy)]
pub(crate) struct Hops(pub(crate) u64);

/// A context value of a call that ends with a question to its user, and is made again with the answer.
#[derive(Clone, Copy)]
pub(crate) struct MadeAgain;
