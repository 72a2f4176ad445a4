//! The parts of results that Gemini accepts.

use crate::provider::media::Accepts;

pub(super) const IN_RESPONSES: Accepts = Accepts {
    size: Some("gemini.inline_max_bytes"),
    is_size_encoded: true,
    schemes: &["gs"],
    ..Accepts::types("gemini.function_response_types")
};
pub(super) const IN_MESSAGES: Accepts = Accepts {
    size: Some("gemini.inline_max_bytes"),
    is_size_encoded: true,
    schemes: &["https", "gs"],
    ..Accepts::types("gemini.input_types")
};
