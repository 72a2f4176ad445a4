//! The parts of results that OpenAI accepts.

use crate::provider::media::{Accepts, WEB};

pub(super) const IMAGES: Accepts = Accepts {
    schemes: WEB,
    ..Accepts::types("openai.image_types")
};
pub(super) const CHAT_AUDIO: Accepts = Accepts::types("openai.chat.audio_types");
pub(super) const CHAT_FILES: Accepts = Accepts {
    size: Some("openai.file_max_bytes"),
    ..Accepts::types("openai.chat.file_types")
};
pub(super) const FILES: Accepts = Accepts {
    size: Some("openai.file_max_bytes"),
    schemes: WEB,
    ..Accepts::types("openai.responses.file_types")
};
