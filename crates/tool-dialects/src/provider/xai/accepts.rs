//! The parts of results that xAI accepts.

use crate::provider::media::{Accepts, WEB};

pub(super) const IMAGES: Accepts = Accepts {
    size: Some("xai.image_max_bytes"),
    schemes: WEB,
    ..Accepts::types("xai.image_types")
};
