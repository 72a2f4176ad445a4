//! The parts of results that Cohere accepts.

use crate::provider::media::{Accepts, WEB};

pub(super) const IMAGES: Accepts = Accepts {
    size: Some("cohere.images_max_bytes"),
    schemes: WEB,
    ..Accepts::types("cohere.image_types")
};
