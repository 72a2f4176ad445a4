//! The text of a body, for all that need it again.

use std::sync::{Arc, OnceLock};

use axum::body::Bytes;

/// The body of a request, once it was read.
#[derive(Clone, Default)]
pub(in crate::server) struct BodyText(pub(super) Arc<OnceLock<Bytes>>);

impl BodyText {
    pub(in crate::server) fn get(&self) -> Option<&[u8]> {
        self.0.get().map(|bytes| &**bytes)
    }
}
