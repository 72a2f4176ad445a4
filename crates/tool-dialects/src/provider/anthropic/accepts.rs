//! The parts of results that Anthropic accepts.

use crate::provider::media::{Accepts, WEB};

pub(super) const IMAGES: Accepts = Accepts {
    size: Some("anthropic.image_max_base64"),
    is_size_encoded: true,
    schemes: WEB,
    ..Accepts::types("anthropic.image_types")
};
pub(super) const FILES: Accepts = Accepts {
    size: Some("anthropic.request_max_bytes"),
    is_size_encoded: true,
    schemes: WEB,
    ..Accepts::types("anthropic.document_types")
};
