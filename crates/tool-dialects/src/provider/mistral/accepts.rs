//! The parts of results that Mistral accepts.

use crate::provider::media::{Accepts, WEB};

pub(super) const IMAGES: Accepts = Accepts {
    size: Some("mistral.image_max_bytes"),
    schemes: WEB,
    ..Accepts::types("mistral.image_types")
};
pub(super) const AUDIO: Accepts = Accepts::types("mistral.audio_types");
pub(super) const DOCUMENTS: Accepts = Accepts {
    schemes: WEB,
    ..Accepts::types("mistral.document_types")
};
