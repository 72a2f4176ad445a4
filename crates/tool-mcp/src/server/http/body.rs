//! The body of a request, read within a limit, and its text for all that need it again.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use axum::body::{Body, Bytes, HttpBody};

/// The body of a request, once it was read.
#[derive(Clone, Default)]
pub(in crate::server) struct BodyText(pub(super) Arc<OnceLock<Bytes>>);

impl BodyText {
    pub(in crate::server) fn get(&self) -> Option<&[u8]> {
        self.0.get().map(|bytes| &**bytes)
    }
}

/// Returns the bytes of a body, and `None` if they are more than a limit.
pub(super) async fn collect(mut body: Body, limit: usize) -> Result<Option<Bytes>, axum::Error> {
    let mut first = Bytes::new();
    // Copied, since a million parts of one byte each must cost little.
    let mut all = Vec::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let Ok(data) = frame?.into_data() else {
            continue;
        };
        if data.len() > limit - first.len().max(all.len()) {
            return Ok(None);
        }
        if first.is_empty() {
            first = data;
            continue;
        }
        if all.is_empty() {
            all.extend_from_slice(&first);
        }
        all.extend_from_slice(&data);
    }
    Ok(Some(if all.is_empty() { first } else { all.into() }))
}
